"""The history of each student's marks, and what follows from it: whether work is graded, and why a mark has changed."""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder import __version__
from autograder.course.assignments import Assignment
from autograder.course.source_notebook import exercise_name
from autograder.nbgrader.gradebook_rows import (
    CellMarks,
    CourseCell,
    autograded_folder,
    course_cells,
    marks_now,
    penalty_in,
    points_of,
)
from autograder.nbgrader.hardening.files import digest_of
from autograder.reports.store import NOTEBOOK, Entry, MadeOf, Store
from autograder.submission import Submission

# Reasons of entries.
FIRST, AGAIN, LATE, BY_HAND = "first grading", "graded again", "late", "manual grade"
NEW_SUBMISSION, OTHER_FILE = "another submission", "another file of the same folder"
FILES_CHANGED, COURSE_CHANGED = "other files beside the notebook", "the course has changed"
UNKNOWN = "the history begins again"  # such as after `marks.db` was lost
ENTERED_AGAIN = "the gradebook did not have these marks"
GRADEBOOK_CHANGED = "the gradebook was changed"  # such as by an older copy of it


@dataclass(frozen=True)
class Basis:
    """What marks in an assignment depend on beside the submission, as it is now.

    cells, points: the gradebook's, by grade_id; points of graded cells
    suite: a digest of the course and of the points
    questions: for each graded cell its points, and a digest of the model answer if a person grades it. Tests have none,
        since their score shows whether they changed.
    """

    cells: Mapping[str, CourseCell]
    points: Mapping[str, float]
    suite: str
    questions: Mapping[str, tuple[float, str]]

    @classmethod
    def of(cls, coursedir: Any, assignment: Assignment) -> Basis:
        """Read from the course and the gradebook. Raises `CourseError` if the assignment was not released."""
        cells, answers = course_cells(coursedir, assignment), assignment.written_answers
        points = points_of(cells)
        graded = [name for name in assignment.graded_cells if name in points]
        questions = {name: (points[name], _digest(answers.get(name, ""))) for name in graded}
        return cls(cells, points, _digest(assignment.version + repr(sorted(points.items()))), questions)


class Graded:
    """What is graded of an assignment: by the gradebook, by its store, and by the autograded notebooks as they are.

    basis: what marks depend on now; None if any version of the course will do
    """

    def __init__(self, coursedir: Any, assignment: Assignment, basis: Basis | None = None) -> None:
        store, name = Store(Path(coursedir.root)), assignment.name
        self._coursedir, self.assignment, self._basis = coursedir, assignment, basis
        self.marks, self._notebooks = marks_now(coursedir, name), store.digests(name, NOTEBOOK)
        known = store.entries(name)
        self._made = {student: last(known[student], self.marks.get(student, {})).made for student in known}

    def made(self, student: str) -> MadeOf:
        """Of what the marks were made, as far as that is known."""
        return self._made.get(student, MadeOf())

    def is_known(self, student: str) -> bool:
        """Whether the store has a history of the student. It is lost if `marks.db` was."""
        return student in self._made

    def is_entered(self, student: str) -> bool:
        """True if the gradebook has the scores that are known."""
        return has_these(self.marks.get(student, {}), self.made(student))

    def is_same_work(self, submission: Submission) -> bool:
        """Whether this very submission has marks, as far as the history knows of them."""
        student = submission.student
        is_same = not self.is_known(student) or self.made(student).work == submission.stamp
        return student in self.marks and is_same

    def is_graded(self, submission: Submission) -> bool:
        """Whether work is graded already is decided here, for grading, exports and `return` alike."""
        student = submission.student
        if any(self._changes(submission)) or not self.is_entered(student):
            return False
        return self._notebooks.get(student) == digest_of(self.notebook(student))

    def notebook(self, student: str) -> Path:
        """The student's autograded notebook."""
        return autograded_folder(self._coursedir, student, self.assignment.name) / self.assignment.notebook.name

    def now(self, submission: Submission) -> MadeOf:
        """What its marks would be made of now. Preprocessors add the scores."""
        student, basis, coursedir = submission.student, self._basis, self._coursedir
        place = coursedir.format_path(coursedir.submitted_directory, student, submission.assignment)
        time = str(coursedir.get_existing_timestamp(place) or "")
        suite, questions = (basis.suite, dict(basis.questions)) if basis else (self.made(student).suite, {})
        return MadeOf(submission.stamp, submission.files_stamp, time, suite, questions, {}, {})

    def reason(self, submission: Submission) -> str:
        """Why it is graded now, for the history."""
        student = submission.student
        if student in self.marks and not self.is_known(student):
            return UNKNOWN
        return ", ".join(self._changes(submission)) or (AGAIN if self.is_entered(student) else ENTERED_AGAIN)

    def file_before(self, submission: Submission) -> Path | None:
        """Where in the folder the work lies that was graded last time, if it is in another file and none has changed.

        The course decides by its releases in which file there is work, so a change of the course can move that.
        """
        if submission.student not in self.marks or OTHER_FILE not in self._changes(submission):
            return None
        work = self.made(submission.student).work
        return next(file.place for file in submission.beside if file.stamp == work)

    def _changes(self, submission: Submission) -> Iterator[str]:
        """What has changed since marks were made, as reasons in the history for other ones."""
        before, now = self.made(submission.student), self.now(submission)
        if not before.work:
            yield FIRST
            return
        if before.work != now.work:
            is_there = before.files == now.files and before.work in {file.stamp for file in submission.beside}
            yield OTHER_FILE if is_there else NEW_SUBMISSION
        elif before.files != now.files:
            yield FILES_CHANGED
        if before.time != now.time and before.work == now.work:
            how = "was added" if not before.time else "has moved" if now.time else "has gone"
            yield f"the time of handing in {how}"
        if before.suite != now.suite:
            yield COURSE_CHANGED


