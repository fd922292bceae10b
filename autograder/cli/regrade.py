"""`autograder regrade`: after a suite or points changed, who gains and who loses, before anything is written.

Comparing reads the gradebook and grades in memory. Writing saves what it changes, then grades into the gradebook;
manual grades and comments stay, and cells whose automatic score stayed do not wait for a person again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course import CHECK, Assignment, Course, check_cell
from autograder.discovery import of_assignment
from autograder.errors import AutograderError
from autograder.nbgrader import api, gradebook_backup, history, must
from autograder.nbgrader.gradebook import grade_into_gradebook
from autograder.report import Report
from autograder.reports.plain_text import points
from autograder.submission import Submission
from autograder.text import printable, shown_name
from autograder.worker.pool import grade_many, worker_count


@dataclass(frozen=True)
class CellMark:
    """One cell's mark in the gradebook. `auto` is None if a person grades it, `manual` if none did.

    `waiting` is nbgrader's `needs_manual_grade`.
    """

    auto: float | None
    manual: float | None
    extra: float
    max_score: float
    waiting: bool = field(default=False, compare=False)

    @property
    def score(self) -> float:
        """What counts: the manual grade if there is one; as nbgrader's own `Grade.score`."""
        return (self.manual if self.manual is not None else self.auto or 0.0) + self.extra


@dataclass(frozen=True)
class Changed:
    """One exercise of one student before and after."""

    exercise: str
    before: CellMark
    after: CellMark


@dataclass(frozen=True)
class Comparison:
    """One student's marks before and after; `problem` if grading anew was not possible."""

    student: str
    before: dict[str, CellMark]
    after: dict[str, CellMark]
    problem: str | None = None

    @property
    def gain(self) -> float:
        """Points gained; below 0, points lost."""
        return round(_total(self.after) - _total(self.before), 2)

    @property
    def changed(self) -> list[Changed]:
        """The exercises whose automatic score or points are other ones now, whether or not a manual grade hides it."""
        return [Changed(n.removeprefix(CHECK), self.before[n], m) for n, m in self.after.items() if m != self.before[n]]


def _total(marks: dict[str, CellMark]) -> float:
    return sum(mark.score for mark in marks.values())


def compare(
    course: Course, assignment: Assignment, nbgrader: Any, jobs: int, kind: str, only: str = ""
) -> list[Comparison]:
    """Each graded student's marks in the gradebook beside what grading gives now. Writes nothing.

    only: a student; all if empty
    """
    students = gradebook_backup.find_submissions_of(nbgrader, assignment.name)
    if not students:
        raise AutograderError(f"nobody's {assignment.name} is graded yet; run `nbgrader autograde {assignment.name}`")
    if only:
        if only not in students:
            raise AutograderError(f"{shown_name(only)} has no marks in {assignment.name}")
        students = [only]
    before = _marks(nbgrader, assignment, students)
    found = [_submitted(nbgrader, student, assignment) for student in students]
    reports = grade_many(found, course.root, worker_count(jobs, len(found)), kind)
    worth = assignment.graded_cells
    return [_comparison(name, before[name], report, worth) for name, report in zip(students, reports, strict=True)]


def _submitted(nbgrader: Any, student: str, assignment: Assignment) -> Submission:
    coursedir = nbgrader.coursedir
    folder = coursedir.format_path(coursedir.submitted_directory, student, assignment.name)
    return next(of_assignment(student, Path(folder), assignment))


def _marks(nbgrader: Any, assignment: Assignment, students: Sequence[str]) -> dict[str, dict[str, CellMark]]:
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        return {
            student: {
                grade.name: _mark(grade)
                for notebook in book.find_submission(assignment.name, student).notebooks
                for grade in notebook.grades
            }
            for student in students
        }


def _mark(grade: Any) -> CellMark:
    extra = grade.extra_credit or 0.0
    return CellMark(grade.auto_score, grade.manual_score, extra, grade.cell.max_score, grade.needs_manual_grade)


def _comparison(student: str, before: dict[str, CellMark], report: Report, worth: Mapping[str, float]) -> Comparison:
    """worth: today's points of every graded cell, of those that a person grades, too"""
    if report.reason:
        return Comparison(student, before, before, report.reason)
    new = {check_cell(exercise.name, worth): exercise for exercise in report.exercises}
    before = before | {name: CellMark(None, None, 0.0, 0.0) for name in new if name not in before}
    after = {
        name: CellMark(new[name].score, mark.manual, mark.extra, new[name].max_score)
        if name in new
        else replace(mark, max_score=worth.get(name, mark.max_score))
        for name, mark in before.items()
    }
    return Comparison(student, before, after)


