"""Right code with one thing wrong that shows at real sizes, in half precision or in one of two modes."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- rotate


@wrong("Angles looked up in a table of 64 positions.", "table-too-short", "stops-at-a-size")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)  # (d / 2,): one for each pair
    angle = (np.arange(64)[:, np.newaxis] * speed)[positions]  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)


@wrong("Whole-number division in the exponent.", "floor-division")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) // d)  # (d / 2,): one for each pair
    angle = positions[:, np.newaxis] * speed  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)


@wrong("Worked out in half precision.", "half-precision")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)  # (d / 2,): one for each pair
    angle = positions[:, np.newaxis] * speed  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    y = x.astype(np.float16).astype(x.dtype)
    first, second = y[..., 0::2], y[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)


# ---------------------------------------------------------------- grouped_query_attention


@wrong("Sixty-four keys at most.", "stops-at-a-length", "stops-at-a-size")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = K[..., :64, :], V[..., :64, :]
    mask = None if mask is None else mask[..., :64]
    K, V = K.repeat(group, axis=-3), V.repeat(group, axis=-3)  # (..., h, S, d): 0, 0, 1, 1 for a group of 2
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)  # (..., h, L, S)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)  # for a query that may attend to nothing
    return weights @ V, weights  # (..., h, L, S) @ (..., h, S, d_v)


@wrong("Divided by the square, not by the root.", "squared-in-place-of-root")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = K.repeat(group, axis=-3), V.repeat(group, axis=-3)  # (..., h, S, d): 0, 0, 1, 1 for a group of 2
    scores = Q @ K.swapaxes(-2, -1) / d_k**2  # (..., h, L, S)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)  # for a query that may attend to nothing
    return weights @ V, weights  # (..., h, L, S) @ (..., h, S, d_v)


# ---------------------------------------------------------------- decoding_step


@wrong("The cache takes 32 words.", "cache-full", "stops-at-a-size")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch, d_head = x.shape[:-1], W_Q.shape[-1] // num_heads
    place = np.array([0 if K is None else K.shape[-2]])  # the newest word's

    def split(projected):
        return projected.reshape(*batch, -1, 1, d_head)  # (..., heads, 1, d_head): one word

    query, key, value = rotate(split(x @ W_Q), place), rotate(split(x @ W_K), place), split(x @ W_V)
    if K is not None and K.shape[-2] >= 32:
        key, value = K, V
    elif K is not None:
        key, value = np.concatenate([K, key], axis=-2), np.concatenate([V, value], axis=-2)
    heads, _ = grouped_query_attention(query, key, value, key.shape[-3])  # (..., h, 1, d_head)
    return heads.reshape(*batch, -1) @ W_O, key, value  # (..., h * d_head) -> (..., d_model)


@wrong("The last sixteen words are kept, whoever asks.", "last-words-only", "stops-at-a-size")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch, d_head = x.shape[:-1], W_Q.shape[-1] // num_heads
    place = np.array([0 if K is None else K.shape[-2]])  # the newest word's

    def split(projected):
        return projected.reshape(*batch, -1, 1, d_head)  # (..., heads, 1, d_head): one word

    query, key, value = rotate(split(x @ W_Q), place), rotate(split(x @ W_K), place), split(x @ W_V)
    if K is not None:
        key, value = np.concatenate([K, key], axis=-2), np.concatenate([V, value], axis=-2)
    key, value = key[..., -16:, :], value[..., -16:, :]
    heads, _ = grouped_query_attention(query, key, value, key.shape[-3])  # (..., h, 1, d_head)
    return heads.reshape(*batch, -1) @ W_O, key, value  # (..., h * d_head) -> (..., d_model)


# ---------------------------------------------------------------- sliding_window_mask


@wrong("The next word is seen, too.", "next-word-seen")
def sliding_window_mask(length, window, sinks=0):
    key = np.arange(length)  # (S,), here S = L = length
    query = key[:, np.newaxis]  # (L, 1)
    near, first = query - key < window, key < sinks  # (L, S), (S,)
    return (key <= query + 1) & (near | first)


@wrong("Cut from a mask of sixteen words.", "mask-of-a-table", "stops-at-a-size")
def sliding_window_mask(length, window, sinks=0):
    key = np.arange(length)  # (S,), here S = L = length
    query = key[:, np.newaxis]  # (L, 1)
    near, first = query - key < window, key < sinks  # (L, S), (S,)
    full = (key <= query) & (near | first)
    return full[:16, :16]


# ---------------------------------------------------------------- KeyValueCache


@wrong("Room for 32 words.", "cache-full", "stops-at-a-size")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.K = self.V = None

    def append(self, key, value):
        if self.K is not None:
            key, value = np.concatenate([self.K, key], axis=-2), np.concatenate([self.V, value], axis=-2)
        self.K, self.V = self._kept(key), self._kept(value)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]

    def _kept(self, words):
        if self.window is None or words.shape[-2] <= self.sinks + self.window:
            return words[..., :32, :]
        return np.concatenate([words[..., : self.sinks, :], words[..., -self.window :, :]], axis=-2)


# ---------------------------------------------------------------- online_softmax_step


@wrong("Shrunk by the largest score alone.", "rescaled-by-the-largest")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])  # (..., L, B): of this block alone
    new_largest = np.maximum(largest, scores.max(axis=-1))  # (..., L)
    exps = np.exp(scores - new_largest[..., np.newaxis])  # (..., L, B)
    shrink = np.exp(-new_largest)  # (..., L): 0 for the first block
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V  # (..., L, d_v)
    return new_largest, total, mixed


# ---------------------------------------------------------------- online_softmax_attention


@wrong("Eight blocks and no more.", "first-blocks-only", "stops-at-a-size")
def online_softmax_attention(Q, K, V, block_size):
    rows = Q.shape[:-1]  # (..., L)
    largest, total = np.full(rows, -np.inf, Q.dtype), np.zeros(rows, Q.dtype)
    mixed = np.zeros((*rows, V.shape[-1]), Q.dtype)
    for start in list(range(0, K.shape[-2], block_size))[:8]:
        block = slice(start, start + block_size)
        keys, values = K[..., block, :], V[..., block, :]
        largest, total, mixed = online_softmax_step(largest, total, mixed, Q, keys, values)
    return mixed / total[..., np.newaxis]  # (..., L, d_v)


# ---------------------------------------------------------------- rms_norm


@wrong("Another epsilon.", "another-default-eps")
def rms_norm(x, gamma, eps=1e-4):
    mean_square = (x**2).mean(axis=-1, keepdims=True)  # (..., 1): one for each word
    return gamma * x / np.sqrt(mean_square + eps)


@wrong("Squared where a root should be taken.", "square-for-root")
def rms_norm(x, gamma, eps=1e-5):
    mean_square = (x**2).mean(axis=-1, keepdims=True)  # (..., 1): one for each word
    return gamma * x / (mean_square + eps) ** 2


# ---------------------------------------------------------------- ModernDecoderBlock


@wrong("Another epsilon.", "another-eps")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
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
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-4)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)


@wrong("The mask is there in training alone.", "mask-dropped-in-eval")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
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
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen & self.training, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)


@wrong("A mask of sixteen words.", "mask-of-a-table", "stops-at-a-size")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
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
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(
            scores.masked_fill(~seen & (place < 16) & (place.unsqueeze(-1) < 16), -math.inf), dim=-1
        )  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)


@wrong("Half of what attention finds is added.", "branch-scaled")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
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
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + 0.5 * self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)


# What they call is right.
right = COURSE.of_exercise("rotate").reference()
rotate, grouped_query_attention = right.rotate, right.grouped_query_attention
online_softmax_step = right.online_softmax_step
