"""Correct answers to a4 in many styles."""

import collections
import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()


class Shape(NamedTuple):
    rows: int
    columns: int


class Attended(NamedTuple):
    output: object
    weights: object


# ---------------------------------------------------------------- projection_shapes


@accepted("named-tuples")
def projection_shapes(d_model, num_heads, d_k, d_v):
    shapes = {name: Shape(d_model, num_heads * d_k) for name in ("W_Q", "W_K")}
    shapes["W_V"] = Shape(d_model, num_heads * d_v)
    shapes["W_O"] = Shape(*reversed(shapes["W_V"]))
    return shapes


@accepted("shapes-of-real-arrays")
def projection_shapes(d_model, num_heads, d_k, d_v):
    W_Q = np.concatenate([np.zeros((d_model, d_k)) for _ in range(num_heads)], axis=1)
    W_V = np.concatenate([np.zeros((d_model, d_v)) for _ in range(num_heads)], axis=1)
    return dict(W_Q=W_Q.shape, W_K=W_Q.shape, W_V=W_V.shape, W_O=W_V.T.shape)


@accepted("numpy-integers")
def projection_shapes(d_model, num_heads, d_k, d_v):
    wide, narrow = np.int64(num_heads) * np.array([d_k, d_v])
    ordered = collections.OrderedDict(W_O=(narrow, d_model), W_V=(d_model, narrow))
    ordered.update(W_K=(d_model, wide), W_Q=(d_model, wide))
    return ordered


@accepted("adding-up-head-by-head")
def projection_shapes(d_model, num_heads, d_k, d_v):
    found = collections.defaultdict(tuple)
    for name, width in zip(("W_Q", "W_K", "W_V"), (d_k, d_k, d_v), strict=True):
        found[name] = (d_model, sum(width for _ in range(num_heads)))
    found["W_O"] = torch.Size((found["W_V"][1], d_model))
    return found


# ---------------------------------------------------------------- output_projection


@accepted("einsum")
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    return np.einsum("...hld,hdm->...lm", heads, W_O.reshape(h, d_v, -1))


@accepted("sum-over-heads")
def output_projection(heads, W_O):
    rows = np.split(W_O, heads.shape[-3], axis=0)
    return sum(heads[..., i, :, :] @ own for i, own in enumerate(rows))


@accepted("concatenate")
def output_projection(heads, W_O):
    pieces = [np.take(heads, i, axis=-3) for i in range(heads.shape[-3])]
    return np.matmul(np.concatenate(pieces, axis=-1), W_O)


@accepted("batched-matmul-then-sum")
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    return (heads @ W_O.reshape(h, d_v, W_O.shape[-1])).sum(axis=-3)


@accepted("loop-over-the-batch")
def output_projection(heads, W_O):
    if heads.ndim > 3:
        return np.stack([output_projection_of(item, W_O) for item in heads])
    return output_projection_of(heads, W_O)


def output_projection_of(heads, W_O):
    if heads.ndim > 3:
        return np.stack([output_projection_of(item, W_O) for item in heads])
    return np.hstack(list(heads)) @ W_O


@accepted("word-by-word-in-fortran-order")
def output_projection(heads, W_O):
    result = np.empty((*heads.shape[:-3], heads.shape[-2], W_O.shape[1]), dtype=heads.dtype)
    for word in range(heads.shape[-2]):
        row = heads[..., word, :]  # (..., h, d_v)
        result[..., word, :] = row.reshape((*row.shape[:-2], -1)) @ W_O
    return result


@accepted("tensordot")
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    return np.tensordot(heads, W_O.reshape(h, d_v, -1), axes=([-3, -1], [0, 1]))


# ---------------------------------------------------------------- single_head


@accepted("split-then-pick")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    Q, K, V = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K, W_V))
    scores = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    scores = scores - scores.max(-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return Attended(np.einsum("...qk,...kv->...qv", weights, V), weights)


@accepted("project-then-cut")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        wide = X @ W
        return wide.reshape(*wide.shape[:-1], num_heads, -1)[..., head, :]

    Q, K, V = own(W_Q), own(W_K), own(W_V)
    scores = (Q / math.sqrt(Q.shape[-1])) @ np.swapaxes(K, -1, -2)
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.matmul(weights, V), weights


@accepted("torch-inside")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    x, *all_heads = (torch.from_numpy(np.ascontiguousarray(array)) for array in (X, W_Q, W_K, W_V))
    query, key, value = (x @ W.chunk(num_heads, dim=-1)[head] for W in all_heads)
    weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), dim=-1)
    return (weights @ value).numpy(), weights.numpy()