def write(
    course: Course,
    nbgrader: Any,
    assignment: Assignment,
    found: Sequence[Comparison],
    jobs: int,
    kind: str,
    reason: str = "",
    note: str = "",
) -> tuple[Path, list[str]]:
    """Grade anew in the gradebook; the folder with what was there before, and who could not be graded."""
    students = [one.student for one in found if one.problem is None]
    place = gradebook_backup.save(nbgrader, assignment.name, students)
    if any(change.before.max_score != change.after.max_score for one in found for change in one.changed):
        must(nbgrader.generate_assignment(assignment.name), f"take over the points of {assignment.notebook}")
    settings = {"force": True, "accept_changes": True, "saved": True, "only": students, "jobs": jobs}
    settings |= {"reason": reason, "note": note}
    outcomes = grade_into_gradebook(course, [assignment], settings, kind, lambda one: None) if students else []
    # Those whom it cannot grade keep what they had in the gradebook.
    failed = [outcome.student for outcome in outcomes if outcome.reason and outcome.student in students]
    for student in failed:
        gradebook_backup.restore_folder(nbgrader, assignment.name, student, place)
    return place, failed


def run(
    course: Course,
    name: str,
    console: Console,
    jobs: int,
    kind: str,
    write_it: bool,
    only: str = "",
    note: str = "",
    again: str = "",
    reason: str = "regrade",
) -> None:
    """Compare, show, and write if asked to.

    only: a student, all if empty; note, reason: for the history; again: the command that writes it
    """
    assignment, nbgrader = course.assignment(name), api(course.root)
    found = compare(course, assignment, nbgrader, jobs, kind, only)
    show(found, console)
    if only and any(change.before.max_score != change.after.max_score for change in found[0].changed):
        raise AutograderError(f"points have changed, which concerns everybody; autograder regrade {name} shows it")
    if not write_it:
        again = again or f"autograder regrade {name}" + (f" --student {only}" if only else "")
        console.print(Text(f"Nothing was written. To write it: {again} --write"), soft_wrap=True)
        return
    place, failed = write(course, nbgrader, assignment, found, jobs, kind, reason, note)
    console.print(Text(f"Written; what was there before is in {place}."), soft_wrap=True)
    for student in failed:
        console.print(
            Text(f"nbgrader could not grade {shown_name(student)}; the marks there are the old ones."), soft_wrap=True
        )
    console.print(Text(f"To undo it: autograder regrade {name} --undo"), soft_wrap=True)
    console.print(Text(f"New feedback pages: nbgrader generate_feedback {name} --force"), soft_wrap=True)


def undo(course: Course, name: str, console: Console) -> None:
    """Bring back what the last regrade changed."""
    course.assignment(name)
    nbgrader = api(course.root)
    students = gradebook_backup.undo(nbgrader, name)
    for student in students:
        history.record(nbgrader.coursedir, name, student, "regrade undone", {})
    console.print(Text(f"Brought back the marks of {len(students)} students as they were before the last regrade."))
    console.print(Text("source/ keeps your edits: the next autograde or regrade uses them again."), soft_wrap=True)


def show(found: Sequence[Comparison], console: Console) -> None:
    """A table of who gains and loses, and where; then the sums, and what a person should look at."""
    moved = sorted((one for one in found if one.changed), key=lambda one: one.gain)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("student", "before", "after", "", "where"):
        table.add_column(heading, justify="left" if heading in ("student", "where") else "right", overflow="fold")
    for one in moved:
        totals = (points(_total(one.before)), points(_total(one.after)), _signed(one.gain))
        table.add_row(Text(shown_name(one.student)), *totals, Text("; ".join(map(_where, one.changed))))
    if moved:
        console.print(table)
    for line in _sums(found):
        console.print(Text(printable(line)), soft_wrap=True)


def _sums(found: Sequence[Comparison]) -> Iterator[str]:
    gains, losses = sum(one.gain > 0 for one in found), sum(one.gain < 0 for one in found)
    problems = [one for one in found if one.problem]
    same = len(found) - gains - losses - len(problems)
    yield f"{gains} gain, {losses} lose, {same} keep their marks. Late penalties are not in these numbers."
    changes = [change for one in found for change in one.changed]
    hidden = sum(change.after.manual is not None and change.after.auto != change.before.auto for change in changes)
    if hidden:
        yield f"{hidden} manual grades are kept although the tests now say something else; they will wait for a look."
    for one in problems:
        yield f"{shown_name(one.student)} keeps the old marks: {one.problem}"


def _where(change: Changed) -> str:
    before, after = change.before, change.after
    text = change.exercise
    if after.auto is not None:
        text += f" {points(before.auto or 0.0)} → {points(after.auto)}"
    if before.max_score != after.max_score:
        text += f" (worth {points(before.max_score)} → {points(after.max_score)})"
    return text + (f", manual grade {points(after.manual)} kept" if after.manual is not None else "")


def _signed(value: float) -> str:
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{points(abs(value))}"
