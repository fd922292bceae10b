import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

# ---------------------------------------------------------------- projection_shapes


@wrong("all the same", "always-square")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict.fromkeys(["W_Q", "W_K", "W_V", "W_O"], (d_model, d_model))


@wrong("one head wide", "one-head-for-all")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "W_V": (d_model, d_v), "W_O": (d_v, d_model)}


@wrong("output the other way", "W_O-transposed")
def projection_shapes(d_model, num_heads, d_k, d_v):
    narrow, wide = (d_model, num_heads * d_k), (d_model, num_heads * d_v)
    return dict(W_Q=narrow, W_K=narrow, W_V=wide, W_O=wide)


@wrong("as nn.Linear keeps them", "transposed", "axes-swapped")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (num_heads * d_k, d_model), "W_K": (num_heads * d_k, d_model), "W_V": (num_heads * d_v, d_model),
            "W_O": (d_model, num_heads * d_v)}  # fmt: skip


@wrong("a head's share of d_model", "divided-by-the-heads", "d_k-from-d_model", "d_k-ignored")
def projection_shapes(d_model, num_heads, d_k, d_v):
    d = d_model // num_heads
    return {"W_Q": (d_model, d), "W_K": (d_model, d), "W_V": (d_model, d), "W_O": (d_model, d_model)}


@wrong("keys' width for values", "d_v-ignored")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {name: (d_model, num_heads * d_k) for name in ("W_Q", "W_K", "W_V")} | {"W_O": (num_heads * d_k, d_model)}


# ---------------------------------------------------------------- output_projection


@wrong("no move", "concat-without-transpose")
def output_projection(heads, W_O):
    *b, h, L, d = heads.shape
    return np.reshape(heads, (*b, L, h * d)) @ W_O


@wrong("summed after each block", "first-block-for-all", "one-block-for-all", "heads-summed")
def output_projection(heads, W_O):
    d = heads.shape[-1]
    return sum(heads[..., i, :, :] @ W_O[:d] for i in range(heads.shape[-3]))


@wrong("reversed", "heads-reversed", "rows-reversed", "reversed")
def output_projection(heads, W_O):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])][::-1], axis=-1) @ W_O


@wrong("last one forgotten", "one-head-too-few", "last-head-missing")
def output_projection(heads, W_O):
    d = heads.shape[-1]
    h = heads.shape[-3]
    out = heads[..., 0, :, :] @ W_O[:d]
    for i in range(1, h - 1):
        out = out + heads[..., i, :, :] @ W_O[i * d : (i + 1) * d]
    return out


@wrong("mean", "heads-averaged", "a-constant-factor")
def output_projection(heads, W_O):
    *_, h, _, d = heads.shape
    return np.mean([heads[..., i, :, :] @ W_O[i * d : i * d + d] for i in range(h)], axis=0)


@wrong("returns concatenation", "W_O-missing")
def output_projection(heads, W_O):
    return np.concatenate(np.moveaxis(heads, -3, 0), axis=-1)


# ---------------------------------------------------------------- multi_head_attention

NUMPY = """
import math
import numpy as np

def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)
"""
edit = wrong.edited

