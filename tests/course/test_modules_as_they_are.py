"""Modules are tested in `eval()` and in `train()` mode, and with their initial weights."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers.in_process import COURSE, exercise_of, judged_alone
from tests.helpers.selection import one_in

A4, A5 = COURSE.of_exercise("MultiHeadAttention"), COURSE.of_exercise("DecoderBlock")
ATTENTION, BLOCK = A4.reference().MultiHeadAttention, A5.reference().DecoderBlock
MODULES = ("MultiHeadAttention", "DecoderBlock", "TransformerDecoder", "ModernDecoderBlock")


def solution(name):
    return getattr(COURSE.of_exercise(name).reference(), name)


def initialised(change, name):
    """The solution, with `change` applied to its initial weights."""
    right = solution(name)

    def begin(self, *args, **kwargs):
        right.__init__(self, *args, **kwargs)
        change(self)

    return type(name, (right,), {"__init__": begin})


def every_matrix(fill):
    """A change that fills every matrix; vectors keep their initial values."""

    def change(module):
        for parameter in module.parameters():
            if parameter.ndim > 1:
                fill(parameter)

    return change


def equal_from_third_head(module):
    """All heads after the third start with its weights."""
    for layer in (module.W_Q, module.W_K, module.W_V, module.W_O):
        rows = layer.weight.detach() if layer is not module.W_O else layer.weight.detach().T
        heads = rows.unflatten(0, (module.num_heads, -1))
        heads[3:] = heads[2:3]


def failed(code):
    assignment = COURSE.of_exercise(code.__name__)
    result = judged_alone(assignment, exercise_of(assignment, code.__name__), code, names_causes=False)
    return {test.name: test.message for test in result.tests if test.state == "failed"}


def zero_output(module):
    nn.init.zeros_(module.output.weight)


def equal_blocks_and_zero_output(module):
    every_matrix(lambda p: nn.init.constant_(p, 0.5))(module.blocks)
    zero_output(module)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("MultiHeadAttention", every_matrix(nn.init.zeros_), "no parameter has a gradient"),
        ("MultiHeadAttention", every_matrix(lambda p: nn.init.constant_(p, 0.5)), "heads 0 and 1 are alike"),
        ("MultiHeadAttention", equal_from_third_head, "heads 2 and 3 are alike"),
        ("MultiHeadAttention", every_matrix(lambda p: nn.init.normal_(p, std=50)), "above 100"),
        ("MultiHeadAttention", lambda module: module.half(), "dtype"),
        ("TransformerDecoder", equal_blocks_and_zero_output, "heads 0 and 1 are alike"),
    ],
    ids=["zero", "constant", "equal heads", "huge", "half precision", "equal heads below a zero output"],
)
def test_initial_weights_that_cannot_learn_lose_one_test(name, change, reason):
    found = failed(initialised(change, name))
    assert list(found) == ["test_as_made"]
    assert reason in found["test_as_made"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("MultiHeadAttention", lambda module: nn.init.zeros_(module.W_Q.weight)),
        ("MultiHeadAttention", lambda module: nn.init.zeros_(module.W_O.weight)),
        ("TransformerDecoder", zero_output),
        *(("MultiHeadAttention", every_matrix(lambda p, g=g: nn.init.xavier_uniform_(p, g))) for g in (0.5, 1, 2**0.5)),
    ],
    ids=["zero W_Q", "zero W_O", "zero output layer", "gain 0.5", "gain 1", "gain 1.4"],
)
def test_other_initial_weights_pass(name, change):
    assert not failed(initialised(change, name))


class DecoderBlock(BLOCK):
    def forward(self, x, padding=None):
        return F.dropout(super().forward(x, padding), 0.1, self.training)


ON = "a dropout is on"


def test_dropout_in_train_mode_costs_one_test():
    found = failed(DecoderBlock)
    assert list(found) == ["test_real_sizes"]
    assert ON in found["test_real_sizes"]


def always_dropping(name):
    """The solution, with a dropout that is on even in `eval()`."""
    right = solution(name)

    def drop(value):
        output, *rest = value if isinstance(value, tuple) else (value,)
        return (F.dropout(output, 0.1), *rest) if rest else F.dropout(output, 0.1)

    if not isinstance(right, type):
        return functools.wraps(right)(lambda *args, **named: drop(right(*args, **named)))
    return type(name, (right,), {"forward": lambda self, *args, **named: drop(right.forward(self, *args, **named))})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", one_in(3, [*MODULES, "torch_scaled_dot_product_attention", "torch_masked_attention", "cross_attention"])
)
def test_dropout_in_eval_mode_costs_the_same_everywhere(name):
    assignment = COURSE.of_exercise(name)
    torch.manual_seed(0)  # the seed decides which of the small results are wrong
    result = judged_alone(assignment, exercise_of(assignment, name), always_dropping(name))
    first, *others = [test.message for test in result.tests if test.state == "failed"]
    assert result.diagnosis == "dropout"
    assert 0.2 <= 1 - result.score / result.max_score <= 0.25
    assert ON in first
    assert all("For the reason given above" in message for message in others)


def test_mask_ignored_in_one_mode_loses_marks():
    for mode in (True, False):

        class MultiHeadAttention(ATTENTION):
            def forward(self, x, mask=None, mode=mode):
                return super().forward(x, mask if self.training is mode else None)

        found = failed(MultiHeadAttention)
        assert "test_real_sizes" in found
        assert ("test_values_with_a_mask" in found) is mode


def test_message_shows_the_call_in_eval_mode():
    class MultiHeadAttention(ATTENTION):
        def forward(self, x, mask=None):
            output, weights = super().forward(x, mask)
            return torch.sin(output), weights

    assert "MultiHeadAttention(d_model=12, num_heads=3).eval()(x)" in failed(MultiHeadAttention)["test_output"]