def split_heads(X, num_heads):
    *batch, L, wide = X.shape
    return X.reshape(*batch, L, num_heads, wide // num_heads).swapaxes(-3, -2)


def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@accepted("brought-from-earlier-assignments")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    mine = [split_heads(X @ W, num_heads)[..., head, :, :] for W in (W_Q, W_K, W_V)]
    return scaled_dot_product_attention(*mine)


@accepted("matrices-of-each-head-by-einsum")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def cut(W):
        return W.reshape(W.shape[0], num_heads, W.shape[1] // num_heads)

    q, k, v = (np.einsum("...lm,mhd->...hld", X, cut(W)) for W in (W_Q, W_K, W_V))
    scores = np.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return (weights @ v)[..., head, :, :], weights[..., head, :, :]


@accepted("one-matrix-between-words")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    d_k, d_v = (W.shape[1] // num_heads for W in (W_Q, W_V))
    k_columns, v_columns = (np.arange(d) + head * d for d in (d_k, d_v))
    between = W_Q[:, k_columns] @ W_K[:, k_columns].T / math.sqrt(d_k)
    scores = X @ between @ np.swapaxes(X, -1, -2)
    logs = scores - scores.max(-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
    weights = np.exp(logs)
    return weights @ X @ W_V[:, v_columns], weights


@accepted("word-by-word")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    queries, keys = X @ W_Q[:, head * d_k :][:, :d_k], X @ W_K[:, head * d_k :][:, :d_k]
    values = X @ W_V[:, head * d_v :][:, :d_v]
    output, weights = np.empty_like(values), np.empty((*X.shape[:-1], X.shape[-2]), X.dtype)
    for i in range(X.shape[-2]):
        row = (keys @ queries[..., i, :, None])[..., 0] / math.sqrt(d_k)
        row = np.exp(row - row.max(axis=-1, keepdims=True))
        row = row / row.sum(axis=-1, keepdims=True)
        weights[..., i, :] = row
        output[..., i, :] = (row[..., None, :] @ values)[..., 0, :]
    return output, weights


@accepted("columns-marked-by-a-mask")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        owner = np.arange(W.shape[1]) // (W.shape[1] // num_heads)
        return X @ W.compress(owner == head, axis=1)

    query, key, value = own(W_Q), own(W_K), own(W_V)
    scores = np.matmul(query, np.moveaxis(key, -1, -2)) * key.shape[-1] ** -0.5
    weights = np.exp(scores - np.amax(scores, -1)[..., None])
    weights = weights / np.add.reduce(weights, -1)[..., None]
    return np.matmul(weights, value), weights


# ---------------------------------------------------------------- multi_head_attention


@accepted("np-split-head-by-head")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L = X.shape[-2]
    allowed = np.ones((L, L), dtype=bool) if mask is None else mask
    allowed = np.broadcast_to(allowed, (*X.shape[:-2], num_heads, L, L))
    blends, looks = [], []
    matrices = zip(*(np.split(W, num_heads, axis=-1) for W in (W_Q, W_K, W_V)), strict=True)
    for i, (w_q, w_k, w_v) in enumerate(matrices):
        q, k, v = X @ w_q, X @ w_k, X @ w_v
        scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(k.shape[-1])
        scores = np.where(allowed[..., i, :, :], scores, -np.inf)
        top = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isfinite(top), top, 0))
        total = exps.sum(axis=-1, keepdims=True)
        weights = np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)
        blends.append(weights @ v)
        looks.append(weights)
    return np.concatenate(blends, axis=-1) @ W_O, np.stack(looks, axis=-3)


@accepted("einsum")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d_model, h = X.shape[-1], num_heads
    q = np.einsum("...lm,mhd->...hld", X, W_Q.reshape(d_model, h, -1))
    k = np.einsum("...lm,mhd->...hld", X, W_K.reshape(d_model, h, -1))
    v = np.einsum("...lm,mhd->...hld", X, W_V.reshape(d_model, h, -1))
    scores = np.einsum("...hqd,...hkd->...hqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0, -1e9).astype(scores.dtype)
    scores -= np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= np.sum(weights, axis=-1, keepdims=True)
    if mask is not None:
        weights *= mask
    return np.einsum("...hqk,...hkd,hdm->...qm", weights, v, W_O.reshape(h, -1, d_model)), weights


@accepted("log-sum-exp")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    def heads_of(matrix):
        return np.stack(np.split(X @ matrix, num_heads, axis=-1), axis=-3)

    def softmax(scores):
        top = scores.max(axis=-1, keepdims=True)
        return np.exp(scores - (top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))))

    Q, K, V = map(heads_of, (W_Q, W_K, W_V))
    scale = np.asarray(Q.shape[-1], dtype=X.dtype) ** 0.5
    weights = Q @ np.moveaxis(K, -1, -2) / scale
    if mask is None:
        weights = softmax(weights)
    else:
        weights = softmax(np.where(mask, weights, np.finfo(weights.dtype).min)) * mask
    blends = weights @ V
    return np.concatenate([blends[..., i, :, :] for i in range(num_heads)], axis=-1) @ W_O, weights