edit(
    NUMPY,
    "values from W_K",
    "values-from-W_K W_V-unused argument-unused",
    ("v = X @ W_V[:, i * d_v : (i + 1) * d_v]", "v = X @ W_K[:, i * d_k : i * d_k + d_v]"),
)
edit(NUMPY, "keys from W_Q", "keys-from-W_Q W_K-unused argument-unused", ("k = X @ W_K", "k = X @ W_Q"))
edit(
    NUMPY,
    "queries and keys exchanged",
    "queries-and-keys-swapped scores-transposed",
    ('einsum("...ic,...jc->...ij", q, k)', 'einsum("...ic,...jc->...ij", k, q)'),
)
edit(NUMPY, "root of the model", "scale-by-d_model", ("math.sqrt(d_k)", "math.sqrt(d_model)"))
edit(NUMPY, "whole width", "scale-by-whole-width scale-by-h-d_k", ("math.sqrt(d_k)", "math.sqrt(W_K.shape[1])"))
edit(NUMPY, "number of heads", "scale-by-num_heads", ("math.sqrt(d_k)", "math.sqrt(num_heads)"))
edit(NUMPY, "root of d_v", "scale-by-d_v", ("math.sqrt(d_k)", "math.sqrt(d_v)"))
edit(NUMPY, "no scale", "no-scaling", (" / math.sqrt(d_k)", ""))
edit(
    NUMPY, "summed heads", "heads-summed", ("np.concatenate(outs, axis=-1)", "np.tile(np.sum(outs, axis=0), num_heads)")
)
edit(
    NUMPY,
    "interleaved in columns",
    "heads-interleaved",
    ("W_Q[:, i * d_k : (i + 1) * d_k]", "W_Q[:, i::num_heads]"),
    ("W_K[:, i * d_k : (i + 1) * d_k]", "W_K[:, i::num_heads]"),
    ("W_V[:, i * d_v : (i + 1) * d_v]", "W_V[:, i::num_heads]"),
)
edit(NUMPY, "reversed at the end", "heads-reversed", ("np.concatenate(outs,", "np.concatenate(outs[::-1],"))
edit(
    NUMPY,
    "mask the other way",
    "mask-inverted",
    ("np.where(m, s, -1e30)", "np.where(m, -1e30, s)"),
    ("np.where(m, w, 0)", "np.where(m, 0, w)"),
)
edit(
    NUMPY,
    "small fill",
    "leaky-mask small-fill",
    ("-1e30", "-1e1"),
    ("            w = np.where(m, w, 0)", "            pass"),
)
edit(
    NUMPY,
    "mask after",
    "mask-after-softmax unmasked-denominator",
    ("            s = np.where(m, s, -1e30)", "            pass"),
)
edit(
    NUMPY,
    "axis of queries",
    "softmax-over-queries",
    ("s.max(axis=-1", "s.max(axis=-2"),
    ("e.sum(axis=-1", "e.sum(axis=-2"),
)
edit(
    NUMPY,
    "shared mask of head 0",
    "mask-for-the-first-head-only mask-of-the-first-head-for-all",
    ("[..., i, :, :]\n", "[..., 0, :, :]\n"),
)
edit(NUMPY, "weights in a list", "another-kind", ("np.stack(ws, axis=-3)", "ws"), form=True)
edit(
    NUMPY,
    "head axis first",
    "heads-before-the-batch one-batch-layout axes-in-another-order transposed",
    ("np.stack(ws, axis=-3)", "np.stack(ws)"),
    form=True,
)
edit(NUMPY, "mean over heads of the weights", "weights-averaged", ("np.stack(ws, axis=-3)", "np.mean(ws, axis=0)"))
edit(NUMPY, "no W_O, no scale", "W_O-missing+no-scaling", (" / math.sqrt(d_k)", ""), ("together @ W_O", "together"))
edit(
    NUMPY,
    "no room for empty rows",
    "evenly-for-nothing nothing-to-see",
    ("            w = np.where(m, w, 0)", "            pass"),
)


# ---------------------------------------------------------------- MultiHeadAttention

