"""Regression tests for wrong statements of `check`, each found by a reader of the notebooks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from autograder.student.check import examine
from tests.helpers.in_process import exercise_of, judged_alone
from tests.helpers.slips import BY_NAME, cells, first_line, names_of
from tests.helpers.wrong_code import wrong_code_of


def checked(assignment, exercise, *edits, code=None):
    """The result of `check` for the solution with edits, or for other code."""
    source = code or cells(assignment)[exercise]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    names = names_of(BY_NAME[assignment])
    exec(compile(source, "<cell>", "exec"), names)
    return examine(exercise, names)


A1, A2, A3, A4, A5, _, _, A8, _ = BY_NAME


@pytest.mark.parametrize(
    "code",
    [
        partial(lambda x, axis: np.exp(x) / np.exp(x).sum(axis, keepdims=True), axis=-1),
        lambda x, *, axis=-1: np.exp(x) / np.exp(x).sum(axis, keepdims=True),
    ],
)
def test_call_that_fails_by_position_is_shown_by_position(code):
    assignment = BY_NAME[A1]
    result = judged_alone(assignment, exercise_of(assignment, "softmax"), code)
    said = [test.message for test in result.tests if "TypeError" in test.message]
    assert said
    assert not [message for message in said if not message.startswith("softmax(x, 0) with x (")]


@pytest.mark.parametrize(
    "edit", [("weights @ V, weights", "weights @ K, weights"), ("weights @ V, w", "weights * V, w")]
)
def test_swapped_outputs_are_reported_only_if_both_are_right(edit):
    assert "another order" not in repr(checked(A1, "scaled_dot_product_attention", edit))
    swapped = ("return weights @ V, weights", "return weights, weights @ V")
    assert "order" in first_line(checked(A1, "scaled_dot_product_attention", swapped))


FIRST_LINES = [
    # a number of the worked example; NumPy where gradients flow; the softmax over another axis; a dropout; `+=`
    (
        A1,
        "scaled_dot_product_attention",
        [("attention_scores(Q, K)", "Q @ K.swapaxes(-2, -1) / 2")],
        "number of the wor",
    ),
    (
        A3,
        "torch_split_heads",
        [("x.reshape", "torch.tensor(x.numpy()).reshape")],
        "cannot become a NumPy array",
    ),
    (A2, "torch_masked_attention", [("dim=-1", "dim=-2"), ("~mask", "mask")], "Over which axis"),
    (A5, "DecoderBlock", [("x = x + attended", "x = x + F.dropout(attended, 0.1)")], "a dropout was on"),
    (A5, "DecoderBlock", [("x = x + attended", "x += attended")], "changed in place"),
    (A5, "TransformerDecoder", [("self.positions[:L]", "positional_encoding(L, self.d_model)")], "is NumPy's"),
    (A8, "ModernDecoderBlock", [("masked_fill(~seen", "masked_fill(seen"), ("10000.0", "20000.0")], "the first NaN"),
]


@pytest.mark.parametrize(("assignment", "exercise", "edits", "words"), FIRST_LINES)
def test_first_line_is_about_what_is_wrong(assignment, exercise, edits, words):
    assert words in first_line(checked(assignment, exercise, *edits))


def test_truth_values_and_numbers_are_shown_alike():
    """A mask that is inverted, and of integers."""
    edit = ("np.arange(max_length) < lengths", "(np.arange(max_length) >= lengths).astype(int)")
    assert "came out as `[0, 0, 0, 0, 1]`, wanted `[1, 1, 1, 1, 0]`" in first_line(checked(A2, "padding_mask", edit))


def test_code_that_raises_is_not_called_almost_right():
    code = """
def masked_softmax(scores, mask):
    scores[~mask] = -np.inf
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)
"""
    result = checked(A2, "masked_softmax", code=code)
    assert "IndexError" in repr(result)
    assert "All is right but" not in repr(result)


def test_missing_dict_keys_are_named():
    result = repr(checked(A4, "projection_shapes", ('"W_Q": (d_model', '"W_q": (d_model')))
    assert "a value of type dict" not in result
    assert "has no W_Q" in " ".join(result.split())


@pytest.mark.parametrize("give", ["", "return x.argmax()"])
def test_wrong_shape_is_not_diagnosed_as_unused_argument(give):
    names = {"np": np}
    exec(f"def softmax(x, axis=-1):\n    {give or 'np.exp(x)'}", names)
    assignment = BY_NAME[A1]
    found = judged_alone(assignment, exercise_of(assignment, "softmax"), names["softmax"])
    assert found.diagnosis != "argument-without-effect"


@pytest.mark.parametrize(("end", "is_right"), [("* 1.1", False), ("* (1 + (K.shape[-2] > 64))", True)])
def test_small_sizes_are_called_right_only_if_they_are(end, is_right):
    result = checked(A1, "attention_scores", ("/ math.sqrt(d_k)", f"/ math.sqrt(d_k) {end}"))
    assert not result.passed
    assert ("Small sizes come out right" in repr(result)) == is_right


def test_pictures_are_printed_only_if_they_differ():
    result = checked(A1, "softmax", ("x - x.max(axis=axis, keepdims=True)", "x"))
    assert not result.passed
    assert result.drawn_equal in (True, None)
    assert "on a small example" not in repr(result)
    assert "on a small example" not in result._repr_html_()


def test_message_about_exception_asks_about_shapes_not_values():
    result = checked(A1, "attention_scores", ("Q @ K.swapaxes(-2, -1)", "Q @ K"))
    first = first_line(result)
    assert "cannot be multiplied" in first
    assert "What comes next" not in first
    assert "Which shape has each part of that line" in first


@pytest.mark.parametrize("assignment", [A2, A4])
def test_nan_is_called_neither_the_same_nor_another(assignment):
    """Two NaN may come from different numbers, and are the same in train() and eval()."""
    assignment = BY_NAME[assignment]
    for one in wrong_code_of(assignment, "author"):
        if one.words == "not-a-number":
            exercise = exercise_of(assignment, one.exercise)
            result = judged_alone(assignment, exercise, one.made(assignment), names_causes=False)
            said = " ".join(test.message for test in result.tests)
            assert "is nan." in said
            assert "stays the same" not in said
            assert "another one" not in said


def test_second_mistake_keeps_its_question_beside_a_known_one():
    assignment = BY_NAME[A4]
    names, source = names_of(assignment), cells(A4)["MultiHeadAttention"]
    for old, new in ((" / math.sqrt(self.d_head)", ""), ("if d_head is None:", "if True:")):
        assert old in source
        source = source.replace(old, new)
    exec(source, names)
    result = judged_alone(assignment, exercise_of(assignment, "MultiHeadAttention"), names["MultiHeadAttention"])
    assert result.diagnosis == "no-scaling"
    assert "d_model is 12, h is 3, d_head is 5. How many rows" in " ".join(test.message for test in result.tests)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("moved", [lambda x: x.cuda(), lambda x: x.to("cuda:0"), lambda x: x.to("mps")])
def test_report_says_that_grading_has_no_gpu(moved):
    assignment, name = BY_NAME[A1], "torch_scaled_dot_product_attention"
    right = vars(assignment.reference())[name]
    code = lambda query, key, value: right(*map(moved, (query, key, value)))  # noqa: E731
    result = judged_alone(assignment, exercise_of(assignment, name), code)
    assert "There is no GPU when grading" in " ".join(test.message for test in result.tests)
