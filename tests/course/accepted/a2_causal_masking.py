"""Correct answers to a2 in many styles."""

import functools
import math
from typing import NamedTuple

import numpy as np
import torch

from autograder.testing import Catalogue

accepted = Catalogue()


# ---------------------------------------------------------------- causal_mask


@accepted("tril")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


@accepted("not-triu")
def causal_mask(length):
    return ~np.triu(np.ones((length, length), dtype=bool), k=1)


@accepted("loops")
def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for query in range(length):
        for key in range(query + 1):
            mask[query, key] = True
    return mask


@accepted("nested-lists")
def causal_mask(length):
    return np.array([[key <= query for key in range(length)] for query in range(length)])


@accepted("running-sum-of-the-identity")
def causal_mask(length):
    return np.cumsum(np.eye(length), axis=0) > 0


@accepted("outer-comparison")
def causal_mask(length):
    return np.greater_equal.outer(range(length), range(length))


@accepted("through-torch")
def causal_mask(length):
    return torch.ones(length, length).tril().bool().numpy()


@accepted("remembered-by-lru-cache")
@functools.lru_cache
def causal_mask(length):
    return np.tril(np.full((length, length), True))


@accepted("one-word-more")
def causal_mask(length):
    if length == 1:
        return np.array([[True]])
    smaller = causal_mask(length - 1)
    return np.block([[smaller, np.zeros((length - 1, 1), dtype=bool)], [np.ones((1, length), dtype=bool)]])


# ---------------------------------------------------------------- padding_mask


@accepted("fill-row-by-row")
def padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, :, :n] = True
    return mask


@accepted("nested-lists")
def padding_mask(lengths, max_length):
    return np.array([[[place < n for place in range(max_length)]] for n in lengths])


@accepted("stack-then-newaxis")
def padding_mask(lengths, max_length):
    rows = [np.concatenate([np.ones(n, dtype=bool), np.zeros(max_length - n, dtype=bool)]) for n in lengths]
    return np.stack(rows)[:, np.newaxis, :]


@accepted("outer")
def padding_mask(lengths, max_length):
    return np.expand_dims(np.greater.outer(np.array(lengths), np.arange(max_length)), 1)


@accepted("rows-of-a-triangle")
def padding_mask(lengths, max_length):
    return np.tri(max_length + 1, max_length, -1, dtype=bool)[lengths].reshape(-1, 1, max_length)


@accepted("a-view")
def padding_mask(lengths, max_length):
    return (np.arange(max_length)[:, None] < np.array(lengths)).T.reshape(len(lengths), 1, max_length)


# ---------------------------------------------------------------- masked_softmax


@accepted("minus-infinity-then-nan-to-num")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    exps = np.exp(hidden - np.max(hidden, axis=-1, keepdims=True))
    return np.nan_to_num(exps / np.sum(exps, axis=-1, keepdims=True))


@accepted("minus-1e9-then-times-mask")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -1e9)
    exps = np.exp(hidden - hidden.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True) * mask


@accepted("added-minus-1e9")
def masked_softmax(scores, mask):
    hidden = scores + (~mask).astype(scores.dtype) * -1e9
    hidden = hidden - hidden.max(axis=-1, keepdims=True)
    weights = np.exp(hidden)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.where(np.any(mask, axis=-1, keepdims=True), weights, 0.0)


@accepted("lowest-finite-number")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(hidden - hidden.max(axis=-1, keepdims=True)) * mask
    return exps / np.maximum(exps.sum(axis=-1, keepdims=True), np.finfo(scores.dtype).tiny)


@accepted("small-number-in-the-denominator")
def masked_softmax(scores, mask):
    lowest = np.where(mask, scores, -2e6).max(axis=-1, keepdims=True)
    exps = np.where(mask, np.exp(np.minimum(scores - lowest, 0)), 0)
    return exps / (exps.sum(axis=-1, keepdims=True) + 1e-8)


@accepted("log-sum-exp")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    top = np.maximum(hidden.max(axis=-1, keepdims=True), -1e30)
    log_total = top + np.log(np.exp(hidden - top).sum(axis=-1, keepdims=True))
    return np.where(mask, np.exp(hidden - np.where(np.isfinite(log_total), log_total, 0)), 0)


@accepted("row-by-row")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        seen = scores[row][mask[row]]
        if len(seen):
            exps = np.exp(seen - seen.max())
            weights[row][mask[row]] = exps / exps.sum()
    return weights


@accepted("masked-array")
def masked_softmax(scores, mask):
    seen = np.ma.masked_array(scores, mask=~np.broadcast_to(mask, scores.shape))
    exps = np.ma.exp(seen - seen.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)).filled(0).astype(scores.dtype)


@accepted("where-arguments")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, initial=-1e7, where=mask)
    exps = np.exp(scores - top, out=np.zeros_like(scores), where=mask)
    total = exps.sum(axis=-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)


