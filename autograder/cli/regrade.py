"""`autograder regrade`: after hidden tests or points have changed, who gains and who loses, before it is written.

Comparing reads the gradebook and grades in memory. Writing saves what it changes and then grades into the gradebook.
Manual grades and comments stay, and cells whose automatic score stays do not wait for a person again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Exit

from autograder.cli.options import say
from autograder.course import CHECK, Assignment, Course, check_cell
from autograder.discovery import of_assignment
from autograder.errors import AutograderError, CourseError
from autograder.nbgrader import api, gradebook_backup, history, must
from autograder.nbgrader.gradebook import grade_into_gradebook
from autograder.nbgrader.gradebook_rows import autograded_folder, total
from autograder.nbgrader.outcomes import SetAside, set_aside_in
from autograder.nbgrader.totals import assign_penalties, extra_credit, graded_points, penalty_of, take_over_points
from autograder.report import Report
from autograder.reports.plain_text import by_reason, points
from autograder.text import printable, shown_name
from autograder.worker.pool import grade_many, still_marking


@dataclass(frozen=True)
class CellMark:
    """The mark of one cell in the gradebook. `auto` is None if a person grades the cell, `manual` if nobody has."""

    auto: float | None
    manual: float | None
    extra: float
    max_score: float

    @property
    def score(self) -> float:
        """The points that count: the manual grade if there is one, as in nbgrader's `Grade.score`."""
        return (self.manual if self.manual is not None else self.auto or 0.0) + self.extra


Marks = Mapping[str, CellMark]  # of one student, by cell
Change = tuple[str, CellMark, CellMark]  # an exercise, its mark before and its mark after


@dataclass(frozen=True)
class Comparison:
    """The marks of one student before and after, and the penalties for late work.

    problem: why they could not be graded again
    withdrawn: cells of exercises that are withdrawn afterwards: what a person gave there does not count
    """

    student: str
    before: Marks
    after: Marks
    problem: str | None = None
    penalties: tuple[float, float] = (0.0, 0.0)
    withdrawn: Collection[str] = ()

    @property
    def totals(self) -> tuple[float, float]:
        """The points that count, before and after."""
        before, after = self.penalties
        return total(_sum(self.before), before), total(_sum(self.after), after)

    @property
    def gain(self) -> float:
        """The points gained; negative if points are lost."""
        before, after = self.totals
        return round(after - before, 2)

    @property
    def changes(self) -> list[Change]:
        """The marks whose automatic score or maximum has changed, even if a manual grade hides it."""
        return [
            (name.removeprefix(CHECK), self.before[name], mark)
            for name, mark in self.after.items()
            if mark != self.before[name]
        ]

    @property
    def moves_points(self) -> bool:
        """True if an exercise has other points now."""
        return any(before.max_score != after.max_score for _, before, after in self.changes)


def _sum(marks: Marks) -> float:
    return sum(mark.score for mark in marks.values())


def _compare(
    course: Course, assignment: Assignment, nbgrader: Any, jobs: int, kind: str, only: str
) -> list[Comparison]:
    """The marks of each graded student, or of `only`, in the gradebook and as grading gives them now."""
    students = gradebook_backup.find_submissions_of(nbgrader, assignment.name)
    if not students:
        raise AutograderError(f"nobody's {assignment.name} is graded yet; run `nbgrader autograde {assignment.name}`")
    if only:
        if only not in students:
            raise AutograderError(f"{shown_name(only)} has no marks in {assignment.name}")
        students = [only]
    coursedir, submissions = nbgrader.coursedir, []
    for student in students:
        folder = coursedir.format_path(coursedir.submitted_directory, student, assignment.name)
        submissions.append(next(of_assignment(student, Path(folder), assignment)))
    with contextlib.suppress(CourseError):  # writing names those whom the plugin for late work hinders
        assign_penalties(nbgrader, assignment)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        found = [book.find_submission(assignment.name, student) for student in students]
        before = [_marks(submission) for submission in found]
        late = [submission.total_seconds_late for submission in found]
        penalties = [sum(n.late_submission_penalty or 0.0 for n in submission.notebooks) for submission in found]
    wait = still_marking(print)
    reports = grade_many(submissions, course.root, jobs, kind, on_wait=wait, exercises=assignment.exercises)
    compared = []
    for student, marks, report, seconds, penalty in zip(students, before, reports, late, penalties, strict=True):
        folder = autograded_folder(coursedir, student, assignment.name)
        one = _comparison(student, marks, report, assignment, set_aside_in(folder / assignment.notebook.name))
        after = penalty
        with contextlib.suppress(CourseError):
            after = penalty_of(nbgrader, student, _sum(one.after), seconds)
        compared.append(replace(one, penalties=(penalty, after)))
    return compared


