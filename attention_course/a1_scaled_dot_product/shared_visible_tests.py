"""What the visible tests of a1 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

from autograder.testing import expect

# The first word of the worked example: one query, three keys, three values. d_k = 4: scores 2 / 2, 6 / 2 and 4 / 2.
Q = np.array([[2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0], [1.0, 0.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0], [0.0, 10.0], [-10.0, 10.0]])
WEIGHTS = np.array([[0.0900, 0.6652, 0.2447]])
OUTPUT = np.array([[-1.5470, 9.0997]])

# Two texts, and no two sizes alike: three queries and four keys of width five, values of width six.
QUERIES = np.array(
    [
        [[2.0, 1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0, 2.0], [1.0, 2.0, 1.0, 1.0, 2.0]],
        [[1.0, 1.0, 1.0, 1.0, 2.0], [0.0, 2.0, 1.0, -1.0, 0.0], [2.0, 1.0, -1.0, 2.0, 1.0]],
    ]
)
KEYS = np.array(
    [
        [
            [2.0, -1.0, -1.0, -1.0, -1.0],
            [2.0, 2.0, 1.0, -1.0, -1.0],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [-1.0, 1.0, 1.0, -1.0, -1.0],
        ],
        [[0.0, 0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, -1.0, 1.0], [2.0, 2.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 2.0, 0.0]],
    ]
)
VALUES = np.array(
    [
        [
            [6.0, 8.0, 0.0, 8.0, 4.0, 5.0],
            [6.0, 2.0, 9.0, 0.0, 2.0, 3.0],
            [5.0, 4.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 9.0, 1.0, 6.0, 7.0, 2.0],
        ],
        [
            [2.0, 4.0, 2.0, 9.0, 1.0, 8.0],
            [7.0, 8.0, 1.0, 3.0, 6.0, 4.0],
            [6.0, 6.0, 6.0, 0.0, 9.0, 5.0],
            [9.0, 2.0, 3.0, 8.0, 1.0, 0.0],
        ],
    ]
)
ALL_WEIGHTS = np.array(
    [
        [[0.0877, 0.8204, 0.0561, 0.0358], [0.3641, 0.0389, 0.3641, 0.2328], [0.02, 0.7162, 0.1872, 0.0765]],
        [[0.1209, 0.1209, 0.4625, 0.2957], [0.0659, 0.252, 0.6163, 0.0659], [0.0449, 0.0287, 0.2688, 0.6575]],
    ]
)
ALL_OUTPUTS = np.array(
    [
        [
            [5.7647, 2.8892, 7.4755, 0.9166, 2.2425, 2.9713],
            [4.4717, 6.5428, 0.9472, 4.31, 3.1641, 2.403],
            [5.43, 3.0304, 6.7097, 0.6194, 2.0483, 2.4018],
        ],
        [
            [6.5244, 4.8171, 4.0247, 3.8165, 5.3044, 3.7632],
            [6.1861, 6.1087, 4.2791, 1.8757, 7.1902, 4.6163],
            [7.8215, 3.3375, 3.7041, 5.7507, 3.2942, 1.8185],
        ],
    ]
)
# Two batches of seven texts, each of them one of the two: `QUERIES[ORDER]` has shape (2, 7, 3, 5).
ORDER = np.array([[0, 1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1, 0]])
# Seventy queries and 71 keys of width 100. Key j scores log(j + 1), so its weight is (j + 1) / (1 + 2 + ... + 71).
PLACE = np.arange(1.0, 72.0)
LONG = {"Q": np.full((70, 100), 0.1), "K": np.outer(np.log(PLACE), np.ones(100)), "V": np.outer(PLACE, [1, 10, 100])}
LONG_WEIGHTS = np.tile(PLACE / 2556, (70, 1))
LONG_OUTPUT = np.tile([143 / 3, 1430 / 3, 14300 / 3], (70, 1))
# The first text's queries a thousand times as large: each has eyes for its best key alone.
SURE = np.array([[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])

ANY_SIZE = expect.IfOthersPass("Small sizes come out right. Which of your numbers is a size?")
AXES = "Does one batch axis work? Then: which axes and sizes does your code count from the front?"
NAMES = "What are the arguments called in the first line that you were given?"
STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"
