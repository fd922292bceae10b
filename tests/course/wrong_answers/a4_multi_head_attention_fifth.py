"""Written by a fifth person, from the notebooks alone."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- projection_shapes


@wrong("W_V never narrower than d_model.", "W_V-too-wide")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (d_model, num_heads * d_k),
        "W_K": (d_model, num_heads * d_k),
        "W_V": (d_model, max(d_model, num_heads * d_v)),
        "W_O": (num_heads * d_v, d_model),
    }


# ---------------------------------------------------------------- output_projection


@wrong("Heads not swapped where there are as many words.", "concat-without-transpose")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    by_word = heads if h == L else heads.swapaxes(-3, -2)
    concatenated = by_word.reshape(*batch, L, h * d_v)
    return concatenated @ W_O


@wrong("Mean over three heads and more.", "heads-averaged")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    by_word = heads.swapaxes(-3, -2)
    concatenated = by_word.reshape(*batch, L, h * d_v)
    return concatenated @ W_O / (h if h > 2 else 1)


# ---------------------------------------------------------------- MultiHeadAttention


@wrong("W_V takes no notice of d_head.", "d_head-ignored")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(
            d_model, num_heads * (d_model // num_heads if d_model % num_heads == 0 else d_head), bias=False
        )
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)


@wrong("No gradient into W_K.", "gradient-missing")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(F.linear(x, self.W_K.weight.detach())), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)


@wrong("Mask kept for the next call.", "mask-kept")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        self.mask = mask = mask if mask is not None else getattr(self, "mask", None)
        if mask is not None and mask.shape[-1] != x.shape[-2]:
            mask = None

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)


@wrong("No error for a remainder.", "remainder-dropped", "error-missing", "no-error")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)
