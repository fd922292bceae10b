import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()
edit = wrong.edited

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


@wrong("as in a famous library", "pairs-in-halves")
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


@wrong("keys and that is all", "keys-only", "a-constant-factor")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return length * d_head * num_kv_heads * num_layers * bytes_per_number


@wrong("q, k and v", "queries-too", "a-constant-factor")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return bytes_per_number * 3 * (length * d_head * num_kv_heads * num_layers)


@wrong("one layer of it", "one-layer")
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


@wrong("layer norm without beta", "mean-subtracted", "spread-for-size", "mean-subtracted+spread-for-size")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


@wrong("standard deviation", "spread-for-size")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


@wrong("to length one", "length-for-size", "a-constant-factor")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)


@wrong("gamma as an offset from one", "gamma-plus-1")
def rms_norm(x, gamma, eps=1e-5):
    return (gamma + 1) * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


# ---------------------------------------------------------------- gated_feed_forward


@wrong("sigmoid as in GLU", "sigmoid-for-silu")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (1 / (1 + np.exp(-(x @ W_gate))) * (x @ W_up)) @ W_down


@wrong("ReGLU", "relu-for-silu")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (np.maximum(0, x @ W_gate) * (x @ W_up)) @ W_down


@wrong("the other one is the gate", "gate-and-up-swapped")
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_up
    return (z / (1 + np.exp(-z)) * (x @ W_gate)) @ W_down


@wrong("plain", "up-alone", "gate-alone")
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

# ================================================================ by another hand: what public code does, and habits
# Written without a look at the catalogue. Before anything was changed for them, 109 of 111 lost marks, 63 were named.

# ---------------------------------------------------------------- rotate, as in public code

LLAMA = """
import numpy as np

def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-b, a), axis=-1)

def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, dim, 2).astype(np.float64) / dim))
    freqs = np.einsum("i,j->ij", np.asarray(positions, dtype=np.float64), inv_freq)
    emb = np.concatenate((freqs, freqs), axis=-1)
    return (x * np.cos(emb) + rotate_half(x) * np.sin(emb)).astype(x.dtype)
"""
edit(LLAMA, "rotate_half", "pairs-in-halves")
edit(
    LLAMA,
    "angles interleaved, halves rotated",
    "angles-of-other-pairs",
    ("np.concatenate((freqs, freqs), axis=-1)", "np.repeat(freqs, 2, axis=-1)"),
)
edit(LLAMA, "rotate_half without the minus", "no-minus+pairs-in-halves", ("(-b, a)", "(b, a)"))

GPTJ = """
import numpy as np

def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out

def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)
"""
edit(
    GPTJ,
    "tile for repeat",
    "angles-of-other-pairs",
    ("np.repeat(np.sin(sincos), 2, axis=1)", "np.tile(np.sin(sincos), 2)"),
    ("np.repeat(np.cos(sincos), 2, axis=1)", "np.tile(np.cos(sincos), 2)"),
)
edit(
    GPTJ,
    "the other neighbour's sign",
    "turned-backwards",
    ("= -x[..., 1::2]", "= x[..., 1::2]"),
    ("= x[..., ::2]", "= -x[..., ::2]"),
)
edit(GPTJ, "freqs go up", "exponent-of-the-wrong-sign", ("base ** -(", "base ** ("))
edit(GPTJ, "base is ten thousand", "base-ignored", ("base ** -(", "10000.0 ** -("))
edit(
    GPTJ,
    "one frequency for each column",
    "exponent-without-the-2",
    ("np.arange(0, dim, 2) / dim", "np.arange(dim // 2) / dim"),
)
edit(
    GPTJ,
    "arange of the length",
    "positions-ignored",
    ("np.outer(positions, inv_freq)", "np.outer(np.arange(x.shape[-2]), inv_freq)"),
)
edit(
    GPTJ,
    "added like in assignment five",
    "added-not-turned",
    ("(x * cos + every_two(x) * sin)", "(x + np.where(np.arange(dim) % 2 == 0, sin, cos))"),
)
edit(
    GPTJ,
    "counts backwards",
    "slowest-pair-first",
    ("np.outer(positions, inv_freq)", "np.outer(positions, inv_freq[::-1])"),
)
edit(
    GPTJ,
    "batch first",
    "positions-by-text one-batch-layout",  # it is right without a batch alone
    ("np.outer(positions, inv_freq)", "np.outer(positions, inv_freq)[: x.shape[0]]"),
    form=True,
)


