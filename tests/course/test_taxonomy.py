"""What a published list says goes wrong in transformers loses marks here, and what is said about it is right."""

from __future__ import annotations

import functools

import pytest

from autograder.course import Assignment
from autograder.report import ExerciseResult
from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.taxonomy import Fault, faults_of, operators

NAMED = 0.8  # of all that lose marks


@functools.cache
def told(assignment: Assignment) -> list[tuple[Fault, ExerciseResult]]:
    """Each fault with its result. A file's tests run in one process, so this is judged once."""
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    return [(fault, judged_alone(assignment, exercises[fault.exercise], fault.code)) for fault in faults_of(assignment)]


@pytest.mark.slow
def test_each_of_the_52_operators_is_in_an_exercise_or_says_why_in_none():
    used = {fault.operator for assignment in ASSIGNMENTS for fault in faults_of(assignment)}
    nowhere = {name for name, operator in operators().items() if "nowhere" in operator}
    assert len(operators()) == 52
    assert used == operators().keys() - nowhere


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(3, ASSIGNMENTS, first=2), ids=lambda a: a.name)
def test_all_but_right_answers_lose_marks_and_none_is_named_wrongly(assignment):
    full = {str(fault) for fault, result in told(assignment) if result.score == result.max_score}
    assert full == {str(fault) for fault in faults_of(assignment) if fault.right}
    named = [(fault, result.diagnosis) for fault, result in told(assignment) if result.diagnosis]
    assert not {(str(fault), name) for fault, name in named if not fault.is_right(name)}


@pytest.mark.slow
@pytest.mark.catalogue
def test_most_are_named():
    results = [result for assignment in ASSIGNMENTS for fault, result in told(assignment) if not fault.right]
    assert sum(bool(result.diagnosis) for result in results) >= NAMED * len(results)
