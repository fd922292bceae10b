"""Written for real sizes, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("a soft look", "softmax-taken")
def offset_attention(length, offset):
    place = np.arange(length)
    exps = np.exp(-((place - place[:, None] - offset) ** 2.0))
    return exps / np.maximum(exps.sum(1, keepdims=True), 1e-300)


@wrong("ones in W_O", "ones-for-the-identity")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), np.ones((k * d_out, d_out), kernel.dtype)


@wrong("rows up to 32", "stops-at-a-length", "stops-at-a-size")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    weights = np.stack([np.eye(L, k=j - (k - 1) // 2) for j in range(k)]).astype(X.dtype)
    weights[:, 32:] = 0
    return sum(w @ X @ tap for w, tap in zip(weights, kernel)), weights
