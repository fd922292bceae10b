"""The history of each student's marks, and what follows from it: whether work is graded, and why a mark has changed."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder import __version__
from autograder.course.assignments import Assignment
from autograder.course.source_notebook import CHECK
from autograder.nbgrader.gradebook_rows import CellMarks, autograded_folder, marks_now, penalty_in
from autograder.nbgrader.hardening.files import digest_of
from autograder.reports.store import NOTEBOOK, Entry, MadeOf, Store
from autograder.submission import Submission

# Reasons of entries.
FIRST, AGAIN, LATE, BY_HAND = "first grading", "graded again", "late", "manual grade"
NEW_SUBMISSION, OTHER_FILE = "another submission", "another file of the same folder"
FILES_CHANGED, COURSE_CHANGED = "other files beside the notebook", "the course has changed"
UNKNOWN = "the history begins again"  # such as after `marks.db` was lost
ENTERED_AGAIN = "the gradebook did not have these marks"
ELSEWHERE = "the gradebook was changed"  # such as by an older copy of it


class Graded:
    """What is graded of an assignment: by the gradebook, by its store, and by the autograded notebooks as they are."""

    def __init__(self, coursedir: Any, assignment: Assignment) -> None:
        store, name = Store(Path(coursedir.root)), assignment.name
        self._coursedir, self.assignment = coursedir, assignment
        self.marks, self._notebooks = marks_now(coursedir, name), store.digests(name, NOTEBOOK)
        known = store.entries(name)
        self.entries = {student: last(known[student], self.marks.get(student, {})) for student in known}

    def made(self, student: str) -> MadeOf:
        """Of what the marks were made, as far as that is known."""
        return self.entries[student].made if student in self.entries else MadeOf()

    def is_entered(self, student: str) -> bool:
        """True if the gradebook has the scores that are known."""
        return has_these(self.marks.get(student, {}), self.made(student))

    def is_graded(self, submission: Submission, suite: str | None = None) -> bool:
        """Whether work is graded already is decided here, for grading, exports and `return` alike.

        suite: by this version of the course; None for any
        """
        student, name = submission.student, submission.assignment
        notebook = autograded_folder(self._coursedir, student, name) / self.assignment.notebook.name
        before = self.made(student)
        now = made_of(self._coursedir, submission, before.suite if suite is None else suite)
        if any(changes(before, now, submission)) or not self.is_entered(student):
            return False
        return self._notebooks.get(student) == digest_of(notebook)


def made_of(
    coursedir: Any, submission: Submission, suite: str, cells: Mapping[str, tuple[float, str]] | None = None
) -> MadeOf:
    """What a submission's marks would be made of now. Preprocessors add the scores."""
    place = coursedir.format_path(coursedir.submitted_directory, submission.student, submission.assignment)
    time = coursedir.get_existing_timestamp(place)
    return MadeOf(submission.stamp, submission.files, str(time or ""), suite, dict(cells or {}), {}, {})


def last(known: Sequence[Entry], marks: CellMarks) -> Entry:
    """The entry on the gradebook's marks: the last with these scores by tests, or else the last.

    It is not the last one after a regrade was undone, or an older copy of the gradebook was put back.
    """
    return next((entry for entry in reversed(known) if has_these(marks, entry.made)), known[-1])


def has_these(marks: CellMarks, made: MadeOf) -> bool:
    """True if the gradebook has these automatic scores. It does not if it is new, or was put back."""
    return bool(made.scores) and all(name in marks and marks[name].auto == made.scores[name] for name in made.scores)


def changes(before: MadeOf, now: MadeOf, submission: Submission) -> Iterator[str]:
    """What has changed since marks were made, as reasons in the history for other ones."""
    if not before.work:
        yield FIRST
        return
    if before.work != now.work:
        is_there = before.files == now.files and before.work in {file.stamp for file in submission.beside}
        yield OTHER_FILE if is_there else NEW_SUBMISSION
    elif before.files != now.files:
        yield FILES_CHANGED
    if before.time != now.time and before.work == now.work:
        yield f"the time of handing in {'was added' if not before.time else 'has moved' if now.time else 'has gone'}"
    if before.suite != now.suite:
        yield COURSE_CHANGED


def record(
    coursedir: Any, assignment: str, student: str, reason: str, made: MadeOf | None = None, note: str = ""
) -> None:
    """Add what the gradebook holds now, if that differs from the last entry. For the rest see `new_entry`."""
    if entry := new_entry(coursedir, assignment, student, reason, made, note):
        Store(Path(coursedir.root)).add(assignment, student, entry)


def new_entry(
    coursedir: Any, assignment: str, student: str, reason: str, made: MadeOf | None = None, note: str = ""
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
            reason = ELSEWHERE
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
    marked = {
        name.removeprefix(CHECK): mark for name, mark in marks.items() if (mark.auto, mark.manual) != (None, None)
    }
    by_hand = (name for name, mark in marked.items() if mark.manual is not None or mark.extra)
    return {name: (mark.score, mark.max_score) for name, mark in marked.items()}, penalty, tuple(sorted(by_hand))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
