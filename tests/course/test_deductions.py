"""A refinement, such as the dtype, is worth about the same in every exercise."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS, material

# The least and most that a refinement is worth, in percent of its exercise. A slip of its kind fails only this test,
# so it costs as much. For masks, the dtype is more than a refinement.
SHARES = {
    "dtype": (3, 7),
    "inputs_left_alone": (5, 8),
    "large_scores": (5, 8),
    "no_leak": (4, 6),
    "no_look_ahead": (4, 6),
    "mask_and_large_scores": (4, 6),
    "nothing_allowed": (4, 6),
    "nothing_to_attend_to": (4, 6),
    "empty_text": (4, 6),
    "nothing_real": (4, 6),
    "gradients": (5, 12),
    "shape": (4, 10),
}
RETURN_MASKS = {"causal_mask", "padding_mask", "offset_attention", "sliding_window_mask"}


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_refinements_of_one_kind_are_worth_the_same_everywhere(assignment):
    points = {exercise.name: exercise.points for exercise in assignment.exercises}
    for test in material(assignment).suite.tests:
        kind = test.name.removeprefix("test_")
        if kind in SHARES and not (kind == "dtype" and test.exercise in RETURN_MASKS):
            least, most = SHARES[kind]
            share = round(100 * test.weight / points[test.exercise], 6)
            assert least <= share <= most, (test.exercise, kind, share)
