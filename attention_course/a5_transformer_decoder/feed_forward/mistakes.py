"""Known mistakes of feed_forward."""

import numpy as np

from autograder.suites import Catalogue

mistake = Catalogue()


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


@mistake.recipe(
    {
        "relu-missing": [{"curve": lambda y: y}],
        "relu-at-the-end": [{"curve": lambda y: y, "end": lambda y: np.maximum(y, 0)},
                            {"curve": lambda y: y, "late": lambda y: np.maximum(y, 0)}],
        "relu-twice": [{"end": lambda y: np.maximum(y, 0)}],
        "relu-first": [{"curve": lambda y: y, "begin": lambda x: np.maximum(x, 0)}],
        "another-curve": [{"curve": lambda y: 0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y**3)))}]
        + [{"curve": lambda y: np.where(y > 0, y, 0.5 * y * (1 + np.tanh(0.79788456 * (y + 0.044715 * y**3))))}]
        + [{"curve": curve} for curve in ANOTHER],
        "leaky-relu": [{"curve": lambda y, by=by: np.where(y > 0, y, by * y)} for by in (0.01, 0.1, 0.2)],
        "relu-clipped": [{"curve": lambda y, top=top: np.clip(y, 0, top)} for top in (1, 6)],
        "absolute-value": [{"curve": np.abs}],
        "squared-relu": [{"curve": lambda y: np.maximum(y, 0) ** 2}],
        "step-for-relu": [{"curve": lambda y: (y > 0).astype(y.dtype)}],
        "sign-flipped": [{"curve": lambda y: np.minimum(y, 0)}, {"curve": lambda y: np.maximum(-y, 0)}],
        "sigmoid": [{"curve": lambda y: 1 / (1 + np.exp(-y))}],
        "softmax-for-relu": [{"curve": lambda y: np.exp(y) / np.exp(y).sum(-1, keepdims=True)}],
        "relu-on-the-words-too": [{"begin": lambda x: np.maximum(x, 0)}],
        "first-layer-turned-round": [{"back": lambda W_1, W_2: W_1.T}],
        "b_1-missing": [{"first": 0}],
        "b_2-missing": [{"second": 0}],
        "b_1-subtracted": [{"first": -1}],
        "b_2-subtracted": [{"second": -1}],
        "b_1-twice": [{"first": 2}],
        "b_2-twice": [{"second": 2}],
        "relu-before-the-bias": [{"early": True}],
        "relu-asks-without-the-bias": [{"asks": lambda hidden, b_1: hidden > 0}],
        "relu-asks-the-word": [{"asks": lambda hidden, b_1: (hidden + b_1).sum(-1, keepdims=True) > 0},
                               {"asks": lambda hidden, b_1: (hidden + b_1).max(-1, keepdims=True) > 0}],
        "residual-added": [{"rest": 1}],
    },
    hints={
        "leaky-relu": "What does ReLU make of -1?",
        "relu-clipped": "What does ReLU make of 10?",
        "squared-relu": "What does ReLU make of 10?",
        "step-for-relu": "What does ReLU make of 10?",
        "sign-flipped": "What does ReLU make of 3, and what of -3?",
        "softmax-for-relu": "Does one hidden unit know of the others in a ReLU?",
        "relu-on-the-words-too": "A feature of a word is below zero. Does the first layer meet it?",
        "first-layer-turned-round": "Which of the arguments has no influence on your result?",
        "b_1-subtracted": "Is the bias added or taken off?",
        "b_2-subtracted": "Is the bias added or taken off?",
        "b_1-twice": "How often is each bias added?",
        "b_2-twice": "How often is each bias added?",
        "relu-asks-without-the-bias": "What does your ReLU ask whether it is below zero: numbers with b_1 or without?",
        "relu-asks-the-word": "May one hidden number be set to zero and its neighbour not?",
        "another-curve": "Is what is below zero exactly zero after your curve, and what is above it unchanged?",
        "relu-missing": "Which numbers between the two layers are below zero, and what should become of them?",
        "relu-at-the-end": "Between which two steps of the formula is the maximum? May the result be below zero?",
        "relu-twice": "May the result be below zero? Which step would forbid it?",
        "relu-first": "What is set to zero here: features of the word, or what the first layer makes of them?",
        "relu-before-the-bias": "In the example, is -3 added before or after numbers are set to zero?",
        "b_1-missing": "Which arguments does your code not use?",
        "b_2-missing": "Which arguments does your code not use?",
        "sigmoid": "What does your curve make of 5, and what should come out?",
        "absolute-value": "What should become of -2 between the layers: 0 or 2?",
        "residual-added": "What else is in your result besides the second layer's?",
    },
    held=(
        "relu-missing", "relu-at-the-end", "relu-twice", "relu-first", "relu-before-the-bias", "b_1-missing",
        "b_2-missing", "sigmoid", "absolute-value", "residual-added", "another-curve",
    ),
)  # fmt: skip
def feed_forward(
    curve=lambda y: np.maximum(y, 0), begin=lambda x: x, end=lambda y: y, first=1, second=1, early=False, rest=0,
    asks=None, late=lambda y: y,
    back=lambda W_1, W_2: W_2,
):  # fmt: skip
    def forward(x, W_1, b_1, W_2, b_2):
        hidden = begin(x) @ W_1
        if asks is not None:
            hidden = (hidden + first * b_1) * asks(hidden, b_1)
        else:
            hidden = curve(hidden) + first * b_1 if early else curve(hidden + first * b_1)
        return end(late(hidden @ back(W_1, W_2)) + second * b_2) + rest * x

    return forward