def _marks(submission: Any) -> Marks:
    return {
        grade.name: CellMark(grade.auto_score, grade.manual_score, grade.extra_credit or 0.0, grade.cell.max_score)
        for notebook in submission.notebooks
        for grade in notebook.grades
    }


def _comparison(
    student: str, before: Marks, report: Report, assignment: Assignment, set_aside: Mapping[str, SetAside]
) -> Comparison:
    """set_aside: what cells of exercises that are withdrawn now had before"""
    if report.reason:
        return Comparison(student, before, before, report.reason)
    cells = assignment.graded_cells  # also those that a person grades
    withdrawn = {check_cell(name, cells) for name in assignment.withdrawn}
    new = {check_cell(exercise.name, cells): exercise for exercise in report.exercises}
    before = {**before, **{name: CellMark(None, None, 0.0, 0.0) for name in new if name not in before}}
    after = {}
    for name, mark in before.items():
        if name in new:
            _, extra = set_aside.get(name, (None, mark.extra))
            points = new[name].max_score
            extra = extra_credit(mark.manual, extra, points, name in withdrawn) or 0.0
            after[name] = CellMark(new[name].score, mark.manual, extra, points)
        else:
            after[name] = replace(mark, max_score=cells.get(name, mark.max_score))
    return Comparison(student, before, after, withdrawn=withdrawn)


def _write(
    course: Course,
    nbgrader: Any,
    assignment: Assignment,
    compared: Sequence[Comparison],
    kind: str,
    settings: Mapping[str, object],
) -> tuple[Path, list[str]]:
    """Grade anew into the gradebook. Returns the folder with the old marks, and who could not be graded."""
    students = [each.student for each in compared if each.problem is None]
    folder = gradebook_backup.save(nbgrader, assignment.name, students)
    if any(each.moves_points for each in compared):
        must(nbgrader.generate_assignment(assignment.name), f"take over the points of {assignment.notebook}")
        take_over_points(nbgrader.coursedir, assignment)
    settings = {"force": True, "accept_changes": True, "saved": True, "only": students, **settings}
    on_wait = still_marking(print)
    outcomes = grade_into_gradebook(course, [assignment], settings, kind, lambda outcome: None, on_wait=on_wait)
    failed = [outcome.student for outcome in outcomes if outcome.reason and outcome.student in students]
    for student in failed:  # some fail when their marks are in the gradebook, such as by a plugin for late work
        gradebook_backup.restore(nbgrader, assignment.name, student, folder)
    return folder, failed