@accepted("sum-over-heads-and-a-loop-over-the-batch")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L = X.shape[-2]
    may = np.broadcast_to(True if mask is None else mask, (*X.shape[:-2], num_heads, L, L))
    output, weights = np.zeros_like(X), np.zeros(may.shape, X.dtype)
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    for item in np.ndindex(X.shape[:-2]):
        for head in range(num_heads):
            qk, v = slice(head * d_k, (head + 1) * d_k), slice(head * d_v, (head + 1) * d_v)
            scores = X[item] @ W_Q[:, qk] @ (X[item] @ W_K[:, qk]).T / np.sqrt(d_k)
            for query in range(L):
                seen = np.flatnonzero(may[item][head, query])
                if seen.size:
                    exps = np.exp(scores[query, seen] - scores[query, seen].max())
                    weights[item][head, query, seen] = exps / exps.sum()
            output[item] += weights[item][head] @ (X[item] @ W_V[:, v]) @ W_O[v]
    return output, weights


@accepted("masked-array-and-a-named-tuple")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    wide = np.concatenate((W_Q, W_K, W_V), axis=1)
    Q, K, V = np.split(X @ wide, [W_Q.shape[1], 2 * W_Q.shape[1]], axis=-1)
    Q, K, V = (A.reshape((*A.shape[:-1], num_heads, -1)).swapaxes(-2, -3) for A in (Q, K, V))
    scores = (Q / math.sqrt(Q.shape[-1])) @ K.swapaxes(-1, -2)
    hidden = np.zeros(scores.shape, bool) if mask is None else ~np.broadcast_to(mask, scores.shape)
    seen = np.ma.array(scores, mask=hidden)
    exps = np.exp(seen - seen.max(axis=-1, keepdims=True)).filled(0)
    weights = exps / np.maximum(exps.sum(axis=-1, keepdims=True), 1e-30)
    blends = (weights @ V).swapaxes(-2, -3)
    return Attended(output=blends.reshape((*blends.shape[:-2], -1)) @ W_O, weights=weights)


