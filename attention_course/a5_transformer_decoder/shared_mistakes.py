"""What the known mistakes of a5 share: a right attention, a right block and a right decoder."""

import math

import torch
import torch.nn as nn


class Attention(nn.Module):
    """Right multi-head attention."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        query, key, value = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2)), weights


class RightBlock(nn.Module):
    """A right block in small steps. Each mistake gets one of them wrong."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def causal(self, L):
        return torch.ones(L, L, dtype=torch.bool).tril()

    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding.unsqueeze(-3)

    def attend(self, x, padding):
        return self.attention(x, self.mask(x.shape[-2], padding))[0]

    def forward(self, x, padding=None):
        x = x + self.attend(self.norm_1(x), padding)
        return x + self.feed_forward(self.norm_2(x))


class Dropping(nn.Module):
    """A ReLU that also sets a part of the hidden features to zero."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return torch.relu(x) * ~self.part(torch.arange(x.shape[-1]), x.shape[-1])


def norm_parts(name, by, more):
    """The input of a branch: the norm called `name`, multiplied by `by`, plus `more`."""
    return lambda module, x: by * getattr(module, name)(x) + more


def right_positions(length, d_model):
    column = torch.arange(d_model)
    angles = torch.arange(length)[:, None].double() / 10000 ** (2 * (column // 2) / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos()).float()


class RightDecoder(nn.Module):
    """A right decoder in small steps. Each mistake gets one of them wrong."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", right_positions(max_length, d_model))
        self.blocks = nn.ModuleList(RightBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def embed(self, token_ids):
        return self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[: token_ids.shape[-1]]

    def stack(self, x, padding):
        for block in self.blocks:
            x = block(x, padding)
        return x

    def logits(self, x):
        return self.output(self.norm(x))

    def forward(self, token_ids, padding=None):
        return self.logits(self.stack(self.embed(token_ids), padding))
