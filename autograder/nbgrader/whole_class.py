"""Grades a whole class into nbgrader's gradebook: `Autograde` for each assignment, and optional feedback pages."""

from __future__ import annotations

import contextlib
import functools
import glob
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.converters.base import NbGraderException
from nbgrader.utils import temp_attrs

from autograder.course.assignments import Assignment, Course
from autograder.discovery import closed_folders
from autograder.errors import CourseError
from autograder.nbgrader import api
from autograder.nbgrader.autograde import Autograde
from autograder.nbgrader.feedback import GenerateFeedback
from autograder.nbgrader.gradebook_rows import autograded_folder, page_stamps
from autograder.nbgrader.outcomes import NotAll, SubmissionOutcome
from autograder.nbgrader.totals import assign_penalties
from autograder.reports.store import PAGE, Store
from autograder.text import one_line
from autograder.worker.pool import OnWait, not_waiting


def grade_into_gradebook(
    course: Course,
    assignments: Sequence[Assignment],
    settings: Mapping[str, Any],
    sandbox: str,
    *,
    feedback: bool = False,
    on_graded: Callable[[SubmissionOutcome], None] = lambda outcome: None,
    on_notice: Callable[[str], None] = lambda notice: None,
    on_page: Callable[[], None] = lambda: None,
    on_wait: OnWait = not_waiting,
) -> list[SubmissionOutcome]:
    """Grade what was submitted and has changed. Returns the outcome of each submission that was looked at.

    settings: traits of `Autograde` (`jobs`, `scheduler`, `force`, `accept_changes`)
    on_graded: called with each outcome; on_notice: with a sentence on what an instructor should look into
    on_page: called once for each outcome, when its page is made or already up to date
    Raises `CourseError` if no assignment can be graded, for example because none was released, or another run is under
    way.
    """
    nbgrader = api(course.root)
    nbgrader.config.Mark.sandbox = sandbox
    # A log of this run's own, since all code in the process shares nbgrader's. Outcomes are returned, not logged.
    nbgrader.log = logging.Logger(__name__)
    nbgrader.log.disabled = True
    outcomes, errors = list[SubmissionOutcome](), list[CourseError]()
    students = {assignment.name: _students(course, assignment) for assignment in assignments}
    new_converter = functools.partial(Autograde, coursedir=nbgrader.coursedir, parent=nbgrader, **settings)
    with contextlib.closing(new_converter().open_workers(sum(map(len, students.values())), on_wait)) as workers:
        for assignment in assignments:
            converter = new_converter()
            converter.on_graded, converter.workers = on_graded, workers
            try:
                found = _grade_all(nbgrader, assignment, converter)
            except NbGraderException as error:  # the other assignments are still graded
                errors.append(CourseError(str(error)))
                reason = one_line(str(error))
                outcomes += [SubmissionOutcome(name, assignment.name, reason) for name in students[assignment.name]]
                continue
            for notice in converter.notices:
                on_notice(notice)
            outcomes += with_pages(nbgrader, assignment.name, found, on_page) if feedback else found
    if errors and len(errors) == len(assignments):
        raise errors[0]
    return outcomes


def _grade_all(nbgrader: Any, assignment: Assignment, converter: Autograde) -> list[SubmissionOutcome]:
    """Grade one assignment, and compute all penalties again. Raises `NbGraderException` if nobody can be graded."""
    with temp_attrs(nbgrader.coursedir, assignment_id=assignment.name, student_id="*"):
        with contextlib.suppress(NotAll):  # the outcomes contain it
            converter.start()
        with contextlib.suppress(CourseError):  # the plugin fails; the outcomes name the students
            assign_penalties(nbgrader, assignment)
    return converter.outcomes


def _students(course: Course, assignment: Assignment) -> list[str]:
    return sorted(path.parent.name for path in (course.root / "submitted").glob(f"*/{glob.escape(assignment.name)}"))


def submitted(course: Course, only: str | None) -> list[tuple[Assignment, int]]:
    """Assignments with submissions, and how many each has. Raises `CourseError` if there is no submission."""
    folder = course.root / "submitted"
    closed = len(list(closed_folders(folder)))  # unknown contents, so each counts in every assignment
    found = []
    for name, assignment in course.assignments.items():
        count = len(_students(course, assignment))
        if count and only in (None, name):
            found.append((assignment, count + closed))
    if not found:
        raise CourseError(f"{folder}: nothing handed in; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
    return found


def old_pages(coursedir: Any, assignment: str) -> list[str]:
    """Whose pages are missing, or no longer show what is in the gradebook, of all students that have graded work."""
    made, old = Store(Path(coursedir.root)).digests(assignment, PAGE), []
    for student, shown in sorted(page_stamps(coursedir, assignment).items()):
        page = Path(coursedir.format_path(coursedir.feedback_directory, student, assignment))
        is_made = made.get(student) == shown and os.path.isdir(page) and any(page.glob("*.html"))
        if not is_made and os.path.lexists(autograded_folder(coursedir, student, assignment)):
            old.append(student)
    return old


def with_pages(
    nbgrader: Any, assignment: str, outcomes: list[SubmissionOutcome], on_page: Callable[[], None] = lambda: None
) -> list[SubmissionOutcome]:
    """Make the feedback pages that no longer show what is in the gradebook.

    A grade, a comment or a penalty may have changed although nothing was graded. If a page cannot be made, the others
    still are. Returns the outcomes, and one more for each other student whose page could not be made.
    """
    seen = {outcome.student for outcome in outcomes}
    todo = old_pages(nbgrader.coursedir, assignment)
    for _ in seen - set(todo):
        on_page()
    failed: dict[str, str] = {}
    if todo:
        converter = GenerateFeedback(coursedir=nbgrader.coursedir, parent=nbgrader, force=True, only=todo)
        converter.on_page = lambda student: on_page() if student in seen else None
        with temp_attrs(nbgrader.coursedir, assignment_id=assignment), contextlib.suppress(NbGraderException):
            converter.start()
        failed = converter.failed
    graded_now = [
        replace(outcome, no_feedback=failed.get(outcome.student)) if outcome.reason is None else outcome
        for outcome in outcomes
    ]
    return graded_now + [
        SubmissionOutcome(student, assignment, no_feedback=reason, unchanged=True)
        for student, reason in failed.items()
        if student not in seen
    ]
