"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

F = nn.functional


# ----------------------------------------------------------------------------------------------------------- rotate


@wrong(
    "Column i is paired with column i + d/2 (rotate_half, as in Llama's code), not with its neighbour.",
    "pairs-in-halves",
)
def rotate(x, positions, base=10000.0):
    def rotate_half(t):
        t1, t2 = np.split(t, 2, axis=-1)
        return np.concatenate([-t2, t1], axis=-1)

    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, d, 2) / d))
    freqs = np.outer(positions, inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)
    cos = np.cos(emb).astype(x.dtype)
    sin = np.sin(emb).astype(x.dtype)
    return x * cos + rotate_half(x) * sin


@wrong("The positions that are handed in are not used: it always counts from 0.", "positions-ignored")
def rotate(x, positions, base=10000.0):
    L, d = x.shape[-2:]
    theta = base ** (-np.arange(0, d, 2) / d)
    angle = (np.arange(L)[:, None] * theta).astype(x.dtype)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
    out[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
    return out


@wrong("Cosines and sines stay float64, so a float32 x comes back as float64.", "float64-always", form=True)
def rotate(x, positions, base=10000.0):
    *rest, L, d = x.shape
    pairs = x.reshape(*rest, L, d // 2, 2)
    theta = base ** (-2 * np.arange(d // 2) / d)
    angle = np.asarray(positions)[:, None] * theta[None, :]
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = pairs[..., 0], pairs[..., 1]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(*rest, L, d)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)


# ------------------------------------------------------------------------------------------ grouped_query_attention


@wrong("Keys and values are tiled 0, 1, 0, 1 where neighbours should share, 0, 0, 1, 1.", "heads-in-turn")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("number of heads must be divisible by num_kv_heads")
    reps = h // num_kv_heads
    K = np.concatenate([K] * reps, axis=-3)
    V = np.concatenate([V] * reps, axis=-3)
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0).astype(Q.dtype)
    return weights @ V, weights


@wrong(
    "A query that may attend to nothing gets even weights and a mean of the values, not zeros.", "evenly-for-nothing"
)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads != 0:
        raise ValueError("cannot form groups of one size")
    K = K.repeat(h // num_kv_heads, axis=-3)
    V = V.repeat(h // num_kv_heads, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-1e9))
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong(
    "Heads that cannot form groups of one size raise no ValueError: the last heads simply share the last keys.",
    "error-missing",
)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    size = math.ceil(h / num_kv_heads)
    which = np.arange(h) // size
    K, V = K[..., which, :, :], V[..., which, :, :]
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    K, V = K.repeat(h // num_kv_heads, axis=-3), V.repeat(h // num_kv_heads, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return weights @ V, weights


# ------------------------------------------------------------------------------------------------------ cache_bytes


@wrong("Only the keys are counted; the values take as much again.", "keys-only")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return num_layers * num_kv_heads * d_head * length * bytes_per_number


# ---------------------------------------------------------------------------------------------------- decoding_step


@wrong("The newest word is turned by S + 1 instead of S, the number of words in the cache.", "one-place-on")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch = x.shape[:-1]
    d_head = W_Q.shape[1] // num_heads
    kv_heads = W_K.shape[1] // d_head
    q = (x @ W_Q).reshape(*batch, num_heads, 1, d_head)
    k = (x @ W_K).reshape(*batch, kv_heads, 1, d_head)
    v = (x @ W_V).reshape(*batch, kv_heads, 1, d_head)
    if K is None:
        pos = 0
    else:
        pos = K.shape[-2] + 1
    q = rotate(q, np.array([pos]))
    k = rotate(k, np.array([pos]))
    if K is not None:
        k = np.concatenate((K, k), axis=-2)
        v = np.concatenate((V, v), axis=-2)
    out, _ = grouped_query_attention(q, k, v, kv_heads)
    return out.reshape(*batch, num_heads * d_head) @ W_O, k, v


@wrong("The whole cache is turned again at every step, though its keys have been turned already.", "cache-turned-again")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    *batch, d_model = x.shape
    d = W_Q.shape[-1] // num_heads
    g = W_K.shape[-1] // d
    query = (x @ W_Q).reshape(*batch, num_heads, 1, d)
    key = (x @ W_K).reshape(*batch, g, 1, d)
    value = (x @ W_V).reshape(*batch, g, 1, d)
    if K is not None:
        key = np.concatenate([K, key], axis=-2)
        value = np.concatenate([V, value], axis=-2)
    S = key.shape[-2] - 1
    query = rotate(query, np.array([S]))
    key = rotate(key, np.arange(S + 1))
    heads, _ = grouped_query_attention(query, key, value, g)
    return heads.reshape(*batch, -1) @ W_O, key, value


# ---------------------------------------------------------------------------------------------- sliding_window_mask


@wrong("The window is one word too wide: the word itself is not counted among the last `window` words.", "one-too-many")
def sliding_window_mask(length, window, sinks=0):
    i = np.arange(length)[:, None]
    j = np.arange(length)[None, :]
    return (j <= i) & ((i - j <= window) | (j < sinks))


@wrong("The sinks are not causal: early words see sinks that come after them.", "sinks-seen-too-early")
def sliding_window_mask(length, window, sinks=0):
    mask = np.tril(np.ones((length, length), dtype=bool))
    mask &= ~np.tril(np.ones((length, length), dtype=bool), k=-window)
    mask[:, :sinks] = True
    return mask


# ---------------------------------------------------------------------------------------------------- KeyValueCache


@wrong(
    "The sinks count as part of the window: it keeps `window` words in all, with only window - sinks of the last ones.",
    "sinks-taken-off-the-window",
)
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks
        self.keys = None
        self.values = None

    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
        if self.window is not None and self.keys.shape[-2] > max(self.window, self.sinks + 1):
            n = self.keys.shape[-2]
            keep = list(range(self.sinks)) + list(range(n - max(self.window - self.sinks, 1), n))
            self.keys = self.keys[..., keep, :]
            self.values = self.values[..., keep, :]
        return self.keys, self.values

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]


@wrong("Old words are dropped before the new one is added, so window + 1 of the last words are kept.", "one-too-many")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.K, self.V = [], []

    def append(self, key, value):
        if self.window is not None:
            while len(self.K) > self.sinks + self.window:
                self.K.pop(self.sinks)
                self.V.pop(self.sinks)
        self.K.append(key.copy())
        self.V.append(value.copy())
        return np.concatenate(self.K, axis=-2), np.concatenate(self.V, axis=-2)

    def __len__(self):
        return len(self.K)


@wrong(
    "The lists belong to the class and not to the object, so two caches share their words.",
    "shared-by-all-objects",
    "another-answer-each-time",
)
class KeyValueCache:
    keys = []
    values = []

    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if self.window is not None and len(self.keys) > self.window + self.sinks:
            del self.keys[self.sinks]
            del self.values[self.sinks]
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)


# ---------------------------------------------------------------------------------------------- online_softmax_step


@wrong("total is corrected for the new largest score, but mixed is added to without shrinking it.", "mixed-not-shrunk")
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    m_new = np.maximum(largest, s.max(axis=-1))
    p = np.exp(s - m_new[..., None])
    l_new = np.exp(largest - m_new) * total + p.sum(axis=-1)
    a_new = mixed + p @ V
    return m_new, l_new, a_new


@wrong("`*=` and `+=` write into the total and mixed that came in.", "in-place", form=True)
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., None])
    shrink = np.exp(largest - new_largest)
    total *= shrink
    total += exps.sum(axis=-1)
    mixed *= shrink[..., None]
    mixed += exps @ V
    return new_largest, total, mixed


def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., None])
    shrink = np.exp(largest - new_largest)
    return new_largest, shrink * total + exps.sum(axis=-1), shrink[..., None] * mixed + exps @ V


