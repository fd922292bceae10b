"""A refinement, such as the dtype, is worth about the same in every exercise."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone, material, reference_of

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


# How many axes the first argument has without batch axes. Code that counts on one more is a usual slip.
AXES = {
    "a1_scaled_dot_product": {
        "softmax": 2,
        "attention_scores": 2,
        "scaled_dot_product_attention": 2,
        "torch_scaled_dot_product_attention": 2,
    },
    "a2_causal_masking": {"masked_softmax": 2, "causal_attention": 2, "torch_masked_attention": 2},
    "a3_heads": {"split_heads": 2, "concat_heads": 3, "torch_split_heads": 2, "torch_concat_heads": 3},
    "a4_multi_head_attention": {"single_head": 2, "output_projection": 3, "multi_head_attention": 2},
    "a5_transformer_decoder": {"layer_norm": 2, "feed_forward": 2},
    "a8_modern_attention": {
        "rotate": 2,
        "grouped_query_attention": 3,
        "decoding_step": 1,
        "attention_in_cache": 2,
        "online_softmax_step": 1,
        "online_softmax_attention": 2,
        "rms_norm": 2,
        "gated_feed_forward": 2,
    },
    "a9_looking_at_heads": {"patch_head": 3},
}


@pytest.mark.slow
@pytest.mark.parametrize("assignment", [one for one in ASSIGNMENTS if one.name in AXES], ids=lambda a: a.name)
def test_code_for_one_number_of_axes_keeps_more_than_half_everywhere(assignment):
    for name, axes in AXES[assignment.name].items():
        exercise = exercise_of(assignment, name)
        right = reference_of(assignment, exercise)
        for only in (axes, axes + 1):

            def slip(*args, only=only, right=right, **named):
                first = next(arg for arg in (*args, *named.values()) if hasattr(arg, "ndim"))
                if first.ndim != only:
                    raise ValueError(f"not enough values to unpack (expected {only}, got {first.ndim})")
                return right(*args, **named)

            result = judged_alone(assignment, exercise, slip, names_causes=False)
            assert 0.5 < result.score / result.max_score < 0.95, (name, only, result.score)
