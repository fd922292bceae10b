"""Written by a fifth person, from the notebooks alone."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- rotate


@wrong("Positions in bytes.", "positions-overflow")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)
    angle = positions.astype(np.int8)[:, np.newaxis] * speed
    cos, sin = (np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype))
    first, second = (x[..., 0::2], x[..., 1::2])
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)


@wrong("Second column from the turned first.", "written-over-too-soon")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)
    angle = positions[:, np.newaxis] * speed
    cos, sin = (np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype))
    first, second = (x[..., 0::2], x[..., 1::2])
    out = x.copy()
    out[..., 0::2] = first * cos - second * sin
    out[..., 1::2] = out[..., 0::2] * sin + second * cos
    return out
    turned = []
    return np.stack(turned, axis=-1).reshape(x.shape)


# ---------------------------------------------------------------- grouped_query_attention


@wrong("Hidden scores are -10,000.", "small-fill", "leaky-mask")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = (Q.shape[-3], Q.shape[-1])
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = (K.repeat(group, axis=-3), V.repeat(group, axis=-3))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -10000.0)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return (weights @ V, weights)


@wrong("Values in turn.", "values-in-turn")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = (Q.shape[-3], Q.shape[-1])
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = (K.repeat(group, axis=-3), np.concatenate([V] * group, axis=-3))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return (weights @ V, weights)


# ---------------------------------------------------------------- cache_bytes


@wrong("Counted in 32 bits.", "overflow", "stops-at-a-size")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    numbers = num_layers * num_kv_heads * length * d_head
    return int(np.array(2 * numbers * bytes_per_number, dtype=np.int64).astype(np.int32))


# ---------------------------------------------------------------- online_softmax_step


@wrong("-inf taken for 0.", "starts-at-zero")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(np.nan_to_num(largest, neginf=0) - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V
    return (new_largest, total, mixed)


@wrong("Shrunk along the values where mixed is a square.", "wrong-axis")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(largest - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = (
        shrink[..., np.newaxis, :] if mixed.shape[-1] == mixed.shape[-2] else shrink[..., np.newaxis]
    ) * mixed + exps @ V
    return (new_largest, total, mixed)


@wrong("Divided in each step.", "divided-in-each-step")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(largest - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V
    return (new_largest, total, mixed / total[..., None])


# ---------------------------------------------------------------- rms_norm


@wrong("eps in the sum.", "eps-in-the-sum")
def rms_norm(x, gamma, eps=1e-05):
    mean_square = ((x**2).sum(axis=-1, keepdims=True) + eps) / x.shape[-1]
    return gamma * x / np.sqrt(mean_square)


@wrong("A word of zeros becomes gamma.", "zeros-lost")
def rms_norm(x, gamma, eps=1e-05):
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    x = np.where(mean_square == 0, 1, x).astype(x.dtype)
    return gamma * x / np.sqrt(mean_square + eps)


# ---------------------------------------------------------------- gated_feed_forward


@wrong("W_gate turned over where it is a square.", "W_gate-transposed")
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = x @ (W_gate.T if W_gate.shape[0] == W_gate.shape[1] else W_gate)
    gate = gate / (1 + np.exp(-gate))
    return gate * (x @ W_up) @ W_down


# ---------------------------------------------------------------- ModernDecoderBlock


@wrong("A window of 1 is none.", "window-ignored")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None and self.window > 1:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))


@wrong("gamma begins at zero.", "gamma-starts-at-zero")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.zeros(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))


@wrong("No gradient through the gate.", "gradient-missing")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)).detach() * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))
