"""Examples that are drawn: attention_scores, scaled_dot_product_attention, torch_scaled_dot_product_attention."""

import numpy as np

from autograder.suites.example import Example

# Three words of one text look at four of another. No two sizes are alike: L = 3, S = 4, d_k = 2, d_v = 5.
ASKING = ("who", "sleeps", "here")
TEXT = ("the", "black", "cat", "dreams")
Q = np.array([[0.0, 2.0], [3.0, 0.0], [-1.0, 1.0]])
K = np.array([[-1.0, 0.0], [1.0, -1.0], [0.0, 2.0], [2.0, 1.0]])
V = np.array(
    [[1.0, 0.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 1.0, 4.0, 0.0], [5.0, 0.0, 0.0, 0.0, 1.0]]
)
SCORES = np.array([[0.0, -1.41, 2.83, 1.41], [-2.12, 2.12, 0.0, 4.24], [0.71, -1.41, 1.41, -0.71]])
WEIGHTS = np.array([[0.04, 0.01, 0.76, 0.18], [0.0, 0.11, 0.01, 0.88], [0.29, 0.04, 0.6, 0.07]])

PICTURES = {
    "attention_scores": Example((Q, K), wanted=SCORES, rows=ASKING, columns=TEXT),
    "scaled_dot_product_attention": Example((Q, K, V), wanted=WEIGHTS, rows=ASKING, columns=TEXT, part=1),
    "torch_scaled_dot_product_attention": Example(
        (Q, K, V), wanted=WEIGHTS, rows=ASKING, columns=TEXT, part=1, tensors=True
    ),
}
