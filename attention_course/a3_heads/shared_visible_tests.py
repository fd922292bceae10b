"""What the visible tests of a3 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

from autograder.testing import expect

X = np.array(
    [
        [11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
        [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
        [31.0, 32.0, 33.0, 34.0, 35.0, 36.0],
    ]
)
HEAD_0 = np.array([[11.0, 12.0, 13.0], [21.0, 22.0, 23.0], [31.0, 32.0, 33.0]])
HEAD_1 = np.array([[14.0, 15.0, 16.0], [24.0, 25.0, 26.0], [34.0, 35.0, 36.0]])

# Two texts of four tokens, six columns; 132 is the first text's third token, second column.
TEXTS = np.array(
    [
        [
            [111.0, 112.0, 113.0, 114.0, 115.0, 116.0],
            [121.0, 122.0, 123.0, 124.0, 125.0, 126.0],
            [131.0, 132.0, 133.0, 134.0, 135.0, 136.0],
            [141.0, 142.0, 143.0, 144.0, 145.0, 146.0],
        ],
        [
            [211.0, 212.0, 213.0, 214.0, 215.0, 216.0],
            [221.0, 222.0, 223.0, 224.0, 225.0, 226.0],
            [231.0, 232.0, 233.0, 234.0, 235.0, 236.0],
            [241.0, 242.0, 243.0, 244.0, 245.0, 246.0],
        ],
    ]
)
THREE_HEADS = np.array(
    [
        [
            [[111.0, 112.0], [121.0, 122.0], [131.0, 132.0], [141.0, 142.0]],
            [[113.0, 114.0], [123.0, 124.0], [133.0, 134.0], [143.0, 144.0]],
            [[115.0, 116.0], [125.0, 126.0], [135.0, 136.0], [145.0, 146.0]],
        ],
        [
            [[211.0, 212.0], [221.0, 222.0], [231.0, 232.0], [241.0, 242.0]],
            [[213.0, 214.0], [223.0, 224.0], [233.0, 234.0], [243.0, 244.0]],
            [[215.0, 216.0], [225.0, 226.0], [235.0, 236.0], [245.0, 246.0]],
        ],
    ]
)

# Two batches of seven texts, each of them one of the two: `TEXTS[ORDER]` has shape (2, 7, 4, 6).
ORDER = np.array([[0, 1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1, 0]])
# Seventy tokens of 96 columns, and nine heads of width 5 for 600 tokens: 12,034 is token 12's number in column 34.
SEVENTY = 1000.0 * np.arange(70)[:, np.newaxis] + np.arange(96)
NINE_HEADS = 1000.0 * np.arange(600)[:, np.newaxis] + np.arange(45).reshape(9, 1, 5)

ANY_SIZE = expect.IfOthersPass("Small sizes come out right. Which of your numbers is a size?")
AS_MANY = "Which axis holds the heads, and which one the tokens, if both are as long?"
AXES = "Does one batch axis work? Then: which axes and sizes does your code count from the front?"
NAMES = "What are the arguments called in the first line that you were given?"
STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


def tensor(array):
    """The array as a tensor; PyTorch is needed from the second half of the notebook on."""
    import torch

    return torch.tensor(array)
