import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.wilds import Wilds

wild = Wilds()
edit = wild.edited

# ---------------------------------------------------------------- rotate

ROTATE = """
import numpy as np

def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out
"""
edit(ROTATE, "the other way", "turned-backwards", ("c - x", "c + x"), ("x[..., i] * s + x", "-x[..., i] * s + x"))
edit(ROTATE, "twice the exponent", "exponent-doubled", ("-i / d", "-2 * i / d"))
edit(ROTATE, "half the exponent", "exponent-without-the-2", ("-i / d", "-i / (2 * d)"))
edit(ROTATE, "from one", "positions-from-1", ("positions * base", "(positions + 1) * base"))
edit(ROTATE, "counts for itself", "positions-ignored", ("positions * base", "np.arange(len(positions)) * base"))
edit(ROTATE, "one minus too few", "no-minus", ("c - x", "c + x"))
edit(
    ROTATE,
    "sines first",
    "sine-and-cosine-swapped",
    ("c, s = np.cos(theta), np.sin(theta)", "s, c = np.cos(theta), np.sin(theta)"),
)
edit(ROTATE, "its own first", "written-over-too-soon", ("= x[..., i] * s", "= out[..., i] * s"))
edit(
    ROTATE,
    "in degrees",
    "degrees",
    ("np.cos(theta), np.sin(theta)", "np.cos(np.radians(theta)), np.sin(np.radians(theta))"),
)


@wild("as in a famous library", "pairs-in-halves")
def rotate(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freqs = 1.0 / base ** (np.arange(half) / half)
    emb = np.concatenate([np.outer(positions, freqs)] * 2, axis=-1)
    turned = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return (x * np.cos(emb) + turned * np.sin(emb)).astype(x.dtype)


# ---------------------------------------------------------------- grouped_query_attention

GROUPED = """
import numpy as np

def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)
"""
edit(GROUPED, "modulo", "heads-in-turn", ("i // (h // num_kv_heads)", "i % num_kv_heads"))
edit(GROUPED, "values by modulo", "values-in-turn", ("V[..., j, :, :]", "V[..., i % num_kv_heads, :, :]"))
edit(GROUPED, "zero for all", "first-head-for-all", ("i // (h // num_kv_heads)", "0"))
edit(GROUPED, "unscaled", "no-scaling", (" / np.sqrt(Q.shape[-1]).astype(Q.dtype)", ""))
edit(
    GROUPED,
    "upside down",
    "mask-inverted",
    ("[..., i, :, :]\n        s = ", "[..., i, :, :]\n            seen = ~seen\n        s = "),
)
edit(
    GROUPED,
    "last first",
    "groups-backwards",
    ("i // (h // num_kv_heads)", "num_kv_heads - 1 - i // (h // num_kv_heads)"),
)
edit(
    GROUPED,
    "mask afterwards",
    "mask-after-softmax",
    ("np.where(seen, s, -1e30)", "s"),
    ("keepdims=True)) * seen", "keepdims=True))"),
    ("1e-30)\n", "1e-30) * seen\n"),
)

# ---------------------------------------------------------------- cache_bytes


@wild("keys and that is all", "keys-only", "a-constant-factor")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return length * d_head * num_kv_heads * num_layers * bytes_per_number


@wild("q, k and v", "queries-too", "a-constant-factor")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return bytes_per_number * 3 * (length * d_head * num_kv_heads * num_layers)


@wild("one layer of it", "one-layer")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return bytes_per_number * 2 * length * d_head * num_kv_heads


# ---------------------------------------------------------------- decoding_step

STEP = """
import numpy as np

def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)

def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v
"""
edit(STEP, "plain key", "key-not-turned", ("turn(cut(x @ W_K), n)", "cut(x @ W_K)"))
edit(STEP, "all three turned", "value-turned", (", cut(x @ W_V)", ", turn(cut(x @ W_V), n)"))
edit(STEP, "counts from one", "one-place-on", ("else K.shape[-2]", "else K.shape[-2]\n    n += 1"))
edit(STEP, "in front", "newest-in-front", ("[K, k]", "[k, K]"), ("[V, v]", "[v, V]"))
edit(
    STEP,
    "tiles",
    "heads-in-turn",
    ("np.repeat(k, r, -3)", "np.concatenate([k] * r, -3)"),
    ("np.repeat(v, r, -3)", "np.concatenate([v] * r, -3)"),
)
edit(STEP, "forgets W_O", "W_O-missing", (" @ W_O", ""))

# ---------------------------------------------------------------- sliding_window_mask

WINDOW = """
import numpy as np

def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window + 1) : i + 1] = True
        m[i, : min(sinks, i + 1)] = True
    return m
"""
edit(WINDOW, "one more", "one-too-many", ("i - window + 1", "i - window"))
edit(
    WINDOW,
    "not itself",
    "itself-left-out window-before-the-word one-too-few",
    (": i + 1] = True\n        m[i, : min(sinks, i + 1)]", ": i] = True\n        m[i, : min(sinks, i)]"),
)
edit(WINDOW, "sinks for all", "sinks-seen-too-early", ("min(sinks, i + 1)", "sinks"))
edit(WINDOW, "no sinks", "sinks-ignored", ("min(sinks, i + 1)", "0"))
edit(WINDOW, "transposed", "window-ahead transposed", ("return m", "return m.T"))
edit(WINDOW, "ints", "numbers-for-truth-values another-dtype", ("bool)", "int)"), form=True)

# ---------------------------------------------------------------- online softmax

ONLINE = """
import numpy as np

def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
    new = np.maximum(largest, s.max(-1))
    p = np.exp(s - new[..., None])
    f = np.exp(largest - new)
    return new, f * total + p.sum(-1), f[..., None] * mixed + p @ V
"""
edit(ONLINE, "no correction", "nothing-shrunk", ("f = np.exp(largest - new)", "f = np.ones_like(new)"))
edit(ONLINE, "total left as it was", "total-not-shrunk", ("f * total", "total"))
edit(ONLINE, "mixture left as it was", "mixed-not-shrunk", ("f[..., None] * mixed", "mixed"))
edit(ONLINE, "unscaled", "no-scaling", (" / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)", ""))
edit(ONLINE, "this block's", "largest-of-the-block", ("np.maximum(largest, s.max(-1))", "s.max(-1)"))

WHOLE = """
import numpy as np

def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1] + (1,), -np.inf, Q.dtype)
    l = np.zeros_like(m)
    a = np.zeros(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    n = K.shape[-2]
    for b in range(0, n, block_size):
        s = Q @ np.swapaxes(K[..., b : b + block_size, :], -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
        new = np.maximum(m, s.max(-1, keepdims=True))
        p, f = np.exp(s - new), np.exp(m - new)
        l, a, m = f * l + p.sum(-1, keepdims=True), f * a + p @ V[..., b : b + block_size, :], new
    return a / l
"""
edit(WHOLE, "no division", "not-divided-at-the-end", ("return a / l", "return a"))
edit(WHOLE, "no correction", "nothing-shrunk", ("np.exp(m - new)", "np.ones_like(m)"))
edit(
    WHOLE,
    "full blocks alone",
    "last-block-left-out",
    ("range(0, n, block_size)", "range(0, max(n // block_size, 1) * block_size, block_size)"),
)
edit(WHOLE, "unscaled", "no-scaling", (" / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)", ""))

# ---------------------------------------------------------------- rms_norm


@wild("layer norm without beta", "mean-subtracted", "spread-for-size", "mean-subtracted+spread-for-size")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


@wild("standard deviation", "spread-for-size")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


@wild("to length one", "length-for-size", "a-constant-factor")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)


