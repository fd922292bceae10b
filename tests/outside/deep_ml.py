"""Our solutions under the names of deep-ml's questions, as their `tests.json` calls them."""

from __future__ import annotations

import math

import numpy as np

from .solutions import solution


def _under(Q, K, V, mask):
    """Attention under a mask."""
    return solution("a2").masked_softmax(Q @ K.T / math.sqrt(Q.shape[-1]), mask) @ V


def _in_window(Q, K, V, window_size):
    back = solution("a8").sliding_window_mask(len(Q), window_size + 1)
    return _under(Q, K, V, back | back.T)


def _in_heads(Q, K, V, n_heads):
    split, whole = solution("a3").split_heads, solution("a1").scaled_dot_product_attention
    return solution("a3").concat_heads(whole(*(split(one, n_heads) for one in (Q, K, V)))[0])


NAMES = {
    "np": np,
    "softmax": lambda scores: [float(one) for one in solution("a1").softmax(np.array(scores, float))],
    "compute_qkv": lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k, X @ W_v),
    "self_attention": lambda Q, K, V: solution("a1").scaled_dot_product_attention(Q, K, V)[0],
    "masked_attention": lambda Q, K, V, mask: _under(Q, K, V, mask == 0),
    "sparse_window_attention": _in_window,
    "multi_head_attention": _in_heads,
    "pos_encoding": lambda position, d_model: np.float16(solution("a5").positional_encoding(position, d_model)),
    "layer_normalization": lambda X, gamma, beta: solution("a5").layer_norm(X, gamma.ravel(), beta.ravel()),
}
QUESTIONS = (23, 53, 85, 94, 107, 109, 131)