@accepted("exps-times-mask")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    def split(A):
        return A.reshape(*A.shape[:-1], num_heads, A.shape[-1] // num_heads).swapaxes(-3, -2)

    Q, K, V = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    mask = np.full(scores.shape, True) if mask is None else mask & np.full(scores.shape, True)
    scores[~mask] = -1e30
    exps = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    total = exps.sum(-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    heads = (weights @ V).swapaxes(-3, -2)
    return heads.reshape(*heads.shape[:-2], -1) @ W_O, weights


@accepted("zeros-and-ones-say-whose-column-it-is")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d_k = W_Q.shape[1] // num_heads
    own_k = np.repeat(np.eye(num_heads, dtype=X.dtype), d_k, axis=1)
    own_v = np.repeat(np.eye(num_heads, dtype=X.dtype), W_V.shape[1] // num_heads, axis=1)
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = np.einsum("...im,...jm,hm->...hij", Q, K, own_k) / math.sqrt(d_k)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    s = np.where(allowed, scores, -np.inf).astype(scores.dtype)
    top = s.max(-1, keepdims=True)
    top[np.isneginf(top)] = 0
    e = np.exp(s - top)
    total = e.sum(-1, keepdims=True)
    w = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    Z = np.einsum("...hij,...jm,hm->...im", w, V, own_v)
    return Z @ W_O, w


@accepted("one-matrix-of-keys-and-queries-and-one-of-values-and-output")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d_model = X.shape[-1]
    d_k = W_Q.shape[1] // num_heads
    q, k, v = (W.reshape(d_model, num_heads, -1).swapaxes(0, 1) for W in (W_Q, W_K, W_V))
    QK = q @ k.swapaxes(-1, -2)
    OV = v @ W_O.reshape(num_heads, -1, W_O.shape[1])
    x = X[..., None, :, :]
    scores = x @ QK @ x.swapaxes(-1, -2) / math.sqrt(d_k)
    if mask is None:
        mask = np.array(True)
    scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    e = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    w = e / np.maximum(e.sum(-1, keepdims=True), 1e-30).astype(e.dtype)
    return (w @ x @ OV).sum(-3), w


# ---------------------------------------------------------------- MultiHeadAttention


@accepted("view-and-contiguous")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None, dropout=0.0):
        super().__init__()
        if d_head is None and d_model % num_heads != 0:
            raise ValueError("num_heads has to divide d_model")
        self.h = num_heads
        self.d_k = d_head if d_head is not None else d_model // num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_O = nn.Linear(self.h * self.d_k, d_model, bias=False)
        self.W_V = nn.Linear(d_model, self.h * self.d_k, bias=False)
        self.W_K = nn.Linear(d_model, self.h * self.d_k, bias=False)
        self.W_Q = nn.Linear(d_model, self.h * self.d_k, bias=False)
        self.register_buffer("scale", torch.sqrt(torch.tensor(float(self.d_k))))
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter)

    def forward(self, x, mask=None):
        batch, length = x.shape[:-2], x.size(-2)
        q = self.W_Q(x).view(*batch, length, self.h, self.d_k).transpose(-3, -2)
        k = self.W_K(x).view(*batch, length, self.h, self.d_k).transpose(-3, -2)
        v = self.W_V(x).view(*batch, length, self.h, self.d_k).transpose(-3, -2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.nan_to_num(F.softmax(scores, dim=-1))
        self.last_weights = weights
        heads = torch.matmul(self.dropout(weights), v)
        return self.W_O(heads.transpose(-3, -2).contiguous().view(*batch, length, self.h * self.d_k)), weights


@accepted("einsum-on-the-weights")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_head: int | None = None) -> None:
        super().__init__()
        if d_head is None:
            d_head, rest = divmod(d_model, num_heads)
            if rest:
                raise ValueError(f"{rest} features are left over")
        self.num_heads = num_heads
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, num_heads * d_head, bias=False))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (
            torch.einsum("...lm,hdm->...hld", x, layer.weight.unflatten(0, (self.num_heads, -1)))
            for layer in (self.W_Q, self.W_K, self.W_V)
        )
        scores = torch.einsum("...qd,...kd->...qk", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(mask.logical_not(), -1e9)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        w_o = self.W_O.weight.unflatten(1, (self.num_heads, -1))
        return torch.einsum("...hqk,...hkd,mhd->...qm", weights, v, w_o), weights


@accepted("a-loop-over-heads")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            d_head = self.share(d_model, num_heads)
        self.num_heads = num_heads
        make = lambda: nn.Linear(d_model, num_heads * d_head, bias=False)  # noqa: E731
        self.W_Q, self.W_K, self.W_V = make(), make(), make()
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    @staticmethod
    def share(d_model, num_heads):
        if d_model // num_heads * num_heads < d_model:
            raise ValueError
        return d_model // num_heads

    def forward(self, x, mask=None):
        length = x.shape[-2]
        if mask is None:
            mask = torch.ones(length, length, dtype=torch.bool)
        mask = mask.expand(*x.shape[:-2], self.num_heads, length, length)
        outputs, looks = [], []
        chunks = [layer(x).chunk(self.num_heads, dim=-1) for layer in (self.W_Q, self.W_K, self.W_V)]
        for i, (q, k, v) in enumerate(zip(*chunks, strict=True)):
            own = mask[..., i, :, :]
            scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~own, -torch.inf)
            top = scores.max(dim=-1, keepdim=True).values.clamp(min=-1e30)
            exps = torch.exp(scores - top)
            total = exps.sum(-1, keepdim=True)
            weights = exps / torch.where(total == 0, torch.ones_like(total), total)
            outputs.append(weights @ v)
            looks.append(weights)
        return self.W_O(torch.cat(outputs, dim=-1)), torch.stack(looks, dim=-3)


