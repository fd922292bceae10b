"""`autograder regrade` and `withdraw`: who gains and who loses, before it is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Exit

from autograder.cli.grading import RunProgress
from autograder.cli.options import say
from autograder.course.assignments import Assignment, Course
from autograder.errors import AutograderError
from autograder.nbgrader import api
from autograder.nbgrader import regrade as regrading
from autograder.nbgrader.regrade import MarkChange, MarksComparison
from autograder.reports.rubric import by_reason, points
from autograder.reports.store import FILE
from autograder.text import shown_name
from autograder.worker.pool import still_marking


def run(
    course: Course,
    assignment: Assignment,
    console: Console,
    jobs: int,
    sandbox: str,
    write: bool,
    only: str,
    note: str,
    again: str,
    reason: str,
    while_writing: AbstractContextManager[object],
) -> None:
    """Compare, show the comparison, and write the new marks if `write` is set. Exit code 1 if nobody can be graded.

    only: a student, all if empty
    note, reason: for the history
    again: the command to write the marks with, without `--write`
    while_writing: entered before marks are written
    """
    name, nbgrader = assignment.name, api(course.root)
    compared = regrading.compare(course, assignment, nbgrader, jobs, sandbox, only, still_marking(print))
    _show(compared, console)
    if only and compared[0].moves_points:
        raise AutograderError(f"points have changed, which affects everybody; autograder regrade {name} shows it")
    if all(each.problem for each in compared):
        say(console, "Nothing was written, because nobody could be graded.")
        raise Exit(1)
    if not write:
        say(console, f"Nothing was written. To write it: {again} --write")
        return
    settings = {"jobs": jobs, "reason": reason, "note": note}
    with while_writing, RunProgress(console, len(compared), shown=True, quiet=False) as progress:
        failed = regrading.write(
            course, nbgrader, assignment, compared, sandbox, settings, progress.on_wait,
            lambda outcome: progress.graded(bool(outcome.reason)),
        )  # fmt: skip
    say(
        console,
        f"Written. {FILE} has the old marks.",
        *(f"nbgrader could not grade {shown_name(student)}; the old marks stay." for student in failed),
        f"To undo it: autograder regrade {name} --undo",
        "New feedback pages: autograder grade --gradebook --feedback",
    )


def undo(course: Course, assignment: Assignment, console: Console) -> None:
    """Restore what the last regrade changed."""
    students = regrading.undo(api(course.root).coursedir, assignment)
    say(
        console,
        f"Restored the marks of {len(students)} students from before the last regrade.",
        "source/ keeps your edits: the next autograde or regrade uses them again.",
    )


def _show(compared: Sequence[MarksComparison], console: Console) -> None:
    """A table of who gains and loses, and where; then the sums, and what a person should look at."""
    changed = sorted((each for each in compared if each.changes), key=lambda each: each.gain)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("student", "before", "after", "", "where"):
        table.add_column(heading, justify="left" if heading in ("student", "where") else "right", overflow="fold")
    for comparison in changed:
        gain = comparison.gain
        signed = ("+" if gain > 0 else "−" if gain < 0 else "") + points(abs(gain))
        if all(comparison.parts):
            signed += " (+{}, −{})".format(*map(points, comparison.parts))
        before, after = (
            f"{points(score)} of {points(most)}"
            for score, most in zip(comparison.totals, comparison.maxima, strict=True)
        )
        where = "; ".join(_where(change, comparison.withdrawn) for change in comparison.changes)
        table.add_row(Text(shown_name(comparison.student)), before, after, signed, Text(where))
    if changed:
        console.print(table)
    say(console, *_sums(compared))


def _sums(compared: Sequence[MarksComparison]) -> Iterator[str]:
    gains, losses = sum(each.gain > 0 for each in compared), sum(each.gain < 0 for each in compared)
    problems = [each for each in compared if each.problem]
    same = len(compared) - gains - losses - len(problems)
    yield f"{gains} gain, {losses} lose, {same} keep their marks."
    for before, after in sorted({each.maxima for each in compared if each.moves_points and each.problem is None}):
        yield f"The assignment is worth {points(after)} points in place of {points(before)}."
    changes = [change for each in compared for change in each.changes if change[0] not in each.withdrawn]
    if hidden := sum(after.manual is not None and after.auto != before.auto for _, before, after in changes):
        yield f"{hidden} manual grades stay although the tests now give other points; formgrader lists them."
    for students, problem in by_reason((shown_name(each.student), each.problem) for each in problems):
        yield f"{students} {'keep' if ', ' in students else 'keeps'} the old marks: {problem}"


def _where(change: MarkChange, withdrawn: Collection[str]) -> str:
    text, before, after = change
    counts = "does not count" if text in withdrawn else "kept"
    if after.auto is not None:
        text += f" {points(before.auto or 0.0)} → {points(after.auto)}"
    if before.max_score != after.max_score:
        text += f" (worth {points(before.max_score)} → {points(after.max_score)})"
    return text + (f", manual grade {points(after.manual)} {counts}" if after.manual is not None else "")
