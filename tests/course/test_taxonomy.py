"""What a published list says goes wrong in transformers loses marks here, and what is said about it is right."""

from __future__ import annotations

import functools
import tomllib

import pytest

from autograder.course.assignments import Assignment
from autograder.report import ExerciseResult
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import FOLDER, WrongCode, wrong_code_of

NAMED = 0.8  # of all that lose marks


@functools.cache
def told(assignment: Assignment) -> list[tuple[WrongCode, ExerciseResult]]:
    """Each fault with its result. A file's tests run in one process, so this is judged once."""
    return [
        (fault, judged_alone(assignment, exercise_of(assignment, fault.exercise), fault.made(assignment)))
        for fault in wrong_code_of(assignment, "list")
    ]


@pytest.mark.slow
def test_each_of_the_52_operators_is_in_an_exercise_or_says_why_in_none():
    operators = tomllib.loads((FOLDER / "operators.toml").read_text(encoding="utf-8"))
    used = {fault.source.split()[1] for assignment in ASSIGNMENTS for fault in wrong_code_of(assignment, "list")}
    nowhere = {name for name, operator in operators.items() if "nowhere" in operator}
    assert len(operators) == 52
    assert used == operators.keys() - nowhere


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(9, ASSIGNMENTS, first=2), ids=lambda a: a.name)
def test_all_but_right_answers_lose_marks_and_none_is_named_wrongly(assignment):
    full = {str(fault) for fault, result in told(assignment) if result.score == result.max_score}
    assert full == {str(fault) for fault in wrong_code_of(assignment, "list") if fault.is_right}
    named = [(fault, result.diagnosis) for fault, result in told(assignment) if result.diagnosis]
    assert not {(str(fault), name) for fault, name in named if not fault.accepts(name)}


@pytest.mark.slow
@pytest.mark.catalogue
def test_most_are_named():
    results = [result for assignment in ASSIGNMENTS for fault, result in told(assignment) if not fault.is_right]
    assert sum(bool(result.diagnosis) for result in results) >= NAMED * len(results)