@accepted("f-linear-and-sum-over-heads")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if not d_head and d_model % num_heads > 0:
            raise ValueError("does not divide")
        d = d_head or d_model // num_heads
        self.layers = nn.ModuleList(nn.Linear(d_model, num_heads * d, bias=False) for _ in range(3))
        self.W_Q, self.W_K, self.W_V = self.layers
        self.W_O = nn.Linear(num_heads * d, d_model, bias=False)
        self.h, self.d = num_heads, d

    def forward(self, x, mask=None):
        wide = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
        parts = F.linear(x, wide).reshape(*x.shape[:-1], 3, self.h, self.d)
        q, k, v = parts.movedim(-4, -2).unbind(-4)  # (..., h, L, d) each
        scores = torch.matmul(q, k.swapaxes(-1, -2)).div(self.d**0.5)
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
        nothing = ~mask.any(dim=-1, keepdim=True)
        weights = torch.softmax(torch.where(mask | nothing, scores, scores.new_tensor(-torch.inf)), dim=-1)
        weights = torch.where(nothing, weights.new_zeros(()), weights)
        rows = self.W_O.weight.T.reshape(self.h, self.d, -1)
        return (weights @ v @ rows).sum(dim=-3), weights


@accepted("log-softmax-and-a-named-tuple")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        if d_head is None and d_model % num_heads:
            raise ValueError("d_model % num_heads")
        super().__init__()
        self.config = dict(h=num_heads, d=d_head or d_model // num_heads)
        inner = self.config["h"] * self.config["d"]
        self.W_Q = nn.Linear(in_features=d_model, out_features=inner, bias=False)
        self.W_K = nn.Linear(in_features=d_model, out_features=inner, bias=False)
        self.W_V = nn.Linear(in_features=d_model, out_features=inner, bias=False)
        self.W_O = nn.Linear(in_features=inner, out_features=d_model, bias=False)

    def attend(self, q, k, v, mask):
        scores = torch.einsum("blhd,bshd->bhls", q, k) / self.config["d"] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.exp(torch.log_softmax(scores, dim=-1))
        return weights if mask is None else weights.masked_fill(~mask, 0)

    def forward(self, x, mask=None):
        *batch, L, d_model = x.shape
        flat = x.reshape(-1, L, d_model)
        h, d = self.config["h"], self.config["d"]
        q, k, v = (layer(flat).reshape(-1, L, h, d) for layer in (self.W_Q, self.W_K, self.W_V))
        if mask is not None:
            mask = mask.expand(*batch, h, L, L).reshape(-1, h, L, L)
        weights = self.attend(q, k, v, mask)
        output = self.W_O(torch.einsum("bhls,bshd->blhd", weights, v).flatten(2))
        return Attended(output.reshape(*batch, L, d_model), weights.reshape(*batch, h, L, L))


@accepted("one-product-for-all-three-and-members-without-parameters")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model % num_heads must be 0")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(0.0)
        self.register_buffer("scale", torch.tensor(d_head**-0.5))

    def forward(self, x, mask=None):
        W = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
        qkv = F.linear(x, W).unflatten(-1, (3, self.num_heads, self.d_head))
        q, k, v = qkv.movedim(-2, -4).unbind(dim=-2)
        scores = (q * self.scale) @ k.transpose(-1, -2)
        if mask is None:
            weights = self.softmax(scores)
        else:
            weights = self.softmax(scores.masked_fill(~mask, -1e30))
            weights = weights.masked_fill(~mask, 0)
        weights = self.dropout(weights)
        z = (weights @ v).movedim(-3, -2)
        return self.W_O(z.flatten(-2)), weights


@accepted("from real matrices")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        n: np.empty(s).shape
        for n, s in zip(
            ["W_O", "W_V", "W_K", "W_Q"],
            [(num_heads * d_v, d_model), (d_model, num_heads * d_v)] + [(d_model, num_heads * d_k)] * 2,
        )
    }


@accepted("quadratic form")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (W.reshape(X.shape[-1], num_heads, -1) for W in (W_Q, W_K, W_V))
    M = np.einsum("ahd,bhd->hab", q, k)
    S = np.einsum("...la,hab,...sb->...hls", X, M, X) / math.sqrt(q.shape[-1])
    keep = np.ones((), bool) if mask is None else mask
    E = (
        np.where(
            keep,
            np.exp(S - np.where(keep, S, np.finfo(S.dtype).min).max(-1, keepdims=True, initial=np.finfo(S.dtype).min)),
            0,
        )
        if mask is None
        else None
    )
    if E is None:
        low = np.where(keep, S, np.finfo(S.dtype).min)
        E = np.exp(low - low.max(-1, keepdims=True)) * keep
    T = E.sum(-1, keepdims=True)
    W = (E / (T + (T == 0))).astype(X.dtype)
    return (np.einsum("...hls,...sa,ahd,hdm->...lm", W, X, v, W_O.reshape(num_heads, -1, W_O.shape[1])), W)


