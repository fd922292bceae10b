"""What `check` draws of masked_softmax."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import SEEN, WORDS

SCORES = np.array([[1.0, 3.0, 9.0, 2.0], [2.0, 9.0, 3.0, -1.0], [9.0, 0.5, 1.0, 9.0]])
SEEN_SOFTMAX = np.array([[0.09, 0.67, 0.0, 0.24], [0.27, 0.0, 0.72, 0.01], [0.0, 0.38, 0.62, 0.0]])

PICTURE = Example((SCORES, SEEN), wanted=SEEN_SOFTMAX, rows=WORDS[:3], columns=WORDS)