@wrong("partial rotary", "half-of-the-width-turned")
def rotate(x, positions, base=10000.0):
    rot = x.shape[-1] // 2
    angle = np.outer(positions, base ** (-np.arange(0, rot, 2) / rot))
    c, s = np.cos(angle), np.sin(angle)
    out = x.copy()
    out[..., 0:rot:2] = x[..., 0:rot:2] * c - x[..., 1:rot:2] * s
    out[..., 1:rot:2] = x[..., 0:rot:2] * s + x[..., 1:rot:2] * c
    return out


@wrong("concatenated, not interleaved again", "put-together-in-halves")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return np.concatenate([even * c - odd * s, even * s + odd * c], axis=-1)


# ---------------------------------------------------------------- grouped queries, as in public code

REPEAT_KV = """
import numpy as np

def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)

def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)

def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs
"""
edit(
    REPEAT_KV,
    "n_rep in front",
    "heads-in-turn",
    ("x[..., :, None, :, :], (*b, g, n_rep, S, d)", "x[..., None, :, :, :], (*b, n_rep, g, S, d)"),
)
edit(
    REPEAT_KV,
    "values not repeated alike",
    "values-in-turn",
    ("repeat_kv(K, n_rep), repeat_kv(V, n_rep)", "repeat_kv(K, n_rep), np.concatenate([V] * n_rep, axis=-3)"),
)
edit(
    REPEAT_KV,
    "rep is the number of kv heads",
    "divided-by-the-groups",
    ("n_rep = n_heads // num_kv_heads", "n_rep = num_kv_heads"),
)
edit(REPEAT_KV, "scaled twice", "scale-by-d_k", ("head_dim**-0.5", "head_dim**-1.0"))
edit(REPEAT_KV, "scaled by the number of heads", "scale-by-num_heads", ("head_dim**-0.5", "n_heads**-0.5"))
edit(
    REPEAT_KV,
    "tril in any case",
    "causal-mask-put-in",
    (
        "    probs = softmax(logits)\n",
        "    logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, Q.dtype.type(-1e9))\n    probs = softmax(logits)\n",
    ),
)
edit(
    REPEAT_KV,
    "softmax over queries",
    "softmax-over-queries",
    ("axis=-1, keepdims", "axis=-2, keepdims"),
)
edit(
    REPEAT_KV,
    "mask added as numbers",
    "mask-added+mask-after-softmax mask-after-softmax mask-added",
    ("logits = np.where(mask, logits, Q.dtype.type(-1e9))", "logits = logits + mask"),
)
edit(
    REPEAT_KV,
    "True hides, as in nn.MultiheadAttention",
    "mask-inverted",
    ("np.where(mask, logits", "np.where(~mask, logits"),
    ("np.where(mask, probs", "np.where(~mask, probs"),
)
edit(
    REPEAT_KV,
    "nothing allowed, evenly",
    "evenly-for-nothing",
    ("probs = np.where(mask, probs, Q.dtype.type(0))", "pass"),
)
edit(
    REPEAT_KV,
    "keys averaged",
    "heads-averaged",
    ("repeat_kv(K, n_rep), repeat_kv(V, n_rep)", "K.mean(axis=-3, keepdims=True), V.mean(axis=-3, keepdims=True)"),
)
edit(
    REPEAT_KV,
    "no check",
    "error-missing",
    (
        'raise ValueError("n_heads must be divisible by n_kv_heads")',
        "num_kv_heads = 1; K, V = K[..., :1, :, :], V[..., :1, :, :]",
    ),
    form=True,
)

# ---------------------------------------------------------------- the cache, as in public code


@wrong("two is for two bytes", "numbers-for-bytes")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length


@wrong("bits", "bits-for-bytes")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number * 8


