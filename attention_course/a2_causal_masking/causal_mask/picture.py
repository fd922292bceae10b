"""What `check` draws of causal_mask."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import WORDS

STAIRCASE = np.array([[True, False, False], [True, True, False], [True, True, True]])

PICTURE = Example((3,), wanted=STAIRCASE, rows=WORDS[:3], columns=WORDS[:3])
