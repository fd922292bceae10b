"""Marks of nbgrader's gradebook: a row for each exercise or written question, with manual grades and late penalties.

    nbgrader export --exporter=autograder.nbgrader.gradebook_export.Exercises --to=exercises.csv

nbgrader's own exporter has one row for each assignment, and no exercises.

Whoever is in the gradebook has a row in each assignment. `problem` says why somebody has no marks, or has those of
earlier work: nothing was handed in, or it cannot be graded, or it has not been graded yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from autograder.course import CHECK
from autograder.nbgrader.grading_status import GradingStatus, grading_statuses
from autograder.reports.marks_file import as_csv, write

HEAD = ("student", "assignment", "exercise", "score", "max_score", "auto_score", "manual_score", "extra_credit",
        "needs_manual_grade", "comment", "late_submission_penalty", "timestamp", "problem")  # fmt: skip


class Exercises(ExportPlugin):
    """One row for each exercise. The late penalty is the notebook's: it is in each of its rows, and not subtracted."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file named with `--to`, `grades.csv` if none is."""
        coursedir = self.parent.coursedir
        rows = (row for one in grading_statuses(gradebook, coursedir) if _is_asked_for(one, self) for row in _rows(one))
        path = Path(self.to or "grades.csv")
        write(path, as_csv(HEAD, rows))
        self.log.info("Exported exercises to %s", path)


def _is_asked_for(one: GradingStatus, plugin: ExportPlugin) -> bool:
    """`--assignment` and `--student` choose among them, as with nbgrader's own exporter."""
    return (not plugin.assignment or one.assignment in plugin.assignment) and (
        not plugin.student or one.student.id in plugin.student
    )


def _rows(one: GradingStatus) -> Iterator[tuple[object, ...]]:
    submission = one.submission
    if submission is None:
        yield one.student.id, one.assignment, "", "", one.max_score, "", "", "", "", "", "", "", one.problem
        return
    for notebook in submission.notebooks:
        comments = {comment.name: comment.comment or "" for comment in notebook.comments}
        for grade in notebook.grades:
            name = grade.name.removeprefix(CHECK)
            yield (
                one.student.id,
                one.assignment,
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
                one.problem,
            )