@wrong("in megabytes", "megabytes")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number / 1024**2


@wrong("a table of scores", "weights-kept")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * length * length * bytes_per_number


@wrong("the width squared", "square-heads")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * (num_kv_heads * d_head) ** 2 * bytes_per_number * length


GENERATE = """
import numpy as np

def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out

def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v
"""
edit(
    GENERATE,
    "the axis of heads",
    "along-the-heads",
    (
        "np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)",
        "np.concatenate((K, np.broadcast_to(k, K.shape)), axis=-3), np.concatenate((V, np.broadcast_to(v, V.shape)), axis=-3)",
    ),
    ("num_heads // n_kv, axis=-3", "max(1, num_heads // k.shape[-3]), axis=-3"),
)
edit(
    GENERATE,
    "the oldest falls out",
    "oldest-thrown-away",
    ("    ks, vs =", "    if K is not None:\n        k, v = k[..., 1:, :], v[..., 1:, :]\n    ks, vs ="),
)
edit(
    GENERATE,
    "all keys turned again",
    "cache-turned-again",
    ("    q, k = rope(q, start_pos), rope(k, start_pos)\n", "    q = rope(q, start_pos)\n"),
    ("    ks, vs =", "    k = np.stack([rope(k[..., n, :], n) for n in range(k.shape[-2])], axis=-2)\n    ks, vs ="),
)
edit(
    GENERATE,
    "only what was there",
    "itself-not-seen",
    (
        "    if K is not None:\n        k, v = np",
        "    old = (k, v) if K is None else (K, V)\n    if K is not None:\n        k, v = np",
    ),
    (
        "np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)",
        "(np.repeat(t, num_heads // n_kv, axis=-3) for t in old)",
    ),
)
edit(
    GENERATE,
    "query from one place before",
    "query-one-place-back",
    ("rope(q, start_pos)", "rope(q, max(start_pos - 1, 0))"),
)
edit(
    GENERATE,
    "position of the query alone",
    "key-not-turned",
    ("rope(q, start_pos), rope(k, start_pos)", "rope(q, start_pos), k"),
)
edit(GENERATE, "not turned at all", "nothing-turned", ("rope(q, start_pos), rope(k, start_pos)", "q, k"))
edit(GENERATE, "gives the cache that came", "cache-not-grown", ("return y @ W_O, k, v", "return y @ W_O, K, V"))
edit(
    GENERATE,
    "turned before the split",
    "turned-before-the-split",
    (
        "q = (x @ W_Q).reshape(*lead, num_heads, hd)",
        "q = rope(x @ W_Q, K.shape[-2] if K is not None else 0).reshape(*lead, num_heads, hd)",
    ),
    (
        "k = (x @ W_K).reshape(*lead, n_kv, hd)",
        "k = rope(x @ W_K, K.shape[-2] if K is not None else 0).reshape(*lead, n_kv, hd)",
    ),
    ("q, k = rope(q, start_pos), rope(k, start_pos)", "pass"),
)
edit(
    GENERATE,
    "heads interleaved",
    "heads-interleaved",
    ("q = (x @ W_Q).reshape(*lead, num_heads, hd)", "q = (x @ W_Q).reshape(*lead, hd, num_heads).swapaxes(-1, -2)"),
)
edit(GENERATE, "k and v swapped in the answer", "tuple-swapped", ("return y @ W_O, k, v", "return y @ W_O, v, k"))
edit(GENERATE, "keeps the repeated ones", "repeated-keys-kept", ("return y @ W_O, k, v", "return y @ W_O, ks, vs"))
edit(GENERATE, "scaled by d_model", "scale-by-d_model", ("np.sqrt(hd)", "np.sqrt(x.shape[-1])"))

# ---------------------------------------------------------------- windows, as in public code

