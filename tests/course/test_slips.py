"""The first line that a student reads: it names the slip or its place, and it says nothing that is not so."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.student.check import examine
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.selection import one_in
from tests.helpers.slips import BY_NAME, checked, first_line, judged, names_of
from tests.helpers.wrong_code import wrong_code_of

RIGHT, WRONG = 0.92, 0.005  # shares of slips, in each quarter
GREEN = 0.01


def slips():
    """All slips, in the assignments' order."""
    return [slip for assignment in ASSIGNMENTS for slip in wrong_code_of(assignment, "slip")]


@pytest.mark.slow
@pytest.mark.parametrize("quarter", one_in(4, range(4)))
def test_the_first_line_names_the_slip_or_its_place(quarter):
    found = [(slip, result, judged(slip, result)) for slip in slips()[quarter::4] for result in [checked(slip)]]
    count, all_of_them = Counter(kind for _, _, kind in found), len(found)
    missed = "\n".join(
        f"{kind}: {slip} is told {first_line(result)[:160]!r}" for slip, result, kind in found if kind != "right"
    )
    assert count["right"] >= RIGHT * all_of_them, f"{dict(count)}\n{missed}"
    assert count["wrong"] <= WRONG * all_of_them, f"{dict(count)}\n{missed}"
    assert count["green"] <= GREEN * all_of_them, f"{dict(count)}\n{missed}"


def test_right_answers_have_no_name():
    for assignment in ASSIGNMENTS[:3]:
        for exercise in assignment.exercises:
            assert not examine(exercise.name, names_of(assignment)).result.cause


def test_a_name_is_not_told_of_other_answers():
    """One answer of all is another one: then the answers are no key to the name."""
    import numpy as np

    names = names_of(BY_NAME["a1_scaled_dot_product"])

    def unscaled(Q, K, nudge=0.0):
        return Q @ K.swapaxes(-1, -2) * (1 + nudge * (Q.ndim == 3))

    assert examine("attention_scores", names | {"attention_scores": unscaled}).result.diagnosis == "no-scaling"
    almost = examine("attention_scores", names | {"attention_scores": lambda Q, K: unscaled(Q, K, 0.5)}).result
    assert almost.diagnosis != "no-scaling"
    assert np.isfinite(almost.score)
