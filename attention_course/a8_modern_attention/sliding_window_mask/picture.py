"""What `check` draws of sliding_window_mask."""

import numpy as np

from autograder.suites.example import Example

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

PICTURE = Example((7, 3, 1), wanted=WINDOW, rows=tuple("0123456"), columns=tuple("0123456"))
