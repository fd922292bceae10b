"""Written for real sizes, from the notebooks alone."""

import math

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("a buffer of sixteen words", "stops-at-a-length")
def causal_mask(length):
    block = np.tril(np.ones((16, 16), dtype=bool))
    mask = np.zeros((length, length), dtype=bool)
    mask[:16, :16] = block[:length, :length]
    return mask


@wrong("sixteen texts at most", "stops-at-a-length")
def padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length), dtype=bool)
    for i in range(min(16, len(lengths))):
        mask[i, 0, : lengths[i]] = True
    return mask


@wrong("a table of 32 words, all later ones are seen", "stops-at-a-length")
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    mask = np.ones((L, L), dtype=bool)
    mask[:32, :32] = np.tril(mask[:32, :32])
    mask = mask if padding is None else mask & padding
    scores = np.where(mask, Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), -1e30)
    exps = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    weights = (exps / np.maximum(exps.sum(-1, keepdims=True), 1e-30)).astype(Q.dtype)
    return weights @ V, weights


@wrong("four heads and no more", "some-heads-only")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1) * mask
    if weights.dim() == 4:
        weights = torch.cat([weights[:, :4], 0 * weights[:, 4:]], 1)
    return weights @ value, weights
