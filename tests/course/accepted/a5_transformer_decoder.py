"""Correct answers to a5 in many styles."""

import math
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()


# ---------------------------------------------------------------- positional_encoding


@accepted("two-slices-and-the-log-trick")
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    position = np.arange(length)[:, np.newaxis]
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term[: d_model // 2])
    return pe


@accepted("single-precision")  # neither the arguments nor the docstring determine the dtype
def positional_encoding(length, d_model):
    column = np.arange(d_model)
    angle = np.arange(length)[:, np.newaxis] / 10000 ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32)


@accepted("two-loops")
def positional_encoding(length, d_model):
    rows = []
    for pos in range(length):
        row = []
        for j in range(d_model):
            i = j // 2
            angle = pos / 10000 ** (2 * i / d_model)
            row.append(math.sin(angle) if j % 2 == 0 else math.cos(angle))
        rows.append(row)
    return np.array(rows)


@accepted("a-cosine-is-a-shifted-sine")
def positional_encoding(length, d_model):
    column = np.arange(d_model)
    rates = np.power(10000.0, -(column - column % 2) / d_model)
    return np.sin(np.outer(np.arange(length), rates) + (column % 2) * np.pi / 2)


@accepted("stacked-and-reshaped")
def positional_encoding(length: int, d_model: int) -> np.ndarray:
    pairs = (d_model + 1) // 2
    angle = np.arange(length, dtype=np.float64).reshape(-1, 1) / 10000 ** (2 * np.arange(pairs) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, 2 * pairs)[:, :d_model]


@accepted("complex-numbers")
def positional_encoding(length, d_model):
    turns = np.exp(1j * np.outer(np.arange(length), 1e4 ** (-np.arange(0, d_model, 2) / d_model)))
    out = np.empty((length, d_model), dtype=np.float32)
    out[:, ::2] = turns.imag
    out[:, 1::2] = turns.real[:, : out[:, 1::2].shape[1]]
    return out


