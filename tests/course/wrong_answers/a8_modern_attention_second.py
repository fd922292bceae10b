"""Written by somebody who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- rotate


@wrong(
    "cosines and sines for neighbours, and the turned half for halves: two conventions mixed", "angles-of-other-pairs"
)
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (np.arange(0, d, 2) / d)
    angles = np.asarray(positions)[:, None] * inv_freq[None, :]
    angles = np.repeat(angles, 2, axis=-1)  # (L, d)
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    rotated = np.concatenate([-x2, x1], axis=-1)
    return (x * np.cos(angles) + rotated * np.sin(angles)).astype(x.dtype)


@wrong("the second of a pair is made from the first one as it is after turning", "written-over-too-soon", form=True)
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = base ** (-np.arange(0, d, 2) / d)
    angle = np.outer(positions, theta)
    cos, sin = np.cos(angle), np.sin(angle)
    out = x.copy()
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out


# ---------------------------------------------------------------- grouped_query_attention


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


@wrong("no ValueError where heads cannot form equal groups: some groups get more than others", "no-error", form=True)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    group = np.arange(h) * num_kv_heads // h
    K, V = K[..., group, :, :], V[..., group, :, :]
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    weights = _softmax(scores, mask).astype(Q.dtype)
    return weights @ V, weights


@wrong("divides by the root of the number of keys", "scale-by-length", "another-scale", form=True)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads != 0:
        raise ValueError("heads do not divide into groups")
    n_rep = h // num_kv_heads
    K = np.repeat(K, n_rep, axis=-3)
    V = np.repeat(V, n_rep, axis=-3)
    d_k = K.shape[-2]
    scores = (Q @ np.swapaxes(K, -2, -1)) / math.sqrt(d_k)
    weights = _softmax(scores, mask).astype(Q.dtype)
    return weights @ V, weights


# ---------------------------------------------------------------- cache_bytes


@wrong("adds up the cache of every step, as if each word kept a cache of its own", "caches-of-all-steps")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    total = 0
    for step in range(1, length + 1):
        total += 2 * num_layers * num_kv_heads * d_head * step * bytes_per_number
    return total


# ---------------------------------------------------------------- decoding_step


def _turn(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.asarray(positions)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _grouped(Q, K, V):
    n = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, n, axis=-3), np.repeat(V, n, axis=-3)
    weights = _softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])).astype(Q.dtype)
    return weights @ V


@wrong("turns all keys of the cache again in each step", "cache-turned-again")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d_head = W_Q.shape[-1] // num_heads
    q = (x @ W_Q).reshape(*x.shape[:-1], num_heads, 1, d_head)
    k = (x @ W_K).reshape(*x.shape[:-1], -1, 1, d_head)
    v = (x @ W_V).reshape(*x.shape[:-1], -1, 1, d_head)
    if K is not None:
        k = np.concatenate([K, k], axis=-2)
        v = np.concatenate([V, v], axis=-2)
    S = k.shape[-2]
    q = _turn(q, [S - 1])
    k = _turn(k, np.arange(S))
    out = _grouped(q, k, v)
    return out.reshape(*x.shape[:-1], -1) @ W_O, k, v


@wrong("the query is not turned, the key alone", "query-not-turned")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d_head = W_Q.shape[-1] // num_heads
    batch = x.shape[:-1]
    position = 0 if K is None else K.shape[-2]
    q = (x @ W_Q).reshape(*batch, num_heads, 1, d_head)
    k = _turn((x @ W_K).reshape(*batch, -1, 1, d_head), np.array([position]))
    v = (x @ W_V).reshape(*batch, -1, 1, d_head)
    K = k if K is None else np.concatenate((K, k), axis=-2)
    V = v if V is None else np.concatenate((V, v), axis=-2)
    heads = _grouped(q, K, V)
    return heads.reshape(*batch, num_heads * d_head) @ W_O, K, V


@wrong("gives the cache back with keys and values repeated for all query heads", "repeated-keys-kept", form=True)
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    head_dim = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // head_dim
    lead = x.shape[:-1]
    pos = np.array([0 if K is None else K.shape[-2]])
    q = _turn((x @ W_Q).reshape(lead + (num_heads, 1, head_dim)), pos)
    k = _turn((x @ W_K).reshape(lead + (n_kv, 1, head_dim)), pos)
    v = (x @ W_V).reshape(lead + (n_kv, 1, head_dim))
    if n_kv != num_heads:
        k = np.repeat(k, num_heads // n_kv, axis=-3)
        v = np.repeat(v, num_heads // n_kv, axis=-3)
    if K is not None:
        if K.shape[-3] != num_heads:
            K = np.repeat(K, num_heads // K.shape[-3], axis=-3)
            V = np.repeat(V, num_heads // V.shape[-3], axis=-3)
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    attended = _grouped(q, k, v)
    return attended.reshape(lead + (num_heads * head_dim,)) @ W_O, k, v


# ---------------------------------------------------------------- sliding_window_mask


@wrong("cuts the text into pieces as long as the window; a word sees its own piece", "in-blocks")
def sliding_window_mask(length, window, sinks=0):
    i = np.arange(length)[:, None]
    j = np.arange(length)[None, :]
    same_block = i // window == j // window
    return (j <= i) & (same_block | (j < sinks))


@wrong("the sinks are taken out of the window: together they are `window` words", "sinks-taken-off-the-window")
def sliding_window_mask(length, window, sinks=0):
    mask = np.zeros((length, length), dtype=bool)
    recent = max(window - sinks, 1)
    for i in range(length):
        mask[i, max(0, i - recent + 1) : i + 1] = True
        mask[i, : min(sinks, i + 1)] = True
    return mask


# ---------------------------------------------------------------- KeyValueCache


@wrong(
    "a ring: the newest word takes the place of the oldest, and the order is lost",
    "another-order",
    "newest-in-the-oldest-place",
)
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.keys, self.values, self.seen = [], [], 0

    def append(self, key, value):
        key, value = np.array(key), np.array(value)
        if self.window is None or self.seen < self.sinks + self.window:
            self.keys.append(key)
            self.values.append(value)
        else:
            slot = self.sinks + (self.seen - self.sinks) % self.window
            self.keys[slot] = key
            self.values[slot] = value
        self.seen += 1
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)


@wrong("len counts all words that have ever come in", "all-words-counted")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks
        self.K = None
        self.V = None
        self.offset = 0

    def _trim(self, A):
        if self.window is None or A.shape[-2] <= self.sinks + self.window:
            return A
        return np.concatenate([A[..., : self.sinks, :], A[..., A.shape[-2] - self.window :, :]], axis=-2)

    def append(self, key, value):
        self.offset += key.shape[-2]
        self.K = key.copy() if self.K is None else np.concatenate([self.K, key], axis=-2)
        self.V = value.copy() if self.V is None else np.concatenate([self.V, value], axis=-2)
        self.K, self.V = self._trim(self.K), self._trim(self.V)
        return self.K.copy(), self.V.copy()

    def __len__(self):
        return self.offset


# ---------------------------------------------------------------- online_softmax_step


@wrong("the block is measured from its own largest score, also where an older one is larger", "own-largest-subtracted")
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    m_block = S.max(axis=-1)
    m_new = np.maximum(largest, m_block)
    alpha = np.exp(largest - m_new)
    P = np.exp(S - m_block[..., None])
    total_new = alpha * total + P.sum(axis=-1)
    mixed_new = alpha[..., None] * mixed + P @ V
    return m_new, total_new, mixed_new


@wrong(
    "keeps what is mixed divided by the total after each block, as FlashAttention's first version",
    "divided-in-each-step",
)
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(np.array(Q.shape[-1], dtype=Q.dtype))
    new_largest = np.maximum(largest, scores.max(axis=-1))
    p = np.exp(scores - new_largest[..., None])
    old = np.exp(largest - new_largest) * total
    new_total = old + p.sum(axis=-1)
    out = (old[..., None] * mixed + p @ V) / new_total[..., None]
    return new_largest, new_total, out


# ---------------------------------------------------------------- online_softmax_attention


@wrong("softmax in each block, and the mean of the blocks' outputs", "mean-of-the-blocks")
def online_softmax_attention(Q, K, V, block_size):
    outputs = []
    for start in range(0, K.shape[-2], block_size):
        k, v = K[..., start : start + block_size, :], V[..., start : start + block_size, :]
        outputs.append(_softmax(Q @ k.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])) @ v)
    return np.mean(outputs, axis=0).astype(Q.dtype)


@wrong("the largest so far begins at 0, so a row of scores far below zero underflows", "largest-begins-at-0")
def online_softmax_attention(Q, K, V, block_size):
    m = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    total = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    acc = np.zeros(Q.shape[:-1] + (V.shape[-1],), dtype=Q.dtype)
    for start in range(0, K.shape[-2], block_size):
        k, v = K[..., start : start + block_size, :], V[..., start : start + block_size, :]
        s = Q @ k.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
        m_new = np.maximum(m, s.max(-1))
        scale = np.exp(m - m_new)
        p = np.exp(s - m_new[..., None])
        total = total * scale + p.sum(-1)
        acc = acc * scale[..., None] + p @ v
        m = m_new
    return acc / total[..., None]


# ---------------------------------------------------------------- rms_norm


@wrong(
    "divides by one over the root, as after swapping sqrt for rsqrt: it multiplies by the size",
    "multiplied-by-the-size",
)
def rms_norm(x, gamma, eps=1e-5):
    rsqrt = 1.0 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x / rsqrt)


@wrong("the root mean square of the whole array, one number for all words", "one-size-for-all")
def rms_norm(x, gamma, eps=1e-5):
    rms = np.sqrt(np.mean(np.square(x)) + eps)
    return (gamma * x / rms).astype(x.dtype)


# ---------------------------------------------------------------- gated_feed_forward


@wrong("SiLU stands outside: it is taken of the product of gate and up", "curve-after-the-product")
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = x @ W_gate
    up = x @ W_up
    z = gate * up
    return (z / (1 + np.exp(-z))) @ W_down


# ---------------------------------------------------------------- ModernDecoderBlock


class _Parts(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window = window
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_V = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def turn(self, x):
        L, d = x.shape[-2:]
        angle = torch.arange(L, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def attend(self, x):
        B, L, _ = x.shape
        q = self.turn(self.W_Q(x).view(B, L, self.h, self.d).transpose(1, 2))
        k = self.turn(self.W_K(x).view(B, L, self.g, self.d).transpose(1, 2)).repeat_interleave(self.h // self.g, dim=1)
        v = self.W_V(x).view(B, L, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)
        i = torch.arange(L)
        gap = i[:, None] - i[None, :]
        hidden = gap < 0
        if self.window is not None:
            hidden = hidden | (gap >= self.window)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(self.d)).masked_fill(hidden, -math.inf)
        return self.W_O((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, L, -1))


@wrong("epsilon is 1e-6, as in Llama, not 1e-5", "another-eps")
class ModernDecoderBlock(_Parts):
    def rms(self, x, gamma):
        return gamma * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def forward(self, x):
        x = x + self.attend(self.rms(x, self.norm_1))
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))


@wrong("the gate reads the normed words and up the plain ones", "plain-words-read")
class ModernDecoderBlock(_Parts):
    def norm(self, x, gamma):
        return gamma * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5)

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.norm_1))
        gate = F.silu(self.W_gate(self.norm(x, self.norm_2)))
        return x + self.W_down(gate * self.W_up(x))


@wrong(
    "two things: the window holds one word too many, and values are turned as well", "values-turned+window-one-too-wide"
)
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_head, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    @staticmethod
    def rope(x):
        L, d = x.shape[-2:]
        freq = torch.outer(torch.arange(L, dtype=x.dtype), 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d))
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack(
            (even * freq.cos() - odd * freq.sin(), even * freq.sin() + odd * freq.cos()), dim=-1
        ).flatten(-2)

    def attend(self, x):
        B, L, D = x.shape
        q, k, v = (self.rope(W(x).reshape(B, L, -1, self.hd).transpose(1, 2)) for W in (self.W_Q, self.W_K, self.W_V))
        k = k.repeat_interleave(self.n_head // self.n_kv, dim=1)
        v = v.repeat_interleave(self.n_head // self.n_kv, dim=1)
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask.triu(-self.window)
        att = (q @ k.mT) / math.sqrt(self.hd)
        att = att.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return self.W_O((att @ v).transpose(1, 2).reshape(B, L, D))

    def forward(self, x):
        def rms(t, g):
            return g * t / torch.sqrt(t.square().mean(-1, keepdim=True) + 1e-5)

        x = x + self.attend(rms(x, self.norm_1))
        y = rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))


@wrong("words before the first full window see nothing", "full-windows-only")
def sliding_window_mask(length, window, sinks=0):
    i, j = np.arange(length)[:, None], np.arange(length)
    near = (j <= i) & (i - j < window) & (i >= window - 1)
    return near | ((j < sinks) & (j <= i))


@wrong("positions counted from the first one given", "positions-from-the-first")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    p = np.asarray(positions)
    angle = (p - p[0])[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


@wrong("root of the mean size", "no-squares")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.abs(x).mean(-1, keepdims=True) + eps)
