"""An exercise's result as text and as HTML: a summary, notes, and for each test its sentence, mark, points and message.

The HTML is self-contained: no script, no link, inline styles, every text escaped. Colours repeat what the text says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from autograder.report import ExerciseResult, TestResult
from autograder.reports.heatmap import beside, differing, drawn_arrays, heatmap, in_a_row, in_words

MARKS = {"passed": "✓ passed", "failed": "✗ not yet", "not known": "– not known"}


def total(score: float, penalty: float | None) -> float:
    """The points that count: a notebook's score less the penalty for late work, and never below 0."""
    return round(max(0.0, score - (penalty or 0.0)), 2)


def points(value: float) -> str:
    """Points without trailing zeros: 3, 2.5, 1.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def by_reason(failed: Iterable[tuple[str, str | None]]) -> list[tuple[str, str]]:
    """Each reason once: the names of all who share it, joined, and the reason. failed: name and reason"""
    found: dict[str, list[str]] = {}
    for name, reason in failed:
        found.setdefault(reason or "", []).append(name)
    return [(", ".join(names), reason) for reason, names in found.items()]


def summary(result: ExerciseResult) -> str:
    """One line on the whole exercise."""
    if result.withdrawn:
        effect = f"everybody gets its {points(result.max_score)} points" if result.max_score else "it does not count"
        return f"{result.name}: withdrawn, so {effect}."
    if not result.started:
        state = "its cell cannot be judged" if result.evidence else "not started yet"
        return f"{result.name}: {state}. 0 of {points(result.max_score)} points."
    passed = sum(test.state == "passed" for test in result.tests)
    earned = f"{points(result.score)} of {points(result.max_score)} points"
    return f"{result.name}: {earned}, {passed} of {len(result.tests)} tests passed."


def notes(result: ExerciseResult) -> list[str]:
    """Sentences on the errors, and on how this exercise was judged."""
    found = list(filter(None, [looks_like(result)]))
    if result.with_reference:
        names = ", ".join(result.with_reference)
        found.append(
            f"Your code calls {names}. Here it was judged with the right one in its place, so a mistake there "
            "costs nothing here."
        )
    return found + [f"{words[0].upper()}{words[1:]}. This does not change the mark." for words in result.remarks]


def looks_like(result: ExerciseResult) -> str:
    """The diagnosis in words: a known mistake by name, the evidence, and a hint; empty without a diagnosis."""
    known = [f"Known mistake: {one.name.replace('-', ' ')}." for one in result.of("known mistake")]
    return " ".join(filter(None, (*known, result.evidence, result.hint)))


def as_text(result: ExerciseResult) -> str:
    """The whole result: summary, notes, and a line for each test with its message below."""
    lines = [summary(result), *notes(result)]
    if result.started:
        for test in result.tests:
            lines.append(f"  {MARKS[test.state]:<12} {test.sentence} ({points(test.score)}/{points(test.max_score)})")
            if test.message:
                lines.append(f"               {test.message}")
    lines += [f"  {where}" for where in result.where]
    return "\n".join(lines)


STRIPES = {"passed": "#2e7d32", "failed": "#c62828", "not known": "#757575"}


def as_html(result: ExerciseResult) -> str:
    """The result as HTML: summary, notes, table with points, and picture."""
    head = paragraph(f"<strong>{escape(summary(result))}</strong>")
    more = "".join(paragraph(escape(note)) for note in notes(result))
    where = "".join(paragraph(with_code(words)) for words in result.where)
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
    return head + in_a_row(one.plain_html() for one in pictures)


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


def name_of(exercise: Any) -> str:
    """The name of an exercise, given as `"median"` or as the function itself."""
    return exercise if isinstance(exercise, str) else getattr(exercise, "__name__", str(exercise))


def with_code(text: str) -> str:
    """Text as HTML, with `backticks` shown as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # an unpaired backtick: show all of them as they are
        return escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def block(html: str, name: str) -> str:
    """A part of the page in which MathJax looks for no formulas. `name` describes it to screen readers.

    A narrow window scrolls it, so it can have the keyboard's focus.
    """
    return (
        '<div class="autograder-rubric tex2jax_ignore mathjax_ignore" style="overflow-x:auto;margin-bottom:.8em" '
        f'tabindex="0" role="group" aria-label="{escape(name)}">{html}</div>'
    )


def paragraph(html: str) -> str:
    """One paragraph with small margins."""
    return f'<p style="margin:.3em 0">{html}</p>'
