"""Correct submissions in really different styles get full marks in every exercise."""

from __future__ import annotations

import pytest

from tests.in_process import ASSIGNMENTS, judged
from tests.ways import CASES


@pytest.mark.parametrize(("assignment", "way"), CASES, ids=[f"{a.name}-{w.exercise}-{w.name}" for a, w in CASES])
def test_right_way_gets_full_marks(assignment, way):
    results = judged(assignment, {way.exercise: way.code})
    for result in results.values():
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_reference_gets_full_marks(assignment):
    for result in judged(assignment, {}).values():
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]
