"""The first line that a student reads names the slip or its place, and is almost never wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from autograder.student.check import examine
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.selection import REST
from tests.helpers.slips import BY_NAME, checked, first_line, judged, names_of
from tests.helpers.wrong_code import wrong_code_of

RIGHT, WRONG, GREEN = 0.92, 0.006, 0.01  # shares of the slips in each quarter; `make test` takes an eighth


def slips():
    """All slips, in the assignments' order."""
    return [slip for assignment in ASSIGNMENTS for slip in wrong_code_of(assignment, "slip")]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "every"), [(0, 8), *(pytest.param(first, 4, marks=REST) for first in range(4))])
def test_first_line_names_the_slip_or_its_place(first, every):
    found = [(slip, result, judged(slip, result)) for slip in slips()[first::every] for result in [checked(slip)]]
    count, total = Counter(kind for _, _, kind in found), len(found)
    missed = "\n".join(
        f"{kind}: {slip} gets {first_line(result)[:160]!r}" for slip, result, kind in found if kind != "right"
    )
    assert count["right"] >= RIGHT * total, f"{dict(count)}\n{missed}"
    assert count["wrong"] <= WRONG * total, f"{dict(count)}\n{missed}"
    assert count["green"] <= GREEN * total, f"{dict(count)}\n{missed}"


def test_mistake_is_named_only_if_all_results_match():
    names = names_of(BY_NAME["a1_scaled_dot_product"])

    def unscaled(Q, K, nudge=0.0):
        return Q @ K.swapaxes(-1, -2) * (1 + nudge * (Q.ndim == 3))

    assert examine("attention_scores", names | {"attention_scores": unscaled}).result.diagnosis == "no-scaling"
    almost = examine("attention_scores", names | {"attention_scores": lambda Q, K: unscaled(Q, K, 0.5)}).result
    assert almost.diagnosis != "no-scaling"
    assert np.isfinite(almost.score)
