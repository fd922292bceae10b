"""A whole class into nbgrader's gradebook: one call of our `Autograde` for each assignment, feedback if asked."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import temp_attrs

from autograder.course import Assignment, Course
from autograder.discovery import closed_folders
from autograder.errors import CourseError
from autograder.nbgrader.autograde import Autograde
from autograder.nbgrader.gradebook_rows import page_stamps
from autograder.nbgrader.outcomes import NotAll, SubmissionOutcome
from autograder.text import one_line
from autograder.worker.pool import WorkerPool
from autograder.worker.run_log import write_whole

STAMPS = ".pages.json"  # in the feedback folder


def grade_into_gradebook(
    course: Course,
    assignments: Iterable[Assignment],
    settings: Mapping[str, Any],
    kind: str,
    on_graded: Callable[[SubmissionOutcome], None],
    feedback: bool = False,
    on_notice: Callable[[str], None] = lambda notice: None,
) -> list[SubmissionOutcome]:
    """Grade what was submitted and has changed. Returns what became of each submission that was looked at.

    on_notice: gets a sentence on what somebody should look into, such as points that differ
    settings: traits of `Autograde` (`jobs`, `scheduler`, `force`, `accept_changes`); kind: the sandbox's
    Raises `CourseError` if no assignment can be graded: none was released, say, or another run is under way.
    """
    from autograder.nbgrader import api

    nbgrader = api(course.root)
    nbgrader.config.Mark.sandbox = kind
    nbgrader.log = _silent()  # every outcome comes back, and is shown by who asked for it
    outcomes: list[SubmissionOutcome] = []
    assignments = list(assignments)
    submitted_to = course.root / "submitted"
    count = sum(len(list(submitted_to.glob(f"*/{one.name}"))) for one in assignments)
    workers = Autograde(coursedir=nbgrader.coursedir, parent=nbgrader, **settings).hire(count)
    errors = list[CourseError]()
    with contextlib.closing(workers):
        for assignment in assignments:
            try:
                outcomes += _grade(nbgrader, assignment, settings, workers, on_graded, feedback, on_notice)
            except CourseError as error:  # which stops no other assignment
                errors.append(error)
                students = sorted(path.parent.name for path in submitted_to.glob(f"*/{assignment.name}"))
                outcomes += [SubmissionOutcome(student, assignment.name, one_line(str(error))) for student in students]
    if errors and len(errors) == len(assignments):
        raise errors[0]
    return outcomes


def _silent() -> logging.Logger:
    """A log of this run's own, since nbgrader's is shared by everything that runs in the process."""
    log = logging.Logger(__name__)
    log.disabled = True
    return log


def _grade(
    nbgrader: Any,
    assignment: Assignment,
    settings: Mapping[str, Any],
    workers: WorkerPool,
    on_graded: Callable[[SubmissionOutcome], None],
    feedback: bool,
    on_notice: Callable[[str], None],
) -> list[SubmissionOutcome]:
    with temp_attrs(nbgrader.coursedir, assignment_id=assignment.name, student_id="*"):
        converter = Autograde(coursedir=nbgrader.coursedir, parent=nbgrader, **settings)
        converter.on_graded, converter.workers = on_graded, workers
        try:
            converter.start()
        except NotAll:
            pass  # each outcome says so
        except NbGraderException as error:
            raise CourseError(str(error)) from None
        for notice in converter.notices:
            on_notice(notice)
        return with_pages(nbgrader, assignment.name, converter.outcomes) if feedback else converter.outcomes


def submitted(course: Course, only: str | None) -> list[tuple[Assignment, int]]:
    """Assignments that somebody has handed in, and how many have; raises `CourseError` if nobody has anything."""
    folder = course.root / "submitted"
    closed = len(list(closed_folders(folder)))  # one in each assignment: nobody knows what they hold
    found = []
    for name, assignment in course.assignments().items():
        count = len(list(folder.glob(f"*/{name}")))
        if count and only in (None, name):
            found.append((assignment, count + closed))
    if not found:
        raise CourseError(f"{folder}: nothing handed in; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
    return found


def with_pages(nbgrader: Any, assignment: str, outcomes: list[SubmissionOutcome]) -> list[SubmissionOutcome]:
    """Make nbgrader's feedback page anew for all whose page is not what the gradebook says now.

    A grade, a comment or a penalty may have changed since, without anything to grade. If a page cannot be made, the
    others still are. Returns the outcomes, and one more for everybody else whose page could not be made.
    """
    coursedir = nbgrader.coursedir
    known = Stamps(Path(coursedir.root, coursedir.feedback_directory, STAMPS))
    failed: dict[str, str] = {}
    for student, stamp in sorted(page_stamps(coursedir, assignment).items()):
        page = Path(coursedir.format_path(coursedir.feedback_directory, student, assignment))
        graded = Path(coursedir.format_path(coursedir.autograded_directory, student, assignment))
        if not graded.is_dir() or (known.holds(student, assignment, stamp) and any(page.glob("*.html"))):
            continue
        with temp_attrs(coursedir, student_id=student):
            try:
                GenerateFeedback(coursedir=coursedir, parent=nbgrader, force=True).start()
            except (NbGraderException, OSError) as error:
                failed[student] = one_line(str(error))
            else:
                known.add(student, assignment, stamp)
    known.write()
    seen = {outcome.student for outcome in outcomes}
    told = [replace(one, no_feedback=failed.get(one.student)) if one.reason is None else one for one in outcomes]
    return told + [
        SubmissionOutcome(name, assignment, no_feedback=why, unchanged=True)
        for name, why in failed.items()
        if name not in seen
    ]


class Stamps:
    """What each feedback page was made of, in a file beside the pages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        self._known: dict[str, str] = found if isinstance(found, dict) else {}

    def holds(self, student: str, assignment: str, stamp: str) -> bool:
        """Was this student's page made of just that?"""
        return self._known.get(f"{assignment}/{student}") == stamp

    def add(self, student: str, assignment: str, stamp: str) -> None:
        """It was made now."""
        self._known[f"{assignment}/{student}"] = stamp

    def write(self) -> None:
        """Keep them for the next run; if that fails, the next run makes all pages anew."""
        if self.path.parent.is_dir():
            with contextlib.suppress(OSError):
                write_whole(self.path, json.dumps(self._known, indent=0, sort_keys=True) + "\n")