SLIDING = """
import numpy as np

def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return causal & (local | sink)
"""
edit(
    SLIDING,
    "window on both sides",
    "both-sides",
    ("causal & (local | sink)", "(np.abs(q - k) < window) | (sink & causal)"),
)
edit(
    SLIDING,
    "half of it on each side",
    "half-on-each-side",
    ("return causal & (local | sink)", "return (np.abs(q - k) <= window // 2) | (sink & causal)"),
)
edit(SLIDING, "and for or", "window-and-sinks", ("local | sink", "local & sink"))
edit(SLIDING, "True is hidden", "inverted", ("return causal", "return ~(causal"), ("(local | sink)", "(local | sink))"))
edit(SLIDING, "up to and with sinks", "one-sink-too-many", ("k < sinks", "k <= sinks"))
edit(SLIDING, "sinks at the end", "sinks-at-the-end", ("k < sinks", "k >= length - sinks"))
edit(
    SLIDING,
    "sinks take from the window",
    "sinks-taken-off-the-window",
    ("k > q - window", "k > q - max(window - sinks, 1)"),
)
edit(SLIDING, "window off, one too few", "one-too-few", ("k > q - window", "k > q - window + 1"))
edit(SLIDING, "in blocks", "in-blocks", ("local = k > q - window", "local = k // window == q // window"))
edit(
    SLIDING,
    "minus infinity",
    "numbers-that-hide",
    ("return causal & (local | sink)", "return np.where(causal & (local | sink), 0.0, -np.inf)"),
    form=True,
)
edit(SLIDING, "one row short", "another-length", ("np.indices((length, length))", "np.indices((length, length - 1))"))

# ---------------------------------------------------------------- online softmax, as in public code

FLASH = """
import numpy as np

def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O
"""
edit(
    FLASH,
    "FlashAttention 1: divided in each step",
    "divided-in-each-step",
    (
        "return m_new, l_new, O",
        "return m_new, l_new, (alpha[..., None] * total[..., None] * mixed + np.einsum('...lb,...bv->...lv', P, V)) / l_new[..., None]",
    ),
)
edit(
    FLASH,
    "from the block's own maximum",
    "own-largest-subtracted",
    ("P = np.exp(S - m_new[..., None])", "P = np.exp(S - m_ij[..., None])"),
)
edit(
    FLASH,
    "alpha upside down",
    "grown-for-shrunk",
    ("np.exp(largest - m_new)", "np.exp(m_new - np.where(np.isfinite(largest), largest, m_new))"),
)
edit(
    FLASH, "the old maximum given back", "old-largest-given-back", ("return m_new", "return np.maximum(largest, -1e30)")
)
edit(FLASH, "mean for sum", "mean-of-the-block", ("P.sum(axis=-1)", "P.mean(axis=-1)"))
edit(
    FLASH,
    "one largest for all queries",
    "one-largest-for-all",
    ("m_ij = S.max(axis=-1)", "m_ij = np.broadcast_to(S.max(axis=(-1, -2), keepdims=True)[..., 0], S.shape[:-1])"),
)
edit(
    FLASH,
    "no exp in the shrinking",
    "difference-for-power",
    ("np.exp(largest - m_new)", "np.where(np.isfinite(largest), largest - m_new, 0)"),
)
edit(
    FLASH,
    "the total of this block",
    "old-total-forgotten",
    ("l_new = alpha * total + P.sum(axis=-1)", "l_new = P.sum(axis=-1)"),
)
edit(
    FLASH,
    "no maximum at all",
    "nothing-subtracted",
    ("m_new = np.maximum(largest, m_ij)", "m_new = np.zeros_like(m_ij)"),
    ("np.exp(largest - m_new)", "np.ones_like(m_ij)"),
)
edit(
    FLASH,
    "base two",
    "another-base",
    ("np.exp(S - m_new[..., None])", "np.exp2(S - m_new[..., None])"),
    ("np.exp(largest", "np.exp2(largest"),
)