# ----------------------------------------------------------------------------------------- online_softmax_attention


@wrong("The last block is lost where S is no multiple of block_size.", "last-block-left-out")
def online_softmax_attention(Q, K, V, block_size):
    S = K.shape[-2]
    block_size = min(block_size, S)
    m = np.full(Q.shape[:-1], -np.inf, dtype=Q.dtype)
    l = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    a = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    for b in range(S // block_size):
        start, stop = b * block_size, (b + 1) * block_size
        m, l, a = online_softmax_step(m, l, a, Q, K[..., start:stop, :], V[..., start:stop, :])
    return a / l[..., None]


@wrong(
    "The largest score begins at 0 and not at -inf, so scores far below zero all become 0 and the division gives NaN.",
    "largest-begins-at-0",
)
def online_softmax_attention(Q, K, V, block_size):
    largest = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    total = np.zeros_like(largest)
    mixed = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for i in range(0, K.shape[-2], block_size):
        largest, total, mixed = online_softmax_step(
            largest, total, mixed, Q, K[..., i : i + block_size, :], V[..., i : i + block_size, :]
        )
    return mixed / total[..., np.newaxis]


# --------------------------------------------------------------------------------------------------------- rms_norm


@wrong("The vector is divided by its length: the squares are summed, not averaged.", "length-for-size")
def rms_norm(x, gamma, eps=1e-5):
    rms = np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + eps)
    return x / rms * gamma


