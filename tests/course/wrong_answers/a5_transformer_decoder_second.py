"""Written by somebody who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        d_head = d_model // num_heads if d_head is None else d_head
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (
            W(x).unflatten(-1, (self.num_heads, self.d_head)).transpose(-2, -3) for W in (self.W_Q, self.W_K, self.W_V)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = ~mask.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~(mask | dead), -math.inf).softmax(-1).masked_fill(dead, 0.0)
        else:
            weights = scores.softmax(-1)
        return self.W_O((weights @ v).transpose(-2, -3).flatten(-2)), weights


# ---------------------------------------------------------------- positional_encoding


@wrong("doubles the column number that is even already, so waves get long twice as fast", "exponent-doubled")
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            if i + 1 < d_model:
                pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return pe


@wrong("1000 typed for 10000", "base-1000")
def positional_encoding(length, d_model):
    pos = np.arange(0, length)[:, None].astype(float)
    two_i = np.arange(0, d_model, 2, dtype=float)
    div_term = np.power(1000, two_i / d_model)
    pe = np.zeros((length, d_model))
    pe[:, 0::2] = np.sin(pos / div_term)
    pe[:, 1::2] = np.cos(pos / div_term)[:, : d_model // 2]
    return pe


@wrong(
    "positions are brought to 0..1 first, so the same place has another name in a longer text",
    "position-by-length",
    "positions-between-0-and-1",
)
def positional_encoding(length, d_model):
    position = np.arange(length) / max(length - 1, 1)
    i = np.arange(d_model) // 2
    angles = np.outer(position, 1.0 / np.power(10000.0, 2 * i / d_model))
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


@wrong("the waves reach exactly 10000 in the last pair: exponent i / (pairs - 1)", "exponent-up-to-1")
def positional_encoding(length, d_model):
    num_timescales = (d_model + 1) // 2
    log_timescale_increment = math.log(10000.0) / max(num_timescales - 1, 1)
    inv_timescales = np.exp(np.arange(num_timescales) * -log_timescale_increment)
    scaled_time = np.arange(length)[:, None] * inv_timescales[None, :]
    signal = np.stack([np.sin(scaled_time), np.cos(scaled_time)], axis=-1).reshape(length, -1)
    return signal[:, :d_model]


@wrong("a batch axis in front, ready for adding", "another-shape", form=True)
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    position = np.arange(length).reshape(-1, 1)
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)[:, : d_model // 2]
    return pe[np.newaxis, ...]


# ---------------------------------------------------------------- layer_norm


@wrong(
    "the variance is the mean of the squares: the mean is taken off above, and not below",
    "variance-of-x-itself",
    "root-mean-square-norm",
)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x**2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


@wrong("with a batch axis it takes mean and variance over words and features together", "normalised-over-the-sentence")
def layer_norm(x, gamma, beta, eps=1e-5):
    dims = (-2, -1) if x.ndim > 2 else (-1,)
    mean = x.mean(axis=dims, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=dims, keepdims=True)
    std = np.sqrt(var + eps)
    y = (x - mean) / std
    return gamma * y + beta


@wrong("gamma scales the shift as well: gamma * (normed + beta)", "shifted-before-scaled")
def layer_norm(x, gamma, beta, eps=1e-5):
    mu, sigma2 = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    normed = (x - mu) / np.sqrt(sigma2 + eps)
    normed = normed + beta
    return normed * gamma


@wrong("scales by 1 + gamma, as Gemma does where gamma starts at zero", "gamma-added")
def layer_norm(x, gamma, beta, eps=1e-5):
    u = np.mean(x, axis=-1, keepdims=True)
    s = np.mean(np.square(x - u), axis=-1, keepdims=True)
    x_hat = (x - u) / np.sqrt(s + eps)
    return (1 + gamma) * x_hat + beta


@wrong("takes the mean off x itself, in place", "in-place", form=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    std = np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x / std) + beta


# ---------------------------------------------------------------- feed_forward


@wrong("the first bias comes after the ReLU", "relu-before-the-bias")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(0, x @ W_1) + b_1
    return hidden @ W_2 + b_2


@wrong("GELU in place of ReLU, as GPT-2 has it", "another-curve")
def feed_forward(x, W_1, b_1, W_2, b_2):
    h = x @ W_1 + b_1
    h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    return h @ W_2 + b_2


@wrong("ReLU by a mask that keeps positives, but the mask is of x W_1 before the bias", "relu-asks-without-the-bias")
def feed_forward(x, W_1, b_1, W_2, b_2):
    z = x @ W_1
    active = z > 0
    z = z + b_1
    return (z * active) @ W_2 + b_2


@wrong(
    "ReLU against an array of float64 zeros, so float32 becomes float64", "float64-always", "another-dtype", form=True
)
def feed_forward(x, W_1, b_1, W_2, b_2):
    layer1 = np.add(np.matmul(x, W_1), b_1)
    relu = np.maximum(np.zeros(layer1.shape), layer1)
    layer2 = np.add(np.matmul(relu, W_2), b_2)
    return layer2


# ---------------------------------------------------------------- DecoderBlock


@wrong(
    "the residual carries the normed words, and the second norm stands at the very end",
    "second-norm-at-the-end+residual-from-the-normalised",
)
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool, device=x.device))
        if padding is not None:
            mask = mask & padding.unsqueeze(1)
        E = self.norm_1(x)
        dE, _ = self.attention(E, mask)
        E = E + dE
        E = E + self.feed_forward(E)
        return self.norm_2(E)


@wrong("both branches start from the same x, side by side, as in GPT-J", "branches-side-by-side")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        _, L, _ = x.shape
        causal = torch.ones((L, L), dtype=torch.bool).tril()[None, None]
        mask = causal if padding is None else causal & padding[:, None]
        attn, _ = self.attention(self.norm_1(x), mask)
        ff = self.feed_forward(self.norm_2(x))
        return x + attn + ff


@wrong("padding hides the rows of padded queries, not the columns of padded keys", "padding-hides-queries")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.ReLU(),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, x, padding=None):
        seq_len = x.shape[1]
        mask = torch.tril(torch.ones(seq_len, seq_len)).bool()
        if padding is not None:
            mask = mask.unsqueeze(0).unsqueeze(0) & padding.transpose(1, 2).unsqueeze(1)  # (B, 1, L, 1)
        x = x + self.attention(self.norm_1(x), mask)[0]
        x = x + self.feed_forward(self.norm_2(x))
        return x


@wrong("where padding is given it takes the place of the causal mask", "padding-instead-of-causal")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        if padding is not None:
            mask = padding.unsqueeze(1)
        else:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


@wrong("the feed-forward branch is normed by norm_1 again; norm_2 is made and never used", "one-norm-for-both")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[-2]
        mask = torch.arange(L)[:, None] >= torch.arange(L)[None, :]
        if padding is not None:
            mask = mask & padding[:, None, :, :]
        h, _ = self.attention(self.norm_1(x), mask)
        x = x + h
        h = self.feed_forward(self.norm_1(x))
        return x + h


# right ones, for the decoder below
def positional_encoding(length, d_model):
    column = np.arange(d_model)
    angle = np.arange(length)[:, None] / 10000 ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        if padding is not None:
            mask = mask & padding[:, None]
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


# ---------------------------------------------------------------- TransformerDecoder


@wrong("each block gets the embeddings anew, so the last one alone counts", "each-block-gets-the-embedding")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float32))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        L = token_ids.shape[1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[:L]
        out = x
        for block in self.blocks:
            out = block(x, padding)
        return self.output(self.norm(out))


@wrong("positions by text of the batch", "positions-along-the-batch")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pe = torch.from_numpy(positional_encoding(max_length, d_model)).float().unsqueeze(1)  # (max_length, 1, d_model)
        self.register_buffer("positions", pe)
        self.blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.scale = math.sqrt(d_model)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * self.scale
        x = x + self.positions[: x.size(0)]
        for block in self.blocks:
            x = block(x, padding)
        x = self.norm(x)
        return self.output(x)


@wrong("output layer and embedding share one weight, as in GPT-2", "output-shares-the-embedding")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = self.embedding.weight
        self.register_buffer("positions", torch.as_tensor(positional_encoding(max_length, d_model)).float())

    def forward(self, token_ids, padding=None):
        B, L = token_ids.shape
        x = self.embedding(token_ids) * self.embedding.embedding_dim**0.5
        x = x + self.positions[:L].unsqueeze(0)
        for layer in self.blocks:
            x = layer(x, padding)
        return self.output(self.norm(x))


@wrong(
    "two things: embeddings are not scaled, and nothing norms before the output layer",
    "embedding-not-scaled+last-norm-missing",
)
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        tok_emb = self.embedding(token_ids)
        pos_emb = self.positions[: token_ids.shape[1]]
        x = tok_emb + pos_emb
        for block in self.blocks:
            x = block(x, padding)
        return self.output(x)
