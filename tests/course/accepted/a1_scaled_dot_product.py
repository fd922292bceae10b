"""Correct answers to a1 in many styles."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()


# ---------------------------------------------------------------- softmax


@accepted("log-sum-exp")
def softmax(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.exp(x - (top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))))


@accepted("logaddexp")
def softmax(x, axis=-1):
    total = np.logaddexp.reduce(x, axis=axis)
    return np.exp(x - np.expand_dims(total, axis))


@accepted("row by row")
def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    weights = np.empty_like(rows)
    for i, row in enumerate(rows):
        exps = np.exp(row - max(row))
        weights[i] = exps / sum(exps)
    return np.moveaxis(weights.reshape(moved.shape), -1, axis)


@accepted("apply_along_axis")
def softmax(x, axis=-1):
    def one(row):
        exps = np.exp(row - np.amax(row))
        return exps / np.sum(exps)

    return np.apply_along_axis(one, axis, x)


@accepted("own copy in place, with an epsilon")
def softmax(x, axis=-1):
    weights = np.array(x)
    weights -= np.max(weights, axis=axis, keepdims=True)
    np.exp(weights, out=weights)
    weights /= np.sum(weights, axis=axis, keepdims=True) + 1e-8
    return weights


@accepted("powers of two")
def softmax(x, axis=-1):
    powers = np.exp2((x - np.expand_dims(np.max(x, axis), axis)) * math.log2(math.e))
    return powers * (1 / powers.sum(axis, keepdims=True))


@accepted("transposed, without keepdims")
def softmax(x, axis=-1):
    rows = np.swapaxes(x, axis, 0)
    exps = np.exp(rows - rows.max(axis=0))
    return np.swapaxes(exps / exps.sum(axis=0), 0, axis)


@accepted("pairwise differences, and what overflows becomes 0")
def softmax(x, axis=-1):
    x = np.moveaxis(x, axis, -1)
    w = 1 / np.exp(x[..., None, :] - x[..., :, None]).sum(-1)
    return np.moveaxis(w, -1, axis)


# ---------------------------------------------------------------- attention_scores


@accepted("einsum")
def attention_scores(Q, K):
    return np.einsum("...ld,...sd->...ls", Q, K) / math.sqrt(Q.shape[-1])


@accepted("query scaled first")
def attention_scores(Q, K):
    scaled = Q * Q.shape[-1] ** -0.5
    return np.matmul(scaled, np.moveaxis(K, -1, -2))


@accepted("both scaled half")
def attention_scores(Q, K):
    scale = K.shape[-1] ** 0.25
    return (Q / scale) @ np.swapaxes(K / scale, -1, -2)


@accepted("broadcast and sum")
def attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).sum(axis=-1) / math.sqrt(K.shape[-1])


@accepted("one batch item after another")
def attention_scores(Q, K):
    *batch, L, d_k = Q.shape
    S = K.shape[-2]
    scores = np.zeros((*batch, L, S), dtype=Q.dtype)
    for index in np.ndindex(*batch):
        for i in range(L):
            for j in range(S):
                scores[(*index, i, j)] = np.dot(Q[index][i], K[index][j]) / np.sqrt(d_k)
    return scores


@accepted("recursive over batch axes, np.sqrt in the input's dtype")
def attention_scores(Q, K):
    def of_one(Q, K):
        if Q.ndim > 2:
            return np.stack([of_one(q, k) for q, k in zip(Q, K, strict=True)])
        return Q.dot(K.T) / np.sqrt(Q.shape[-1], dtype=Q.dtype)

    return of_one(Q, K)


@accepted("by the distances between vectors")
def attention_scores(Q, K):
    q2, k2 = (Q * Q).sum(-1)[..., :, None], (K * K).sum(-1)[..., None, :]
    apart = ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)
    return (q2 + k2 - apart) / 2 / math.sqrt(Q.shape[-1])


# ---------------------------------------------------------------- scaled_dot_product_attention


@accepted("all in one, named tuple")
def scaled_dot_product_attention(Q, K, V):
    from collections import namedtuple

    Attended = namedtuple("Attended", "output weights")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(K.shape[-1])
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    return Attended(weights @ V, weights)


@accepted("einsum, log-sum-exp")
def scaled_dot_product_attention(Q, K, V):
    scores = np.einsum("...ld,...sd->...ls", Q, K) / math.sqrt(Q.shape[-1])
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - total)
    return np.einsum("...ls,...sv->...lv", weights, V), weights


@accepted("divided after the blend")
def scaled_dot_product_attention(Q, K, V):
    scores = (Q / math.sqrt(Q.shape[-1])) @ K.swapaxes(-1, -2)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = exps.sum(axis=-1, keepdims=True)
    return exps @ V / total, exps / total


@accepted("loops over batch items and queries")
def scaled_dot_product_attention(Q, K, V):
    *batch, L, d_k = Q.shape
    S, d_v = V.shape[-2:]
    queries, keys, values = Q.reshape(-1, L, d_k), K.reshape(-1, S, d_k), V.reshape(-1, S, d_v)
    output = np.zeros((len(queries), L, d_v), dtype=V.dtype)
    weights = np.zeros((len(queries), L, S), dtype=V.dtype)
    for b, (item, item_keys, item_values) in enumerate(zip(queries, keys, values, strict=True)):
        for i, query in enumerate(item):
            scores = item_keys @ query / math.sqrt(d_k)
            exps = np.exp(scores - scores.max())
            weights[b, i] = exps / exps.sum()
            for weight, value in zip(weights[b, i], item_values, strict=True):
                output[b, i] += weight * value
    return output.reshape(*batch, L, d_v), weights.reshape(*batch, L, S)


@accepted("keys first, transposed at the end")
def scaled_dot_product_attention(Q, K, V):
    scores = K @ Q.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = (exps / exps.sum(axis=-2, keepdims=True)).swapaxes(-1, -2)
    return np.matmul(weights, V), weights


# ---------------------------------------------------------------- torch_scaled_dot_product_attention


@accepted("F.softmax and mT")
def torch_scaled_dot_product_attention(query, key, value):
    from collections import namedtuple

    weights = F.softmax(query @ key.mT * query.size(-1) ** -0.5, dim=-1)
    return namedtuple("Attended", ["output", "weights"])(weights.matmul(value), weights)


@accepted("einsum and a scale that is a tensor")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.einsum("...ld,...sd->...ls", query, key) / torch.sqrt(torch.tensor(query.shape[-1]))
    weights = nn.Softmax(dim=-1)(scores)
    return torch.einsum("...ls,...sv->...lv", weights, value), weights


@accepted("softmax by hand, maximum detached")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(key.shape[-1])
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    weights = exps / exps.sum(-1, keepdim=True)
    return weights @ value, weights


@accepted("log-sum-exp")
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return weights @ value, weights


@accepted("bmm on flattened batch axes")
def torch_scaled_dot_product_attention(query, key, value):
    *batch, L, d_k = query.shape
    S, d_v = value.shape[-2:]
    scores = torch.bmm(query.reshape(-1, L, d_k), key.reshape(-1, S, d_k).transpose(1, 2)) / d_k**0.5
    weights = scores.softmax(2)
    output = torch.bmm(weights, value.reshape(-1, S, d_v))
    return output.view(*batch, L, d_v), weights.view(*batch, L, S)


@accepted("one query after another, stacked")
def torch_scaled_dot_product_attention(query, key, value):
    rows, outputs = [], []
    for one in query.unbind(dim=-2):
        scores = (key * one.unsqueeze(-2)).sum(-1) / math.sqrt(one.shape[-1])
        rows.append(torch.log_softmax(scores, -1).exp())
        outputs.append((rows[-1].unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)


@accepted("a module of one's own")
def torch_scaled_dot_product_attention(query, key, value):
    class Attention(nn.Module):
        def __init__(self, d_k):
            super().__init__()
            self.register_buffer("scale", torch.tensor(d_k, dtype=torch.float64).rsqrt())

        def forward(self, query, key, value):
            scores = (query * self.scale.to(query.dtype)) @ key.transpose(-2, -1)
            weights = torch.softmax(scores, dim=-1)
            return weights @ value, weights

    return Attention(query.shape[-1])(query, key, value)


@accepted("torch.vmap over the texts")
def torch_scaled_dot_product_attention(query, key, value):
    lead = query.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))

    def one(q, k, v):
        s = (q @ k.T) / math.sqrt(q.shape[-1])
        w = torch.softmax(s, dim=-1)
        return w @ v, w

    out, w = torch.vmap(one)(q, k, v)
    return out.reshape(*lead, *out.shape[-2:]), w.reshape(*lead, *w.shape[-2:])


@accepted("sum of powers of differences")
def softmax(x, axis=-1):
    with np.errstate(over="ignore"):
        y = np.moveaxis(x, axis, -1)
        return np.moveaxis(1 / np.exp(y[..., None, :] - y[..., :, None]).sum(-1), -1, axis)


@accepted("halves, by recursion")
def softmax(x, axis=-1):

    def lse(y):
        if y.shape[axis] == 1:
            return y
        a, b = np.array_split(y, 2, axis=axis)
        a, b = (lse(a), lse(b))
        hi = np.maximum(a, b)
        return hi + np.log(np.exp(a - hi) + np.exp(b - hi))

    return np.exp(x - lse(x))


@accepted("block matrix")
def attention_scores(Q, K):
    L = Q.shape[-2]
    both = np.concatenate([Q, K], axis=-2)
    return (both @ np.swapaxes(both, -1, -2))[..., :L, L:] / np.asarray(math.sqrt(Q.shape[-1]), Q.dtype)


@accepted("ones as one more value column")
def scaled_dot_product_attention(Q, K, V):
    s = attention_scores(Q, K)
    e = np.exp(s - s.max(-1, keepdims=True))
    one = np.ones_like(V[..., :1])
    both = e @ np.concatenate([V, one], axis=-1)
    return (both[..., :-1] / both[..., -1:], e / both[..., -1:])


@accepted("autograd function of one's own")
def torch_scaled_dot_product_attention(query, key, value):

    class Soft(torch.autograd.Function):
        @staticmethod
        def forward(ctx, s):
            w = torch.softmax(s, -1)
            ctx.save_for_backward(w)
            return w

        @staticmethod
        def backward(ctx, g):
            (w,) = ctx.saved_tensors
            return w * (g - (g * w).sum(-1, keepdim=True))

    w = Soft.apply(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5)
    return (w @ value, w)


# ---------------------------------------------------------------- at real sizes


@accepted("sixteen scores at a time")
def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    top = moved.max(axis=-1, keepdims=True)
    parts = [np.exp(moved[..., i : i + 16] - top) for i in range(0, moved.shape[-1], 16)]
    total = sum(part.sum(axis=-1, keepdims=True) for part in parts)
    return np.moveaxis(np.concatenate(parts, axis=-1) / total, -1, axis)


@accepted("blocks of 32 queries and 16 keys")
def attention_scores(Q, K):
    scores = np.empty((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(0, Q.shape[-2], 32):
        for j in range(0, K.shape[-2], 16):
            block = Q[..., i : i + 32, :] @ K[..., j : j + 16, :].swapaxes(-2, -1)
            scores[..., i : i + 32, j : j + 16] = block / math.sqrt(Q.shape[-1])
    return scores


@accepted("float64 inside, a block of queries at a time")
def scaled_dot_product_attention(Q, K, V):
    wide, outputs, weights = [a.astype(np.float64) for a in (Q, K, V)], [], []
    for i in range(0, Q.shape[-2], 16):
        scores = np.einsum("...ld,...sd->...ls", wide[0][..., i : i + 16, :], wide[1]) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights.append(exps / exps.sum(axis=-1, keepdims=True))
        outputs.append(weights[-1] @ wide[2])
    return tuple(np.concatenate(found, axis=-2).astype(Q.dtype) for found in (outputs, weights))


@accepted("queries in chunks, float64 inside")
def torch_scaled_dot_product_attention(query, key, value):
    found = []
    for part in query.double().split(16, dim=-2):
        weights = torch.softmax(part @ key.double().mT / math.sqrt(query.size(-1)), dim=-1)
        found.append((weights @ value.double(), weights))
    return tuple(torch.cat(parts, dim=-2).to(query.dtype) for parts in zip(*found))