TORCH = """
import math
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att
"""
edit(
    TORCH,
    "values by W_K",
    "values-from-W_K W_V-unused argument-unused gradient-partial",
    ("self.W_V(x)", "self.W_K(x)"),
)
edit(TORCH, "keys by W_Q", "keys-from-W_Q W_K-unused argument-unused gradient-partial", ("self.W_K(x)", "self.W_Q(x)"))
edit(
    TORCH,
    "query and key change places",
    "queries-and-keys-swapped scores-transposed",
    ("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"),
)
edit(TORCH, "k.size(-2)", "scale-by-length", ("k.size(-1)", "k.size(-2)"))
edit(
    TORCH,
    "root of all heads",
    "scale-by-whole-width scale-by-d_model scale-by-h-d_k",
    ("k.size(-1)", "self.h * self.d"),
)
edit(TORCH, "heads as divisor", "scale-by-num_heads", ("k.size(-1)", "self.h"))
edit(TORCH, "fourth root", "scale-by-fourth-root", ("math.sqrt(k.size(-1))", "k.size(-1) ** 0.25"))
edit(TORCH, "no scale at all", "no-scaling", (" * (1.0 / math.sqrt(k.size(-1)))", ""))
edit(
    TORCH,
    "masked_fill with no effect",
    "mask-without-effect mask-ignored mask-forgotten",
    ("att = att.masked_fill(mask == 0, -1e38)", "att.masked_fill(mask == 0, -1e38)"),
    ("att = att.masked_fill(mask == 0, 0.0)", "pass"),
)
edit(TORCH, "mask the other way round", "mask-inverted", ("mask == 0", "mask"))
edit(
    TORCH,
    "fill 1e-9",
    "masked-with-zero small-fill leaky-mask",
    ("-1e38", "1e-9"),
    ("att = att.masked_fill(mask == 0, 0.0)", "pass"),
)
edit(
    TORCH,
    "fill -1e10",
    "evenly-for-nothing leaky-mask nothing-to-see",
    ("-1e38", "-1e10"),
    ("att = att.masked_fill(mask == 0, 0.0)", "pass"),
)
edit(
    TORCH,
    "fill inf",
    "nan-for-nothing nothing-to-see",
    ("-1e38", "float('-inf')"),
    ("att = att.masked_fill(mask == 0, 0.0)", "pass"),
)
edit(TORCH, "softmax dim 1", "softmax-over-heads softmax-over-axis-1 axis-counted-from-the-front", ("dim=-1", "dim=1"))
edit(TORCH, "softmax dim 0", "softmax-over-axis-0 axis-counted-from-the-front softmax-over-batch", ("dim=-1", "dim=0"))
edit(
    TORCH,
    "view not transposed",
    "split-without-transpose",
    (
        "t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)",
        "t.reshape(*t.shape[:-2], self.h, t.shape[-2], self.d)",
    ),
)
edit(
    TORCH,
    "view not transposed back",
    "concat-without-transpose",
    (
        "y = y.transpose(-2, -3)\n        y = y.reshape(*y.shape[:-2], self.h * self.d)",
        "y = y.reshape(*x.shape[:-1], self.h * self.d)",
    ),
)
edit(TORCH, "back with moved width", "heads-interleaved", ("y = y.transpose(-2, -3)\n", "y = y.movedim(-3, -1)\n"))
edit(TORCH, "residual inside", "residual-added", ("return self.W_O(y), att", "return x + self.W_O(y), att"))
edit(TORCH, "forgets the last layer", "W_O-missing", ("return self.W_O(y), att", "return y, att"))
edit(
    TORCH,
    "square output",
    "W_O-square d_head-ignored",
    ("self.W_O = nn.Linear(inner, d_model, bias=False)", "self.W_O = nn.Linear(d_model, d_model, bias=False)"),
)
edit(TORCH, "biases", "bias-left-on", (", bias=False", ""), form=True)
edit(
    TORCH,
    "attends over the heads",
    "attention-over-heads heads-after-tokens",
    ("self.d).transpose(-2, -3)", "self.d)"),
    ("        y = y.transpose(-2, -3)\n", ""),
)
edit(
    TORCH,
    "frozen weights",
    "detached-gradient gradient-partial gradient-missing",
    ("y = att @ v", "y = att.detach() @ v"),
    form=True,
)
edit(
    TORCH,
    "x normalised first",
    "norm-added",
    ("q, k, v =", "x = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)\n        q, k, v ="),
)
edit(
    TORCH,
    "no scale and wrong way",
    "no-scaling+mask-inverted",
    (" * (1.0 / math.sqrt(k.size(-1)))", ""),
    ("mask == 0", "mask"),
)


# ---------------------------------------------------------------- written when prices were made alike


@wrong("first block for all", "first-rows-for-all", "one-block-for-all", "head-0-for-all")
def output_projection(heads, W_O):
    d = heads.shape[-1]
    return sum(heads[..., i, :, :] @ W_O[:d] for i in range(heads.shape[-3]))


def _split_again(X, h):
    return X.reshape(*X.shape[:-1], h, X.shape[-1] // h).swapaxes(-3, -2)


def _attend_again(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    big = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(big), big, 0))
    t = e.sum(-1, keepdims=True)
    w = (e / np.where(t > 0, t, 1)).astype(Q.dtype)
    return w @ V, w


def _concat_again(h):
    h = h.swapaxes(-3, -2)
    return h.reshape(*h.shape[:-2], -1)


@wrong("mask on head 0 alone", "mask-for-the-first-head-only", "mask-on-one-head", "mask-on-the-first-head")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, None)
    if mask is not None:
        o2, w2 = _attend_again(Q, K, V, mask)
        out[..., :1, :, :], w[..., :1, :, :] = o2[..., :1, :, :], w2[..., :1, :, :]
    return _concat_again(out) @ W_O, w


