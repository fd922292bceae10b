"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np
import torch
import torch.nn as nn

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- layer_norm


@wrong("The eps given is not used.", "eps-fixed")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + beta


@wrong("Divided by the largest absolute value.", "max-abs")
def layer_norm(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return gamma * c / (np.abs(c).max(-1, keepdims=True) + eps) + beta


# ---------------------------------------------------------------- feed_forward


@wrong("Absolute value in place of ReLU.", "absolute-value")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.abs(x @ W_1 + b_1) @ W_2 + b_2


@wrong("B_2 is left out.", "b_2-missing")
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.maximum(x @ W_1 + b_1, 0) @ W_2


# ---------------------------------------------------------------- DecoderBlock


@wrong("Padding without an axis for the heads.", "padding-without-an-axis-for-heads")
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[1]
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if padding is not None:
            mask = mask & padding
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


# ---------------------------------------------------------------- TransformerDecoder


@wrong("Positions are multiplied by the root as well.", "positions-scaled-too")
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())

    def forward(self, token_ids, padding=None):
        x = (self.embedding(token_ids) + self.positions[: token_ids.shape[1]]) * math.sqrt(self.embedding.embedding_dim)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))


# What they call is right.
right = COURSE.of_exercise("DecoderBlock").reference()
MultiHeadAttention, DecoderBlock, positional_encoding = (
    right.MultiHeadAttention,
    right.DecoderBlock,
    right.positional_encoding,
)
