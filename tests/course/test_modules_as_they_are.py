"""Modules are asked in `eval()` and in `train()`, and one of them as it is made."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers.in_process import COURSE, exercise_of, judged_alone

A4, A5 = COURSE.of_exercise("MultiHeadAttention"), COURSE.of_exercise("DecoderBlock")
ATTENTION, BLOCK = A4.reference().MultiHeadAttention, A5.reference().DecoderBlock


def made_with(change):
    """The solution with parameters that begin otherwise."""

    class MultiHeadAttention(ATTENTION):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            change(self)

    return MultiHeadAttention


def of_all(fill):
    def change(module):
        for parameter in module.parameters():
            fill(parameter)

    return change


def failed(code):
    assignment = COURSE.of_exercise(code.__name__)
    result = judged_alone(assignment, exercise_of(assignment, code.__name__), code, names_causes=False)
    return {test.name: test.message for test in result.tests if test.state == "failed"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (of_all(nn.init.zeros_), "no parameter has a gradient"),
        (of_all(lambda p: nn.init.constant_(p, 0.5)), "all heads are alike"),
        (of_all(lambda p: nn.init.normal_(p, std=50)), "above 100"),
        (lambda module: module.half(), "dtype"),
    ],
    ids=["zero", "one-number", "huge", "half-precision"],
)
def test_weights_that_cannot_learn_are_told(change, told):
    found = failed(made_with(change))
    assert list(found) == ["test_as_made"]
    assert told in found["test_as_made"]


@pytest.mark.parametrize("name", ["W_Q", "W_O"])
def test_a_single_matrix_may_begin_at_zero(name):
    assert not failed(made_with(lambda module: nn.init.zeros_(getattr(module, name).weight)))


class DecoderBlock(BLOCK):
    def forward(self, x, padding=None):
        return F.dropout(super().forward(x, padding), 0.1, self.training)


def test_a_dropout_costs_one_test_which_says_what_was_asked():
    assert "in train()" in failed(DecoderBlock)["test_real_sizes"]


@pytest.mark.slow
def test_a_dropout_is_called_one():
    result = judged_alone(A5, exercise_of(A5, "DecoderBlock"), DecoderBlock)
    assert result.diagnosis == "dropout"
    assert result.score >= 0.85 * result.max_score


def test_a_mask_that_is_dropped_in_one_mode_loses_marks():
    for mode in (True, False):

        class MultiHeadAttention(ATTENTION):
            def forward(self, x, mask=None, mode=mode):
                return super().forward(x, mask if self.training is mode else None)

        found = failed(MultiHeadAttention)
        assert "test_real_sizes" in found
        assert ("test_values_with_a_mask" in found) is mode


def test_a_message_says_that_a_module_was_in_eval():
    class MultiHeadAttention(ATTENTION):
        def forward(self, x, mask=None):
            output, weights = super().forward(x, mask)
            return torch.sin(output), weights

    assert "MultiHeadAttention(d_model=12, num_heads=3).eval()(x)" in failed(MultiHeadAttention)["test_output"]