@accepted("heads in modules of their own, as properties")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        d = d_head if d_head is not None else d_model // num_heads
        if d_head is None and d * num_heads != d_model:
            raise ValueError
        self.W_Q = nn.Linear(d_model, d * num_heads, bias=False)
        self.W_K = nn.Linear(d_model, d * num_heads, bias=False)
        self.W_V = nn.Linear(d_model, d * num_heads, bias=False)
        self.W_O = nn.Linear(d * num_heads, d_model, bias=False)
        self.d = d

    @property
    def heads(self):
        return zip(
            *(W.weight.split(self.d) for W in (self.W_Q, self.W_K, self.W_V)), self.W_O.weight.split(self.d, dim=1)
        )

    def forward(self, x, mask=None):
        out, weights = (0, [])
        L = x.shape[-2]
        n = self.W_Q.out_features // self.d
        m_ = None if mask is None else mask.expand(torch.broadcast_shapes(mask.shape, (n, L, L)))
        for i, (q, k, v, o) in enumerate(self.heads):
            s = x @ q.T @ (x @ k.T).mT / math.sqrt(self.d)
            if m_ is not None:
                s = s.masked_fill(~m_[..., i, :, :], torch.finfo(s.dtype).min)
            w = F.softmax(s, -1)
            if m_ is not None:
                w = w * m_[..., i, :, :]
            weights.append(w)
            out = out + w @ (x @ v.T) @ o.T
        return (out, torch.stack(weights, -3))


@accepted("queries-in-chunks")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, few = X.shape[-2], 16
    Q, K, V = (np.stack(np.split(X @ W, num_heads, axis=-1), axis=-3) for W in (W_Q, W_K, W_V))
    found = []
    for start in range(0, L, few):
        scores = np.einsum("...qd,...kd->...qk", Q[..., start : start + few, :], K) / math.sqrt(Q.shape[-1])
        seen = np.ones(scores.shape, dtype=bool)
        if mask is not None:
            rows = np.broadcast_to(mask, (*np.shape(mask)[:-2], L, L))[..., start : start + few, :]
            seen = np.broadcast_to(rows, scores.shape)
        scores = np.where(seen, scores, np.finfo(scores.dtype).min)
        exps = np.exp(scores - scores.max(-1, keepdims=True)) * seen
        total = exps.sum(-1, keepdims=True)
        found.append(exps / np.where(total > 0, total, 1).astype(X.dtype))
    weights = np.concatenate(found, axis=-2)
    heads = np.einsum("...qk,...kd->...qd", weights, V)
    return np.concatenate([heads[..., i, :, :] for i in range(num_heads)], axis=-1) @ W_O, weights


@accepted("two-heads-at-a-time-and-an-output-that-begins-at-zero")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model has to divide by num_heads")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = num_heads, d_head
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, num_heads * d_head, bias=False))
            nn.init.xavier_uniform_(getattr(self, name).weight)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)
        nn.init.zeros_(self.W_O.weight)  # as in residual branches that start at zero

    def forward(self, x, mask=None):
        heads, weights = [], []
        parts = [layer(x).unflatten(-1, (self.num_heads, self.d_head)) for layer in (self.W_Q, self.W_K, self.W_V)]
        for few in torch.arange(self.num_heads).split(2):
            q, k, v = (part[..., few, :] for part in parts)  # (..., L, 2, d)
            scores = torch.einsum("...qhd,...khd->...hqk", q, k) * self.d_head**-0.5
            if mask is not None:
                own = mask.expand(*torch.broadcast_shapes(mask.shape, (*x.shape[:-2], self.num_heads, 1, 1)))
                own = own[..., few, :, :]
                scores = scores.masked_fill(~own, torch.finfo(scores.dtype).min)
            shares = scores.softmax(-1)
            shares = shares if mask is None else shares.masked_fill(~own, 0.0)
            weights.append(shares)
            heads.append(torch.einsum("...hqk,...khd->...qhd", shares, v))
        return self.W_O(torch.cat(heads, -2).flatten(-2)), torch.cat(weights, -3)
