"""Written with sizes in mind: what is right for a few words and three heads."""

import math

import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


class Right(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        self.h, self.d = num_heads, d_head or d_model // num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, self.h * self.d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(self.h * self.d, d_model, bias=False)

    def heads(self, x):
        return [layer(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)]

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


@wrong("keys are kept for 64 words", "stops-at-a-length", "stops-at-a-size", "another-length")
class MultiHeadAttention(Right):
    def weigh(self, scores, mask):
        far = torch.arange(scores.shape[-1]) >= 64
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        return super().weigh(scores, mask & ~far)


@wrong("only four heads, the others are empty", "some-heads-only", "stops-at-a-size")
class MultiHeadAttention(Right):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        found = weights @ v
        found = torch.cat([found[..., :4, :, :], torch.zeros_like(found[..., 4:, :, :])], -3)
        return self.W_O(found.transpose(-3, -2).flatten(-2)), weights


@wrong("mask in training only", "mask-in-training-only", "mask-ignored")
class MultiHeadAttention(Right):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask if self.training else None)


@wrong("the paper's dropout on the weights", "dropout", "random")
class MultiHeadAttention(Right):
    def __init__(self, d_model, num_heads, d_head=None, p=0.1):
        super().__init__(d_model, num_heads, d_head)
        self.drop = nn.Dropout(p)

    def weigh(self, scores, mask):
        return self.drop(super().weigh(scores, mask))


@wrong("keys called by small letters", "other-names", form=True)
def projection_shapes(d_model, num_heads, d_k, d_v):
    wide = (d_model, num_heads * d_k)
    return {"W_q": wide, "W_k": wide, "W_v": (d_model, num_heads * d_v), "W_o": (num_heads * d_v, d_model)}
