"""What `check` draws of positional_encoding."""

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

PICTURE = Example((6, 8), wanted=SINES_AND_COSINES, rows=tuple("012345"), columns=tuple("01234567"))
