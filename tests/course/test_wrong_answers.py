"""Wrong implementations that no catalogue has seen lose marks, and what is said about them is right."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.wrong_answers import wrong_answers_of


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_they_are_named_and_never_wrongly(assignment):
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    told = [
        (wrong, judged_alone(assignment, exercises[wrong.exercise], wrong.code))
        for wrong in wrong_answers_of(assignment)
    ]
    wrongly = [(w.exercise, w.name, r.diagnosis) for w, r in told if r.diagnosis and not w.is_right(r.diagnosis)]
    named = [w for w, r in told if r.diagnosis]
    assert not [(w.exercise, w.name) for w, r in told if r.score == r.max_score]
    assert not wrongly
    assert len(named) >= 0.85 * len(told)
