"""Hidden tests use realistic sizes, so that code that only works for a small example loses marks."""

from __future__ import annotations

import itertools

import pytest

from tests.helpers.in_process import ASSIGNMENTS, judged_alone, reference_of
from tests.helpers.sizes import MODES, parameters_of_calls, sizes_of_calls

REAL = 64  # more than a table, a buffer or a slice for the worked example would hold
# Rotated widths are always even, and the ids of words are not sizes.
OTHERS = {
    "decoding_step": {"W_Q -1", "W_O -2"},
    "ModernDecoderBlock": {"d_model", "x -1"},
    "greedy_summary": {"separator_id", "end_id"},
}
# Square in the ordinary case, which tests have to ask for: all heads are as wide as d_model, or each has its own keys.
MAY_BE_SQUARE = {f"W_{letter}.weight" for letter in "QKVO"}
of_each_exercise = pytest.mark.parametrize(
    ("assignment", "exercise"),
    [pytest.param(a, e.name, id=f"{a.name}-{e.name}") for a in ASSIGNMENTS for e in a.exercises],
)


@pytest.mark.slow
@of_each_exercise
def test_sizes_include_large_odd_and_powers_of_two(assignment, exercise):
    used = {what: sizes for what, sizes in sizes_of_calls(assignment)[exercise].items() if what != "modes"}
    assert max(max(sizes) for sizes in used.values()) >= REAL
    for what, sizes in used.items():
        if max(sizes) >= REAL and what not in OTHERS.get(exercise, ()):
            assert any(size > 1 and size & (size - 1) == 0 for size in sizes), (what, sorted(sizes))
            assert any(size > 1 and size % 2 for size in sizes), (what, sorted(sizes))


@of_each_exercise
def test_modules_are_called_in_both_modes(assignment, exercise):
    modes = sizes_of_calls(assignment)[exercise].get("modes", set())
    assert not modes or modes == set(MODES)


@of_each_exercise
def test_parameters_with_different_roles_have_different_shapes(assignment, exercise):
    """Parameters under other names are matched by shape, so two that may differ in shape do differ, wherever built."""
    alike, apart = set(), set()
    for shapes in parameters_of_calls(assignment, exercise):
        for one, other in itertools.combinations(shapes, 2):
            if one.endswith(".bias") == other.endswith(".bias"):
                (alike if shapes[one] == shapes[other] else apart).add((one, other))
    assert not {pair for pair in alike & apart if not MAY_BE_SQUARE.issuperset(pair)}


@pytest.mark.parametrize(("exercise", "rows"), [("softmax", 64), ("feed_forward", 32), ("rms_norm", 32)])
def test_question_about_sizes_is_asked_only_if_small_sizes_are_right(exercise, rows):
    assignment, one = next((a, e) for a in ASSIGNMENTS for e in a.exercises if e.name == exercise)
    right = reference_of(assignment, one)

    def stops(x, *others, **more):
        result = right(x, *others, **more)
        result[..., rows:] *= 2
        return result

    def wrong(x, *others, **more):
        return 1.1 * right(x, *others, **more)

    for code, asks in ((stops, True), (wrong, False)):
        result = judged_alone(assignment, one, code, names_causes=False)
        said = " ".join(test.message for test in result.tests)
        assert result.score < result.max_score
        assert ("a size" in said) == asks
