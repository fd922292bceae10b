"""Every catalogued mistake loses marks in its own exercise and nowhere else, and never all for one slip."""

from __future__ import annotations

import pytest

from autograder.suites.catalogue import read_catalogue
from tests.in_process import ASSIGNMENTS, judged

CASES = [(a, m) for a in ASSIGNMENTS for m in read_catalogue(a.suite)]


@pytest.mark.parametrize(("assignment", "mistake"), CASES, ids=[f"{a.name}-{m.exercise}-{m.name}" for a, m in CASES])
def test_mistake_costs_its_own_exercise_only(assignment, mistake):
    results = judged(assignment, {mistake.exercise: mistake.code})
    for name, result in results.items():
        lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
        if name == mistake.exercise:
            assert lost, "the suite accepts this mistake"
            assert result.score > 0, lost
            assert (result.diagnosis, result.hint) == (mistake.name, mistake.hint)
        else:
            assert result.diagnosis is None
            assert result.score == result.max_score, (name, lost)


def fails(*args, **kwargs):
    """What an attempt that gives nothing usable back looks like."""
    return 0.0


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_attempt_earns_at_most_a_tenth(assignment):
    for exercise in assignment.exercises:
        result = judged(assignment, {exercise.name: fails})[exercise.name]
        assert result.score <= exercise.points / 10, [t.name for t in result.tests if t.state == "passed"]
