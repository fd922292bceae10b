"""Known mistakes of feed_forward."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden.part_options import PARTS

mistake = Catalogue()
FACTORS = [(a, b) for by in (0.5, 2, 0.1) for a, b in ((by, by), (by, 1), (1, by))]  # of the two matrices


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def feed_forward(x, W_1, b_1, W_2, b_2):
    result = np.zeros(x.shape)
    result += np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2
    return result


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1
    b_1 *= 1.5
    hidden = np.maximum(hidden + b_1 / 1.5, 0)
    return hidden @ W_2 + b_2


ANOTHER = [
    np.tanh,
    lambda y: y / (1 + np.exp(-y)),
    lambda y: y / (1 + np.exp(-1.702 * y)),
    lambda y: np.log1p(np.exp(y)),
]


@mistake.mutants(
    {
        "relu-missing": mistake.known(
            {"curve": lambda y: y},
            hint="Which numbers between the two layers are below zero, and what should become of them?",
        ),
        "relu-at-the-end": mistake.known(
            {"curve": lambda y: y, "end": lambda y: np.maximum(y, 0)},
            {"curve": lambda y: y, "late": lambda y: np.maximum(y, 0)},
            hint="Between which two steps of the formula is the maximum? May the result be below zero?",
        ),
        "relu-twice": mistake.known(
            {"end": lambda y: np.maximum(y, 0)}, hint="May the result be below zero? Which step would forbid it?"
        ),
        "relu-first": mistake.known(
            {"curve": lambda y: y, "begin": lambda x: np.maximum(x, 0)},
            hint="What is set to zero here: features of the word, or what the first layer makes of them?",
        ),
        "another-curve": mistake.known(
            *(
                [{"curve": lambda y: 0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y**3)))}]
                + [{"curve": lambda y: np.where(y > 0, y, 0.5 * y * (1 + np.tanh(0.79788456 * (y + 0.044715 * y**3))))}]
                + [{"curve": curve} for curve in ANOTHER]
            ),
            hint="Is what is below zero exactly zero after your curve, and what is above it unchanged?",
        ),
        "leaky-relu": mistake.mutant(
            *[{"curve": lambda y, by=by: np.where(y > 0, y, by * y)} for by in (0.01, 0.1, 0.2)],
            hint="What does ReLU make of -1?",
        ),
        "relu-clipped": mistake.mutant(
            *[{"curve": lambda y, top=top: np.clip(y, 0, top)} for top in (1, 6)], hint="What does ReLU make of 10?"
        ),
        "absolute-value": mistake.known({"curve": np.abs}, hint="What should become of -2 between the layers: 0 or 2?"),
        "squared-relu": mistake.mutant({"curve": lambda y: np.maximum(y, 0) ** 2}, hint="What does ReLU make of 10?"),
        "step-for-relu": mistake.mutant(
            {"curve": lambda y: (y > 0).astype(y.dtype)}, hint="What does ReLU make of 10?"
        ),
        "sign-flipped": mistake.mutant(
            {"curve": lambda y: np.minimum(y, 0)},
            {"curve": lambda y: np.maximum(-y, 0)},
            hint="What does ReLU make of 3, and what of -3?",
        ),
        "sigmoid": mistake.known(
            {"curve": lambda y: 1 / (1 + np.exp(-y))}, hint="What does your curve make of 5, and what should come out?"
        ),
        "softmax-for-relu": mistake.mutant(
            {"curve": lambda y: np.exp(y) / np.exp(y).sum(-1, keepdims=True)},
            hint="Does one hidden unit know of the others in a ReLU?",
        ),
        "relu-on-the-words-too": mistake.mutant(
            {"begin": lambda x: np.maximum(x, 0)},
            hint="A feature of a word is below zero. Does the first layer meet it?",
        ),
        "first-layer-turned-round": mistake.mutant(
            {"back": lambda W_1, W_2: W_1.T}, hint="Which of the arguments has no influence on your result?"
        ),
        "b_1-missing": mistake.known({"first": 0}, hint="Which arguments does your code not use?"),
        "b_2-missing": mistake.known({"second": 0}, hint="Which arguments does your code not use?"),
        "b_1-subtracted": mistake.mutant({"first": -1}, hint="Is the bias added or taken off?"),
        "b_2-subtracted": mistake.mutant({"second": -1}, hint="Is the bias added or taken off?"),
        "b_1-twice": mistake.mutant({"first": 2}, hint="How often is each bias added?"),
        "b_2-twice": mistake.mutant({"second": 2}, hint="How often is each bias added?"),
        "relu-before-the-bias": mistake.known(
            {"early": True}, hint="In the example, is -3 added before or after numbers are set to zero?"
        ),
        "relu-asks-without-the-bias": mistake.mutant(
            {"asks": lambda hidden, b_1: hidden > 0},
            hint="What does your ReLU ask whether it is below zero: numbers with b_1 or without?",
        ),
        "relu-asks-the-word": mistake.mutant(
            {"asks": lambda hidden, b_1: (hidden + b_1).sum(-1, keepdims=True) > 0},
            {"asks": lambda hidden, b_1: (hidden + b_1).max(-1, keepdims=True) > 0},
            hint="May one hidden number be set to zero and its neighbour not?",
        ),
        "hidden-numbers-cut": mistake.known(
            *[
                {"curve": lambda y, most=most: np.maximum(y, 0) * (np.arange(y.shape[-1]) < most)}
                for most in (64, 16, 32, 128)
            ],
            hint="With d_ff = 130, how many of the hidden numbers reach the second layer?",
        ),
        "hidden-features-dropped": mistake.mutant(
            *[{"curve": lambda y, p=p: np.maximum(y, 0) * ~p(np.arange(y.shape[-1]), y.shape[-1])} for p in PARTS],
            hint="Which of the hidden numbers reach the second layer? Set the rows of W_2 to zero, one by one.",
        ),
        "weights-scaled": mistake.mutant(
            *[{"matrices": lambda W_1, W_2, a=a, b=b: (a * W_1, b * W_2)} for a, b in FACTORS],
            hint="Is each matrix used as it comes?",
        ),
        "W_1-unused": mistake.mutant(
            {"matrices": lambda W_1, W_2: (np.ones_like(W_1), W_2)},
            {"matrices": lambda W_1, W_2: (0 * W_1, W_2)},
            hint="Does your result change if W_1 does?",
        ),
        "W_2-unused": mistake.mutant(
            {"matrices": lambda W_1, W_2: (W_1, 0 * W_2)},
            {"matrices": lambda W_1, W_2: (W_1, np.ones_like(W_2))},
            hint="Does your result change if W_2 does?",
        ),
        "residual-added": mistake.known({"rest": 1}, hint="What else is in your result besides the second layer's?"),
    }
)
def feed_forward(
    curve=lambda y: np.maximum(y, 0), begin=lambda x: x, end=lambda y: y, first=1, second=1, early=False, rest=0,
    asks=None, late=lambda y: y,
    back=lambda W_1, W_2: W_2, matrices=lambda W_1, W_2: (W_1, W_2),
):  # fmt: skip
    def forward(x, W_1, b_1, W_2, b_2):
        W_1, W_2 = matrices(W_1, W_2)
        hidden = begin(x) @ W_1
        if asks is not None:
            hidden = (hidden + first * b_1) * asks(hidden, b_1)
        else:
            hidden = curve(hidden) + first * b_1 if early else curve(hidden + first * b_1)
        return end(late(hidden @ back(W_1, W_2)) + second * b_2) + rest * x

    return forward
