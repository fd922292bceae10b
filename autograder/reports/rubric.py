"""An exercise's result as a table for the student: each test's sentence, mark in words, points and message.

The HTML is self-contained: no script, no link, inline styles, every text escaped. Colours repeat what the text says.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from autograder.report import ExerciseResult, TestResult
from autograder.reports.heatmap import beside, differing, drawn_arrays, heatmap, in_words
from autograder.reports.html import block, paragraph, with_code
from autograder.reports.plain_text import MARKS, notes, points, summary

STRIPES = {"passed": "#2e7d32", "failed": "#c62828", "not known": "#757575"}


def as_html(result: ExerciseResult) -> str:
    """The result as HTML: summary, notes, table with points, and picture."""
    head = paragraph(f"<strong>{escape(summary(result))}</strong>")
    more = "".join(paragraph(escape(note)) for note in notes(result))
    where = "".join(paragraph(with_code(place.where)) for place in result.of("place"))
    shown = head + more + (table(result, with_points=True) if result.started else "") + where + _picture(result)
    return block(shown, f"Result of {result.name}")


def _picture(result: ExerciseResult) -> str:
    """Heat maps of what the student's function returned for the visible example."""
    picture = result.picture
    if picture is None:
        return ""
    own, wanted = drawn_arrays(picture)
    name = f"<code>{escape(result.name)}</code>"
    if not picture.wanted:
        drawn = heatmap(own, rows=picture.rows, columns=picture.columns).plain_html()
        return paragraph(f"What your {name} gives for a small example:") + drawn
    pictures = beside(own, wanted, picture.rows, picture.columns)
    head = paragraph(f"{name}{in_words(differing(pictures))}")
    drawn = "".join(one.plain_html() for one in pictures)
    return f'{head}<div style="display:flex;flex-wrap:wrap;gap:0 2.5em">{drawn}</div>'


def table(
    result: ExerciseResult,
    with_points: bool,
    message: Callable[[TestResult], str] = lambda test: with_code(test.message),
) -> str:
    """The tests as an HTML table. Visible tests have no points. `message` converts a test's message to HTML."""
    titles = ("Result", "What is asked", "Points") if with_points else ("Result", "What is asked")
    head = "".join(f'<th scope="col" style="text-align:left;padding:.2em .6em">{title}</th>' for title in titles)
    rows = "".join(_row(test, with_points, message) for test in result.tests)
    # Without `table-layout`, JupyterLab gives all columns the same width.
    style = "border-collapse:collapse;table-layout:auto;width:100%;max-width:60em"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(test: TestResult, with_points: bool, message: Callable[[TestResult], str]) -> str:
    cell = "text-align:left;vertical-align:top;padding:.25em .6em"
    below = f'<div style="margin-top:.2em">{message(test)}</div>' if test.message else ""
    score = f"{points(test.score)} / {points(test.max_score)}"
    return (
        f'<tr style="border-left:4px solid {STRIPES[test.state]};border-bottom:1px solid #9e9e9e66">'
        f'<td style="{cell};white-space:nowrap">{MARKS[test.state]}</td>'
        f'<td style="{cell};white-space:normal">{with_code(test.sentence)}{below}</td>'
        + (f'<td style="{cell};white-space:nowrap">{score}</td>' if with_points else "")
        + "</tr>"
    )
