"""A student's total: the scores that the gradebook adds up, less the penalty for late work.

nbgrader adds up automatic scores, or a person's in their place, and extra credit. All that shows a total (the feedback
page, `why`, exports, `return`, the class report, `regrade`) shows `total` of these, after `assign_penalties`. A
withdrawn exercise counts for everybody alike: extra credit makes up the difference to what a person gave, so that the
person's score stays in the gradebook, and nbgrader's own sums are right, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.apps.exportapp import ExportApp
from nbgrader.preprocessors import AssignLatePenalties, GetGrades

from autograder.course.assignments import Assignment, course_at
from autograder.course.source_notebook import exercise_name
from autograder.errors import CourseError
from autograder.nbgrader.gradebook_rows import due_date, penalty_in
from autograder.reports.rubric import points, total

_export = ExportApp.start


def extra_credit(manual: float | None, extra: float | None, max_score: float, withdrawn: bool) -> float | None:
    """A cell's extra credit. If it is withdrawn, all have its points: extra credit adds what a person's score lacks."""
    if not withdrawn:
        return extra
    return 0.0 if manual is None else max_score - manual


def count_manual_score(grade: Any, assignment: Assignment) -> None:
    """Give a grade of the gradebook the extra credit that it has with a person's score."""
    # Until marks are regraded, a withdrawn exercise may still have those of before.
    withdrawn = exercise_name(grade.name) in assignment.withdrawn and grade.auto_score == grade.max_score
    grade.extra_credit = extra_credit(grade.manual_score, grade.extra_credit, grade.max_score, withdrawn)


# ---------------------------------------------------------------- penalties for late work


def students_late(coursedir: Any, assignment: str) -> set[str]:
    """Students who are late now, or have a penalty. A due date may have moved, or an extension been granted since."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        found = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment.has(name=assignment))
        return {one.student_id for one in found if one.total_seconds_late > 0 or penalty_in(one)}


def assign_penalty(configured: Any, student: str, assignment: Assignment) -> None:
    """Compute nbgrader's penalty for late work again, from the present due date and marks.

    configured: a part of nbgrader that has the course's settings, such as a converter or its interface
    """
    names = {"student": student, "assignment": assignment.name, "notebook": assignment.notebook.stem}
    resources = {"nbgrader": names | {"db_url": configured.coursedir.db_url}}
    AssignLatePenalties(parent=configured).preprocess(new_notebook(), resources)


def assign_penalties(configured: Any, assignment: Assignment) -> None:
    """Compute all penalties again before totals are shown: a person may have changed marks since.

    A penalty may depend on the marks, and it is never more than they are. Raises `CourseError` if the plugin fails.
    """
    for student in sorted(students_late(configured.coursedir, assignment.name)):
        try:
            assign_penalty(configured, student, assignment)
        except Exception as error:
            raise CourseError(f"{_PLUGIN} fails: {type(error).__name__}: {error}") from None


def penalty_of(configured: Any, student: str, score: float, seconds_late: float) -> float:
    """The penalty that a score would have. Raises `CourseError` if the plugin fails."""
    if seconds_late <= 0:
        return 0.0
    late = AssignLatePenalties(parent=configured)
    try:
        late.init_plugin()
        found = late.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return float(late._check_late_penalty(SimpleNamespace(score=score), found or 0.0))
    except Exception as error:
        raise CourseError(f"{_PLUGIN} fails: {type(error).__name__}: {error}") from None


NO_DUE_DATE = '{name} has no due date; nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets one'
_PLUGIN = "the plugin for late work (c.AssignLatePenalties.plugin_class)"


def check_penalty_plugin(converter: Any) -> None:
    """Load the course's plugin for late work before anybody is graded. Raises `CourseError` if that fails."""
    try:
        AssignLatePenalties(parent=converter).init_plugin()
    except Exception as error:
        raise CourseError(f"{_PLUGIN} cannot be used: {type(error).__name__}: {error}") from None


def no_due_date(converter: Any) -> list[str]:
    """A sentence if the course has penalties for late work, and the gradebook has no due date."""
    name, config = converter.coursedir.assignment_id, converter.config
    if not (config.AssignLatePenalties or config.LateSubmissionPlugin) or due_date(converter.coursedir, name):
        return []
    return [f"nobody is late: {NO_DUE_DATE.format(name=name)}"]


# ---------------------------------------------------------------- what is behind a total, in words


def messages_of_marks(coursedir: Any) -> dict[tuple[str, str], str]:
    """By (assignment, student): the total of late work and of manual grades, and its parts."""
    found = {}
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for one in book.db.query(SubmittedAssignment):
            if reasons := list(_reasons(one)):
                score = sum(total(notebook.score, notebook.late_submission_penalty) for notebook in one.notebooks)
                said = f"{points(score)} of {points(one.max_score)} in the gradebook"
                found[one.name, one.student_id] = "; ".join([said, *reasons])
    return found


def _reasons(submission: Any) -> Iterator[str]:
    """Why the gradebook's total differs from the tests' marks; empty if it does not."""
    penalty = penalty_in(submission)
    if submission.total_seconds_late > 0:
        hours = submission.total_seconds_late / 3600
        late = f"{hours / 24:.1f} days " if hours >= 48 else f"{hours:.1f} hours " if hours >= 0.05 else ""
        yield f"{late}late" + (f", {penalty:g} points less" if penalty else "")
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    by_hand = {grade.name: grade.manual_score for grade in grades if grade.manual_score is not None}
    extra = {grade.name: grade.extra_credit for grade in grades if grade.extra_credit and grade.score}
    for words, scores in (("by hand", by_hand), ("extra credit", extra)):
        if scores:
            shown = (f"{exercise_name(name)} {score:g}" for name, score in sorted(scores.items()))
            yield f"{words}: {', '.join(shown)}"


def not_graded_yet(notebook: Any) -> list[str]:
    """Cells that wait for a person, and have no score from tests either."""
    return [
        grade.name
        for grade in notebook.grades
        if grade.needs_manual_grade and grade.manual_score is None and grade.auto_score is None
    ]


def to_look_at_again(notebook: Any) -> list[str]:
    """Cells whose score by a person counts, although what it was given for has changed since."""
    return [grade.name for grade in notebook.grades if grade.needs_manual_grade and grade.manual_score is not None]


def still_open(notebooks: Sequence[Any]) -> str:
    """Why a sum of points is not final, as the end of a sentence; empty if it is."""
    waiting, again = (
        sorted(exercise_name(name) for notebook in notebooks for name in find(notebook))
        for find in (not_graded_yet, to_look_at_again)
    )
    parts = [f"{', '.join(waiting)} {'are' if len(waiting) > 1 else 'is'} not graded yet"] if waiting else []
    parts += [f"a person's points for {', '.join(again)} are for an earlier answer"] if again else []
    return f"so far, since {' and '.join(parts)}" if parts else ""


# ---------------------------------------------------------------- nbgrader's own pages and exports


class ShownGrades(GetGrades):
    """nbgrader's own, but no total is below 0."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Put grades and comments into a notebook from which a page is made."""
        nb, resources = super().preprocess(nb, resources)
        shown = resources["nbgrader"]
        shown["score"] = total(shown["score"] + shown["late_penalty"], shown["late_penalty"])
        return nb, resources


def export_after_penalties(self: Any) -> None:
    """nbgrader's `export`, after all penalties for late work were computed again."""
    try:
        for assignment in course_at(Path(self.coursedir.root)).assignments.values():
            assign_penalties(self, assignment)
    except CourseError as error:
        self.fail(str(error))
    _export(self)