@wild("gamma as an offset from one", "gamma-plus-1")
def rms_norm(x, gamma, eps=1e-5):
    return (gamma + 1) * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


# ---------------------------------------------------------------- gated_feed_forward


@wild("sigmoid as in GLU", "sigmoid-for-silu")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (1 / (1 + np.exp(-(x @ W_gate))) * (x @ W_up)) @ W_down


@wild("ReGLU", "relu-for-silu")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (np.maximum(0, x @ W_gate) * (x @ W_up)) @ W_down


@wild("the other one is the gate", "gate-and-up-swapped")
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_up
    return (z / (1 + np.exp(-z)) * (x @ W_gate)) @ W_down


@wild("plain", "up-alone", "gate-alone")
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z / (1 + np.exp(-z))) @ W_down


# ---------------------------------------------------------------- ModernDecoderBlock

BLOCK = """
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))
"""
TORCH = {"torch": torch, "nn": nn, "F": F, "math": math}
edit(
    BLOCK,
    "queries as they are",
    "query-not-turned",
    (
        "self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))",
        "self.W_Q(y).view(B, L, self.h, d).transpose(1, 2)",
    ),
    **TORCH,
)
edit(
    BLOCK,
    "repeat",
    "heads-in-turn",
    (
        "k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)",
        "k.repeat(1, self.h // self.g, 1, 1), v.repeat(1, self.h // self.g, 1, 1)",
    ),
    **TORCH,
)
edit(BLOCK, "unscaled", "no-scaling", (" / d**0.5", ""), **TORCH)
edit(BLOCK, "no way past", "no-residual-around-attention", ("x = x + self.W_O", "x = self.W_O"), **TORCH)
edit(BLOCK, "gelu", "gelu-for-silu", ("F.silu", "F.gelu"), **TORCH)
edit(BLOCK, "window forgotten", "window-ignored", ("seen & (i - j < self.window)", "seen"), **TORCH)
