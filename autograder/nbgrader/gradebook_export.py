"""Marks of nbgrader's gradebook: a row for each exercise or written question, with manual grades and late penalties.

    nbgrader export --exporter=autograder.nbgrader.gradebook_export.Exercises --to=exercises.csv

nbgrader's own table, here `Totals`, has one row for each assignment, and no exercises.

Each student of the gradebook has a row in each assignment. `problem` says why there are no marks, or only those of
earlier work: nothing was handed in, it cannot be graded, or it has not been graded yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin, ExportPlugin

from autograder.course.assignments import course_at
from autograder.course.source_notebook import exercise_name
from autograder.discovery import submission_in
from autograder.nbgrader.gradebook_rows import autograded_folder, comments_of, has_scores
from autograder.nbgrader.history import Graded
from autograder.reports.marks_file import as_csv, write
from autograder.reports.roster import NOTHING
from autograder.submission import why_unreadable

HEAD = ("student", "assignment", "exercise", "score", "max_score", "auto_score", "manual_score", "extra_credit",
        "needs_manual_grade", "comment", "late_submission_penalty", "timestamp", "problem")  # fmt: skip
NBGRADERS_HEAD = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
                  "late_submission_penalty", "score", "max_score")  # fmt: skip
NOT_YET = "handed in, but not graded yet; run nbgrader autograde"
OLDER = "these are marks of earlier work: "


class Totals(CsvExportPlugin):
    """nbgrader's own table, but a name with a comma keeps its columns, and no spreadsheet runs a name as a formula."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file named with `--to`, or `grades.csv`. `--assignment` and `--student` select rows."""
        rows = (
            ["" if value is None else value for value in _total(assignment, student)]
            for assignment in gradebook.assignments
            if not self.assignment or assignment.name in self.assignment
            for student in gradebook.students
            if not self.student or student.id in self.student
        )
        path = Path(self.to or "grades.csv")
        write(path, as_csv(NBGRADERS_HEAD, rows))
        self.log.info("Exported grades to %s", path)


def _total(assignment: Any, student: Any) -> tuple[object, ...]:
    person = (student.id, student.last_name, student.first_name, student.email)
    found = next((one for one in assignment.submissions if one.student_id == student.id), None)
    if found is None:
        return assignment.name, assignment.duedate, None, *person, 0.0, 0.0, 0.0, assignment.max_score
    score, penalty = found.score, found.late_submission_penalty
    marks = (score, penalty, max(0.0, score - penalty), assignment.max_score)
    return assignment.name, assignment.duedate, found.timestamp, *person, *marks


class Exercises(ExportPlugin):
    """One row for each exercise. A late penalty is the notebook's: it is in its first row, and not subtracted."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file named with `--to`, or `grades.csv`. `--assignment` and `--student` select rows."""
        rows = (
            row
            for status in grading_statuses(gradebook, self.parent.coursedir)
            if (not self.assignment or status.assignment in self.assignment)
            and (not self.student or status.student.id in self.student)
            for row in _rows(status)
        )
        path = Path(self.to or "grades.csv")
        write(path, as_csv(HEAD, rows))
        self.log.info("Exported exercises to %s", path)


def _rows(status: GradingStatus) -> Iterator[tuple[object, ...]]:
    student, assignment, submission = status.student.id, status.assignment, status.submission
    if submission is None:
        yield student, assignment, "", "", status.max_score, "", "", "", "", "", "", "", status.problem
        return
    for notebook in submission.notebooks:
        comments, penalty = comments_of(notebook), notebook.late_submission_penalty or 0.0
        for grade in notebook.grades:
            name = exercise_name(grade.name)
            scores = (grade.score, grade.max_score, grade.auto_score, grade.manual_score, grade.extra_credit)
            waits = "yes" if grade.needs_manual_grade else "no"
            late = (penalty, submission.timestamp or "")
            yield student, assignment, name, *scores, waits, comments[grade.name], *late, status.problem
            penalty = 0.0


@dataclass(frozen=True)
class GradingStatus:
    """One student in one assignment. `submission` is nbgrader's, None if there are no marks; `problem` says why."""

    student: Any
    assignment: str
    max_score: float
    submission: Any | None
    problem: str


def grading_statuses(book: Gradebook, coursedir: Any) -> Iterator[GradingStatus]:
    """Every student of the gradebook in each released assignment. `book` must stay open while this is read."""
    ours = course_at(Path(coursedir.root)).assignments
    students = sorted(book.students, key=lambda student: str(student.id))
    for assignment in book.assignments:
        submissions = {submission.student_id: submission for submission in assignment.submissions}
        max_score, own = assignment.max_score, ours.get(assignment.name)
        graded = Graded(coursedir, own) if own else None
        for student in students:
            submission = submissions.get(student.id)
            autograded = autograded_folder(coursedir, student.id, assignment.name)
            if submission is not None and not has_scores(submission) and not os.path.lexists(autograded):
                submission = None  # only an extension was granted
            problem = _problem(coursedir, student.id, graded, submission is not None)
            yield GradingStatus(student, assignment.name, max_score, submission, problem)


def _problem(coursedir: Any, student: str, graded: Graded | None, has_marks: bool) -> str:
    if graded is None:
        return "" if has_marks else NOTHING
    folder = Path(coursedir.format_path(coursedir.submitted_directory, student, graded.assignment.name))
    if not os.path.lexists(folder):
        return "" if has_marks else NOTHING
    submission = submission_in(student, folder, graded.assignment)
    if has_marks and submission.problem is None and graded.is_graded(submission):
        return ""
    reason = submission.problem or why_unreadable(submission.path)
    if has_marks:
        return OLDER + (reason or NOT_YET)
    return f"could not be graded: {reason}" if reason else NOT_YET
