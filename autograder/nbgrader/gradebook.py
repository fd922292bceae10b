"""A whole class into nbgrader's gradebook: one call of our `Autograde` for each assignment, feedback if asked."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import temp_attrs

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.marking.many import Workers
from autograder.nbgrader.autograde import Autograde, Outcome
from autograder.submission import closed_folders
from autograder.text import one_line


def grade_into_gradebook(
    course: Course,
    assignments: Iterable[Assignment],
    settings: dict[str, Any],
    kind: str,
    on_graded: Callable[[Outcome], None],
    feedback: bool = False,
) -> list[Outcome]:
    """Grade what was submitted and has changed. Returns what became of each submission that was looked at.

    settings: traits of `Autograde` (`jobs`, `scheduler`, `force`); kind: the sandbox's
    Raises `CourseError` if an assignment was not released, or another run is under way.
    """
    from autograder.nbgrader import api

    nbgrader = api(course.root)
    nbgrader.config.Mark.sandbox = kind
    nbgrader.log = _silent()  # every outcome comes back, and is shown by who asked for it
    outcomes: list[Outcome] = []
    assignments = list(assignments)
    count = sum(len(list((course.root / "submitted").glob(f"*/{one.name}"))) for one in assignments)
    workers = Autograde(coursedir=nbgrader.coursedir, parent=nbgrader, **settings).hire(count)
    with contextlib.closing(workers):
        for assignment in assignments:
            outcomes += _grade(nbgrader, assignment, settings, workers, on_graded, feedback)
    return outcomes


def _silent() -> logging.Logger:
    """A log of this run's own, since nbgrader's is shared by everything that runs in the process."""
    log = logging.Logger(__name__)
    log.disabled = True
    return log


def _grade(
    nbgrader: Any,
    assignment: Assignment,
    settings: dict[str, Any],
    workers: Workers,
    on_graded: Callable[[Outcome], None],
    feedback: bool,
) -> list[Outcome]:
    with temp_attrs(nbgrader.coursedir, assignment_id=assignment.name, student_id="*"):
        converter = Autograde(coursedir=nbgrader.coursedir, parent=nbgrader, **settings)
        converter.on_graded, converter.workers = on_graded, workers
        try:
            converter.start()
        except NbGraderException as error:
            if not any(outcome.reason for outcome in getattr(converter, "outcomes", [])):
                raise CourseError(str(error)) from None
        return list(_with_feedback(nbgrader, converter.outcomes)) if feedback else converter.outcomes


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


def _with_feedback(nbgrader: Any, outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Make nbgrader's feedback pages for those graded in this run. If one cannot be made, the others still are."""
    for outcome in outcomes:
        if outcome.reason is None:
            with temp_attrs(nbgrader.coursedir, student_id=outcome.student):
                try:
                    GenerateFeedback(coursedir=nbgrader.coursedir, parent=nbgrader, force=True).start()
                except (NbGraderException, OSError) as error:
                    outcome = replace(outcome, no_feedback=one_line(str(error)))
        yield outcome