@wrong("softmax before the split", "one-big-head", "heads-split-too-late", "mask-ignored+one-big-head")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    out, w = _attend_again(X @ W_Q, X @ W_K, X @ W_V, None)
    return out @ W_O, np.repeat(w[..., None, :, :], num_heads, axis=-3)


@wrong("heads summed into W_O", "heads-summed")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, mask)
    return np.tile(out.sum(-3), num_heads) @ W_O, w


@wrong("query bias of X", "residual-added")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, mask)
    return X + _concat_again(out) @ W_O, w


class _M_again(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def soft(self, s, mask):
        if mask is None:
            return torch.softmax(s, -1)
        return torch.softmax(s.masked_fill(~mask, -1e30), -1) * mask

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        w = self.soft(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((w @ v).transpose(-3, -2).flatten(-2)), w


@wrong("dropout on the weights", "random", "another-answer-each-time")
class MultiHeadAttention(_M_again):
    def soft(self, s, mask):
        return nn.functional.dropout(super().soft(s, mask), 0.2)


@wrong(
    "weights of head 0 shown", "weights-of-head-0-for-all", "head-0-for-all", "weights-of-one-head", "first-head-only"
)
class MultiHeadAttention(_M_again):
    def forward(self, x, mask=None):
        out, w = super().forward(x, mask)
        return out, w[..., :1, :, :].expand_as(w)


@wrong("mask given an axis", "axis-added-to-mask")
class MultiHeadAttention(_M_again):
    def soft(self, s, mask):
        return super().soft(s, mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask)


def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


# ---------------------------------------------------------------- projection_shapes, by somebody else
@wrong("all four as nn.Linear keeps them, (out, in)", "transposed")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (num_heads * d_k, d_model),
        "W_K": (num_heads * d_k, d_model),
        "W_V": (num_heads * d_v, d_model),
        "W_O": (d_model, num_heads * d_v),
    }


@wrong("d_v is not used: W_V and W_O made with d_k", "d_v-ignored")
def projection_shapes(d_model, num_heads, d_k, d_v):
    inner = num_heads * d_k
    shapes = {name: (d_model, inner) for name in ("W_Q", "W_K", "W_V")}
    shapes["W_O"] = (inner, d_model)
    return shapes


@wrong("takes W_O to be square", "W_O-square")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(
        W_Q=(d_model, num_heads * d_k),
        W_K=(d_model, num_heads * d_k),
        W_V=(d_model, num_heads * d_v),
        W_O=(d_model, d_model),
    )


@wrong("a separate axis for the heads, (h, d_model, d_k)", "heads-on-an-axis")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (num_heads, d_model, d_k),
        "W_K": (num_heads, d_model, d_k),
        "W_V": (num_heads, d_model, d_v),
        "W_O": (num_heads * d_v, d_model),
    }


@wrong("lists instead of tuples", "lists-for-shapes", form=True)
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": [d_model, num_heads * d_k],
        "W_K": [d_model, num_heads * d_k],
        "W_V": [d_model, num_heads * d_v],
        "W_O": [num_heads * d_v, d_model],
    }


# ---------------------------------------------------------------- output_projection, by somebody else
@wrong("sums over the first axis, head for head, which is the batch where there is one", "one-batch-layout")
def output_projection(heads, W_O):
    d_v = heads.shape[-1]
    return sum(head @ W_O[i * d_v : (i + 1) * d_v] for i, head in enumerate(heads))


@wrong("gives W_O's rows out to the heads in turn: reshaped to (d_v, h, d_model)", "heads-interleaved")
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    W = W_O.reshape(d_v, h, -1)
    return np.einsum("...hld,dhm->...lm", heads, W)


@wrong("averages over the heads instead of summing", "heads-averaged")
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    W = W_O.reshape(h, d_v, -1)
    return np.mean(heads @ W, axis=-3)


@wrong("a ReLU after the projection", "negative-numbers-lost")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    Z = heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v)
    return np.maximum(Z @ W_O, 0)


@wrong("sums into a float64 buffer", "float64-always", form=True)
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    out = np.zeros((*batch, L, W_O.shape[1]))
    for i in range(h):
        out += heads[..., i, :, :] @ W_O[i * d_v : (i + 1) * d_v, :]
    return out


# ---------------------------------------------------------------- multi_head_attention, by somebody else
@wrong("scales by the root of the number of heads", "scale-by-num_heads")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-2, -1) * num_heads**-0.5
    weights = _softmax_under(scores, mask)
    return _brought_back(weights @ V, W_O), weights


