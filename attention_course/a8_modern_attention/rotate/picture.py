"""What `check` draws of rotate."""

import numpy as np

from autograder.suites.example import Example

# The same vector six times, at six places. The base is small, so that the slow pairs are seen to move, too.
VECTORS = np.tile([1.0, 0.0, 1.0, 0.0, 0.5, 0.5], (6, 1))
AT = (0, 1, 2, 3, 5, 8)
TURNED = np.array(
    [
        [1.0, 0.0, 1.0, 0.0, 0.5, 0.5],
        [0.54, 0.84, 0.98, 0.21, 0.48, 0.52],
        [-0.42, 0.91, 0.91, 0.42, 0.45, 0.54],
        [-0.99, 0.14, 0.8, 0.6, 0.43, 0.56],
        [0.28, -0.96, 0.47, 0.88, 0.37, 0.6],
        [-0.15, 0.99, -0.15, 0.99, 0.28, 0.65],
    ]
)

PICTURE = Example((VECTORS, np.array(AT), 100.0), wanted=TURNED, rows=tuple(map(str, AT)), columns=tuple("012345"))
