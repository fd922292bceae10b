"""Modules are asked in `eval()` and in `train()`, and one of them as it is made."""

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


def made_with(change, name="MultiHeadAttention"):
    """The solution with parameters that begin otherwise."""
    right = solution(name)

    def begin(self, *args, **kwargs):
        right.__init__(self, *args, **kwargs)
        change(self)

    return type(name, (right,), {"__init__": begin})


def of_all(fill):
    """Of all matrices; vectors begin as they do."""

    def change(module):
        for parameter in module.parameters():
            if parameter.ndim > 1:
                fill(parameter)

    return change


def tied_from_the_fourth(module):
    """Where there are more than three heads, the last ones begin as the third."""
    for layer in (module.W_Q, module.W_K, module.W_V, module.W_O):
        rows = layer.weight.detach() if layer is not module.W_O else layer.weight.detach().T
        heads = rows.unflatten(0, (module.num_heads, -1))
        heads[3:] = heads[2:3]


def failed(code):
    assignment = COURSE.of_exercise(code.__name__)
    result = judged_alone(assignment, exercise_of(assignment, code.__name__), code, names_causes=False)
    return {test.name: test.message for test in result.tests if test.state == "failed"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (of_all(nn.init.zeros_), "no parameter has a gradient"),
        (of_all(lambda p: nn.init.constant_(p, 0.5)), "heads 0 and 1 are alike"),
        (tied_from_the_fourth, "heads 2 and 3 are alike"),
        (of_all(lambda p: nn.init.normal_(p, std=50)), "above 100"),
        (lambda module: module.half(), "dtype"),
    ],
    ids=["zero", "one-number", "tied", "huge", "half-precision"],
)
def test_weights_that_cannot_learn_are_told(change, told):
    found = failed(made_with(change))
    assert list(found) == ["test_as_made"]
    assert told in found["test_as_made"]


@pytest.mark.parametrize("name", ["W_Q", "W_O"])
def test_a_single_matrix_may_begin_at_zero(name):
    assert not failed(made_with(lambda module: nn.init.zeros_(getattr(module, name).weight)))


def output_of_zeros(module):
    nn.init.zeros_(module.output.weight)


def output_of_zeros_and_one_number_elsewhere(module):
    of_all(lambda p: nn.init.constant_(p, 0.5))(module.blocks)
    output_of_zeros(module)


def test_the_last_layer_of_a_decoder_may_begin_at_zero():
    assert not failed(made_with(output_of_zeros, "TransformerDecoder"))


def test_a_last_layer_of_zeros_hides_no_heads_that_are_alike():
    found = failed(made_with(output_of_zeros_and_one_number_elsewhere, "TransformerDecoder"))
    assert "heads 0 and 1 are alike" in found["test_as_made"]


@pytest.mark.slow
@pytest.mark.parametrize("gain", [0.5, 1, 2**0.5])
def test_no_text_asks_for_a_gain(gain):
    assert not failed(made_with(of_all(lambda p: nn.init.xavier_uniform_(p, gain))))


class DecoderBlock(BLOCK):
    def forward(self, x, padding=None):
        return F.dropout(super().forward(x, padding), 0.1, self.training)


ON = "a dropout is on"


def test_a_dropout_costs_one_test_which_says_what_is_wrong():
    found = failed(DecoderBlock)
    assert list(found) == ["test_real_sizes"]
    assert ON in found["test_real_sizes"]


def always_dropping(name):
    """The solution, with a dropout that nobody turns off."""
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
def test_a_dropout_that_is_always_on_has_one_price_and_one_sentence(name):
    assignment = COURSE.of_exercise(name)
    torch.manual_seed(0)  # what is dropped decides which of the small answers are wrong
    result = judged_alone(assignment, exercise_of(assignment, name), always_dropping(name))
    told = [test.message for test in result.tests if test.state == "failed"]
    assert result.diagnosis == "dropout"
    assert 0.2 <= 1 - result.score / result.max_score <= 0.25
    assert ON in told[0]
    assert all("For the reason given above" in message for message in told[1:])


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