def run(
    course: Course,
    assignment: Assignment,
    console: Console,
    jobs: int,
    kind: str,
    write: bool,
    only: str = "",
    note: str = "",
    again: str = "",
    reason: str = "regrade",
    while_writing: AbstractContextManager[object] | None = None,
) -> None:
    """Compare, show the comparison, and write the new marks if `write` is set. Exit code 1 if nobody can be graded.

    only: a student, all if empty
    note, reason: for the history
    again: the command to write the marks with, without `--write`
    while_writing: entered before marks are written
    """
    name, nbgrader = assignment.name, api(course.root)
    compared = _compare(course, assignment, nbgrader, jobs, kind, only)
    _show(compared, console)
    if only and compared[0].moves_points:
        raise AutograderError(f"points have changed, which concerns everybody; autograder regrade {name} shows it")
    if all(each.problem for each in compared):
        say(console, "Nothing was written, because nobody could be graded.")
        raise Exit(1)
    if not write:
        again = again or f"autograder regrade {name}" + (f" --student {only}" if only else "")
        say(console, f"Nothing was written. To write it: {again} --write")
        return
    settings = {"jobs": jobs, "reason": reason, "note": note}
    with while_writing or contextlib.nullcontext():
        folder, failed = _write(course, nbgrader, assignment, compared, kind, settings)
    say(
        console,
        f"Written; what was there before is in {folder}.",
        *(f"nbgrader could not grade {shown_name(student)}; the marks there are the old ones." for student in failed),
        f"To undo it: autograder regrade {name} --undo",
        f"New feedback pages: nbgrader generate_feedback {name} --force",
    )


def is_graded(course: Course, assignment: Assignment) -> bool:
    """True if somebody has marks in this assignment."""
    coursedir = api(course.root).coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return bool(graded_points(book, assignment.name))


def write_points(course: Course, assignment: Assignment) -> None:
    """Give the gradebook the points of an assignment that nobody has marks in."""
    with contextlib.suppress(MissingEntry):  # it is not released yet
        take_over_points(api(course.root).coursedir, assignment)


def undo(course: Course, name: str, console: Console) -> None:
    """Bring back what the last regrade changed."""
    course.assignment(name)
    nbgrader = api(course.root)
    students = gradebook_backup.undo(nbgrader, name)
    for student in students:
        history.record(nbgrader.coursedir, name, student, "regrade undone", {})
    console.print(Text(f"Brought back the marks of {len(students)} students as they were before the last regrade."))
    say(console, "source/ keeps your edits: the next autograde or regrade uses them again.")


def _show(compared: Sequence[Comparison], console: Console) -> None:
    """A table of who gains and loses, and where; then the sums, and what a person should look at."""
    changed = sorted((each for each in compared if each.changes), key=lambda each: each.gain)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("student", "before", "after", "", "where"):
        table.add_column(heading, justify="left" if heading in ("student", "where") else "right", overflow="fold")
    for comparison in changed:
        gain = comparison.gain
        signed = ("+" if gain > 0 else "−" if gain < 0 else "") + points(abs(gain))
        where = "; ".join(_where(change, comparison.withdrawn) for change in comparison.changes)
        table.add_row(Text(shown_name(comparison.student)), *map(points, comparison.totals), signed, Text(where))
    if changed:
        console.print(table)
    say(console, *map(printable, _sums(compared)))


def _sums(compared: Sequence[Comparison]) -> Iterator[str]:
    gains, losses = sum(each.gain > 0 for each in compared), sum(each.gain < 0 for each in compared)
    problems = [each for each in compared if each.problem]
    same = len(compared) - gains - losses - len(problems)
    yield f"{gains} gain, {losses} lose, {same} keep their marks."
    changes = [
        change
        for each in compared
        for change in each.changes
        if {change[0], CHECK + change[0]}.isdisjoint(each.withdrawn)
    ]
    if hidden := sum(after.manual is not None and after.auto != before.auto for _, before, after in changes):
        yield f"{hidden} manual grades are kept although the tests now say something else; they will wait for a look."
    for students, problem in by_reason((shown_name(each.student), each.problem) for each in problems):
        yield f"{students} {'keep' if ', ' in students else 'keeps'} the old marks: {problem}"


def _where(change: Change, withdrawn: Collection[str]) -> str:
    text, before, after = change
    counts = "kept" if {text, CHECK + text}.isdisjoint(withdrawn) else "does not count"
    if after.auto is not None:
        text += f" {points(before.auto or 0.0)} → {points(after.auto)}"
    if before.max_score != after.max_score:
        text += f" (worth {points(before.max_score)} → {points(after.max_score)})"
    return text + (f", manual grade {points(after.manual)} {counts}" if after.manual is not None else "")
