"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------------------------------------- positional_encoding


@wrong(
    "All sines stand in the left half and all cosines in the right half, instead of side by side.",
    "sines-and-cosines-concatenated",
)
def positional_encoding(length, d_model):
    half = (d_model + 1) // 2
    pos = np.arange(length).reshape(-1, 1)
    i = np.arange(half).reshape(1, -1)
    angles = pos / np.power(10000.0, 2 * i / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :d_model]


@wrong(
    "The loop variable already runs over even columns, and the exponent doubles it once more, so the waves get slow too fast.",
    "exponent-doubled",
)
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            if i + 1 < d_model:
                pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * i) / d_model)))
    return pe


@wrong("An odd d_model fails, because there is one cosine more than there are odd columns.", "fails-for-odd-widths")
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    position = np.arange(0, length)[:, np.newaxis]
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return pe


def positional_encoding(length, d_model):
    position = np.arange(length)[:, None]
    column = np.arange(d_model)
    angle = position / 10000 ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


# ------------------------------------------------------------------------------------------------------- layer_norm


@wrong("The variance divides by d_model - 1, not by d_model.", "divided-by-n-minus-1")
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    sigma2 = np.var(x, axis=-1, keepdims=True, ddof=1)
    x_hat = (x - mu) / np.sqrt(sigma2 + eps)
    return gamma * x_hat + beta


@wrong(
    "Mean and variance are taken over the words (axis 0), as in batch norm, not over one word's own features.",
    "normalised-over-the-batch",
)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    out = (x - mean) / np.sqrt(var + eps)
    out = gamma * out + beta
    return out


@wrong(
    "eps is added to the standard deviation, outside the root, instead of to the variance under it.",
    "eps-outside-the-root",
)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    std = x.std(-1, keepdims=True)
    return gamma * (x - mean) / (std + eps) + beta


@wrong("x is centred in place, so the caller's array is changed.", "in-place", form=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    var = np.mean(x**2, axis=-1, keepdims=True)
    return x / np.sqrt(var + eps) * gamma + beta


# ----------------------------------------------------------------------------------------------------- feed_forward


@wrong("ReLU comes before the bias b_1 is added, so what goes on can be below zero.", "relu-before-the-bias")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(0, np.matmul(x, W_1)) + b_1
    return np.matmul(hidden, W_2) + b_2


# ----------------------------------------------------------------------------------------------------- DecoderBlock


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model must be a multiple of num_heads")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        def split(t):
            return t.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)

        q, k, v = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


@wrong("This is post-norm: the norm stands after the sum instead of in front of the branch.", "post-norm")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, device=x.device)).bool()
        if padding is not None:
            mask = mask & padding.unsqueeze(1)
        attn_out, _ = self.attention(x, mask)
        x = self.norm_1(x + attn_out)
        x = self.norm_2(x + self.feed_forward(x))
        return x


@wrong("The residual carries the normalised x past each branch instead of the plain x.", "residual-from-the-normalised")
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
        B, L, _ = x.shape
        causal = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        mask = causal if padding is None else causal & padding[:, None]
        x = self.norm_1(x)
        x = x + self.attention(x, mask)[0]
        x = self.norm_2(x)
        x = x + self.feed_forward(x)
        return x


@wrong(
    "Where padding is given it takes the place of the causal mask, so words see later words.",
    "padding-instead-of-causal",
)
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        if padding is not None:
            mask = padding.unsqueeze(1)  # (B, 1, 1, L)
        else:
            L = x.shape[1]
            mask = torch.tril(torch.ones((L, L), dtype=torch.bool))
        h = x + self.attention(self.norm_1(x), mask)[0]
        return h + self.feed_forward(self.norm_2(h))


@wrong("`x += ...` writes into the tensor of the caller.", "inputs-changed", form=True)
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
            mask = mask & padding.unsqueeze(1)
        x += self.attention(self.norm_1(x), mask)[0]
        x += self.feed_forward(self.norm_2(x))
        return x


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
            mask = mask & padding.unsqueeze(-3)
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


# ----------------------------------------------------------------------------------------------- TransformerDecoder


@wrong("The embedding is not multiplied by the square root of d_model.", "embedding-not-scaled")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float32))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) + self.positions[: token_ids.size(1)]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))


@wrong(
    "The same block object stands in the list num_layers times, so all layers share one set of weights.",
    "one-block-for-all-layers",
)
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        pe = torch.from_numpy(positional_encoding(max_length, d_model)).float()
        self.register_buffer("positions", pe)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff)] * num_layers)
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.positions[: token_ids.shape[1], :]
        for layer in self.blocks:
            x = layer(x, padding)
        x = self.norm(x)
        logits = self.output(x)
        return logits


@wrong("padding is never handed on to the blocks, so real words look at padding.", "padding-ignored")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.scale = d_model**0.5
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(DecoderBlock(d_model, num_heads, d_ff))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        B, L = token_ids.shape
        x = self.embedding(token_ids) * self.scale + self.positions[:L].unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


@wrong(
    "The last norm is never used, so the sum of the blocks goes to the output layer as it is; "
    "a softmax turns the logits into probabilities.",
    "last-norm-missing+softmax-on-the-logits",
)
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.positions[: token_ids.shape[1]]
        for b in self.blocks:
            x = b(x, padding=padding)
        return torch.softmax(self.output(x), dim=-1)


@wrong(
    "The positions are an nn.Parameter, so they would be trained; they should be a buffer.",
    "positions-learnt",
    form=True,
)
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        L = token_ids.shape[-1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[:L]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))
