"""Correct submissions in really different styles get full marks in every exercise."""

from __future__ import annotations

import pytest

from tests.helpers.accepted import CASES
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged, judged_alone, judged_elsewhere, marks_of
from tests.helpers.selection import REST, one_in

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
some = pytest.mark.parametrize("assignment", one_in(8, ASSIGNMENTS), ids=lambda a: a.name)


def lost(result):
    return [(t.name, t.message) for t in result.tests if t.state != "passed"]


@pytest.mark.parametrize(
    ("assignment", "way"),
    [
        pytest.param(
            a,
            w,
            marks=[*marks_of(w.exercise, number), *(REST if number % 4 else [])],
            id=f"{a.name}-{w.exercise}-{w.name}",
        )
        for number, (a, w) in enumerate(CASES)
    ],
)
def test_right_way_gets_full_marks(assignment, way):
    result = judged_alone(assignment, exercise_of(assignment, way.exercise), way.code)
    assert result.score == result.max_score, lost(result)


@pytest.mark.slow
@some
def test_what_calls_a_right_way_gets_full_marks(assignment):
    for way in [way for one, way in CASES if one is assignment]:
        for result in judged_elsewhere(assignment, exercise_of(assignment, way.exercise), way.code, has_lost=False):
            assert result.score == result.max_score, (way.name, result.name, lost(result))


@each
def test_reference_gets_full_marks(assignment):
    for result in judged(assignment, {}).values():
        assert result.score == result.max_score, lost(result)
