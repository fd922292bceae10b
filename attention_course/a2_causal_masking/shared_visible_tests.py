"""What the visible tests of a2 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

CAUSAL = np.array([[True, False, False], [True, True, False], [True, True, True]])

# d_k = 4, so dot products of 2 and 6 become the scores 1 and 3.
Q = np.array([[2.0, 0.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0, 1.0], [0.0, 10.0, 1.0]])
CAUSAL_WEIGHTS = np.array([[1.0, 0.0], [0.1192, 0.8808]])
CAUSAL_OUTPUT = np.array([[10.0, 0.0, 1.0], [1.192, 8.808, 1.0]])

# Two texts of three words, of width five, with values of width four. Of the first text two words are real, of the
# second none.
QUERIES = np.array(
    [
        [[2.0, 1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0, 2.0], [1.0, 2.0, 1.0, 1.0, 2.0]],
        [[1.0, 1.0, 1.0, 1.0, 2.0], [0.0, 2.0, 1.0, -1.0, 0.0], [2.0, 1.0, -1.0, 2.0, 1.0]],
    ]
)

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"