PASS = """
import numpy as np

def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]
"""
edit(PASS, "l not rescaled", "total-not-shrunk", ("l = l * corr + p", "l = l + p"))
edit(PASS, "acc not rescaled", "mixed-not-shrunk", ("acc = acc * corr[..., None] + p", "acc = acc + p"))
edit(PASS, "m never updated", "last-block-only", ("        m = m_new\n", ""))
edit(
    PASS,
    "starts at zero for the maximum",
    "largest-begins-at-0",
    ("np.full(Q.shape[:-1], -np.inf, Q.dtype)", "np.zeros(Q.shape[:-1], Q.dtype)"),
)
edit(
    PASS,
    "blocks softmaxed and averaged",
    "mean-of-the-blocks",
    (
        "        l = l * corr + p.sum(axis=-1)\n        acc = acc * corr[..., None] + p @ Vj\n",
        "        l = l + 1\n        acc = acc + (p / p.sum(axis=-1, keepdims=True)) @ Vj\n",
    ),
)
edit(PASS, "blocks overlap", "blocks-overlap", ("j += block_size", "j += max(1, block_size - 1)"))
edit(PASS, "last block alone", "old-mixed-forgotten", ("acc = acc * corr[..., None] + p @ Vj", "acc = p @ Vj"))
edit(
    PASS,
    "queries in blocks too, first block alone",
    "blocks-of-queries",
    (
        "    j = 0\n",
        "    j = 0\n    Q = np.where(np.arange(Q.shape[-2])[:, None] < block_size, Q, 0).astype(Q.dtype)\n",
    ),
)
edit(
    PASS,
    "causal",
    "causal-mask-put-in",
    (
        "m_new = np.maximum",
        "S = np.where(np.arange(j, j + S.shape[-1]) <= np.arange(S.shape[-2])[:, None], S, -1e30).astype(Q.dtype)\n        m_new = np.maximum",
    ),
)
edit(
    PASS,
    "with the weights' sum",
    "weights-too parts-too-many",
    ("return acc / l[..., None]", "return acc / l[..., None], l"),
    form=True,
)

# ---------------------------------------------------------------- norm and gate, as in public code

T5_NORM = """
import numpy as np

def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)
"""
edit(T5_NORM, "eps outside the root", "eps-outside-the-root", ("np.sqrt(variance + eps)", "(np.sqrt(variance) + eps)"))
edit(T5_NORM, "no root", "no-root", ("np.sqrt(variance + eps)", "(variance + eps)"))
edit(T5_NORM, "mean over everything", "one-size-for-all", (", axis=-1, keepdims=True", ""))
edit(T5_NORM, "mean over words", "sizes-of-features", ("axis=-1", "axis=0"))
edit(
    T5_NORM,
    "mean of absolute values",
    "no-squares",
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.mean(np.abs(x), axis=-1, keepdims=True) ** 2"),
)
edit(T5_NORM, "eps is 1e-6, as in T5", "eps-fixed", ("variance + eps", "variance + 1e-6"))
edit(T5_NORM, "gamma forgotten", "gamma-missing", ("gamma * x", "x"))
edit(T5_NORM, "gamma inside", "gamma-first", ("np.square(x)", "np.square(gamma * x)"))
edit(
    T5_NORM,
    "the largest number",
    "largest-for-size",
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.max(np.square(x), axis=-1, keepdims=True)"),
)
edit(
    T5_NORM,
    "ddof",
    "divided-by-n-minus-1",
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.square(x).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)"),
)

SWIGLU = """
import numpy as np

def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))

def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (swish(g) * u) @ W_down
"""
edit(SWIGLU, "swish of both", "both-through-the-curve", ("swish(g) * u", "swish(g) * swish(u)"))
edit(SWIGLU, "swish of the product", "curve-after-the-product", ("swish(g) * u", "swish(g * u)"))
edit(SWIGLU, "added", "added-for-multiplied", ("swish(g) * u", "swish(g) + u"))
edit(SWIGLU, "no activation, bilinear", "no-curve", ("swish(g) * u", "g * u"))
edit(SWIGLU, "QuickGELU's 1.702", "gelu-for-silu", ("beta=1.0", "beta=1.702"))
edit(SWIGLU, "tanh", "tanh-for-silu", ("swish(g) * u", "np.tanh(g) * u"))
edit(SWIGLU, "residual in it", "residual-added", ("(swish(g) * u) @ W_down", "x + (swish(g) * u) @ W_down"))
edit(SWIGLU, "softplus", "softplus-for-silu", ("swish(g) * u", "np.logaddexp(0, g) * u"))
edit(SWIGLU, "the gate twice", "gate-for-both", ("x @ W_gate, x @ W_up", "x @ W_gate, x @ W_gate"))
edit(
    SWIGLU,
    "softmax gate",
    "softmax-for-silu",
    (
        "swish(g) * u",
        "np.exp(g - g.max(-1, keepdims=True)) / np.exp(g - g.max(-1, keepdims=True)).sum(-1, keepdims=True) * u",
    ),
)

