"""Marks of nbgrader's gradebook: a row for each exercise or written question, with manual grades and late penalties.

    nbgrader export --exporter=autograder.nbgrader.gradebook_export.Exercises --to=exercises.csv

nbgrader's own exporter has one row for each assignment, and no exercises.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from autograder.course import CHECK
from autograder.reports.marks_file import as_csv, write

HEAD = ("student", "assignment", "exercise", "score", "max_score", "auto_score", "manual_score", "extra_credit",
        "needs_manual_grade", "comment", "late_submission_penalty", "timestamp")  # fmt: skip


class Exercises(ExportPlugin):
    """One row for each exercise. The late penalty is the notebook's: it is in each of its rows, and not subtracted."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file named with `--to`, `grades.csv` if none is."""
        rows = (row for submission in _submissions(gradebook, self) for row in _rows(submission))
        path = Path(self.to or "grades.csv")
        write(path, as_csv(HEAD, rows))
        self.log.info("Exported exercises to %s", path)


def _submissions(gradebook: Gradebook, plugin: ExportPlugin) -> Iterator[Any]:
    """`--assignment` and `--student` choose among them, as with nbgrader's own exporter."""
    for assignment in gradebook.assignments:
        if plugin.assignment and assignment.name not in plugin.assignment:
            continue
        for submission in sorted(assignment.submissions, key=lambda one: one.student.id):
            if not plugin.student or submission.student.id in plugin.student:
                yield submission


def _rows(submission: Any) -> Iterator[tuple[object, ...]]:
    for notebook in submission.notebooks:
        comments = {comment.name: comment.comment or "" for comment in notebook.comments}
        for grade in notebook.grades:
            name = grade.name.removeprefix(CHECK)
            yield (
                submission.student.id,
                submission.assignment.name,
                name,
                grade.score,
                grade.max_score,
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit,
                "yes" if grade.needs_manual_grade else "no",
                comments.get(grade.name) or comments.get(name, ""),
                notebook.late_submission_penalty or 0.0,
                submission.timestamp or "",
            )
