"""`autograder report`: how a class is doing, as a page, a table, JSON, and in the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import jinja2
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.reports.class_statistics import AssignmentRate, bin_names
from autograder.reports.marks_file import as_csv
from autograder.reports.rubric import points

TEMPLATES = Path(__file__).parent / "templates"
WIDTH = 24  # characters of a full bar in the terminal
ROWS = 8  # of a list in the terminal; the page has all of it
CSV_HEAD = ("assignment", "kind", "exercise", "name", "count", "of", "share", "detail")


def percent(share: float) -> str:
    """A share of 0 to 1 in words: 67 %."""
    return f"{100 * share:.0f} %"


def as_html(assignments: Sequence[AssignmentRate]) -> str:
    """The page, complete in itself: no script, nothing fetched, every text escaped."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.get_template("class_report.html")
    return page.render(assignments=assignments, bin_names=bin_names(), points=points, percent=percent)


def as_json(assignments: Sequence[AssignmentRate]) -> str:
    """The same numbers for other programs."""
    return json.dumps([assignment.to_dict() for assignment in assignments], indent=2, ensure_ascii=False) + "\n"


def as_table(assignments: Sequence[AssignmentRate]) -> str:
    """The same numbers as CSV, one row for each number; `kind` says which."""
    return as_csv(CSV_HEAD, (row for assignment in assignments for row in _rows(assignment)))


def _rows(a: AssignmentRate) -> Iterator[tuple[object, ...]]:
    for name, count in zip(bin_names(), a.bins, strict=True):
        yield a.name, "marks", "", name, count, a.graded, _share(count, a.graded), ""
    for exercise in a.exercises:
        mean = f"{points(exercise.mean)} of {points(exercise.max_score)} points on average"
        share = round(exercise.share, 4)
        yield a.name, "exercise", exercise.name, exercise.name, exercise.full, a.graded, share, mean
        for test in exercise.tests:
            share = round(test.share, 4)
            yield a.name, "test", exercise.name, test.name, test.passed, a.graded, share, test.sentence
    for mistake in a.mistakes:
        share = _share(mistake.count, a.graded)
        yield a.name, "mistake", mistake.exercise, mistake.name, mistake.count, a.graded, share, mistake.hint
    for one in a.attention:
        yield a.name, "attention", "", one.student, "", "", "", one.why


def _share(count: int, of: int) -> float:
    return round(count / of, 4) if of else 0.0


def show(assignments: Sequence[AssignmentRate], console: Console) -> None:
    """The same in a terminal: the distribution, the exercises, the hardest tests, mistakes, and whom to look after."""
    for a in assignments:
        console.print(Text(f"\n{a.name}", style="bold"))
        console.print(Text(_numbers(a)))
        if a.graded:
            console.print(_distribution(a))
            console.print(_exercise_table(a))
            console.print(_hardest(a))
        if a.mistakes:
            console.print(_mistake_table(a))
        console.print(_attention_table(a) if a.attention else Text("Nobody needs attention."))


def _numbers(a: AssignmentRate) -> str:
    parts = [f"{a.graded} graded"] + ([f"{a.failed} could not be graded"] if a.failed else [])
    if a.mean is not None and a.median is not None:
        parts.append(f"average {points(a.mean)} of {points(a.max_score)}, median {points(a.median)}")
    return ", ".join(parts)


def _distribution(a: AssignmentRate) -> Table:
    table = _table("Marks", ("in %", ""), ("students", "right"), ("", ""))
    for name, count in zip(bin_names(), a.bins, strict=True):
        table.add_row(name, str(count), _bar(count / max(a.bins)))
    return table


def _exercise_table(a: AssignmentRate) -> Table:
    table = _table("Exercises", ("exercise", ""), ("average", "right"), ("", ""), ("full marks", "right"))
    for e in a.exercises:
        table.add_row(Text(e.name), f"{points(e.mean)} / {points(e.max_score)}", _bar(e.share), str(e.full))
    return table


def _hardest(a: AssignmentRate) -> Table:
    table = _table("Tests that fewest pass", ("exercise", ""), ("passed", "right"), ("what is asked", ""))
    tests = sorted(((t.share, e.name, t.sentence) for e in a.exercises for t in e.tests), key=lambda row: row[0])
    for share, exercise, sentence in tests[:ROWS]:
        table.add_row(Text(exercise), percent(share), Text(sentence))
    return table


def _mistake_table(a: AssignmentRate) -> Table:
    table = _table("Most common mistakes", ("mistake", ""), ("exercise", ""), ("students", "right"))
    for mistake in a.mistakes[:ROWS]:
        table.add_row(Text(mistake.name), Text(mistake.exercise), str(mistake.count))
    return table


def _attention_table(a: AssignmentRate) -> Table:
    table = _table("Students who need attention", ("student", ""), ("why", ""))
    for one in a.attention:
        table.add_row(Text(one.student), Text(one.why))
    return table


def _table(title: str, *columns: tuple[str, str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, title_style="")
    for name, justify in columns:
        table.add_column(name, justify="right" if justify else "left", overflow="fold")
    return table


def _bar(share: float) -> str:
    return "█" * round(WIDTH * share)
