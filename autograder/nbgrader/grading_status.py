"""How each student of the gradebook stands in each assignment: graded, or why there are no marks, or older ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import Assignment, course_at
from autograder.discovery import of_assignment
from autograder.errors import SubmissionError
from autograder.reports.roster import NOTHING
from autograder.submission import read_notebook

NOT_YET = "handed in, and not graded yet; run nbgrader autograde"
OLDER = "these are marks of earlier work: "


@dataclass(frozen=True)
class GradingStatus:
    """One student in one assignment. `submission` is nbgrader's, None if there are no marks; `problem` says why."""

    student: Any
    assignment: str
    max_score: float
    submission: Any | None
    problem: str


def grading_statuses(book: Gradebook, coursedir: Any) -> Iterator[GradingStatus]:
    """Everybody in the gradebook, in each assignment that was released. `book` stays open as long as they are read."""
    ours = course_at(Path(coursedir.root)).assignments()
    students = sorted(book.students, key=lambda one: str(one.id))
    for assignment in book.assignments:
        submissions = {one.student_id: one for one in assignment.submissions}
        worth = assignment.max_score
        for student in students:
            submission = submissions.get(student.id)
            if submission is not None and not any(True for notebook in submission.notebooks for _ in notebook.grades):
                submission = None  # an extension was granted, and nothing else
            problem = _problem(coursedir, student.id, ours.get(assignment.name), submission is not None)
            yield GradingStatus(student, assignment.name, worth, submission, problem)


def _problem(coursedir: Any, student: str, assignment: Assignment | None, has_marks: bool) -> str:
    if assignment is None:
        return "" if has_marks else NOTHING
    folder = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment.name))
    if not os.path.lexists(folder):
        return "" if has_marks else NOTHING
    autograded = Path(coursedir.format_path(coursedir.autograded_directory, student, assignment.name))
    (submission,) = of_assignment(student, folder, assignment)
    graded = autograded / assignment.notebook.name
    if has_marks and submission.problem is None and _is_newer(graded, submission.path):
        return ""
    reason = submission.problem or _unreadable(submission.path)
    if has_marks:
        return OLDER + (reason or NOT_YET)
    return f"could not be graded: {reason}" if reason else NOT_YET


def _is_newer(path: Path, other: Path) -> bool:
    try:
        return path.stat().st_mtime >= other.lstat().st_mtime
    except OSError:
        return False


def _unreadable(path: Path) -> str:
    try:
        read_notebook(path)
    except SubmissionError as error:
        return str(error)
    return ""
