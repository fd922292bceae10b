import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()
edit = wrong.edited

PE = """
import numpy as np

def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe
"""
edit(
    PE,
    "exponent twice the column",
    "exponent-doubled exponent-from-the-column exponent-by-column",
    ("2 * (i // 2)", "2 * i"),
)
edit(
    PE,
    "exponent the column",
    "a-wave-length-for-each-column exponent-by-column exponent-without-pairs",
    ("2 * (i // 2)", "i"),
)
edit(PE, "exponent without 2", "exponent-without-the-2 exponent-halved", ("2 * (i // 2)", "(i // 2)"))
edit(PE, "cosine first", "sine-and-cosine-swapped", ("i % 2 == 0", "i % 2 == 1"))
edit(PE, "base 1000", "base-1000 another-base", ("10000", "1000"))
edit(PE, "times", "multiplied-by-the-power", ("pos / 10000", "pos * 10000"))
edit(PE, "counts from one", "positions-from-1", ("angle = pos /", "angle = (pos + 1) /"))
edit(PE, "turned", "transposed axes-swapped", ("return pe", "return pe.T"))
edit(PE, "fraction of the length", "position-by-length a-constant-factor", ("angle = pos /", "angle = pos / length /"))
edit(
    PE,
    "halves",
    "sines-and-cosines-concatenated",
    ("return pe", "return np.concatenate([pe[:, 0::2], pe[:, 1::2]], axis=1)"),
)
edit(PE, "sines in both", "sines-only", ("np.cos", "np.sin"))
edit(PE, "natural base", "another-base base-e", ("10000 **", "np.e **"))
edit(
    PE,
    "cosines one pair behind",
    "cosine-pair-off-by-one exponent-off-by-one",
    ("2 * (i // 2) / d_model)", "2 * ((i + 1) // 2) / d_model)"),
)
edit(PE, "by width less two", "exponent-up-to-1", ("(2 * (i // 2) / d_model)", "(2 * (i // 2) / max(d_model - 2, 1))"))

LN = """
import numpy as np

def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma + beta
"""
edit(
    LN,
    "n - 1",
    "divided-by-n-minus-1",
    ("keepdims=True)\n    normed", "keepdims=True, ddof=1 if x.shape[-1] > 1 else 0)\n    normed"),
)
edit(LN, "std plus eps", "eps-outside-the-root", ("np.sqrt(var + eps)", "(np.sqrt(var) + eps)"))
edit(
    LN,
    "n - 1 and std plus eps, as in the annotated transformer",
    "divided-by-n-minus-1+eps-outside-the-root",
    ("np.sqrt(var + eps)", "(np.std(x, axis=-1, keepdims=True, ddof=1) + eps)"),
)
edit(LN, "variance alone", "no-root", ("np.sqrt(var + eps)", "(var + eps)"))
edit(LN, "over axis 0", "normalised-over-the-batch axis-counted-from-the-front", ("axis=-1", "axis=0"))
edit(
    LN,
    "over the last two",
    "normalised-over-the-sentence normalised-over-everything",
    ("axis=-1", "axis=tuple(range(max(0, x.ndim - 2), x.ndim))"),
)
edit(LN, "all numbers", "normalised-over-everything", ("axis=-1, ", "axis=None, "))
edit(LN, "no beta", "beta-missing gamma-and-beta-missing", (" + beta", ""))
edit(LN, "no gamma", "gamma-missing gamma-and-beta-missing", (" * gamma", ""))
edit(LN, "parenthesis", "shifted-before-scaled", ("normed * gamma + beta", "(normed + beta) * gamma"))
edit(LN, "eps twice", "eps-outside-the-root eps-twice", ("np.sqrt(var + eps)", "(np.sqrt(var + eps) + eps)"))
edit(
    LN,
    "absolute deviation",
    "absolute-deviation absolute-deviation+eps-outside-the-root",
    ("np.sqrt(var + eps)", "(np.abs(x - mu).mean(-1, keepdims=True) + eps)"),
)
edit(
    LN,
    "norm of the vector",
    "sum-of-squares root-mean-square-norm divided-by-the-length",
    ("np.sqrt(var + eps)", "np.sqrt(((x - mu) ** 2).sum(-1, keepdims=True) + eps)"),
)
edit(LN, "no mean", "mean-not-subtracted root-mean-square-norm", ("(x - mu) /", "x /"))