@accepted("logaddexp-with-where")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True, where=mask, initial=-np.inf)
    out = np.zeros_like(scores)
    np.subtract(scores, total, out=out, where=mask)
    np.exp(out, out=out, where=mask)
    return out


@accepted("the-row's-minimum-for-what-is-hidden")
def masked_softmax(scores, mask):
    low = scores.min(axis=-1, keepdims=True)
    s = np.where(mask, scores, low)
    e = np.exp(s - s.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, where=total != 0, out=np.zeros(scores.shape, scores.dtype))


# ---------------------------------------------------------------- causal_attention


class Attended(NamedTuple):
    output: np.ndarray
    weights: np.ndarray


@accepted("einsum-and-a-named-tuple")
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    mask = np.tri(L, dtype=bool) if padding is None else np.logical_and(np.tri(L, dtype=bool), padding)
    exps = np.where(mask, np.exp(scores - np.where(mask, scores, -1e9).max(-1, keepdims=True)), 0)
    total = exps.sum(-1, keepdims=True)
    weights = np.divide(exps, total, out=np.zeros_like(exps), where=total != 0)
    return Attended(np.einsum("...qk,...kv->...qv", weights, V), weights)


@accepted("query-by-query")
def causal_attention(Q, K, V, padding=None):
    L, d = Q.shape[-2:]
    if padding is None:
        padding = np.ones((1, L), dtype=bool)
    weights = np.zeros((*Q.shape[:-1], L), dtype=Q.dtype)
    for i in range(L):
        seen = (K[..., : i + 1, :] @ Q[..., i, :, None])[..., 0] / math.sqrt(d)
        seen = np.where(padding[..., 0, : i + 1], seen, -np.inf)
        top = seen.max(axis=-1, keepdims=True)
        exps = np.exp(seen - np.where(top == -np.inf, 0, top))
        total = exps.sum(axis=-1, keepdims=True)
        weights[..., i, : i + 1] = exps / np.where(total == 0, 1, total)
    return weights @ V, weights


@accepted("additive-biases")
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    bias = np.triu(np.full((L, L), -1e9, dtype=Q.dtype), k=1)
    if padding is not None:
        bias = bias + np.where(padding, 0.0, -1e9).astype(Q.dtype)
    scores = Q @ np.moveaxis(K, -1, -2) / math.sqrt(Q.shape[-1]) + bias
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    weights = np.where(bias < 0, 0, weights)
    return weights @ V, weights


@accepted("one-text-after-the-other")
def causal_attention(Q, K, V, padding=None):
    def one(q, k, v, seen):
        scores = q @ k.T / math.sqrt(q.shape[-1])
        mask = np.tril(np.ones(scores.shape, dtype=bool)) & seen
        scores = np.where(mask, scores, -np.inf)
        with np.errstate(invalid="ignore"):
            exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights = np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True))
        return weights @ v, weights

    if Q.ndim == 2:
        return one(Q, K, V, True)
    items = (
        [causal_attention(q, k, v) for q, k, v in zip(Q, K, V)]
        if padding is None
        else [one(q, k, v, p) for q, k, v, p in zip(Q, K, V, padding)]
    )
    outputs, weights = zip(*items)
    return np.stack(outputs), np.stack(weights)


@accepted("everything-in-one-line-of-masks")
def causal_attention(Q, K, V, padding=None):
    place = np.arange(Q.shape[-2])
    mask = (place[:, None] >= place) & (True if padding is None else padding)
    scores = np.matmul(Q * Q.shape[-1] ** -0.5, K.swapaxes(-1, -2))
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    scores -= np.maximum(scores.max(axis=-1, keepdims=True), -1e8)
    np.exp(scores, out=scores)
    scores /= np.maximum(scores.sum(axis=-1, keepdims=True), 1e-20)
    return np.matmul(scores, V), scores


# ---------------------------------------------------------------- torch_masked_attention


@accepted("minus-infinity-then-nan-to-num")
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1), nan=0.0)
    return torch.matmul(weights, value), weights


@accepted("minus-1e9-then-times-mask")
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.einsum("...ld,...sd->...ls", query, key) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool)
    weights = torch.softmax(torch.where(mask, scores, -1e9), dim=-1) * mask
    return torch.einsum("...ls,...sv->...lv", weights, value), weights


@accepted("added-minus-1e9")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + (~mask).to(scores.dtype) * -1e9
    weights = torch.nn.functional.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.where(mask.any(dim=-1, keepdim=True), torch.zeros_like(weights))
    return weights @ value, weights


@accepted("exponentials-by-hand")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min / 2)
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach()) * mask
    weights = exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-20)
    return weights @ value, weights


@accepted("empty-rows-opened-and-cleared")
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, torch.transpose(key, -2, -1)).div(math.sqrt(query.shape[-1]))
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        weights = scores.masked_fill(~(mask | empty), -torch.inf).softmax(-1).masked_fill(empty, 0)
    return weights @ value, weights


