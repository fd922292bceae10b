"""Wrong implementations that no catalogue has seen lose marks, and what is said about them is right."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autograder.course.assignments import Assignment
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import WrongCode, telling, wrong_code_of

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(4, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_they_are_never_named_wrongly(assignment):
    """A third of those whose words no known mistake has, so that nothing else asks what is said about them."""
    assert _named(assignment, [*telling(assignment)][::3])


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_all_are_named_and_never_wrongly(assignment):
    everything = wrong_code_of(assignment, "author")
    assert _named(assignment, everything) >= 0.75 * len(everything)  # the search finds places, too


def _named(assignment: Assignment, answers: Sequence[WrongCode]) -> int:
    """How many have a name. Each loses marks, and no name is wrong."""
    told = [
        (wrong, judged_alone(assignment, exercise_of(assignment, wrong.exercise), wrong.made(assignment)))
        for wrong in answers
    ]
    assert not [str(w) for w, r in told if r.score == r.max_score]
    assert not [(str(w), r.diagnosis) for w, r in told if r.diagnosis and not w.accepts(r.diagnosis)]
    return sum(bool(r.diagnosis) for _, r in told)
