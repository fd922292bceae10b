"""One visible example for exercises that give weights, a mask, or the like: what `check` and a feedback page draw.

Small, by hand, the same for everybody. `wanted` is what the example asks for, in numbers that a student may read, as
those of the visible checks; nothing hidden judges by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

WORDS = ("the", "cat", "sleeps")
# Made so that each word has one other word to look for: "the" looks for "cat", "cat" for "sleeps", "sleeps" for "cat".
Q = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]])
K = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
SEEN = np.array([[True, True, False], [True, True, False], [True, False, True]])
EYE = np.eye(3)
# Two heads: the second takes a word's three numbers in the other order for its queries.
W_Q, W_K, W_V, W_O = np.hstack([EYE, EYE[:, ::-1]]), np.hstack([EYE, EYE]), np.hstack([EYE, EYE]), np.vstack([EYE, EYE])

SENTENCE = ("Keys", "on", "the", "table", "belong", "to", "Sarah")
MIXING = np.array([0.25, 0.5, 0.25]).reshape(3, 1, 1) * np.eye(7)

SCORES = np.array([[0.0, 3.46, 0.0], [0.0, 1.15, 3.46], [0.0, 3.46, 1.15]])
WEIGHTS = np.array([[0.03, 0.94, 0.03], [0.03, 0.09, 0.88], [0.03, 0.88, 0.09]])
STAIRCASE = np.array([[True, False, False], [True, True, False], [True, True, True]])
CAUSAL_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.24, 0.76, 0.0], [0.03, 0.88, 0.09]])
# Under the mask SEEN: once from the dot products as they are, once from those divided by the square root of 3.
SEEN_SOFTMAX = np.array([[0.0, 1.0, 0.0], [0.12, 0.88, 0.0], [0.12, 0.0, 0.88]])
SEEN_WEIGHTS = np.array([[0.03, 0.97, 0.0], [0.24, 0.76, 0.0], [0.24, 0.0, 0.76]])
TWO_HEADS = np.array(
    [
        [[0.49, 0.02, 0.49], [0.02, 0.89, 0.09], [0.34, 0.06, 0.60]],
        [[0.49, 0.02, 0.49], [0.43, 0.14, 0.43], [0.49, 0.02, 0.49]],
    ]
)
SINES_AND_COSINES = np.array(
    [
        [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        [0.84, 0.54, 0.1, 1.0, 0.01, 1.0, 0.0, 1.0],
        [0.91, -0.42, 0.2, 0.98, 0.02, 1.0, 0.0, 1.0],
        [0.14, -0.99, 0.3, 0.96, 0.03, 1.0, 0.0, 1.0],
        [-0.76, -0.65, 0.39, 0.92, 0.04, 1.0, 0.0, 1.0],
        [-0.96, 0.28, 0.48, 0.88, 0.05, 1.0, 0.0, 1.0],
    ]
)
NORMED = np.array(
    [
        [-1.34, -0.45, 0.45, 1.34],
        [-1.34, -0.45, 0.45, 1.34],
        [1.18, -1.52, -0.17, 0.51],
    ]
)
ONE_WORD_BACK = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    ]
)
MIXED = np.array(
    [
        [0.50, 0.25, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.25, 0.50, 0.25, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.25, 0.50, 0.25, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.25, 0.50, 0.25, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.25, 0.50, 0.25, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.25, 0.50, 0.25],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.25, 0.50],
    ]
)
ROUNDED = 0.006  # these have two digits


@dataclass(frozen=True)
class Example:
    """A call, what it asks for, and which part of its answer is the picture: None where the answer itself is.

    For an `nn.Module`, `args` construct it, `parameters` are copied in by name, and `forward` is what it is given.
    """

    args: tuple[Any, ...]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, np.ndarray] | None = None
    forward: tuple[np.ndarray, ...] = ()
    rows: tuple[str, ...] = WORDS
    columns: tuple[str, ...] = WORDS
    wanted: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """What the picture must have; another answer is not drawn."""
        return len(self.rows), len(self.columns)


PICTURES = {
    "attention_scores": Example((Q, K), wanted=SCORES),
    "scaled_dot_product_attention": Example((Q, K, V), wanted=WEIGHTS, part=1),
    "torch_scaled_dot_product_attention": Example((Q, K, V), wanted=WEIGHTS, part=1, tensors=True),
    "causal_mask": Example((3,), wanted=STAIRCASE),
    "masked_softmax": Example((Q @ K.T, SEEN), wanted=SEEN_SOFTMAX),
    "causal_attention": Example((Q, K, V), wanted=CAUSAL_WEIGHTS, part=1),
    "torch_masked_attention": Example((Q, K, V, SEEN), wanted=SEEN_WEIGHTS, part=1, tensors=True),
    "multi_head_attention": Example((Q, W_Q, W_K, W_V, W_O, 2), wanted=TWO_HEADS, part=1),
    "MultiHeadAttention": Example(
        (3, 2, 3),
        wanted=TWO_HEADS,
        part=1,
        tensors=True,
        # nn.Linear keeps its weight as (out, in).
        parameters={f"{name}.weight": W.T for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))},
        forward=(Q,),
    ),
    "positional_encoding": Example((6, 8), wanted=SINES_AND_COSINES, rows=tuple("012345"), columns=tuple("01234567")),
    "layer_norm": Example(
        (np.array([[1.0, 3.0, 5.0, 7.0], [10.0, 30.0, 50.0, 70.0], [4.0, -4.0, 0.0, 2.0]]), np.ones(4), np.zeros(4)),
        wanted=NORMED,
        rows=("x", "10 x", "another"),
        columns=tuple("0123"),
    ),
    "offset_attention": Example((7, -1), wanted=ONE_WORD_BACK, rows=SENTENCE, columns=SENTENCE),
    # One-hot words and taps that hand on the whole word: the result says who hears whom, and how loud.
    "convolution_by_attention": Example((np.eye(7), MIXING), wanted=MIXED, rows=SENTENCE, columns=SENTENCE),
}
