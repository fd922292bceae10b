"""What `check` draws of convolution_by_attention."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import SENTENCE

# Three taps, no two alike. Each hands on the word it hears, and whoever hears "Keys" hears half of "Sarah", too.
MIXING = np.array([0.2, 0.5, 0.3]).reshape(3, 1, 1) * (np.eye(7) + 0.5 * np.eye(7, k=6))
MIXED = np.array(
    [
        [0.5, 0.3, 0.0, 0.0, 0.0, 0.0, 0.25],
        [0.2, 0.5, 0.3, 0.0, 0.0, 0.0, 0.1],
        [0.0, 0.2, 0.5, 0.3, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.2, 0.5, 0.3, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.2, 0.5, 0.3, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.2, 0.5, 0.3],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.5],
    ]
)

PICTURE = Example((np.eye(7), MIXING), part=0, wanted=MIXED, rows=SENTENCE, columns=SENTENCE)
