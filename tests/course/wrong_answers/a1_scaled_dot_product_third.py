"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- softmax


@wrong(
    "Divides by the sum of the whole array instead of the sum along axis, so the rows share one total.",
    "softmax-over-everything",
)
def softmax(x, axis=-1):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum()


@wrong(
    "Exponentiates the raw scores without subtracting the maximum, so large scores overflow to inf/inf = NaN.",
    "no-max-subtraction",
)
def softmax(x, axis=-1):
    numerator = np.exp(x)
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    return numerator / denominator


@wrong("Ignores the axis argument and always normalises over the last axis.", "axis-ignored")
def softmax(x, axis=-1):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    exps = np.exp(shifted)
    return exps / np.sum(exps, axis=-1, keepdims=True)


@wrong(
    "Sums along the axis without keepdims=True, so the totals line up with the wrong axis when they are broadcast.",
    "axis-summed-away",
)
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    s = np.sum(e, axis=axis)
    return e / s


@wrong("Subtracts the maximum in place and so changes the caller's array x.", "inputs-changed", form=True)
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- attention_scores


@wrong("Divides by d_k itself and not by its square root.", "scale-by-d_k")
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return np.matmul(Q, np.swapaxes(K, -1, -2)) / d_k


@wrong("Takes the square root of the number of keys S for the scale instead of the width d_k.", "scale-by-length")
def attention_scores(Q, K):
    K_T = K.swapaxes(-2, -1)
    d_k = K_T.shape[-1]
    return Q @ K_T / math.sqrt(d_k)


@wrong(
    "Uses np.dot, which on batches multiplies every text with every other text instead of each with itself.",
    "batch-items-mixed",
)
def attention_scores(Q, K):
    d_k = K.shape[-1]
    scores = np.dot(Q, np.swapaxes(K, -1, -2))
    return scores / math.sqrt(d_k)


@wrong("Divides by np.sqrt of an int, a float64, which turns float32 scores into float64.", "float64-always", form=True)
def attention_scores(Q, K):
    d_k = K.shape[-1]
    return (Q @ np.swapaxes(K, -2, -1)) / np.sqrt(d_k)


def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


# ---------------------------------------------------------------- scaled_dot_product_attention


@wrong(
    "Normalises over the queries (axis -2) instead of over the keys, so columns and not rows of the weights sum to 1.",
    "softmax-over-queries",
)
def scaled_dot_product_attention(Q, K, V):
    scores = attention_scores(Q, K)
    weights = softmax(scores, axis=-2)
    output = weights @ V
    return output, weights


@wrong("Divides by sqrt(d_k) a second time, although attention_scores has already done so.", "scale-by-d_k")
def scaled_dot_product_attention(Q, K, V):
    d_k = Q.shape[-1]
    scores = attention_scores(Q, K)
    scaled = scores / math.sqrt(d_k)
    weights = softmax(scaled, axis=-1)
    return np.matmul(weights, V), weights


@wrong("Blends the values with the plain scores because the softmax has been left out.", "softmax-missing")
def scaled_dot_product_attention(Q, K, V):
    weights = Q @ np.moveaxis(K, -1, -2) / math.sqrt(K.shape[-1])
    return weights @ V, weights


@wrong(
    "Fills the results into np.zeros arrays of the default float64 and so loses the float32 of the input.",
    "float64-always",
    form=True,
)
def scaled_dot_product_attention(Q, K, V):
    L = Q.shape[-2]
    S = K.shape[-2]
    weights = np.zeros(Q.shape[:-2] + (L, S))
    output = np.zeros(Q.shape[:-2] + (L, V.shape[-1]))
    scores = attention_scores(Q, K)
    for i in range(L):
        weights[..., i, :] = softmax(scores[..., i, :])
        for j in range(S):
            output[..., i, :] += weights[..., i, j, None] * V[..., j, :]
    return output, weights


# ---------------------------------------------------------------- torch_scaled_dot_product_attention


@wrong("Does not divide the dot products by sqrt(d_k) at all.", "no-scaling")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    attn = nn.functional.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn


@wrong(
    "Takes the softmax over dim=1, which are the queries as soon as there is a batch axis.",
    "axis-counted-from-the-front",
)
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    p_attn = torch.softmax(scores, dim=1)
    return torch.matmul(p_attn, value), p_attn


@wrong(
    "Applies dropout to the attention weights, which nobody asked for and which makes rows not sum to 1.",
    "another-answer-each-time",
)
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = nn.functional.softmax(scores, dim=-1)
    weights = nn.functional.dropout(weights, p=0.1)
    return weights @ value, weights


@wrong(
    "Goes through detached NumPy arrays, so no gradient comes back to query, key and value.",
    "detached-gradient",
    form=True,
)
def torch_scaled_dot_product_attention(query, key, value):
    q, k, v = query.detach().numpy(), key.detach().numpy(), value.detach().numpy()
    scores = attention_scores(q, k)
    weights = softmax(scores, axis=-1)
    output = weights @ v
    return torch.from_numpy(output), torch.from_numpy(weights)
