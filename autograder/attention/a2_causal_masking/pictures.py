"""Examples that are drawn: causal_mask, masked_softmax, causal_attention, torch_masked_attention."""

import numpy as np

from autograder.judging.example import Example

WORDS = ("the", "cat", "sleeps")
Q = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]])
K = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
SEEN = np.array([[True, True, False], [True, True, False], [True, False, True]])
STAIRCASE = np.array([[True, False, False], [True, True, False], [True, True, True]])
CAUSAL_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.24, 0.76, 0.0], [0.03, 0.88, 0.09]])
SEEN_SOFTMAX = np.array([[0.0, 1.0, 0.0], [0.12, 0.88, 0.0], [0.12, 0.0, 0.88]])
SEEN_WEIGHTS = np.array([[0.03, 0.97, 0.0], [0.24, 0.76, 0.0], [0.24, 0.0, 0.76]])

PICTURES = {
    "causal_mask": Example((3,), wanted=STAIRCASE, rows=WORDS, columns=WORDS),
    "masked_softmax": Example((Q @ K.T, SEEN), wanted=SEEN_SOFTMAX, rows=WORDS, columns=WORDS),
    "causal_attention": Example((Q, K, V), wanted=CAUSAL_WEIGHTS, rows=WORDS, columns=WORDS, part=1),
    "torch_masked_attention": Example(
        (Q, K, V, SEEN), wanted=SEEN_WEIGHTS, rows=WORDS, columns=WORDS, part=1, tensors=True
    ),
}
