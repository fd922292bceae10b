"""What several pictures of a1 show."""

import numpy as np

# Three words of one text look at four of another. No two sizes are alike: L = 3, S = 4, d_k = 2, d_v = 5.
ASKING = ("who", "sleeps", "here")
TEXT = ("the", "black", "cat", "dreams")
Q = np.array([[0.0, 2.0], [3.0, 0.0], [-1.0, 1.0]])
K = np.array([[-1.0, 0.0], [1.0, -1.0], [0.0, 2.0], [2.0, 1.0]])
V = np.array(
    [[1.0, 0.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 1.0, 4.0, 0.0], [5.0, 0.0, 0.0, 0.0, 1.0]]
)
WEIGHTS = np.array([[0.04, 0.01, 0.76, 0.18], [0.0, 0.11, 0.01, 0.88], [0.29, 0.04, 0.6, 0.07]])