@accepted("log-softmax")
def torch_masked_attention(query, key, value, mask=None):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    hidden = scores.masked_fill(~mask, -1e12)
    weights = torch.exp(hidden - torch.logsumexp(hidden, dim=-1, keepdim=True))
    weights = torch.where(mask, weights, torch.zeros((), dtype=weights.dtype))
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights


@accepted("in-place-on-its-own-scores")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.swapaxes(-2, -1)
    scores /= math.sqrt(key.shape[-1])
    if mask is not None:
        mask = mask.expand_as(scores)
        scores[~mask] = -torch.inf
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask.any(-1, keepdim=True), weights, 0.0)
    return weights @ value, weights


@accepted("only-the-allowed-pairs")
def torch_masked_attention(query, key, value, mask=None):
    shape = (*query.shape[:-1], key.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    if query.ndim > 2:
        both = [torch_masked_attention(*four) for four in zip(query, key, value, mask)]
        outputs, weights = zip(*both)
        return torch.stack(outputs), torch.stack(weights)
    rows = []
    for q, may in zip(query, mask):
        row = torch.zeros(len(key), dtype=query.dtype)
        if may.any():
            row = row.index_put((may.nonzero()[:, 0],), torch.softmax(key[may] @ q / math.sqrt(len(q)), dim=0))
        else:
            row = row + 0 * q.sum()
        rows.append(row)
    weights = torch.stack(rows)
    return weights @ value, weights


@accepted("cumulated identity")
def causal_mask(length):
    return np.logical_or.accumulate(np.eye(length, dtype=bool)[:, ::-1], axis=1)[:, ::-1]


@accepted("tri rows")
def padding_mask(lengths, max_length):
    return np.tri(max_length + 1, max_length, -1, dtype=bool)[np.array(lengths, dtype=int)][:, np.newaxis, :]


@accepted("reduction with where")
def masked_softmax(scores, mask):
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=np.finfo(scores.dtype).min)
    e = np.zeros_like(scores)
    np.exp(np.subtract(scores, top, where=mask, out=e), where=np.broadcast_to(mask, scores.shape), out=e)
    t = e.sum(-1, keepdims=True)
    return np.divide(e, t, out=e, where=t != 0)


@accepted("a virtual key of nothing")
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        w = s.softmax(-1)
        return (w @ value, w)
    allowed = mask.expand(s.shape)
    s = s.masked_fill(~allowed, float("-inf"))
    none = torch.zeros_like(s[..., :1]).masked_fill(allowed.any(-1, keepdim=True), float("-inf"))
    w = torch.cat([s, none], -1).softmax(-1)[..., :-1]
    return (w @ value, w)


# ---------------------------------------------------------------- at real sizes


@accepted("a table of words that grows")
def causal_mask(length):
    mask = np.ones((1, 1), dtype=bool)
    while len(mask) < length:
        rest = np.ones_like(mask)
        mask = np.block([[mask, ~rest], [rest, mask]])
    return mask[:length, :length]


@accepted("text by text, word by word")
def padding_mask(lengths, max_length):
    return np.array([[[place < length for place in range(max_length)]] for length in lengths], dtype=bool)


@accepted("float64 inside")
def masked_softmax(scores, mask):
    wide = np.where(mask, scores.astype(np.float64), -np.inf)
    top = wide.max(axis=-1, keepdims=True)
    exps = np.exp(wide - np.where(np.isfinite(top), top, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0).astype(scores.dtype)


@accepted("sixteen queries at a time")
def causal_attention(Q, K, V, padding=None):
    *batch, L, d = Q.shape
    weights = np.zeros((*batch, L, L), dtype=Q.dtype)
    for i in range(0, L, 16):
        seen = slice(0, min(i + 16, L))
        scores = Q[..., i : i + 16, :] @ K[..., seen, :].swapaxes(-2, -1) / math.sqrt(d)
        allowed = np.arange(seen.stop) <= np.arange(i, seen.stop)[:, None]
        allowed = allowed if padding is None else allowed & padding[..., seen]
        exps = np.exp(np.where(allowed, scores, -1e30) - np.where(allowed, scores, -1e30).max(-1, keepdims=True))
        exps = np.where(allowed, exps, 0)
        weights[..., i : i + 16, seen] = exps / np.maximum(exps.sum(-1, keepdims=True), 1e-30)
    return weights @ V, weights


@accepted("a square buffer, cut to the text")
def torch_masked_attention(query, key, value, mask=None):
    longest = max(query.size(-2), key.size(-2))
    allowed = torch.ones(longest, longest, dtype=torch.bool)[: query.size(-2), : key.size(-2)]
    allowed = allowed if mask is None else allowed & mask
    scores = torch.einsum("...ld,...sd->...ls", query, key) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores.masked_fill(~allowed, -1e9), dim=-1) * allowed
    return weights @ value, weights
