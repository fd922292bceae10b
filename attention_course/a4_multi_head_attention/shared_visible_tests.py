"""What the visible tests of a4 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

from autograder.testing import expect

# The example by hand: three words of width 4, two heads with d_k = 3 and d_v = 1.
X = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 0.0], [2.0, 2.0, 1.0, 1.0]])


def picking(*numbers):
    """A matrix whose columns each pick one of a word's four numbers."""
    return np.eye(4)[:, list(numbers)]


W_Q = picking(2, 0, 3, 0, 1, 3)  # head 0's three columns, then head 1's
W_K = picking(3, 2, 0, 3, 1, 0)
W_V = picking(0, 1)
W_O = np.array([[2.0, 2.0, 2.0, 1.0], [1.0, 2.0, 0.0, 1.0]])
BY_HAND = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
WEIGHTS = np.array(
    [
        [[0.2645, 0.2645, 0.4711], [0.3904, 0.2192, 0.3904], [0.2192, 0.3904, 0.3904]],
        [[0.1933, 0.1933, 0.6134], [0.1679, 0.2992, 0.5329], [0.1307, 0.1307, 0.7386]],
    ]
)
FOUND = np.array([[[1.4711], [1.3904], [1.3904]], [[1.8067], [1.8321], [1.8693]]])
OUTPUT = np.array(
    [[4.7489, 6.5555, 2.9422, 3.2778], [4.6129, 6.4449, 2.7808, 3.2225], [4.6501, 6.5195, 2.7808, 3.2597]]
)

# No two sizes alike: four words of width three, two heads with d_k = 5 and d_v = 6; and a batch of three such texts.
TEXTS = np.array(
    [
        [[2.0, 0.0, -1.0], [0.0, 0.0, 2.0], [0.0, -1.0, 0.0], [1.0, 2.0, 1.0]],
        [[2.0, -1.0, 2.0], [-1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, 0.0, -1.0]],
        [[1.0, 0.0, 1.0], [1.0, 2.0, 0.0], [-1.0, 1.0, 2.0], [2.0, 2.0, 1.0]],
    ]
)
WIDE_Q = np.array(
    [
        [-1.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, -1.0],
        [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 1.0, 1.0, 0.0],
        [1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0],
    ]
)
WIDE_K = np.array(
    [
        [0.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 0.0, 0.0],
        [0.0, -1.0, 1.0, 1.0, 0.0, -1.0, -1.0, 1.0, -1.0, 1.0],
        [1.0, -1.0, 0.0, 0.0, 0.0, -1.0, 1.0, -1.0, 0.0, 0.0],
    ]
)
WIDE_V = np.array(
    [
        [2.0, 2.0, 2.0, 2.0, -2.0, 2.0, 2.0, -1.0, -2.0, -2.0, 1.0, 2.0],
        [1.0, 1.0, 1.0, -2.0, 2.0, 2.0, -2.0, 2.0, 2.0, -1.0, 0.0, 2.0],
        [2.0, -2.0, 1.0, 0.0, -1.0, 2.0, 1.0, 0.0, 2.0, 0.0, 2.0, -2.0],
    ]
)
WIDE_O = np.array(
    [
        [-1.0, 2.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 2.0, 0.0],
        [1.0, -1.0, 1.0],
        [-1.0, 2.0, -1.0],
        [1.0, 2.0, 0.0],
        [2.0, 1.0, 2.0],
        [1.0, 2.0, -1.0],
        [-1.0, 1.0, 1.0],
        [1.0, 2.0, 0.0],
        [2.0, 1.0, -1.0],
        [-1.0, 2.0, 1.0],
    ]
)
WIDE_WEIGHTS = np.array(
    [
        [
            [0.2071, 0.0006, 0.0002, 0.7921],
            [0.0079, 0.6905, 0.2823, 0.0193],
            [0.1294, 0.0827, 0.0138, 0.7741],
            [0.0246, 0.0939, 0.8789, 0.0026],
        ],
        [
            [0.0442, 0.647, 0.2645, 0.0442],
            [0.0023, 0.4988, 0.4988, 0.0001],
            [0.6136, 0.0656, 0.1604, 0.1604],
            [0.0, 0.9034, 0.0965, 0.0],
        ],
    ]
)
# May attend: the words before and the word itself; and in each text the words that are no padding, which may be in
# front, too.
CAUSAL = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]) == 1
PADDING = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]]).reshape(3, 1, 1, 4) == 1
CAUSAL_WEIGHTS = np.array(
    [
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0113, 0.9887, 0.0, 0.0],
            [0.5726, 0.3662, 0.0612, 0.0],
            [0.0246, 0.0939, 0.8789, 0.0026],
        ],
        [[1.0, 0.0, 0.0, 0.0], [0.0046, 0.9954, 0.0, 0.0], [0.7308, 0.0781, 0.1911, 0.0], [0.0, 0.9034, 0.0965, 0.0]],
    ]
)
# The first text ten thousand times as large.
SURE = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    ]
)

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


def drawn(seed, *shape):
    """Numbers around 0, the same each time."""
    return np.random.default_rng(seed).normal(size=shape)


def with_holes(length):
    """A causal mask that also hides some earlier words. Each word sees itself."""
    query, key = np.arange(length)[:, np.newaxis], np.arange(length)
    return (key < query) & ((query + 3 * key) % 7 > 1) | (key == query)


def each_head(W, num_heads, axis=1):
    """The columns of each head, or with `axis=0` its rows."""
    return np.split(W, num_heads, axis=axis)


def keeps_float64(part, what="the result"):
    """Fails unless the numbers are float64, with more digits than float32 has."""
    expect.dtype(part, np.float64, what=what)
    if (part == part.astype(np.float32)).all():
        expect.fail(f"{what} is float64, with the digits of float32.", symptom="dtype")
