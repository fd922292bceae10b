"""What `check` draws of cross_attention."""

import numpy as np

from autograder.suites.example import Example

# Three words ask, four places answer, of which the last is padding: d_model = 2, d_memory = 3, two heads, d_k 5, d_v 4.
X = np.array([[-2.0, 1.0], [0.0, 1.0], [-1.0, -2.0]])
MEMORY = np.array([[1.0, -2.0, -2.0], [1.0, 1.0, 2.0], [0.0, -1.0, -1.0], [-1.0, -2.0, 1.0]])
W_Q = np.array(
    [[0.5, 0.0, 0.5, 0.0, 0.5, 0.0, 0.0, -0.5, -0.5, 0.0], [-0.5, -0.5, -0.5, 0.0, -0.5, 0.0, -0.5, 0.5, -0.5, 0.0]]
)
W_K = np.array(
    [
        [-0.5, 0.5, -0.5, -0.5, -0.5, 0.0, -0.5, 0.0, 0.5, 0.5],
        [-0.5, 0.5, 0.0, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.0],
        [0.0, 0.5, -0.5, 0.5, 0.0, 0.5, -0.5, 0.0, -0.5, 0.5],
    ]
)
W_V = np.array(
    [
        [1.0, 0.0, -1.0, -1.0, 0.0, -1.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, -1.0],
        [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 1.0],
    ]
)
W_O = np.array([[-1.0, 1.0], [-1.0, 0.0], [1.0, -1.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
REAL = np.array([[True, True, True, False]])
WEIGHTS = np.array(
    [
        [[0.07, 0.87, 0.06, 0.0], [0.3, 0.42, 0.27, 0.0], [0.26, 0.41, 0.33, 0.0]],
        [[0.61, 0.11, 0.28, 0.0], [0.26, 0.45, 0.29, 0.0], [0.62, 0.07, 0.32, 0.0]],
    ]
)

PICTURE = Example(
    (X, MEMORY, W_Q, W_K, W_V, W_O, 2, REAL),
    wanted=WEIGHTS,
    rows=("le", "chat", "dort"),
    columns=("the", "cat", "sleeps", "<pad>"),
    part=1,
    tensors=True,
)