@wrong("one softmax over the keys of all heads together", "one-softmax-for-all-heads")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = np.einsum("...hqd,...hkd->...qhk", Q, K) / math.sqrt(Q.shape[-1])
    *rest, L, h, S = scores.shape
    if mask is not None:
        mask = np.broadcast_to(mask, (*rest, h, L, S)).swapaxes(-3, -2).reshape(*rest, L, h * S)
    weights = _softmax_under(scores.reshape(*rest, L, h * S), mask).reshape(*rest, L, h, S).swapaxes(-3, -2)
    return _brought_back(weights @ V, W_O), weights


@wrong("W_O is used only where the concatenation is not yet as wide as the model", "W_O-missing")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    Z = (weights @ V).swapaxes(-3, -2)
    Z = Z.reshape(*X.shape[:-1], -1)
    if Z.shape[-1] != X.shape[-1]:
        Z = Z @ W_O
    return Z, weights


@wrong("adds a head axis to any mask of three axes", "axis-added-to-mask")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None, :, :]
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _brought_back(weights @ V, W_O), weights


@wrong("all heads compare with head 0's keys", "keys-of-head-0-for-all")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    outputs, all_weights = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, :d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        scores = q @ k.swapaxes(-2, -1) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*X.shape[:-2], num_heads, X.shape[-2], X.shape[-2]))[..., i, :, :]
        else:
            m = None
        w = _softmax_under(scores, m)
        outputs.append(w @ v)
        all_weights.append(w)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(all_weights, axis=-3)


@wrong("returns the weights averaged over the heads", "weights-averaged", form=True)
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _brought_back(weights @ V, W_O), weights.mean(axis=-3)


@wrong(
    "scales by the root of d_model, and shares the weight of an empty row evenly",
    "scale-by-d_model",
    "scale-by-d_model+evenly-for-nothing",
)
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(X.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    weights = _softmax_under(scores)
    return _brought_back(weights @ V, W_O), weights


# ---------------------------------------------------------------- MultiHeadAttention, by somebody else
def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


@wrong("W_Q and W_K are one and the same layer", "queries-from-W_K", "keys-from-W_Q")
class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.W_Q = self.W_K = nn.Linear(d_model, num_heads * self.d_head, bias=False)

    def forward(self, x, mask=None):
        z, w = _attended(
            _in_heads(self.W_Q(x), self.h),
            _in_heads(self.W_K(x), self.h),
            _in_heads(self.W_V(x), self.h),
            mask,
            math.sqrt(self.d_head),
        )
        return self.W_O(z), w


@wrong("asks d_model to divide even where d_head is given", "width-must-divide", "always-has-to-divide")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_head or d_model // num_heads
        self.W_Q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(num_heads * self.d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.num_heads) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w


@wrong("merges the heads without permuting back first", "concat-without-transpose")
class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        *batch, L, _ = x.shape
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attention = F.softmax(scores, dim=-1)
        if mask is not None:
            attention = attention.masked_fill(~mask, 0.0)
        values = attention @ v
        values = values.reshape(*batch, L, self.h * self.d_head)
        return self.W_O(values), attention


@wrong("mask.unsqueeze(1) whatever the mask's shape", "axis-added-to-mask")
class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        if isinstance(mask, torch.Tensor):
            mask = mask.unsqueeze(1)
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w


@wrong("keeps the mask of an earlier call and uses it where none is given", "mask-kept")
class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.mask = None

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, self.mask, math.sqrt(self.d_head))
        return self.W_O(z), w


@wrong("adds x to the output as a residual", "residual-added")
class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        residual = x
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z) + residual, w


@wrong(
    "reads the first axis as the words, as nn.MultiheadAttention does without batch_first", "batch-and-words-swapped"
)
class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        batched = x.dim() == 3
        if batched:
            x = x.transpose(0, 1)
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        out = self.W_O(z)
        return (out.transpose(0, 1) if batched else out), w


@wrong("W_O with a bias, as nn.Linear has it by default", "bias-left-on", form=True)
class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.W_O = nn.Linear(num_heads * self.d_head, d_model)

    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w


@wrong("returns the output alone where no mask is given", "parts-missing", form=True)
class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        if mask is None:
            return self.W_O(z)
        return self.W_O(z), w
