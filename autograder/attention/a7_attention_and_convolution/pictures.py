"""Examples that are drawn: offset_attention, convolution_by_attention."""

import numpy as np

from autograder.judging.example import Example

SENTENCE = ("Keys", "on", "the", "table", "belong", "to", "Sarah")
MIXING = np.array([0.25, 0.5, 0.25]).reshape(3, 1, 1) * np.eye(7)
ONE_WORD_BACK = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    ]
)
MIXED = np.array(
    [
        [0.50, 0.25, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.25, 0.50, 0.25, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.25, 0.50, 0.25, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.25, 0.50, 0.25, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.25, 0.50, 0.25, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.25, 0.50, 0.25],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.25, 0.50],
    ]
)

PICTURES = {
    "offset_attention": Example((7, -1), wanted=ONE_WORD_BACK, rows=SENTENCE, columns=SENTENCE),
    "convolution_by_attention": Example((np.eye(7), MIXING), part=0, wanted=MIXED, rows=SENTENCE, columns=SENTENCE),
}