@accepted("through-pytorch")
def positional_encoding(length, d_model):
    position, column = (torch.arange(*ends, dtype=torch.float64) for ends in ((0, length), (0, d_model, 2)))
    angle = position.unsqueeze(1) / torch.pow(10000.0, column / d_model)
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)[:, : d_model // 2]
    return pe.numpy()


@accepted("each-row-turned-on-from-the-last")
def positional_encoding(length, d_model):
    n = (d_model + 1) // 2
    turn = np.exp(1j * 10000.0 ** (-2 * np.arange(n) / d_model))
    rows, z = [], np.ones(n, dtype=complex)
    for _ in range(length):
        rows.append(np.column_stack([z.imag, z.real]).ravel()[:d_model])
        z = z * turn
    return np.array(rows)


# ---------------------------------------------------------------- layer_norm


@accepted("np-var")
def layer_norm(x, gamma, beta, eps=1e-5):
    return (x - np.mean(x, -1, keepdims=True)) / np.sqrt(np.var(x, -1, keepdims=True) + eps) * gamma + beta


@accepted("mean-of-squares-minus-square-of-mean, in float64")
def layer_norm(x, gamma, beta, eps=1e-5):
    wide = x.astype(np.float64)
    mean = wide.mean(-1)[..., None]
    variance = (wide * wide).mean(-1)[..., None] - mean * mean
    return (gamma * (wide - mean) * (variance + eps) ** -0.5 + beta).astype(x.dtype)


@accepted("einsum")
def layer_norm(x, gamma, beta, eps=1e-5):
    n = x.shape[-1]
    centred = x - np.einsum("...i->...", x)[..., np.newaxis] / n
    spread = np.sqrt(np.einsum("...i,...i->...", centred, centred) / n + eps)
    return np.einsum("...i,i,...->...i", centred, gamma, 1 / spread).astype(x.dtype) + beta


@accepted("word-by-word")
def layer_norm(x, gamma, beta, eps=1e-5):
    flat = x.reshape(-1, x.shape[-1])
    out = np.empty_like(flat)
    for i, word in enumerate(flat):
        mean = sum(word) / len(word)
        variance = sum((feature - mean) ** 2 for feature in word) / len(word)
        out[i] = (word - mean) / math.sqrt(variance + eps)
    return (out * gamma + beta).reshape(x.shape)


@accepted("std-and-a-copy")
def layer_norm(x, gamma, beta, eps=1e-5):
    x = np.array(x)
    x -= x.mean(axis=-1, keepdims=True)
    std = x.std(axis=-1, keepdims=True)
    x /= np.hypot(std, math.sqrt(eps)).astype(x.dtype)
    return gamma * x + beta


@accepted("apply-along-axis")
def layer_norm(x, gamma, beta, eps=1e-5):
    def one(word):
        return (word - word.mean()) / np.sqrt(word.var() + word.dtype.type(eps))

    return np.apply_along_axis(one, -1, x) * gamma + beta


@accepted("a-centring-matrix")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    centre = (np.eye(d) - 1 / d).astype(x.dtype)
    c = x @ centre
    return c / np.sqrt((c**2).sum(-1, keepdims=True) / d + eps) * gamma + beta


# ---------------------------------------------------------------- feed_forward


@accepted("in-two-lines")
def feed_forward(x, W_1, b_1, W_2, b_2):
    h = x.dot(W_1) + b_1
    return (h * (h > 0)).dot(W_2) + b_2


@accepted("einsum-and-where")
def feed_forward(x, W_1, b_1, W_2, b_2):
    h = np.einsum("...m,mf->...f", x, W_1) + b_1
    return np.einsum("...f,fm->...m", np.where(h > 0, h, 0), W_2) + b_2


@accepted("clip")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.add(np.matmul(np.clip(np.add(np.matmul(x, W_1), b_1), 0, None), W_2), b_2)


@accepted("half-the-sum-with-its-size")
def feed_forward(x, W_1, b_1, W_2, b_2):
    h = x @ W_1 + b_1
    return 0.5 * (h + np.abs(h)) @ W_2 + b_2


@accepted("word-by-word")
def feed_forward(x, W_1, b_1, W_2, b_2):
    out = np.empty(x.shape, dtype=x.dtype)
    for place in np.ndindex(x.shape[:-1]):
        hidden = W_1.T @ x[place] + b_1
        hidden[hidden < 0] = 0
        out[place] = W_2.T @ hidden + b_2
    return out


@accepted("biases-as-one-more-row")
def feed_forward(x, W_1, b_1, W_2, b_2):
    def layer(v, W, b):
        return np.concatenate([v, np.ones_like(v[..., :1])], axis=-1) @ np.vstack([W, b])

    return layer(np.maximum(layer(x, W_1, b_1), 0), W_2, b_2)


# ---------------------------------------------------------------- DecoderBlock


class MultiHeadAttention(nn.Module):
    """From a4: gives NaN where there is nothing to attend to, then replaces it."""

    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        d = d_head or d_model // num_heads
        self.h = num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (m(x).unflatten(-1, (self.h, -1)).transpose(-3, -2) for m in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        weights = weights if mask is None else weights * mask
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


@accepted("with-dropout-and-a-buffer-that-grows")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.register_buffer("causal", torch.tril(torch.ones(512, 512)).bool(), persistent=False)

    def forward(self, x, padding=None):
        L = x.size(1)
        if L > len(self.causal):
            self.causal = torch.tril(torch.ones(L, L)).bool()
        mask = self.causal[:L, :L][None, None]
        if padding is not None:
            mask = torch.logical_and(mask, padding[:, None, :, :])
        x = x + self.attention(self.norm_1(x), mask=mask)[0]
        return x + self.feed_forward(self.norm_2(x))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.second = nn.Linear(d_ff, d_model)
        self.first = nn.Linear(d_model, d_ff)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


@accepted("a-class-for-the-feed-forward-network")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention, self.feed_forward = MultiHeadAttention(d_model, num_heads), FeedForward(d_model, d_ff)

    def forward(self, x, padding=None):
        B, L, _ = x.shape
        position = torch.arange(L)
        mask = (position[None, :] <= position[:, None]).expand(B, 1, L, L)
        if padding is not None:
            mask = mask & padding.reshape(B, 1, 1, L)
        attended, weights = self.attention(self.norm_1(x), mask)
        self.last_weights = weights
        x = torch.add(x, attended)
        return torch.add(x, self.feed_forward(self.norm_2(x)))


@accepted("mask-for-every-head")
class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        layers = OrderedDict(up=nn.Linear(d_model, d_ff), relu=nn.ReLU(inplace=True), down=nn.Linear(d_ff, d_model))
        self.feed_forward = nn.Sequential(layers)
        self.attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads)
        for name in ("norm_1", "norm_2"):
            self.add_module(name, nn.LayerNorm((d_model,), eps=1e-5))

    def forward(self, x: torch.Tensor, padding: torch.Tensor | None = None) -> torch.Tensor:
        B, L, _ = x.size()
        hidden = torch.triu(torch.ones(L, L, dtype=torch.bool), diagonal=1).repeat(B, self.num_heads, 1, 1)
        if padding is not None:
            hidden = hidden | (~padding).unsqueeze(1).repeat(1, self.num_heads, L, 1)
        residual = x
        x = self.attention(self.norm_1(x), ~hidden)[0] + residual
        residual = x
        return self.feed_forward(self.norm_2(x)) + residual


@accepted("branches-as-methods")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.layers = nn.ModuleDict({"attention": MultiHeadAttention(d_model, num_heads)})
        self.attention = self.layers["attention"]
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def look(self, x, padding):
        causal = torch.ones(x.shape[1], x.shape[1]).tril()
        allowed = causal if padding is None else causal * padding.unsqueeze(1)
        return self.attention(self.norm_1(x), allowed > 0)[0]

    def work(self, x):
        widened = F.linear(self.norm_2(x), self.feed_forward[0].weight, self.feed_forward[0].bias)
        return self.feed_forward[2](widened.clamp(min=0))

    def forward(self, x, padding=None):
        x = x + self.look(x, padding)
        return x + self.work(x)


@accepted("norms-by-hand")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.d_model = d_model
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    @staticmethod
    def norm(layer, x):
        centred = x - x.mean(-1, keepdim=True)
        return layer.weight * centred / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5) + layer.bias

    def forward(self, x, padding=None):
        keys = torch.ones(x.shape[0], 1, x.shape[1], dtype=torch.bool) if padding is None else padding
        mask = torch.stack([torch.tril(row.expand(x.shape[1], -1)) for row in keys]).unsqueeze(1)
        out = x.clone()
        out[:] = out + self.attention(self.norm(self.norm_1, x), mask)[0]
        return out + self.feed_forward(self.norm(self.norm_2, out))


