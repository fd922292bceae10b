"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- causal_mask


@wrong("Marks the future with True: here True means may attend, not forbidden.", "mask-inverted")
def causal_mask(length):
    return np.triu(np.ones((length, length)), k=1).astype(bool)


@wrong("Leaves out the diagonal, so a word may not look at itself.", "mask-off-by-one")
def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(i):
            mask[i, j] = True
    return mask


@wrong("Returns zeros and ones in float instead of truth values of dtype bool.", "not-boolean", form=True)
def causal_mask(length):
    return np.tril(np.ones((length, length)))


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


# ---------------------------------------------------------------- padding_mask


@wrong("Counts one place too many: position `length` is already padding, but <= lets it through.", "mask-off-by-one")
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    positions = np.arange(max_length)
    return (positions[None, :] <= lengths[:, None])[:, None, :]


@wrong(
    "Puts the extra axis behind the positions, (B, max_length, 1), so the mask hides queries instead of keys.",
    "axis-at-the-end",
)
def padding_mask(lengths, max_length):
    mask = []
    for n in lengths:
        mask.append([True] * int(n) + [False] * (max_length - int(n)))
    mask = np.array(mask, dtype=bool)
    return np.expand_dims(mask, axis=-1)


@wrong(
    "Lacks the axis of length one for the queries: it returns (B, max_length) and not (B, 1, max_length).",
    "missing-axis",
    form=True,
)
def padding_mask(lengths, max_length):
    return np.array([[j < n for j in range(max_length)] for n in lengths])


def padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, :]


# ---------------------------------------------------------------- masked_softmax


@wrong("Fills with -inf and does nothing about rows where all is hidden, which become NaN.", "nan-for-nothing")
def masked_softmax(scores, mask):
    masked = np.where(mask, scores, -np.inf)
    e = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "Fills with -1e9 only, so a row where nothing is allowed spreads its weight evenly instead of being all 0.",
    "evenly-for-nothing",
)
def masked_softmax(scores, mask):
    scores = np.where(mask, scores, -1e9).astype(scores.dtype)
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    exp = np.exp(scores)
    return exp / np.sum(exp, axis=-1, keepdims=True)


@wrong("Applies the mask after the softmax and does not renormalise, so rows no longer sum to 1.", "mask-after-softmax")
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights * mask


@wrong(
    "Subtracts the largest of all scores, hidden ones too, so next to a huge hidden score all allowed exponentials vanish.",
    "max-over-masked",
)
def masked_softmax(scores, mask):
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True)) * mask
    total = exps.sum(axis=-1, keepdims=True)
    total = np.where(total == 0, 1, total).astype(scores.dtype)
    return exps / total


@wrong("Writes -inf into the caller's scores instead of into a copy.", "inputs-changed", form=True)
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    scores[~mask] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    top[np.isinf(top)] = 0
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    s[s == 0] = 1
    return e / s


def masked_softmax(scores, mask):
    lowest = np.finfo(scores.dtype).min
    scores = np.where(mask, scores, lowest)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.where(mask, weights, np.zeros((), dtype=scores.dtype))


# ---------------------------------------------------------------- causal_attention


@wrong("Joins the two masks with | so a key is allowed where only one of them says yes.", "padding-or-causal")
def causal_attention(Q, K, V, padding=None):
    L, d = Q.shape[-2:]
    mask = causal_mask(L)
    if padding is not None:
        mask = mask | padding
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(d)
    weights = masked_softmax(scores, mask)
    return weights @ V, weights


@wrong("Uses the padding mask in place of the causal mask, so a padded batch looks ahead.", "padding-instead-of-causal")
def causal_attention(Q, K, V, padding=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    if padding is None:
        weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    else:
        weights = masked_softmax(scores, padding)
    output = np.einsum("...ij,...jv->...iv", weights, V)
    return output, weights


@wrong("Hides the rows of padded queries as well, though padding should hide keys only.", "padding-hides-queries")
def causal_attention(Q, K, V, padding=None):
    mask = causal_mask(Q.shape[-2])
    if padding is not None:
        pad_rows = padding.swapaxes(-2, -1)  # (B, L, 1)
        mask = mask & padding & pad_rows
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ V, weights


@wrong("Does not divide the scores by sqrt(d); ignores padding altogether.", "no-scaling+padding-ignored")
def causal_attention(Q, K, V, padding=None):
    scores = np.matmul(Q, np.swapaxes(K, -2, -1))
    mask = causal_mask(scores.shape[-1])
    weights = masked_softmax(scores, mask)
    return np.matmul(weights, V), weights


# ---------------------------------------------------------------- torch_masked_attention


@wrong("Fills the scores where the mask is True, so exactly the allowed keys are hidden.", "mask-inverted")
def torch_masked_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    return torch.matmul(weights, value), weights


@wrong(
    "Fills hidden scores with 1e-9, a score near zero, instead of a very negative one, so hidden keys still get weight.",
    "masked-with-zero",
)
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 1e-9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn


@wrong(
    "Adds -inf to hidden scores and mends the NaN of empty rows only in the result, so their gradients are still NaN.",
    "nan-in-the-gradient",
)
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype)
        bias[~mask] = float("-inf")
        scores = scores + bias
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    return weights @ value, weights


@wrong(
    "Returns the weights detached from the graph, so no gradient flows through them.", "detached-gradient", form=True
)
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        weights = torch.where(mask, weights, 0.0)
    output = weights @ value
    return output, weights.detach()
