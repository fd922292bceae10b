"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- rotate


@wrong("Every pair turns at speed 1.", "one-speed-for-all")
def rotate(x, positions, base=10000.0):
    a = positions[:, None] * np.ones(x.shape[-1] // 2)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * a)
    return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype)


# ---------------------------------------------------------------- grouped_query_attention


@wrong("A group's queries are averaged: weights of a group are equal.", "queries-averaged")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no")
    r = h // num_kv_heads
    q = Q.reshape(*Q.shape[:-3], num_kv_heads, r, *Q.shape[-2:]).mean(-3).repeat(r, axis=-3)
    K, V = K.repeat(r, axis=-3), V.repeat(r, axis=-3)
    s = q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    m = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return w @ V, w


# ---------------------------------------------------------------- cache_bytes


@wrong("Gives a float.", "a-float")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2.0 * num_layers * num_kv_heads * d_head * length * bytes_per_number


# ---------------------------------------------------------------- decoding_step


@wrong("The cache that is given back holds the newest word alone.", "another-length")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    q, k, v = ((x @ W).reshape(*x.shape[:-1], -1, 1, d) for W in (W_Q, W_K, W_V))
    at = np.array([0 if K is None else K.shape[-2]])
    q, k = rotate(q, at), rotate(k, at)
    z, _ = grouped_query_attention(
        q, k if K is None else np.concatenate([K, k], -2), v if V is None else np.concatenate([V, v], -2), k.shape[-3]
    )
    return z.reshape(*x.shape[:-1], -1) @ W_O, k, v


@wrong("The key goes into the cache unturned.", "key-kept-unturned")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    q, k, v = ((x @ W).reshape(*x.shape[:-1], -1, 1, d) for W in (W_Q, W_K, W_V))
    at = np.array([0 if K is None else K.shape[-2]])
    q, t = rotate(q, at), rotate(k, at)
    new_K = t if K is None else np.concatenate([K, t], -2)
    kept = k if K is None else np.concatenate([K, k], -2)
    V = v if V is None else np.concatenate([V, v], -2)
    z, _ = grouped_query_attention(q, new_K, V, V.shape[-3])
    return z.reshape(*x.shape[:-1], -1) @ W_O, kept, V


# ---------------------------------------------------------------- sliding_window_mask


@wrong("J < sinks - 1.", "sinks-one-too-few")
def sliding_window_mask(length, window, sinks=0):
    i, j = np.indices((length, length))
    return (j <= i) & ((i - j < window) | (j < sinks - 1))


# ---------------------------------------------------------------- KeyValueCache


@wrong("The sinks are forgotten first.", "drops-the-first")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        if self.window is not None and len(self.words) > self.window + self.sinks:
            del self.words[0]
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)


@wrong("One word too few.", "one-too-few")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        if self.window is not None and len(self.words) >= self.window + self.sinks - 1 and len(self.words) > self.sinks:
            del self.words[self.sinks]
        self.words.append((key.copy(), value.copy()))
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)


@wrong("Only the window is kept.", "sinks-ignored")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.words = window, []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        if self.window is not None:
            self.words = self.words[-self.window :]
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)


@wrong("Window without effect.", "nothing-forgotten")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.words = []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)


# ---------------------------------------------------------------- online_softmax_attention


@wrong("The largest is never updated.", "largest-of-the-first-block")
def online_softmax_attention(Q, K, V, block_size):
    m, l, a = None, 0, 0
    for n in range(0, K.shape[-2], block_size):
        s = Q @ K[..., n : n + block_size, :].swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
        m = s.max(-1, keepdims=True) if m is None else m
        e = np.exp(s - m)
        l, a = l + e.sum(-1, keepdims=True), a + e @ V[..., n : n + block_size, :]
    return a / l


@wrong("No largest at all.", "no-max-subtraction", "large-scores")
def online_softmax_attention(Q, K, V, block_size):
    l, a = 0, 0
    for n in range(0, K.shape[-2], block_size):
        e = np.exp(Q @ K[..., n : n + block_size, :].swapaxes(-1, -2) / math.sqrt(Q.shape[-1]))
        l, a = l + e.sum(-1, keepdims=True), a + e @ V[..., n : n + block_size, :]
    return a / l


# ---------------------------------------------------------------- gated_feed_forward


@wrong("Z clipped at 20.", "clipped")
def gated_feed_forward(x, W_gate, W_up, W_down):
    g = np.clip(x @ W_gate, -20, 20)
    return (g / (1 + np.exp(-g)) * (x @ W_up)) @ W_down


# ---------------------------------------------------------------- ModernDecoderBlock


@wrong("Queries and keys are not rotated.", "positions-missing")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.d_head = d_head = d_model // num_heads
        self.norm_1, self.norm_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_Q, self.W_O = linear(d_model, d_model), linear(d_model, d_model)
        self.W_K, self.W_V = linear(d_model, num_kv_heads * d_head), linear(d_model, num_kv_heads * d_head)
        self.W_gate, self.W_up, self.W_down = linear(d_model, d_ff), linear(d_model, d_ff), linear(d_ff, d_model)

    def norm(self, x, gamma):
        return gamma * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5)

    def forward(self, x):
        y = self.norm(x, self.norm_1)
        q, k, v = (W(y).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        k, v = (t.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1) for t in (k, v))
        L = x.shape[1]
        far = torch.arange(L)[:, None] - torch.arange(L)
        allowed = (far >= 0) & (far < (self.window or L))
        w = (q @ k.mT / math.sqrt(self.d_head)).masked_fill(~allowed, -math.inf).softmax(-1)
        x = x + self.W_O((w @ v).transpose(1, 2).flatten(-2))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))


# What they call is right.
right = COURSE.of_exercise("rotate").reference()
rotate, grouped_query_attention = right.rotate, right.grouped_query_attention
