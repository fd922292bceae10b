"""Known mistakes of gated_feed_forward."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden.part_options import PARTS
from ..shared_mistakes import HALF, in_half

mistake = Catalogue()


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _silu(z):
    return z * _sigmoid(z)


def _gelu(z):
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def _itself(z):
    return z


def _relu(z):
    return np.maximum(z, 0)


def _feeding(
    curve=_silu,
    other=_itself,
    join=lambda gate, up: gate * up,
    swap=False,
    end=lambda hidden, W_down, x: hidden @ W_down,
    after=_itself,
    before=_itself,
):
    """`gated_feed_forward`. Each decision is an option."""

    def gated_feed_forward(x, W_gate, W_up, W_down):
        W_gate, W_up = (W_up, W_gate) if swap else (W_gate, W_up)
        return end(after(join(curve(before(x @ W_gate)), other(x @ W_up))), W_down, x)

    return gated_feed_forward


@mistake("gate-for-both", hint="Which of the three matrices does your code not use?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _feeding()(x, W_gate, W_gate, W_down)


@mistake("curve-at-the-end", hint="Between which two steps of the formula does SiLU stand? What comes last?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _silu(_feeding(curve=_itself)(x, W_gate, W_up, W_down))


@mistake("overflows", hint="What is np.exp(1000.0), and what is it divided by itself?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _feeding(curve=lambda z: z * (np.exp(z) / (np.exp(z) + 1)))(x, W_gate, W_up, W_down)


@mistake("W_down-transposed", hint="Which axis of W_down meets the numbers of the layer between?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    end = lambda hidden, W_down, x: hidden @ W_down.reshape(W_down.shape[::-1]).T  # noqa: E731
    return _feeding(end=end)(x, W_gate, W_up, W_down)


@mistake("in-place", hint="Whose array do you write into?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    x[...] = _feeding()(x, W_gate, W_up, W_down)
    return x


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return np.zeros(x.shape) + _feeding()(x, W_gate, W_up, W_down)


@mistake.mutants({"half-precision": mistake.mutant(*in_half(_feeding()), hint=HALF)})
def gated_feed_forward(code):
    return code


CURVES = {
    "sigmoid-for-silu": mistake.known({"curve": _sigmoid}, hint="What does SiLU make of 10: about 1, or about 10?"),
    "relu-for-silu": mistake.known({"curve": _relu}, hint="What does your curve make of -1: exactly 0?"),
    "gelu-for-silu": mistake.known(
        {"curve": _gelu},
        {"curve": lambda z: z * _sigmoid(1.702 * z)},
        {"curve": lambda z: z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))},
        hint="Which curve does the formula name? What does it make of 1: 0.73 or 0.84?",
    ),
    "tanh-for-silu": mistake.known({"curve": np.tanh}, hint="What does SiLU make of 10: about 1, or about 10?"),
    "no-curve": mistake.known({"curve": _itself}, hint="What happens to the gate before it meets the other layer?"),
    "sign-flipped": mistake.known(
        {"curve": lambda z: z * _sigmoid(-z)},
        hint="In the sigmoid, e is raised to which power: z or -z? What does yours make of 10?",
    ),
    "softplus-for-silu": mistake.mutant(
        {"curve": lambda z: np.log1p(np.exp(z))}, hint="What does SiLU make of 0: 0, or 0.69?"
    ),
    "softmax-for-silu": mistake.mutant(
        {"curve": lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)},
        hint="Do the numbers of a gate share something, or does each open and close on its own?",
    ),
}


@mistake.mutants(
    CURVES
    | {
        "gate-and-up-swapped": mistake.known({"swap": True}, hint="Through which of the two layers does SiLU go?"),
        "both-through-the-curve": mistake.known(
            {"other": _silu}, hint="Through how many of the two layers does SiLU go?"
        ),
        "curve-after-the-product": mistake.known(
            {"curve": _itself, "after": _silu}, hint="What goes through SiLU: the gate, or what the gate lets through?"
        ),
        "added-for-multiplied": mistake.known(
            {"join": lambda gate, up: gate + up},
            hint="A gate that is shut: how much of the other layer should get through?",
        ),
        "hidden-features-dropped": mistake.mutant(
            *[{"after": lambda y, p=p: y * ~p(np.arange(y.shape[-1]), y.shape[-1])} for p in PARTS],
            hint="Which of the numbers between the layers reach the last one?",
        ),
        "weights-scaled": mistake.mutant(
            *[{"before": lambda z, by=by: by * z} for by in (0.5, 2, 0.1)],
            hint="Is the gate's matrix used as it comes?",
        ),
        "gate-alone": mistake.known(
            {"join": lambda gate, up: gate}, hint="Which of the three matrices does your code not use?"
        ),
        "up-alone": mistake.known(
            {"join": lambda gate, up: up}, hint="Which of the three matrices does your code not use?"
        ),
        "residual-added": mistake.known(
            {"end": lambda hidden, W_down, x: x + hidden @ W_down},
            hint="What else is in your result besides the last layer's?",
        ),
    }
)
def gated_feed_forward(**options):
    return _feeding(**options)
