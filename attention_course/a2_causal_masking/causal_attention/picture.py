"""What `check` draws of causal_attention."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import WORDS, K, Q, V

CAUSAL_WEIGHTS = np.array(
    [[1.0, 0.0, 0.0, 0.0], [0.09, 0.91, 0.0, 0.0], [0.71, 0.22, 0.07, 0.0], [0.06, 0.33, 0.01, 0.6]]
)

PICTURE = Example((Q, K, V), wanted=CAUSAL_WEIGHTS, rows=WORDS, columns=WORDS, part=1)
