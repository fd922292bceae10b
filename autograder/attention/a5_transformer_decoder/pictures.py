"""Examples that are drawn: positional_encoding, layer_norm."""

import numpy as np

from autograder.suites.example import Example

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
WORDS = ("the", "cat", "sleeps")
X = np.array([[1.0, 3.0, 5.0, 7.0], [20.0, -10.0, 40.0, 30.0], [4.0, -4.0, 0.0, 3.0]])
GAMMA, BETA = np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.0, 1.0, -1.0, 3.0])
NORMED = np.array([[-1.34, 0.11, -0.78, 1.66], [0.0, -2.21, -0.47, 2.47], [1.04, -2.05, -1.12, 2.28]])

PICTURES = {
    "positional_encoding": Example((6, 8), wanted=SINES_AND_COSINES, rows=tuple("012345"), columns=tuple("01234567")),
    "layer_norm": Example((X, GAMMA, BETA), wanted=NORMED, rows=WORDS, columns=tuple("0123")),
}
