"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- projection_shapes


@wrong("Uses d_k for the values too, so W_V and W_O have the wrong width where d_v differs.", "d_v-ignored")
def projection_shapes(d_model, num_heads, d_k, d_v):
    inner = num_heads * d_k
    return {"W_Q": (d_model, inner), "W_K": (d_model, inner), "W_V": (d_model, inner), "W_O": (inner, d_model)}


@wrong("Makes all four matrices square, as if d_model were always num_heads times d_k.", "always-square")
def projection_shapes(d_model, num_heads, d_k, d_v):
    shapes = {}
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        shapes[name] = (d_model, d_model)
    return shapes


# ---------------------------------------------------------------- output_projection


@wrong(
    "Reshapes the heads without swapping heads and words first, so each row mixes several words of one head.",
    "concat-without-transpose",
)
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    Z = heads.reshape(*batch, L, h * d_v)
    return Z @ W_O


@wrong(
    "Multiplies every head by the first d_v rows of W_O, though each head has rows of its own.", "first-block-for-all"
)
def output_projection(heads, W_O):
    h, L, d_v = heads.shape[-3:]
    result = 0
    for i in range(h):
        result = result + heads[..., i, :, :] @ W_O[:d_v]
    return result


@wrong(
    "Adds up the heads in a np.zeros array of default float64, so float32 comes out as float64.",
    "float64-always",
    form=True,
)
def output_projection(heads, W_O):
    h, L, d_v = heads.shape[-3:]
    out = np.zeros(heads.shape[:-3] + (L, W_O.shape[1]))
    for i in range(h):
        rows = W_O[i * d_v : (i + 1) * d_v, :]
        out += heads[..., i, :, :] @ rows
    return out


def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v) @ W_O


# ---------------------------------------------------------------- multi_head_attention


@wrong(
    "Divides by the square root of d_model, the width of a word, instead of the width d_k of one head.",
    "scale-by-d_model",
)
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape

    def heads(M):
        return M.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2)

    Q, K, V = heads(X @ W_Q), heads(X @ W_K), heads(X @ W_V)
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(d_model)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0).astype(X.dtype)
    return output_projection(weights @ V, W_O), weights


@wrong("Leaves a word that may attend to nothing with even weights instead of zeros.", "evenly-for-nothing")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Qs = np.split(X @ W_Q, num_heads, axis=-1)
    Ks = np.split(X @ W_K, num_heads, axis=-1)
    Vs = np.split(X @ W_V, num_heads, axis=-1)
    Q, K, V = np.stack(Qs, axis=-3), np.stack(Ks, axis=-3), np.stack(Vs, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return output_projection(weights @ V, W_O), weights


@wrong("Returns the weights averaged over the heads instead of one matrix for each head.", "weights-averaged")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, _ = X.shape
    split = lambda P: P.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2)
    q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    s = np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, np.finfo(s.dtype).min)
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    if mask is not None:
        w = np.where(mask, w, np.zeros((), w.dtype))
    return output_projection(w @ v, W_O), w.mean(axis=-3)


@wrong("Forgets to divide by sqrt(d_k); leaves NaN in the row of a word that may attend to nothing.", "no-scaling")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    outs, ws = [], []
    Qs = np.split(W_Q, num_heads, axis=-1)
    Ks = np.split(W_K, num_heads, axis=-1)
    Vs = np.split(W_V, num_heads, axis=-1)
    for wq, wk, wv in zip(Qs, Ks, Vs):
        q, k, v = X @ wq, X @ wk, X @ wv
        ws.append(q @ np.swapaxes(k, -1, -2))
        outs.append(v)
    scores = np.stack(ws, axis=-3)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return output_projection(weights @ np.stack(outs, axis=-3), W_O), weights