def last(known: Sequence[Entry], marks: CellMarks) -> Entry:
    """The entry on the gradebook's marks: the last with these scores by tests, or else the last.

    It is not the last one after a regrade was undone, or an older copy of the gradebook was put back.
    """
    return next((entry for entry in reversed(known) if has_these(marks, entry.made)), known[-1])


def has_these(marks: CellMarks, made: MadeOf) -> bool:
    """True if the gradebook has these automatic scores. It does not if it is new, or was put back."""
    return bool(made.scores) and all(name in marks and marks[name].auto == made.scores[name] for name in made.scores)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def record(coursedir: Any, assignment: str, student: str, reason: str, note: str = "") -> None:
    """Add what the gradebook holds now for the same work, if that differs from the last entry. See `new_entry`."""
    if entry := new_entry(coursedir, assignment, student, reason, None, note):
        Store(Path(coursedir.root)).add(assignment, student, entry)


def new_entry(
    coursedir: Any, assignment: str, student: str, reason: str, made: MadeOf | None, note: str
) -> Entry | None:
    """What the gradebook holds now; None if that is as in the last entry.

    reason: why it changed
    made: of what; None if that is as it was
    """
    known = Store(Path(coursedir.root)).entries(assignment, student).get(student, [])
    marks = marks_now(coursedir, assignment, student).get(student)
    before = known[-1] if known else None
    if not marks:
        return None
    if made is None:
        made = last(known, marks).made if known else MadeOf()
    points, penalty, by_hand = _points(coursedir, assignment, student, marks)
    if before:
        if reason == BY_HAND and not _is_by_hand(before, points, by_hand):
            reason = GRADEBOOK_CHANGED
        if reason in (AGAIN, BY_HAND) and points == before.points and penalty != before.penalty:
            reason = LATE
    entry = Entry(
        datetime.now(UTC).replace(microsecond=0), _user(), __version__, reason,
        points, penalty, by_hand, note, made,
    )  # fmt: skip
    parts = ("points", "penalty", "by_hand", "made")
    is_same = before and not note and all(getattr(entry, key) == getattr(before, key) for key in parts)
    return None if is_same else entry


def _is_by_hand(before: Entry, points: Mapping[str, tuple[float, float]], by_hand: Collection[str]) -> bool:
    """True if what differs from the last entry is what a person graded, or no longer grades."""
    changed = {name for name in points.keys() | before.points.keys() if points.get(name) != before.points.get(name)}
    return not changed or not changed.isdisjoint({*by_hand, *before.by_hand})


def _points(
    coursedir: Any, assignment: str, student: str, marks: CellMarks
) -> tuple[dict[str, tuple[float, float]], float, tuple[str, ...]]:
    """Points, penalty, and what a person graded, from the gradebook."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        penalty = penalty_in(book.find_submission(assignment, student))
    marked = {exercise_name(name): mark for name, mark in marks.items() if (mark.auto, mark.manual) != (None, None)}
    by_hand = (name for name, mark in marked.items() if mark.manual is not None or mark.extra)
    return {name: (mark.score, mark.max_score) for name, mark in marked.items()}, penalty, tuple(sorted(by_hand))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
