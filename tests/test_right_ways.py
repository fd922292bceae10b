"""Correct submissions in really different styles get full marks in every exercise."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.in_process import ASSIGNMENTS, judged

WAYS = Path(__file__).parent / "right_ways"


def ways(assignment):
    """`(style, code)` of each function or class in the assignment's file, written as `@way("einsum")`."""
    path = WAYS / f"{assignment.name}.py"
    if not path.is_file():
        return []
    spec = importlib.util.spec_from_file_location(f"right_ways_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.way)


CASES = [(a, w) for a in ASSIGNMENTS for w in ways(a)]


@pytest.mark.parametrize(("assignment", "way"), CASES, ids=[f"{a.name}-{w.exercise}-{w.name}" for a, w in CASES])
def test_right_way_gets_full_marks(assignment, way):
    results = judged(assignment, {way.exercise: way.code})
    for result in results.values():
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_reference_gets_full_marks(assignment):
    for result in judged(assignment, {}).values():
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]
