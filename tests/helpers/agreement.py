"""Compares the first message of `check` with the diagnosis of grading, for the same code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.course.assignments import Assignment
from autograder.report import ExerciseResult
from autograder.student.check import CheckResult, examine
from tests.helpers.slips import names_of

SAME, ONE_OF_TWO, LESS, PLACE, ELSE, GREEN = (
    "the same name",
    "two names, one of them grading's",
    "how the numbers stand to the right ones",
    "the first test that fails, with its question",
    "another name",
    "nothing: all visible tests pass",
)


def checked(assignment: Assignment, exercise: str, code: Any) -> CheckResult:
    """The result of `check` for `code`, with model answers to the other exercises."""
    return examine(exercise, names_of(assignment) | {exercise: code})


def agreement(seen: CheckResult, graded: ExerciseResult, is_right: Callable[[str], bool]) -> str:
    """How the message of `check` relates to grading's diagnosis; is_right: whether a teacher would accept a name."""
    result, name = seen.result, graded.diagnosis or ""
    if seen.passed:
        return GREEN
    if not result.diagnosis:
        return PLACE
    if not result.first("known mistake"):
        return SAME if result.diagnosis == name else LESS
    if result.diagnosis == name or is_right(result.diagnosis):
        return SAME
    alternatives = result.diagnosis.split("-or-")
    fits = any(one in (name, *name.split("-or-")) or is_right(one) for one in alternatives)
    return ELSE if not fits else ONE_OF_TWO if len(alternatives) > 1 else SAME
