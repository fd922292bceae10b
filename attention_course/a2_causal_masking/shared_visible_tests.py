"""What the visible tests of a2 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

from autograder.testing import expect

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

# Two batches of seven texts, each of them one of the two: `QUERIES[ORDER]` has shape (2, 7, 3, 5).
ORDER = np.array([[0, 1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1, 0]])
# Seventy words of width 100. Key j scores log(j + 1) with any query.
PLACE = np.arange(1.0, 71.0)
LONG = {"Q": np.full((70, 100), 0.1), "K": np.outer(np.log(PLACE), np.ones(100)), "V": np.outer(PLACE, [1, 10, 100])}

ANY_SIZE = expect.IfOthersPass("Small sizes come out right. Which of your numbers is a size?")
AXES = "Does one batch axis work? Then: which axes and sizes does your code count from the front?"
NAMES = "What are the arguments called in the first line that you were given?"
FIRST_NAN = "Where is the first NaN? What are 0 times infinity, and infinity minus infinity?"
STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"