@accepted("relu-in-place-and-a-sequential-that-grows")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm((d_model,))
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm((d_model,))
        self.feed_forward = nn.Sequential()
        self.feed_forward.append(nn.Linear(d_model, d_ff))
        self.feed_forward.append(nn.ReLU(inplace=True))
        self.feed_forward.append(nn.Linear(d_ff, d_model))
        self.dropout = nn.Dropout(p=0.0)

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(x.new_ones(L, L)).bool()[None, None]
        if padding is not None:
            mask = torch.logical_and(mask, padding[:, None, :, :])
        out, _ = self.attention(self.norm_1(x), mask)
        x = x + self.dropout(out)
        x = x + self.dropout(self.feed_forward(self.norm_2(x)))
        return x


# ---------------------------------------------------------------- TransformerDecoder


class Block(nn.Module):
    """A correct block for the decoders below."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        mask = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril()
        mask = mask if padding is None else mask & padding.unsqueeze(1)
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


def encode(length, d_model):
    """A correct positional encoding, in float64."""
    column = np.arange(d_model)
    angle = np.arange(length)[:, None] / 10000 ** (2 * (column // 2) / d_model)
    return np.where(column % 2, np.cos(angle), np.sin(angle))


@accepted("with-dropout-and-xavier")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", torch.tensor(encode(max_length, d_model), dtype=torch.float32).unsqueeze(0))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.scale = d_model**0.5
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, token_ids, padding=None):
        x = self.dropout(self.embedding(token_ids) * self.scale + self.pe[:, : token_ids.size(1), :])
        for layer in self.blocks:
            x = layer(x, padding)
        return self.output(self.norm(x))


@accepted("positions-made-in-forward")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.config = (d_model, max_length)
        self.output = nn.Linear(d_model, vocab_size, bias=True)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(Block(d_model, num_heads, d_ff))
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)

    def forward(self, token_ids, padding=None):
        d_model, _ = self.config
        x = self.embedding(token_ids).mul(math.sqrt(d_model))
        x = x + torch.from_numpy(encode(token_ids.shape[1], d_model)).to(x)
        for i in range(len(self.blocks)):
            x = self.blocks[i](x, padding=padding)
        return F.linear(self.norm(x), self.output.weight, self.output.bias)


@accepted("a-plain-tensor-and-one-hot")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = torch.from_numpy(encode(max_length, d_model).astype(np.float32))
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        one_hot = F.one_hot(token_ids, self.vocab_size).to(self.embedding.weight.dtype)
        x = one_hot @ self.embedding.weight * self.embedding.embedding_dim**0.5
        x = x + self.positions.narrow(0, 0, token_ids.shape[-1])
        for block in self.blocks:
            x = block.forward(x, padding)
        return torch.einsum("bld,vd->blv", self.norm(x), self.output.weight) + self.output.bias


@accepted("a-table-looked-up")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.register_buffer("scale", torch.sqrt(torch.tensor(float(d_model))))
        self.register_buffer("position_ids", torch.arange(max_length))
        self.register_buffer("table", torch.from_numpy(encode(max_length, d_model)).float())
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model, elementwise_affine=True)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        places = self.position_ids[: token_ids.shape[1]].expand_as(token_ids)
        x = self.embedding(token_ids) * self.scale + F.embedding(places, self.table)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))


@accepted("helper-methods-and-a-class-for-embeddings")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int, num_layers: int, max_length: int):
        super().__init__()
        self.d_model = d_model
        self.max_length = max_length
        self.embedding = nn.Embedding(vocab_size, d_model)
        blocks = []
        while len(blocks) < num_layers:
            blocks += [Block(d_model, num_heads, d_ff)]
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def positions(self, length):
        if length > self.max_length:
            raise ValueError(f"at most {self.max_length} tokens")
        return torch.tensor(encode(self.max_length, self.d_model)[:length], dtype=self.embedding.weight.dtype)

    def hidden(self, token_ids, padding):
        x = math.sqrt(self.d_model) * self.embedding(token_ids)
        x = x + self.positions(token_ids.shape[1]).expand_as(x)
        for block in self.blocks.children():
            x = block(x, padding)
        return x

    def forward(self, token_ids, padding=None):
        return self.output(self.norm(self.hidden(token_ids, padding)))


@accepted("powers of i")
def positional_encoding(length, d_model):
    pairs = -(-d_model // 2)
    z = np.exp(1j * np.outer(np.arange(length), 10000.0 ** (-2 * np.arange(pairs) / d_model)))
    return np.stack([z.imag, z.real], -1).reshape(length, 2 * pairs)[:, :d_model]


@accepted("centring matrix")
def layer_norm(x, gamma, beta, eps=1e-05):
    n = x.shape[-1]
    c = x @ (np.eye(n) - 1 / n).astype(x.dtype)
    return c / np.sqrt(np.einsum("...i,...i->...", c, c)[..., None] / n + eps) * gamma + beta


@accepted("homogeneous coordinates")
def feed_forward(x, W_1, b_1, W_2, b_2):
    one = np.ones_like(x[..., :1])
    hidden = np.concatenate([x, one], -1) @ np.vstack([W_1, b_1])
    hidden = (hidden + abs(hidden)) / 2
    return np.concatenate([hidden, one], -1) @ np.vstack([W_2, b_2])


@accepted("a-mask-that-grows")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.register_buffer("causal", torch.ones(16, 16, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x, padding=None):
        L = x.shape[-2]
        if L > len(self.causal):
            self.causal = torch.ones(2 * L, 2 * L, dtype=torch.bool).tril()
        mask = self.causal[:L, :L]
        mask = mask if padding is None else mask & padding.unsqueeze(-3)
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


@accepted("positions-that-grow")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)
        self.kept = torch.empty(0, d_model)

    def positions(self, length, like):
        if length > len(self.kept):
            self.kept = torch.from_numpy(encode(max(length, 2 * len(self.kept)), like.shape[-1]))
        return self.kept[:length].to(like)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids)
        x = x * math.sqrt(x.shape[-1]) + self.positions(x.shape[-2], x)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))
