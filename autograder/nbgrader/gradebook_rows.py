"""What nbgrader's gradebook says of a class beside the marks of one run: points, lateness, what a page is made of."""

from __future__ import annotations

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat.v4 import new_notebook
from nbgrader.api import Comment, Grade, Gradebook, InvalidEntry, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import SQLAlchemyError

from autograder.course import CHECK, Assignment
from autograder.discovery import name_problem
from autograder.errors import CourseError
from autograder.reports.roster import Person

PLUGIN = "the plugin for late work (c.AssignLatePenalties.plugin_class)"


def points_that_differ(coursedir: Any, assignment: Assignment) -> Iterator[str]:
    """A sentence for each cell that is worth something else in the source notebook than in the gradebook."""
    name = assignment.name
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            found = book.find_assignment(name)
        except MissingEntry:
            return
        known = {cell.name: cell.max_score for notebook in found.notebooks for cell in notebook.grade_cells}
        graded = bool(found.num_submissions)
    look, take = f"`autograder regrade {name}` shows what that changes", f"`nbgrader generate_assignment {name}`"
    for cell, points in assignment.graded_cells.items():
        if known.get(cell) != points:
            counts = f"{known[cell]:g} in the gradebook, which counts here" if cell in known else "not in the gradebook"
            remedy = look if graded else f"{take} takes that over"
            yield f"{name}: {cell.removeprefix(CHECK)} is worth {points:g} in source/ and {counts}; {remedy}"


def due_date(coursedir: Any, assignment: str) -> datetime | None:
    """When an assignment is due, in UTC; None if the gradebook does not say."""
    with contextlib.suppress(MissingEntry), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        due: datetime | None = book.find_assignment(assignment).duedate
        return due
    return None


def students_late(coursedir: Any, assignment: str) -> set[str]:
    """Who handed in late, or has a penalty: a due date may have moved, or an extension been granted since."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return {
            one.student_id
            for one in book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment.has(name=assignment))
            if one.total_seconds_late > 0 or any(notebook.late_submission_penalty for notebook in one.notebooks)
        }


def assign_penalty(converter: Any, student: str, assignment: Assignment) -> None:
    """nbgrader's own penalty for late work, worked out anew from today's due date and marks."""
    names = {"student": student, "assignment": assignment.name, "notebook": assignment.notebook.stem}
    resources = {"nbgrader": names | {"db_url": converter.coursedir.db_url}}
    AssignLatePenalties(parent=converter).preprocess(new_notebook(), resources)


def look_at_penalty(converter: Any) -> None:
    """Load the course's plugin for late work before anybody is graded. Raises `CourseError` if that fails."""
    try:
        AssignLatePenalties(parent=converter).init_plugin()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise CourseError(
            f"the plugin for late work (c.AssignLatePenalties.plugin_class) cannot be used: {said}"
        ) from None


def know_student(coursedir: Any, student: str) -> None:
    """Enter somebody who cannot be graded, so that nbgrader's own pages and exports name them.

    If the gradebook cannot be written, that may be why they could not be graded; the reason has been told.
    """
    if name_problem(student) is None:
        with (
            contextlib.suppress(SQLAlchemyError, InvalidEntry),
            Gradebook(coursedir.db_url, coursedir.course_id) as book,
        ):
            book.update_or_create_student(student)


def enter_students(coursedir: Any, people: Collection[Person]) -> int:
    """Names and addresses into the gradebook, where formgrader shows them. Returns how many it did not know before."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        known = {student.id for student in book.students}
        for one in people:
            told = {"first_name": one.first_name, "last_name": one.last_name, "email": one.email}
            book.update_or_create_student(one.id, **{key: value for key, value in told.items() if value})
        return len({one.id for one in people} - known)


def messages_of_marks(coursedir: Any) -> dict[tuple[str, str], str]:
    """By (assignment, student): how late the work was and what that cost, and which cells a person has graded."""
    found = {}
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for submission in book.db.query(SubmittedAssignment):
            told = list(_told_of(submission))
            if told:
                found[submission.name, submission.student_id] = "; ".join(told)
    return found


def _told_of(submission: Any) -> Iterator[str]:
    penalty = sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)
    if submission.total_seconds_late > 0:
        hours = submission.total_seconds_late / 3600
        late = f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"
        yield f"{late} late" + (f", {penalty:g} points less" if penalty else "")
    by_hand = {
        grade.name.removeprefix(CHECK): grade.manual_score
        for notebook in submission.notebooks
        for grade in notebook.grades
        if grade.manual_score is not None
    }
    if by_hand:
        yield "by hand: " + ", ".join(f"{name} {score:g}" for name, score in sorted(by_hand.items()))


def page_stamps(coursedir: Any, assignment: str) -> dict[str, str]:
    """For each graded student a word that changes with whatever their feedback page shows."""
    told: dict[str, list[str]] = defaultdict(list)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        of_assignment = SubmittedAssignment.assignment.has(name=assignment)
        for table, *columns in (
            (Grade, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.cell_id),
            (Comment, Comment.auto_comment, Comment.manual_comment, Comment.cell_id),
        ):
            found = (
                book.db.query(SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty, *columns)
                .select_from(SubmittedAssignment)
                .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .join(table, table.notebook_id == SubmittedNotebook.id)
                .filter(of_assignment)
            )
            for student, *row in found:
                told[student].append(repr(tuple(row)))
        points = sorted(
            (cell.name, cell.max_score)
            for notebook in book.find_assignment(assignment).notebooks
            for cell in [*notebook.grade_cells, *notebook.task_cells]
        )
        due = {
            one.student_id: repr((one.timestamp, one.assignment.duedate and one.duedate))
            for one in book.find_assignment(assignment).submissions
        }
    return {
        student: _stamp(coursedir, assignment, student, [repr(points), due[student], *sorted(rows)])
        for student, rows in told.items()
    }


def _stamp(coursedir: Any, assignment: str, student: str, rows: list[str]) -> str:
    digest = hashlib.sha256("\n".join(rows).encode("utf-8", "replace"))
    folder = Path(coursedir.format_path(coursedir.autograded_directory, student, assignment))
    for path in sorted(folder.glob("*.ipynb")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def marks_kept(coursedir: Any, assignment: str, student: str) -> Iterator[None]:
    """Give back the automatic marks of a submission that are taken away inside."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        before = {
            grade.id: (grade.auto_score, grade.needs_manual_grade) for grade in grades_of(book, assignment, student)
        }
    yield
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for grade in grades_of(book, assignment, student):
            grade.auto_score, grade.needs_manual_grade = before.get(grade.id, (None, False))
        book.db.commit()


def grades_of(book: Gradebook, assignment: str, student: str) -> list[Any]:
    """A submission's rows of marks; none if there is no submission."""
    with contextlib.suppress(MissingEntry):
        return [grade for notebook in book.find_submission(assignment, student).notebooks for grade in notebook.grades]
    return []
