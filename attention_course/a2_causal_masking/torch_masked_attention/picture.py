"""What `check` draws of torch_masked_attention."""

import numpy as np

from autograder.suites.example import Example

from ..shared_picture import SEEN, WORDS, K, Q, V

SEEN_WEIGHTS = np.array([[0.58, 0.1, 0.0, 0.32], [0.02, 0.0, 0.01, 0.97], [0.0, 0.76, 0.24, 0.0]])

PICTURE = Example((Q[:3], K, V, SEEN), wanted=SEEN_WEIGHTS, rows=WORDS[:3], columns=WORDS, part=1, tensors=True)
