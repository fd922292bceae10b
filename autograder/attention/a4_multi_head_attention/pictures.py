"""Examples that are drawn: multi_head_attention, MultiHeadAttention."""

import numpy as np

from autograder.suites.example import Example

# A text looks at itself. No two sizes are alike: L = 3, d_model = 4, two heads with d_k = d_v = 5.
WORDS = ("the", "cat", "sleeps")
X = np.array([[1.0, 0.0, 2.0, -1.0], [0.0, 1.0, 1.0, 1.0], [2.0, 1.0, -1.0, 0.0]])
W_Q = np.array(
    [
        [-1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, -1.0, 0.0],
        [0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, -1.0, 1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0, -1.0, -1.0, -1.0, 0.0, 1.0, 0.0, 0.0],
    ]
)
W_K = np.array(
    [
        [1.0, 0.0, 0.0, -1.0, 1.0, -1.0, -1.0, 0.0, -1.0, 0.0],
        [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 0.0],
        [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, -1.0, -1.0, -1.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0],
    ]
)
W_V = np.array(
    [
        [-1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0, -1.0, -1.0, 0.0],
        [0.0, 1.0, 0.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 0.0],
        [1.0, 0.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0, -1.0, -1.0],
        [-1.0, 0.0, -1.0, 0.0, -1.0, 1.0, -1.0, 0.0, -1.0, 1.0],
    ]
)
W_O = np.array(
    [
        [0.0, -1.0, 1.0, 0.0],
        [1.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, -1.0],
        [1.0, 1.0, 0.0, 1.0],
        [-1.0, 1.0, 0.0, 0.0],
        [1.0, 1.0, -1.0, -1.0],
        [0.0, 1.0, -1.0, 0.0],
        [1.0, -1.0, 0.0, -1.0],
        [-1.0, 0.0, 0.0, -1.0],
    ]
)
TWO_HEADS = np.array(
    [
        [[0.04, 0.03, 0.93], [0.12, 0.18, 0.7], [0.0, 0.99, 0.0]],
        [[0.1, 0.9, 0.0], [0.05, 0.75, 0.2], [0.55, 0.22, 0.22]],
    ]
)

PICTURES = {
    "multi_head_attention": Example((X, W_Q, W_K, W_V, W_O, 2), wanted=TWO_HEADS, rows=WORDS, columns=WORDS, part=1),
    "MultiHeadAttention": Example(
        (4, 2, 5),
        wanted=TWO_HEADS,
        rows=WORDS,
        columns=WORDS,
        part=1,
        tensors=True,
        # nn.Linear keeps its weight as (out, in).
        parameters={f"{name}.weight": W.T for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))},
        forward=(X,),
    ),
}