# ---------------------------------------------------------------- the block, as in public code

MISTRAL = """
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))
"""
edit(
    MISTRAL,
    "values turned too",
    "values-turned",
    ("q, k = self.rope(q), self.rope(k)", "q, k, v = self.rope(q), self.rope(k), self.rope(v)"),
    **TORCH,
)
edit(
    MISTRAL,
    "post-norm",
    "norm-behind-each-branch",
    ("h = self.rms(x, self.norm_1)\n", "h = x\n"),
    ("x = x + self.W_O(y)", "x = self.rms(x + self.W_O(y), self.norm_1)"),
    (
        "        h = self.rms(x, self.norm_2)\n        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))",
        "        h = x\n        return self.rms(x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h)), self.norm_2)",
    ),
    **TORCH,
)
edit(MISTRAL, "triu by window", "window-one-too-wide", ("triu(1 - self.window)", "triu(-self.window)"), **TORCH)
edit(
    MISTRAL,
    "no causal mask where there is a window",
    "mask-missing-with-a-window",
    ("mask = mask & torch", "mask = torch"),
    **TORCH,
)
edit(
    MISTRAL,
    "turned over heads, not words",
    "turned-by-heads",
    ("q, k = self.rope(q), self.rope(k)", "q, k = (self.rope(t.transpose(1, 2)).transpose(1, 2) for t in (q, k))"),
    **TORCH,
)
edit(
    MISTRAL,
    "norm_1 twice",
    "first-norm-for-both",
    ("h = self.rms(x, self.norm_2)", "h = self.rms(x, self.norm_1)"),
    **TORCH,
)
edit(
    MISTRAL,
    "heads not put back",
    "heads-not-brought-together",
    ("(att @ v).transpose(1, 2).reshape(B, T, C)", "(att @ v).reshape(B, T, C)"),
    **TORCH,
)
edit(
    MISTRAL,
    "in parallel, as in GPT-J",
    "branches-side-by-side",
    ("h = self.rms(x, self.norm_2)", "h = self.rms(x - self.W_O(y), self.norm_2)"),
    **TORCH,
)
edit(
    MISTRAL,
    "normed word is the way past",
    "residual-of-the-normed",
    ("x = x + self.W_O(y)", "x = h + self.W_O(y)"),
    **TORCH,
)
edit(
    MISTRAL,
    "layer norm",
    "layer-norm",
    ("x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight", "F.layer_norm(x, x.shape[-1:], weight)"),
    **TORCH,
)
edit(
    MISTRAL,
    "rotate_half inside",
    "pairs-in-halves",
    (
        "        out = torch.empty_like(x)\n        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin\n        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin\n        return out",
        "        a, b = x.chunk(2, -1)\n        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)",
    ),
    **TORCH,
)
edit(
    MISTRAL,
    "eps of 1e-6 and outside",
    "another-eps",
    ("torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)", "1 / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6)"),
    **TORCH,
)
edit(
    MISTRAL,
    "gate and up swapped",
    "gate-and-up-swapped",
    ("F.silu(self.W_gate(h)) * self.W_up(h)", "F.silu(self.W_up(h)) * self.W_gate(h)"),
    **TORCH,
)
edit(
    MISTRAL,
    "dropout left on",
    "random another-answer-each-time",
    ('float("-inf")).softmax(-1)', 'float("-inf")).softmax(-1)\n        att = F.dropout(att, 0.1, self.training)'),
    **TORCH,
)
edit(MISTRAL, "biases", "biases", ("bias=False", "bias=True"), form=True, **TORCH)
