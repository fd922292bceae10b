"""Written with sizes in mind: what is right for a few words and three blocks."""

import math

import numpy as np
import torch
from torch import nn

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()
RIGHT = COURSE.of_exercise("DecoderBlock").reference()


@wrong("a table of 64 positions, then the last one again", "positions-cut", "stops-at-a-size")
def positional_encoding(length, d_model):
    place = np.clip(np.arange(length), 0, 63)[:, None]
    column = np.arange(d_model)[None]
    angle = place * 10000.0 ** (-(column - column % 2) / d_model)
    return np.where(column % 2 == 1, np.cos(angle), np.sin(angle))


@wrong("gamma and beta before the norm", "affine-first")
def layer_norm(x, gamma, beta, eps=1e-5):
    y = gamma * x + beta
    return (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + eps)


@wrong("eps of 1e-6", "another-default-eps", "another-eps")
class DecoderBlock(RIGHT.DecoderBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)


@wrong("the paper's dropout after each branch", "dropout", "random")
class DecoderBlock(RIGHT.DecoderBlock):
    def __init__(self, d_model, num_heads, d_ff, p=0.1):
        super().__init__(d_model, num_heads, d_ff)
        self.drop_1, self.drop_2 = nn.Dropout(p), nn.Dropout(p)

    def forward(self, x, padding=None):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        mask = mask if padding is None else mask & padding[:, None]
        x = x + self.drop_1(self.attention(self.norm_1(x), mask)[0])
        return x + self.drop_2(self.feed_forward(self.norm_2(x)))


@wrong("a mask of block_size 16", "mask-cut", "stops-at-a-size", "stops-at-a-length")
class DecoderBlock(RIGHT.DecoderBlock):
    def __init__(self, d_model, num_heads, d_ff, block_size=16):
        super().__init__(d_model, num_heads, d_ff)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).bool())

    def forward(self, x, padding=None):
        L = x.shape[1]
        mask = self.bias[:L, :L]
        mask = mask if padding is None else mask & padding[:, None]
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))


@wrong("three blocks run", "blocks-cut", "stops-at-a-size")
class TransformerDecoder(RIGHT.TransformerDecoder):
    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[: token_ids.shape[1]]
        for number, block in enumerate(self.blocks):
            if number < 3:
                x = block(x, padding)
        return self.output(self.norm(x))
