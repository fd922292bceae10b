"""One visible example for exercises that give weights, a mask, or the like: what a feedback page draws of an answer.

Small, by hand, the same for everybody. Nothing here is an expected answer.
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


@dataclass(frozen=True)
class Example:
    """A call, and which part of its answer is the picture: None where the answer itself is.

    For an `nn.Module`, `args` construct it, `parameters` are copied in by name, and `forward` is what it is given.
    """

    args: tuple[Any, ...]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, np.ndarray] | None = None
    forward: tuple[np.ndarray, ...] = ()
    rows: tuple[str, ...] = WORDS
    columns: tuple[str, ...] = WORDS

    @property
    def shape(self) -> tuple[int, int]:
        """What the picture must have; another answer is not drawn."""
        return len(self.rows), len(self.columns)


PICTURES = {
    "attention_scores": Example((Q, K)),
    "scaled_dot_product_attention": Example((Q, K, V), part=1),
    "torch_scaled_dot_product_attention": Example((Q, K, V), part=1, tensors=True),
    "causal_mask": Example((3,)),
    "masked_softmax": Example((Q @ K.T, SEEN)),
    "causal_attention": Example((Q, K, V), part=1),
    "torch_masked_attention": Example((Q, K, V, SEEN), part=1, tensors=True),
    "multi_head_attention": Example((Q, W_Q, W_K, W_V, W_O, 2), part=1),
    "MultiHeadAttention": Example(
        (3, 2, 3),
        part=1,
        tensors=True,
        # nn.Linear keeps its weight as (out, in).
        parameters={f"{name}.weight": W.T for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))},
        forward=(Q,),
    ),
    "positional_encoding": Example((6, 8), rows=tuple("012345"), columns=tuple("01234567")),
    "layer_norm": Example(
        (np.array([[1.0, 3.0, 5.0, 7.0], [10.0, 30.0, 50.0, 70.0], [4.0, -4.0, 0.0, 2.0]]), np.ones(4), np.zeros(4)),
        rows=("x", "10 x", "another"),
        columns=tuple("0123"),
    ),
    "offset_attention": Example((7, -1), rows=SENTENCE, columns=SENTENCE),
    # One-hot words and taps that hand on the whole word: the result says who hears whom, and how loud.
    "convolution_by_attention": Example((np.eye(7), MIXING), rows=SENTENCE, columns=SENTENCE),
}
