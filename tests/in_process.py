"""Judge a set of names in this process: fast, for trusted code such as references, mistakes and right ways."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

from autograder.course import Assignment, Course, Exercise
from autograder.judging.catalogue import Mistake
from autograder.judging.here import Here
from autograder.judging.judge import Material, judge
from autograder.judging.serve import material_of
from autograder.report import ExerciseResult
from tests.conftest import ROOT

COURSE = Course(ROOT)
ASSIGNMENTS = list(COURSE.assignments().values())


def judged(assignment: Assignment, replaced: dict[str, Any]) -> dict[str, ExerciseResult]:
    """Results of the reference's names with some of them replaced, for those that call them, too."""
    return {result.name: result for result in _judged(assignment, replaced, assignment.exercises)}


def judged_alone(assignment: Assignment, exercise: Exercise, code: Any) -> ExerciseResult:
    """The result of one exercise with `code` in its place. What the others are worth then is not looked at."""
    (result,) = _judged(assignment, {exercise.name: code}, [exercise])
    return result


def _judged(
    assignment: Assignment, replaced: dict[str, Any], exercises: Sequence[Exercise]
) -> tuple[ExerciseResult, ...]:
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(_compiled(assignment.solution), names)
    names |= replaced  # in place: it is what the solution's functions look names up in
    return judge(material(assignment), Here(names), exercises)


@functools.cache
def material(assignment: Assignment) -> Material:
    """What an assignment is judged with; nothing is drawn."""
    return replace(material_of(assignment), examples={})


@functools.cache
def _compiled(path: Path) -> CodeType:
    return compile(path.read_text(), str(path), "exec")


@functools.cache
def judged_mistake(assignment: Assignment, mistake: Mistake) -> dict[str, ExerciseResult]:
    """Results of the reference's names with one known mistake among them."""
    return judged(assignment, {mistake.exercise: mistake.code})
