"""Examples that are drawn: causal_mask, masked_softmax, causal_attention, torch_masked_attention."""

import numpy as np

from autograder.suites.example import Example

# A text looks at itself: L = S = 4, d_k = 3, d_v = 2.
WORDS = ("the", "cat", "sleeps", "here")
Q = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, -1.0], [1.0, 1.0, 2.0], [-1.0, 2.0, 0.0]])
K = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, -1.0, 0.0], [1.0, 2.0, 1.0]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]])
STAIRCASE = np.array([[True, False, False], [True, True, False], [True, True, True]])
CAUSAL_WEIGHTS = np.array(
    [[1.0, 0.0, 0.0, 0.0], [0.09, 0.91, 0.0, 0.0], [0.71, 0.22, 0.07, 0.0], [0.06, 0.33, 0.01, 0.6]]
)

# Three of its words look at all four, and some are hidden.
SEEN = np.array([[True, True, False, True], [True, False, True, True], [False, True, True, False]])
SCORES = np.array([[1.0, 3.0, 9.0, 2.0], [2.0, 9.0, 3.0, -1.0], [9.0, 0.5, 1.0, 9.0]])
SEEN_SOFTMAX = np.array([[0.09, 0.67, 0.0, 0.24], [0.27, 0.0, 0.72, 0.01], [0.0, 0.38, 0.62, 0.0]])
SEEN_WEIGHTS = np.array([[0.58, 0.1, 0.0, 0.32], [0.02, 0.0, 0.01, 0.97], [0.0, 0.76, 0.24, 0.0]])

PICTURES = {
    "causal_mask": Example((3,), wanted=STAIRCASE, rows=WORDS[:3], columns=WORDS[:3]),
    "masked_softmax": Example((SCORES, SEEN), wanted=SEEN_SOFTMAX, rows=WORDS[:3], columns=WORDS),
    "causal_attention": Example((Q, K, V), wanted=CAUSAL_WEIGHTS, rows=WORDS, columns=WORDS, part=1),
    "torch_masked_attention": Example(
        (Q[:3], K, V, SEEN), wanted=SEEN_WEIGHTS, rows=WORDS[:3], columns=WORDS, part=1, tensors=True
    ),
}