FF = """
import numpy as np

def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)
    return hidden @ W_2 + b_2
"""
edit(FF, "no activation", "relu-missing", ("    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)\n", ""))
edit(FF, "leaky", "leaky-relu another-curve", ("hidden, 0)", "hidden, 0.01 * hidden)"))
edit(
    FF,
    "activation at the end",
    "relu-at-the-end relu-twice",
    ("    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)\n", ""),
    ("return hidden @ W_2 + b_2", "return np.maximum(0, hidden @ W_2 + b_2)"),
)
edit(FF, "second relu", "relu-twice", ("return hidden @ W_2 + b_2", "return np.maximum(0, hidden @ W_2 + b_2)"))
edit(FF, "minimum", "minimum-for-maximum sign-flipped", ("hidden > 0", "hidden < 0"))
edit(FF, "tanh", "another-curve", ("np.where(hidden > 0, hidden, 0)", "np.tanh(hidden)"))
edit(FF, "clipped at one", "relu-clipped another-curve", ("np.where(hidden > 0, hidden, 0)", "np.clip(hidden, 0, 1)"))
edit(FF, "biases forgotten", "b_1-missing+b_2-missing biases-missing", (" + b_1", ""), (" + b_2", ""))
edit(FF, "first bias forgotten", "b_1-missing", (" + b_1", ""))
edit(FF, "residual", "residual-added", ("return hidden", "return x + hidden"))

BLOCK = """
import math
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w

class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f
"""
edit(BLOCK, "doubled", "input-doubled residual-doubled branch-lost", ("x = x + a", "x = x + x"))
edit(
    BLOCK,
    "residual of the normed",
    "residual-of-the-normed residual-from-the-norm",
    ("a, _ = self.attention(self.norm_1(x), mask)", "x = self.norm_1(x)\n        a, _ = self.attention(x, mask)"),
)
edit(
    BLOCK,
    "residual in the argument",
    "residual-inside-the-argument",
    ("self.feed_forward(self.norm_2(x))", "self.feed_forward(x + self.norm_2(x))"),
)
edit(
    BLOCK,
    "second branch from the input",
    "branches-side-by-side",
    (
        "        x = x + a\n        f = self.feed_forward(self.norm_2(x))\n        return x + f",
        "        f = self.feed_forward(self.norm_2(x))\n        return x + a + f",
    ),
)
edit(
    BLOCK,
    "norms after",
    "post-norm",
    ("self.attention(self.norm_1(x), mask)", "self.attention(x, mask)"),
    ("x = x + a", "x = self.norm_1(x + a)"),
    (
        "f = self.feed_forward(self.norm_2(x))\n        return x + f",
        "f = self.feed_forward(x)\n        return self.norm_2(x + f)",
    ),
)
edit(BLOCK, "no first residual", "no-residual-around-attention", ("x = x + a", "x = a"))
edit(BLOCK, "no second residual", "no-residual-around-feed-forward", ("return x + f", "return f"))
edit(BLOCK, "looks ahead", "causal-mask-missing", ("torch.tril(torch.ones", "(torch.ones"))
edit(BLOCK, "upper", "causal-mask-upside-down", ("torch.tril", "torch.triu"))
edit(BLOCK, "padding forgotten", "padding-ignored", ("padding is not None", "False"))
edit(BLOCK, "same norm", "one-norm-for-both", ("self.norm_2(x)", "self.norm_1(x)"))
edit(BLOCK, "no second norm", "second-norm-missing", ("self.norm_2(x)", "x"))
edit(BLOCK, "half", "a-constant-factor branch-scaled residual-halved", ("return x + f", "return (x + f) / 2"))
edit(
    BLOCK,
    "branch without its norm and no mask",
    "first-norm-missing+causal-mask-missing",
    ("torch.tril(torch.ones", "(torch.ones"),
    ("self.attention(self.norm_1(x), mask)", "self.attention(x, mask)"),
)
edit(BLOCK, "gelu", "another-curve", ("nn.ReLU()", "nn.GELU()"))

