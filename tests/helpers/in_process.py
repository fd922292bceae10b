"""Judges trusted code in this process, which is fast: references, mistakes, accepted submissions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from autograder.course.assignments import Assignment, Course, Exercise
from autograder.explain.explaining import judge
from autograder.explain.material import Material, material_of
from autograder.report import ExerciseResult
from autograder.testing.catalogue import Mistake
from autograder.testing.functions import Here
from tests.conftest import ROOT

COURSE = Course(ROOT)
ASSIGNMENTS = list(COURSE.assignments.values())
# Judging one of these takes a tenth of a second or more. Their mistakes take longer than all others together.
LONG = {
    "MultiHeadAttention",
    "DecoderBlock",
    "TransformerDecoder",
    "next_token",
    "greedy_summary",
    "cross_attention",
    "translation_test",
    "ModernDecoderBlock",
}


def marks_of(exercise: str, number: int) -> Sequence[pytest.MarkDecorator]:
    """`make quick` judges every 18th item, but none of exercises in `LONG`."""
    return [pytest.mark.slow] if exercise in LONG or number % 18 else []


def marks_of_mistake(exercise: str, number: int) -> Sequence[pytest.MarkDecorator]:
    """`make test` judges every 72nd mistake of exercises in `LONG`, and every 36th of the others."""
    every = 72 if exercise in LONG else 36
    return [*marks_of(exercise, number), *([pytest.mark.catalogue] if number % every else [])]


def judged(assignment: Assignment, replaced: dict[str, Any]) -> dict[str, ExerciseResult]:
    """Results of the reference with some names replaced, also for exercises that call them."""
    return {result.name: result for result in _judged(assignment, replaced, assignment.exercises)}


def judged_alone(assignment: Assignment, exercise: Exercise, code: Any, names_causes: bool = True) -> ExerciseResult:
    """The result of one exercise with `code` in its place. The other exercises are not judged.

    names_causes: whether to run the diagnosis, which takes as long as everything else
    """
    (result,) = _judged(assignment, {exercise.name: code}, [exercise], names_causes)
    return result


def judged_elsewhere(assignment: Assignment, exercise: Exercise, code: Any, has_lost: bool) -> Sequence[ExerciseResult]:
    """Results of the exercises that call this one, with `code` in its place.

    has_lost: whether it lost marks itself. Then the better attempt counts: with this code, or with the reference in its
        place, as for answers from earlier assignments.
    """
    callers = callers_of(assignment, exercise)
    if not callers:
        return ()
    return _judged(assignment, {exercise.name: code}, callers, names_causes=False, prerequisites=has_lost)


@functools.cache
def callers_of(assignment: Assignment, exercise: Exercise) -> Sequence[Exercise]:
    """The exercises that lose marks if this one raises."""

    def refuses(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("not to be called")

    def stands(other: Exercise) -> bool:
        (result,) = _judged(assignment, {exercise.name: refuses}, [other], names_causes=False)
        return result.score == result.max_score

    return [other for other in assignment.exercises if other != exercise and not stands(other)]


def _judged(
    assignment: Assignment,
    replaced: dict[str, Any],
    exercises: Sequence[Exercise],
    names_causes: bool = True,
    prerequisites: bool = False,
) -> tuple[ExerciseResult, ...]:
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(_compiled(assignment.solution), names)
    names |= replaced  # in place, because the solution's functions look names up here
    known = material(assignment)
    known = known if names_causes else replace(known, hypotheses=None)
    known = replace(known, prerequisites=(*replaced, *known.prerequisites)) if prerequisites else known
    return judge(known, Here(names), exercises)


@functools.cache
def material(assignment: Assignment) -> Material:
    """The material to judge an assignment, without pictures."""
    return replace(material_of(assignment), examples={})


@functools.cache
def _compiled(path: Path) -> CodeType:
    return compile(path.read_text(), str(path), "exec")


@functools.cache
def judged_mistake(assignment: Assignment, mistake: Mistake) -> ExerciseResult:
    """The result of a known mistake's own exercise."""
    return judged_alone(assignment, exercise_of(assignment, mistake.exercise), mistake.code)


def exercise_of(assignment: Assignment, name: str) -> Exercise:
    """The exercise of that name."""
    return next(exercise for exercise in assignment.exercises if exercise.name == name)


def reference_of(assignment: Assignment, exercise: Exercise) -> Any:
    """The model answer as an object: a function or a class."""
    return vars(assignment.reference())[exercise.name]
