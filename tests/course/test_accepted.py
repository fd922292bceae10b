"""Correct answers in many styles get full marks, pass the visible tests and are drawn as equal."""

from __future__ import annotations

import pytest

from autograder.student.check import examine
from tests.helpers.accepted import CASES
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged, judged_alone, judged_elsewhere, marks_of
from tests.helpers.selection import REST, one_in

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
some = pytest.mark.parametrize("assignment", one_in(8, ASSIGNMENTS), ids=lambda a: a.name)
each_answer = pytest.mark.parametrize(
    ("assignment", "answer"),
    [
        pytest.param(
            assignment,
            answer,
            marks=[*marks_of(answer.exercise, number), *(REST if number % 18 else [])],
            id=f"{assignment.name}-{answer.exercise}-{answer.name}",
        )
        for number, (assignment, answer) in enumerate(CASES)
    ],
)


def lost(result):
    return [(t.name, t.message) for t in result.tests if t.state != "passed"]


@each_answer
def test_accepted_answer_gets_full_marks(assignment, answer):
    result = judged_alone(assignment, exercise_of(assignment, answer.exercise), answer.code)
    assert result.score == result.max_score, lost(result)


@each_answer
def test_accepted_answer_passes_visible_tests_and_is_drawn_as_equal(assignment, answer):
    verdict = examine(answer.exercise, dict(vars(assignment.reference())) | {answer.exercise: answer.code})
    assert verdict.passed, verdict
    assert verdict.drawn_equal is not False, verdict


@pytest.mark.slow
@some
def test_caller_of_accepted_answer_gets_full_marks(assignment):
    for answer in [answer for one, answer in CASES if one is assignment]:
        exercise = exercise_of(assignment, answer.exercise)
        for result in judged_elsewhere(assignment, exercise, answer.code, has_lost=False):
            assert result.score == result.max_score, (answer.name, result.name, lost(result))


@pytest.mark.slow
@each
def test_reference_gets_full_marks(assignment):
    for result in judged(assignment, {}).values():
        assert result.score == result.max_score, lost(result)
