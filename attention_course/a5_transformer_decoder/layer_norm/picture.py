"""What `check` draws of layer_norm."""

import numpy as np

from autograder.suites.example import Example

WORDS = ("the", "cat", "sleeps")
X = np.array([[1.0, 3.0, 5.0, 7.0], [20.0, -10.0, 40.0, 30.0], [4.0, -4.0, 0.0, 3.0]])
GAMMA, BETA = np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.0, 1.0, -1.0, 3.0])
NORMED = np.array([[-1.34, 0.11, -0.78, 1.66], [0.0, -2.21, -0.47, 2.47], [1.04, -2.05, -1.12, 2.28]])

PICTURE = Example((X, GAMMA, BETA), wanted=NORMED, rows=WORDS, columns=tuple("0123"))
