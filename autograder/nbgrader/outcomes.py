"""Each submission's outcome in a run, and the effect of a course change on marks in the gradebook.

If the submission is the same and a mark would differ because the course, or the kit, has changed, a person has to
accept that.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgrader.converters.base import NbGraderException

from autograder.course.source_notebook import check_cell
from autograder.errors import EXPECTED, in_words
from autograder.nbgrader.gradebook_rows import NO_MARK, CellMarks, answers_waiting, marks_now
from autograder.nbgrader.history import Graded
from autograder.report import Report
from autograder.reports.class_statistics import shared_answers
from autograder.reports.rubric import by_reason, points
from autograder.reports.store import FILE
from autograder.text import one_line, shown_name

SMALL = 1e-6  # points; scores have two digits


@dataclass(frozen=True)
class Move:
    """A mark that differs now, for the same submission."""

    exercise: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.exercise} {points(self.before)} → {points(self.after)}"


@dataclass(frozen=True)
class SubmissionOutcome:
    """The outcome of one submission.

    reason: why it could not be graded
    no_feedback: why it has no feedback page
    unchanged: graded before, so not graded again
    moves: the marks that differ because the course has changed; nothing was written if `held` is set
    other_file: if the student's folder is as it was, and the course's change would have another file of it graded
    """

    student: str
    assignment: str
    reason: str | None = None
    no_feedback: str | None = None
    unchanged: bool = False
    moves: tuple[Move, ...] = ()
    held: bool = False
    other_file: str = ""

    @property
    def moved(self) -> str:
        """What differs because the course has changed, as a text: marks, or the file that is graded."""
        return self.other_file or ", ".join(map(str, self.moves))


def left_alone(assignment: str, count: int) -> str:
    """What to do about marks that differ because the course has changed."""
    return (
        f"{assignment}: the course has changed, and {count} {'students' if count > 1 else 'student'} would get other "
        f"marks for the same work. The old marks stay. `autograder regrade {assignment}` shows the changes; `--write`, "
        "or `autograder grade --gradebook --accept-changes`, writes them"
    )


def taken_back(assignment: str, count: int) -> str:
    """How to undo that marks were changed."""
    subject = f"{count} {'students have' if count > 1 else 'student has'}"
    return (
        f"{assignment}: the course has changed, and {subject} other marks for the same work now. "
        f"`autograder regrade {assignment} --undo` undoes that"
    )


def reason_of(error: Exception, log: Any) -> str:
    """Why something could not be done for one student. The traceback of an unexpected error is logged."""
    if isinstance(error, (*EXPECTED, NbGraderException)):
        return str(error)
    reason = in_words(error)
    if reason is None:
        log.error(traceback.format_exc())
    return one_line(reason or f"nbgrader failed ({type(error).__name__}: {error})")


def notices_of(
    coursedir: Any, graded: Graded, reports: Sequence[Report], moved_pictures: Mapping[str, int]
) -> Iterator[str]:
    """What a person has to know or do after a run. graded: before it; moved_pictures: how many, by student"""
    name = graded.assignment.name
    if moved_pictures:
        who = ", ".join(f"{shown_name(student)} {count}" for student, count in sorted(moved_pictures.items()))
        yield f"{name}: pictures were moved out of the texts of: {who}. They are shown in their places"
    unknown = [marks.values() for student, marks in graded.marks.items() if not graded.is_known(student)]
    if count := sum(any(mark.auto is not None for mark in marks) for marks in unknown):
        subject = f"{count} student{'s' * (count > 1)}"
        yield f"{name}: {FILE} did not know the marks of {subject}; those that are still the same are in it again"
    yield from map(str, shared_answers(reports))
    if waiting := answers_waiting(coursedir, name):
        yield f"{name}: {waiting} {'answers wait' if waiting > 1 else 'answer waits'} for a person to grade"


class NotAll(NbGraderException):
    """Some submissions could not be graded, or their marks are held; the outcomes name them."""


def report_failures(log: Any, assignment: str, outcomes: Sequence[SubmissionOutcome], count: int) -> None:
    """Log the students that could not be graded or whose marks are held. Raises `NotAll` if there are any.

    count: of all submissions
    """
    failed = [outcome for outcome in outcomes if outcome.reason]
    if failed:
        text = f"{len(failed)} of {count} submissions could not be graded"
        # Logged a second time, because the first time they are lost among the lines of a class.
        reasons = by_reason((shown_name(outcome.student), outcome.reason) for outcome in failed)
        log.error("%s:\n%s", text, "\n".join(f"  {students}: {reason}" for students, reason in reasons))
    held = [outcome for outcome in outcomes if outcome.held]
    for outcome in held:
        log.error("%s, %s: %s", shown_name(outcome.student), outcome.assignment, outcome.moved)
    if held:
        log.error("%s", left_alone(assignment, len(held)))
    if failed or held:
        raise NotAll(f"{len(failed) + len(held)} submissions are left")


def moves(before: CellMarks, report: Report) -> tuple[Move, ...]:
    """The marks that a report would change. A mark that a person has given stays."""
    found = []
    for exercise in report.exercises:
        mark = before.get(check_cell(exercise.name, before), NO_MARK)
        if mark.auto is not None and mark.manual is None and abs(mark.auto - exercise.score) > SMALL:
            found.append(Move(exercise.name, mark.auto, exercise.score))
    return tuple(found)


def other_marks(coursedir: Any, reports: Sequence[Report]) -> dict[tuple[str, str], str]:
    """By (assignment, student): the marks by tests in the gradebook that a report does not have."""
    found = {}
    marks = {name: marks_now(coursedir, name) for name in {report.assignment for report in reports}}
    for report in reports:
        if other := moves(marks[report.assignment].get(report.student, {}), report):
            words = ", ".join(f"{move.exercise} {points(move.before)}" for move in other)
            found[report.assignment, report.student] = f"other points by tests in the gradebook: {words}"
    return found
