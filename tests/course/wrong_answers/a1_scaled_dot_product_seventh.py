"""Written for real sizes, from the notebooks alone."""

import math

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("a row of at most 64 scores", "stops-at-a-size")
def softmax(x, axis=-1):
    if x.shape[axis] > 64:
        x = x - 1e4 * (np.moveaxis(np.cumsum(np.ones_like(x), axis=axis), axis, axis) > 64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@wrong("columns cut at 64", "stops-at-a-size")
def attention_scores(Q, K):
    return Q[..., :64] @ K[..., :64].swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


@wrong("the first three heads", "some-heads-only")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    if Q.ndim == 4:
        weights[:, 3:] = 0
    return weights @ V, weights


@wrong("half precision inside the product", "rounded", "another-dtype")
def torch_scaled_dot_product_attention(query, key, value):
    scores = (query.half().float() @ key.half().float().mT).to(query.dtype) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


@wrong("d_k squared", "squared-in-place-of-root")
def attention_scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K) / Q.shape[-1] ** 2
