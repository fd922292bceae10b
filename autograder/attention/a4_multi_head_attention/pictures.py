"""Examples that are drawn: multi_head_attention, MultiHeadAttention."""

import numpy as np

from autograder.judging.example import Example

WORDS = ("the", "cat", "sleeps")
Q = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]])
EYE = np.eye(3)
W_Q, W_K, W_V, W_O = np.hstack([EYE, EYE[:, ::-1]]), np.hstack([EYE, EYE]), np.hstack([EYE, EYE]), np.vstack([EYE, EYE])
TWO_HEADS = np.array(
    [
        [[0.49, 0.02, 0.49], [0.02, 0.89, 0.09], [0.34, 0.06, 0.60]],
        [[0.49, 0.02, 0.49], [0.43, 0.14, 0.43], [0.49, 0.02, 0.49]],
    ]
)

PICTURES = {
    "multi_head_attention": Example((Q, W_Q, W_K, W_V, W_O, 2), wanted=TWO_HEADS, rows=WORDS, columns=WORDS, part=1),
    "MultiHeadAttention": Example(
        (3, 2, 3),
        wanted=TWO_HEADS,
        rows=WORDS,
        columns=WORDS,
        part=1,
        tensors=True,
        # nn.Linear keeps its weight as (out, in).
        parameters={f"{name}.weight": W.T for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))},
        forward=(Q,),
    ),
}