DECODER = (
    BLOCK
    + """

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))
"""
)
edit(DECODER, "no positions", "positions-missing", ("        x = x + self.pe[: token_ids.size(1)].to(x.dtype)\n", ""))
edit(DECODER, "not scaled", "embedding-not-scaled", (" * math.sqrt(self.d_model)", ""))
edit(
    DECODER,
    "times d_model",
    "embedding-scaled-by-d_model scaled-by-d_model",
    ("math.sqrt(self.d_model)", "self.d_model"),
)
edit(DECODER, "divided", "embedding-divided", ("* math.sqrt(self.d_model)", "/ math.sqrt(self.d_model)"))
edit(
    DECODER,
    "first block again and again",
    "always-the-first-block first-block-for-all one-block-for-all",
    ("x = block(x, padding)", "x = self.blocks[0](x, padding)"),
)
edit(
    DECODER,
    "shared feed-forward",
    "shared-feed-forward",
    ("x = block(x, padding)", "block.feed_forward = self.blocks[0].feed_forward\n            x = block(x, padding)"),
)
edit(DECODER, "last norm lost", "last-norm-missing", ("self.output(self.norm(x))", "self.output(x)"))
edit(
    DECODER,
    "probabilities",
    "softmax-on-the-logits",
    ("self.output(self.norm(x))", "self.output(self.norm(x)).softmax(-1)"),
)
edit(DECODER, "padding not handed on", "padding-ignored", ("block(x, padding)", "block(x)"))
edit(
    DECODER,
    "position of the last",
    "positions-reversed one-position-for-all",
    ("self.pe[: token_ids.size(1)]", "self.pe[token_ids.size(1) - 1]"),
)
edit(
    DECODER,
    "positions shifted",
    "positions-from-1",
    ("self.pe[: token_ids.size(1)]", "self.pe[1 : token_ids.size(1) + 1]"),
)
edit(
    DECODER,
    "every block sees the embedding",
    "blocks-side-by-side blocks-not-chained last-block-only",
    (
        "        for block in self.blocks:\n            x = block(x, padding)",
        "        for block in self.blocks:\n            y = block(x, padding)\n        x = y",
    ),
)
edit(
    DECODER,
    "last block forgotten",
    "one-block-too-few last-block-missing",
    ("for block in self.blocks:", "for block in self.blocks[:-1]:"),
)


# ---------------------------------------------------------------- written when prices were made alike


@wrong("positions from 1", "positions-from-1", "counted-from-1")
def positional_encoding(length, d_model):
    pos, col = np.arange(1, length + 1)[:, None], np.arange(d_model)
    angle = pos / 10000 ** (2 * (col // 2) / d_model)
    return np.where(col % 2 == 0, np.sin(angle), np.cos(angle))


@wrong("rounded angle", "angle-rounded", "angles-rounded", "integer-division")
def positional_encoding(length, d_model):
    pos, col = np.arange(length)[:, None], np.arange(d_model)
    angle = pos // 10000 ** (2 * (col // 2) / d_model)
    return np.where(col % 2 == 0, np.sin(angle), np.cos(angle))


@wrong(
    "over words, too",
    "normalised-over-the-sentence",
    "over-two-axes",
    "mean-over-everything",
    "over-everything",
    "over-words-too",
)
def layer_norm(x, gamma, beta, eps=1e-5):
    axes = tuple(range(max(0, x.ndim - 2), x.ndim))
    m, v = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return gamma * (x - m) / np.sqrt(v + eps) + beta


@wrong("beta inside", "shifted-before-scaled", "beta-scaled", "beta-before-gamma", "beta-first")
def layer_norm(x, gamma, beta, eps=1e-5):
    m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gamma * ((x - m) / np.sqrt(v + eps) + beta)


@wrong("median", "median-for-mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    m, v = np.median(x, -1, keepdims=True), x.var(-1, keepdims=True)
    return (gamma * (x - m) / np.sqrt(v + eps) + beta).astype(x.dtype)


@wrong("relu at the end, too", "relu-at-the-end-too", "relu-twice", "another-curve")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.maximum(np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2, 0)


@wrong("relu before the bias", "bias-after-relu", "b_1-after-the-relu", "relu-before-the-bias")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (np.maximum(x @ W_1, 0) + b_1) @ W_2 + b_2


@wrong("capped", "relu-clipped", "another-curve", "relu6", "capped")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.clip(x @ W_1 + b_1, 0, 6) @ W_2 + b_2
