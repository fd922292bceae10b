"""What several pictures of a2 show."""

import numpy as np

# A text looks at itself: L = S = 4, d_k = 3, d_v = 2.
WORDS = ("the", "cat", "sleeps", "here")
Q = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, -1.0], [1.0, 1.0, 2.0], [-1.0, 2.0, 0.0]])
K = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, -1.0, 0.0], [1.0, 2.0, 1.0]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]])

# Three of its words look at all four, and some are hidden.
SEEN = np.array([[True, True, False, True], [True, False, True, True], [False, True, True, False]])
