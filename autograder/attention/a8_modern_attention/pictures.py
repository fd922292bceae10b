"""Examples that are drawn: rotate, grouped_query_attention, sliding_window_mask."""

import numpy as np

from autograder.suites.example import Example

# The same vector six times, at six places. The base is small, so that the slow pairs are seen to move, too.
VECTORS = np.tile([1.0, 0.0, 1.0, 0.0, 0.5, 0.5], (6, 1))
AT = (0, 1, 2, 3, 5, 8)
TURNED = np.array(
    [
        [1.0, 0.0, 1.0, 0.0, 0.5, 0.5],
        [0.54, 0.84, 0.98, 0.21, 0.48, 0.52],
        [-0.42, 0.91, 0.91, 0.42, 0.45, 0.54],
        [-0.99, 0.14, 0.8, 0.6, 0.43, 0.56],
        [0.28, -0.96, 0.47, 0.88, 0.37, 0.6],
        [-0.15, 0.99, -0.15, 0.99, 0.28, 0.65],
    ]
)

# Four query heads of three words; neighbours share the keys of five words.
Q = np.array(
    [
        [[1.0, 2.0, -2.0], [0.0, 0.0, 1.0], [2.0, -2.0, -1.0]],
        [[0.0, 0.0, -2.0], [-2.0, -2.0, -2.0], [-2.0, 1.0, 1.0]],
        [[-1.0, 0.0, -1.0], [-2.0, 2.0, 1.0], [-2.0, -1.0, 1.0]],
        [[1.0, 1.0, 1.0], [2.0, 0.0, 2.0], [-1.0, 2.0, -2.0]],
    ]
)
K = np.array(
    [
        [[-1.0, 2.0, -2.0], [-2.0, -2.0, -1.0], [0.0, 0.0, -2.0], [1.0, -1.0, -2.0], [-2.0, 1.0, 0.0]],
        [[-1.0, 0.0, 2.0], [1.0, -2.0, -1.0], [2.0, -2.0, 2.0], [0.0, -1.0, 2.0], [1.0, -1.0, -1.0]],
    ]
)
V = np.array(
    [
        [[2.0, 5.0], [6.0, 2.0], [3.0, 7.0], [1.0, 6.0], [9.0, 6.0]],
        [[6.0, 4.0], [9.0, 2.0], [3.0, 6.0], [6.0, 1.0], [1.0, 6.0]],
    ]
)
SHARED = np.array(
    [
        [[0.77, 0.0, 0.14, 0.08, 0.01], [0.13, 0.22, 0.13, 0.13, 0.4], [0.0, 0.05, 0.09, 0.86, 0.0]],
        [[0.29, 0.09, 0.29, 0.29, 0.03], [0.01, 0.92, 0.03, 0.03, 0.01], [0.14, 0.08, 0.01, 0.0, 0.77]],
        [[0.19, 0.34, 0.03, 0.11, 0.34], [0.9, 0.0, 0.0, 0.09, 0.0], [0.57, 0.03, 0.06, 0.32, 0.02]],
        [[0.23, 0.04, 0.42, 0.23, 0.07], [0.03, 0.01, 0.87, 0.09, 0.01], [0.19, 0.19, 0.0, 0.03, 0.59]],
    ]
)
WORDS = ("the", "keys", "belong", "to", "Sarah")

WINDOW = np.array(
    [
        [True, False, False, False, False, False, False],
        [True, True, False, False, False, False, False],
        [True, True, True, False, False, False, False],
        [True, True, True, True, False, False, False],
        [True, False, True, True, True, False, False],
        [True, False, False, True, True, True, False],
        [True, False, False, False, True, True, True],
    ]
)

PICTURES = {
    "rotate": Example((VECTORS, np.array(AT), 100.0), wanted=TURNED, rows=tuple(map(str, AT)), columns=tuple("012345")),
    "grouped_query_attention": Example((Q, K, V, 2), part=1, wanted=SHARED, rows=WORDS[2:], columns=WORDS),
    "sliding_window_mask": Example((7, 3, 1), wanted=WINDOW, rows=tuple("0123456"), columns=tuple("0123456")),
}
