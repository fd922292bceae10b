"""What known mistakes of a5 share: a right attention and a right block."""

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
    """A right block in small steps; each mistake below gets one of them wrong."""

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
