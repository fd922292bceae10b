"""What the check once said and was not so. Each was met by somebody who worked through the notebooks."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.student.check import examine
from tests.helpers.slips import BY_NAME, cells, first_line, names_of


def said(assignment, exercise, *edits, code=None):
    """What `check` says, whole, of the solution with edits, or of other code."""
    source = code or cells(assignment)[exercise]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    names = names_of(BY_NAME[assignment])
    exec(compile(source, "<cell>", "exec"), names)
    return examine(exercise, names)


A1, A2, _, A4, *_ = BY_NAME


@pytest.mark.parametrize(
    "edit", [("weights @ V, weights", "weights @ K, weights"), ("weights @ V, w", "weights * V, w")]
)
def test_values_are_in_another_order_only_if_each_is_there(edit):
    assert "another order" not in repr(said(A1, "scaled_dot_product_attention", edit))
    swapped = said(A1, "scaled_dot_product_attention", ("return weights @ V, weights", "return weights, weights @ V"))
    assert "order" in first_line(swapped)


def test_an_error_beside_it_is_not_all_right_but_for_empty_rows():
    code = """
def masked_softmax(scores, mask):
    scores[~mask] = -np.inf
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)
"""
    result = said(A2, "masked_softmax", code=code)
    assert "IndexError" in repr(result)
    assert "All is right but" not in repr(result)


def test_a_dict_that_lacks_keys_is_told_its_keys():
    result = repr(said(A4, "projection_shapes", ('"W_Q": (d_model', '"W_q": (d_model')))
    assert "a value of type dict" not in result
    assert "has no W_Q" in " ".join(result.split())


@pytest.mark.parametrize("give", ["", "return x.argmax()"])
def test_no_argument_is_without_effect_where_nothing_of_that_form_comes_back(give):
    from tests.helpers.in_process import exercise_of, judged_alone

    names = {"np": np}
    exec(f"def softmax(x, axis=-1):\n    {give or 'np.exp(x)'}", names)
    assignment = BY_NAME[A1]
    found = judged_alone(assignment, exercise_of(assignment, "softmax"), names["softmax"])
    assert found.diagnosis != "argument-without-effect"


def test_pictures_are_shown_only_if_something_in_them_differs():
    result = said(A1, "softmax", ("x - x.max(axis=axis, keepdims=True)", "x"))
    assert not result.passed
    assert result.drawn_equal in (True, None)
    assert "on a small example" not in repr(result)
    assert "on a small example" not in result._repr_html_()


def test_after_an_exception_no_question_about_values_is_asked():
    result = said(A1, "attention_scores", ("Q @ K.swapaxes(-2, -1)", "Q @ K"))
    first = first_line(result)
    assert "cannot be multiplied" in first
    assert "What comes next" not in first
    assert "Which shape has each part of that line" in first
