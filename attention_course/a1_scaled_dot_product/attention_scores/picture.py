"""What `check` draws of attention_scores."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import ASKING, TEXT, K, Q

SCORES = np.array([[0.0, -1.41, 2.83, 1.41], [-2.12, 2.12, 0.0, 4.24], [0.71, -1.41, 1.41, -0.71]])

PICTURE = Example((Q, K), wanted=SCORES, rows=ASKING, columns=TEXT)
