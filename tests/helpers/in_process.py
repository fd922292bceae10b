"""Judge names in this process: fast, for trusted code such as references, mistakes and accepted submissions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from autograder.course.assignments import Assignment, Course, Exercise
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.judge.process import material_of
from autograder.report import ExerciseResult
from autograder.testing.catalogue import Mistake
from autograder.testing.local import Here
from tests.conftest import ROOT

COURSE = Course(ROOT)
ASSIGNMENTS = list(COURSE.assignments().values())
# To judge one of these takes a tenth of a second and more; their mistakes take longer than all the others together.
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
    """Of what is judged in these, `make quick` takes every eighteenth; of the others, every ninth."""
    return [pytest.mark.slow] if number % (18 if exercise in LONG else 9) else []


def marks_of_mistake(exercise: str, number: int) -> Sequence[pytest.MarkDecorator]:
    """The same; and of mistakes in `LONG`, `make test` takes every twelfth, of the others every sixth."""
    return [*marks_of(exercise, number), *([pytest.mark.catalogue] if number % (12 if exercise in LONG else 6) else [])]


def judged(assignment: Assignment, replaced: dict[str, Any]) -> dict[str, ExerciseResult]:
    """Results of the reference's names with some of them replaced, for those that call them, too."""
    return {result.name: result for result in _judged(assignment, replaced, assignment.exercises)}


def judged_alone(assignment: Assignment, exercise: Exercise, code: Any, names_causes: bool = True) -> ExerciseResult:
    """The result of one exercise with `code` in its place. What the others are worth then is not looked at.

    names_causes: look for what is wrong, which takes as long as all the rest?
    """
    (result,) = _judged(assignment, {exercise.name: code}, [exercise], names_causes)
    return result


def judged_elsewhere(assignment: Assignment, exercise: Exercise, code: Any, has_lost: bool) -> Sequence[ExerciseResult]:
    """Results of the exercises that call this one, with `code` in its place. The others never get to see it.

    has_lost: has it lost marks itself? Then, as with what is brought from another assignment and judged nowhere here,
        the better counts: by that code, or by the reference in its place.
    """
    callers = callers_of(assignment, exercise)
    if not callers:
        return ()
    return _judged(assignment, {exercise.name: code}, callers, names_causes=False, prerequisites=has_lost)


@functools.cache
def callers_of(assignment: Assignment, exercise: Exercise) -> Sequence[Exercise]:
    """The exercises that cannot be done if this one raises."""

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
    names |= replaced  # in place: it is what the solution's functions look names up in
    known = material(assignment)
    known = known if names_causes else replace(known, hypotheses=None)
    known = replace(known, prerequisites=(*replaced, *known.prerequisites)) if prerequisites else known
    return judge(known, Here(names), exercises)


@functools.cache
def material(assignment: Assignment) -> Material:
    """What an assignment is judged with; nothing is drawn."""
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
