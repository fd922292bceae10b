"""Examples that are drawn: attention_scores, scaled_dot_product_attention, torch_scaled_dot_product_attention."""

import numpy as np

from autograder.judging.example import Example

WORDS = ("the", "cat", "sleeps")
Q = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]])
K = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
SCORES = np.array([[0.0, 3.46, 0.0], [0.0, 1.15, 3.46], [0.0, 3.46, 1.15]])
WEIGHTS = np.array([[0.03, 0.94, 0.03], [0.03, 0.09, 0.88], [0.03, 0.88, 0.09]])

PICTURES = {
    "attention_scores": Example((Q, K), wanted=SCORES, rows=WORDS, columns=WORDS),
    "scaled_dot_product_attention": Example((Q, K, V), wanted=WEIGHTS, rows=WORDS, columns=WORDS, part=1),
    "torch_scaled_dot_product_attention": Example(
        (Q, K, V), wanted=WEIGHTS, rows=WORDS, columns=WORDS, part=1, tensors=True
    ),
}
