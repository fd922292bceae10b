"""Due dates, and extensions for single students."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.dbapp import DbAssignmentAddApp

from autograder.course.assignments import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader.gradebook_rows import due_date, has_scores
from autograder.nbgrader.totals import NO_DUE_DATE, assign_penalty

_add = DbAssignmentAddApp.start


def shown(when: datetime) -> str:
    """A time of the gradebook as a text. The gradebook's times are in UTC."""
    return f"{when:%Y-%m-%d %H:%M} UTC"


def extend(nbgrader: Any, assignment: Assignment, student: str, longer: timedelta) -> datetime:
    """Give a student more time. This replaces an earlier extension and computes a penalty again.

    longer: how much longer than the others have
    Returns when the work is due. Raises `AutograderError` if there is no due date, or no such student.
    """
    coursedir, name = nbgrader.coursedir, assignment.name
    due = due_date(coursedir, name)
    if due is None:
        raise AutograderError(NO_DUE_DATE.format(name=name))
    try:
        when = due + longer
    except OverflowError:
        raise AutograderError(f"{name} is due {shown(due)}; no date is {longer.days} days later") from None
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            book.find_student(student)
        except MissingEntry:
            raise AutograderError(f"the gradebook has no {student}; autograder roster enters the class") from None
        book.update_or_create_submission(name, student)
        book.grant_extension(name, student, minutes=longer.total_seconds() / 60)
        graded = has_scores(book.find_submission(name, student))
    if graded:
        assign_penalty(nbgrader, student, assignment)
    return when


def add_assignment(self: Any) -> None:
    """nbgrader's own, but a due date that cannot be read is one sentence."""
    try:
        _add(self)
    except AutograderError as error:
        self.fail(f"--duedate: {error}")