# ----------------------------------------------------------------------------------------------- gated_feed_forward


@wrong("The gate is a plain sigmoid: SiLU's factor z is missing.", "sigmoid-for-silu")
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = 1 / (1 + np.exp(-(x @ W_gate)))
    return (gate * (x @ W_up)) @ W_down


# ----------------------------------------------------------------------------------------------- ModernDecoderBlock


@wrong(
    "Queries and keys are turned before they are cut into heads, so speeds run over the whole width and not within a head.",
    "turned-before-the-split",
)
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.d_head = d_model // num_heads
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, gamma):
        return gamma * x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

    def rope(self, x):
        L, d = x.shape[-2:]
        theta = 10000.0 ** (-torch.arange(0, d, 2) / d)
        angle = torch.outer(torch.arange(L).float(), theta)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        x1, x2 = x[..., 0::2], x[..., 1::2]
        return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1).flatten(-2)

    def attend(self, x):
        B, L, _ = x.shape
        q = self.rope(self.W_Q(x)).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        k = self.rope(self.W_K(x)).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_V(x).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        rep = self.num_heads // self.num_kv_heads
        k, v = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        i = torch.arange(L)
        dist = i[:, None] - i[None, :]
        mask = dist >= 0
        if self.window is not None:
            mask = mask & (dist < self.window)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        return self.W_O((weights @ v).transpose(1, 2).reshape(B, L, -1))

    def forward(self, x):
        x = x + self.attend(self.rms(x, self.norm_1))
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))


@wrong("`repeat` lays the shared keys out as 0, 1, 0, 1; repeat_interleave gives 0, 0, 1, 1.", "heads-in-turn")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_head = d_model // num_heads
        self.window = window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    @staticmethod
    def rms(x, gamma):
        return gamma * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-5))

    def rotate(self, x):
        L = x.shape[-2]
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.d_head, 2).double() / self.d_head))
        ang = torch.arange(L).double()[:, None] * freqs[None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def attend(self, x):
        B, L, D = x.shape
        q = self.W_Q(x).reshape(B, L, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = self.W_K(x).reshape(B, L, self.num_kv_heads, self.d_head).permute(0, 2, 1, 3)
        v = self.W_V(x).reshape(B, L, self.num_kv_heads, self.d_head).permute(0, 2, 1, 3)
        q, k = self.rotate(q), self.rotate(k)
        n = self.num_heads // self.num_kv_heads
        k = k.repeat(1, n, 1, 1)
        v = v.repeat(1, n, 1, 1)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.d_head)
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask.triu(-(self.window - 1))
        scores = scores.masked_fill(~mask, float("-inf"))
        out = torch.einsum("bhqk,bhkd->bhqd", torch.softmax(scores, -1), v)
        return self.W_O(out.permute(0, 2, 1, 3).reshape(B, L, D))

    def forward(self, x):
        h = x + self.attend(self.rms(x, self.norm_1))
        z = self.rms(h, self.norm_2)
        return h + self.W_down(F.silu(self.W_gate(z)) * self.W_up(z))


@wrong(
    "The window is kept but never used, so every word looks at all that came before; "
    "SiLU is replaced by a ReLU on the gate.",
    "window-ignored+relu-for-silu",
)
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.d_head, self.group, self.window = d_model // num_heads, num_heads // num_kv_heads, window
        kv = num_kv_heads * self.d_head
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        for name, i, o in [
            ("W_Q", d_model, d_model),
            ("W_K", d_model, kv),
            ("W_V", d_model, kv),
            ("W_O", d_model, d_model),
            ("W_gate", d_model, d_ff),
            ("W_up", d_model, d_ff),
            ("W_down", d_ff, d_model),
        ]:
            setattr(self, name, nn.Linear(i, o, bias=False))

    def norm(self, x, gamma):
        return gamma * x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-5)

    def turn(self, x):
        p = torch.arange(x.shape[-2]).unsqueeze(1)
        angle = p * 10000.0 ** (-torch.arange(0, self.d_head, 2) / self.d_head)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def attend(self, x):
        L = x.shape[1]

        def split(t):
            return t.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

        q, k, v = self.turn(split(self.W_Q(x))), self.turn(split(self.W_K(x))), split(self.W_V(x))
        k, v = k.repeat_interleave(self.group, 1), v.repeat_interleave(self.group, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head)
        future = torch.triu(torch.ones(L, L, dtype=torch.bool), 1)
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), -1)
        return self.W_O((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.norm_1))
        h = self.norm(x, self.norm_2)
        return x + self.W_down(torch.relu(self.W_gate(h)) * self.W_up(h))
