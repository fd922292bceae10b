"""Written by a fifth person, from the notebooks alone."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- softmax


@wrong("Powers from e**-10 on.", "small-scores-cut-off")
def softmax(x, axis=-1):
    exps = np.exp(np.maximum(x - x.max(axis=axis, keepdims=True), -10))
    return exps / exps.sum(axis=axis, keepdims=True)


@wrong("Largest of the whole array.", "one-maximum-for-all")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- attention_scores


@wrong("Not divided where d_k is small.", "scale-missing", "a-constant-factor")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / (math.sqrt(d_k) if d_k > 3 else 1)


@wrong("Scores clipped at a thousand.", "clipped-scores", "large-scores")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return np.clip(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), -1000, 1000)


@wrong("A batch of one loses its axis.", "another-shape")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    s = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    return s[0] if s.ndim == 3 and len(s) == 1 else s


@wrong("Keys not turned where they are a square.", "square-keys-not-turned")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ (K if K.shape[-1] == K.shape[-2] else K.swapaxes(-2, -1)) / math.sqrt(d_k)


@wrong("Root cut to a whole number.", "scale-in-whole-numbers")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / math.isqrt(d_k)


# ---------------------------------------------------------------- torch_scaled_dot_product_attention


@wrong("Gradient past the softmax.", "gradient-missing")
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1).detach() + scores - scores.detach()
    return (weights @ value, weights)


@wrong("Axis of the softmax left to PyTorch.", "softmax-over-axis-1", "one-batch-layout")
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    weights = F.softmax(scores)
    return (weights @ value, weights)


@wrong("Keys turned in place.", "in-place")
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose_(-2, -1) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ value, weights)