@wrong(
    "Divides by np.sqrt(d_k), a float64 number, so float32 input gives float64 output and weights.",
    "float64-always",
    form=True,
)
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    Q = (X @ W_Q).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2)
    K = (X @ W_K).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2)
    V = (X @ W_V).reshape(*batch, L, num_heads, d_v).swapaxes(-3, -2)
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -1e300)
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = exps / np.sum(exps, axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return output_projection(weights @ V, W_O), weights


# ---------------------------------------------------------------- MultiHeadAttention


@wrong("Leaves the bias of nn.Linear switched on, so the module has four parameters too many.", "bias-left-on")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.num_heads = num_heads
        self.d_head = d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head)
        self.W_K = nn.Linear(d_model, num_heads * d_head)
        self.W_V = nn.Linear(d_model, num_heads * d_head)
        self.W_O = nn.Linear(num_heads * d_head, d_model)

    def forward(self, x, mask=None):
        def split(t):
            return t.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)

        q, k, v = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


@wrong(
    "Does not transpose the heads back before joining them, so W_O sees numbers of different words in one row.",
    "concat-without-transpose",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model % num_heads must be 0")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def forward(self, x, mask=None):
        *batch, L, _ = x.shape
        q = self.W_Q(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        k = self.W_K(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        v = self.W_V(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        att = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d)
        if mask is not None:
            att = att.masked_fill(~mask, torch.finfo(att.dtype).min)
        att = att.softmax(dim=-1)
        if mask is not None:
            att = att.masked_fill(~mask, 0.0)
        y = torch.matmul(att, v)
        y = y.contiguous().view(*batch, L, self.h * self.d)
        return self.W_O(y), att


@wrong(
    "Insists that num_heads divides d_model even where d_head is given and nothing has to divide.", "width-must-divide"
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_head or d_model // num_heads
        self.W_Q = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_K = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(self.num_heads * self.d_head, d_model, bias=False)

    def _heads(self, t):
        return t.reshape(*t.shape[:-1], self.num_heads, self.d_head).transpose(-3, -2)

    def forward(self, x, mask=None):
        Q, K, V = self._heads(self.W_Q(x)), self._heads(self.W_K(x)), self._heads(self.W_V(x))
        scores = Q @ K.transpose(-1, -2) * self.d_head**-0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
        out = (weights @ V).transpose(-3, -2)
        out = out.reshape(*out.shape[:-2], self.num_heads * self.d_head)
        return self.W_O(out), weights


@wrong("Makes the values with W_K again, so W_V is never used and never learns.", "values-from-W_K")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            d_head, rest = divmod(d_model, num_heads)
            if rest:
                raise ValueError("d_model has to be a multiple of num_heads")
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        shape = x.shape[:-1] + (self.num_heads, self.d_head)
        Q = self.W_Q(x).reshape(shape).transpose(-3, -2)
        K = self.W_K(x).reshape(shape).transpose(-3, -2)
        V = self.W_K(x).reshape(shape).transpose(-3, -2)
        scores = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        A = torch.softmax(scores, dim=-1)
        if mask is not None:
            A = A * mask
        Z = torch.einsum("...qk,...kd->...qd", A, V).transpose(-3, -2)
        return self.W_O(Z.flatten(-2)), A


@wrong(
    "Adds x to the output, the residual connection of a transformer block, which is not part of attention.",
    "residual-added",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model not divisible by num_heads")
            d_head = d_model // num_heads
        self.n_head = num_heads
        self.d_k = d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        residual = x
        q = self.W_Q(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        k = self.W_K(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        v = self.W_V(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        attn = torch.matmul(q / self.d_k**0.5, k.transpose(-2, -1))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, torch.finfo(attn.dtype).min)
        attn = torch.softmax(attn, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0)
        out = torch.matmul(attn, v).transpose(-3, -2).flatten(-2)
        out = self.W_O(out)
        out = out + residual
        return out, attn


@wrong(
    "Hides the keys where the mask is True, although True means may attend; forgets the ValueError for a remainder.",
    "mask-inverted+remainder-dropped",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_head if d_head is not None else d_model // num_heads
        width = num_heads * self.d_head
        self.W_Q = nn.Linear(d_model, width, bias=False)
        self.W_K = nn.Linear(d_model, width, bias=False)
        self.W_V = nn.Linear(d_model, width, bias=False)
        self.W_O = nn.Linear(width, d_model, bias=False)

    def forward(self, x, mask=None):
        def split(t):
            return torch.stack(t.split(self.d_head, dim=-1), dim=-3)

        Q, K, V = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        Z = torch.cat((weights @ V).unbind(dim=-3), dim=-1)
        return self.W_O(Z), weights
