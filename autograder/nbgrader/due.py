"""Due dates: extensions for single students, and where students see when work is due."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import ExchangeReleaseAssignment

from autograder.course import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader.autograde import Autograde
from autograder.nbgrader.gradebook_rows import assign_penalty, due_date

FILE = "DUE.txt"  # beside a released notebook in the exchange
NONE = '{name} has no due date; nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets one'
_LIST = re.compile(r'(<div id="toc">)')
_release = ExchangeReleaseAssignment.copy_files


def shown(when: datetime) -> str:
    """A time of the gradebook, which keeps UTC."""
    return f"{when:%Y-%m-%d %H:%M} UTC"


def extend(nbgrader: Any, assignment: Assignment, student: str, longer: timedelta) -> datetime:
    """Give a student more time than the others, in place of an earlier extension; work that is in loses its penalty.

    Returns when it is due. Raises `AutograderError` if there is no due date, or nobody of this name.
    """
    coursedir, name = nbgrader.coursedir, assignment.name
    due = due_date(coursedir, name)
    if due is None:
        raise AutograderError(NONE.format(name=name))
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            book.find_student(student)
        except MissingEntry:
            raise AutograderError(
                f"the gradebook knows no {student}; autograder roster enters who is in class"
            ) from None
        book.update_or_create_submission(name, student)
        book.grant_extension(name, student, minutes=longer.total_seconds() / 60)
        graded = any(book.find_submission(name, student).notebooks[0].grades)
    if graded:
        assign_penalty(Autograde(coursedir=coursedir, parent=nbgrader), student, assignment)
    return due + longer


def due_line(info: Mapping[str, str]) -> str:
    """When a submission was due, with its extension, and when it came; empty without a due date."""
    with Gradebook(info["db_url"]) as book:
        try:
            submission = book.find_submission(info["assignment"], info["student"])
        except MissingEntry:
            return ""
        if submission.assignment.duedate is None:
            return ""
        extended = ", with your extension" if submission.extension else ""
        came = f" Handed in: {shown(submission.timestamp)}." if submission.timestamp else ""
        return f"Due: {shown(submission.duedate)}{extended}.{came}"


def with_due_line(page: str, line: str) -> str:
    """The page with the line above its list of exercises."""
    return _LIST.sub(rf"<p>{line}</p>\1", page, count=1) if line else page


def release(self: Any) -> None:
    """nbgrader's own, and beside the notebook a file that says when it is due."""
    _release(self)
    due = due_date(self.coursedir, self.coursedir.assignment_id)
    if due is not None:
        path = Path(self.dest_path, FILE)
        path.write_text(f"{self.coursedir.assignment_id} is due {shown(due)}.\n", encoding="utf-8")
        path.chmod(0o644)


def release_with_due_dates() -> None:
    """From now on nbgrader's `release_assignment` writes due dates."""
    ExchangeReleaseAssignment.copy_files = release
