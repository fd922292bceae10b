"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np
import torch
import torch.nn as nn

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- projection_shapes


@wrong("Num_heads left out (one head's width).", "one-head-s-matrices")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(W_Q=(d_model, d_k), W_K=(d_model, d_k), W_V=(d_model, d_v), W_O=(num_heads * d_v, d_model))


@wrong("W_O's rows from d_k in place of d_v.", "W_O-from-d_k")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(
        W_Q=(d_model, num_heads * d_k),
        W_K=(d_model, num_heads * d_k),
        W_V=(d_model, num_heads * d_v),
        W_O=(num_heads * d_k, d_model),
    )


# ---------------------------------------------------------------- multi_head_attention


@wrong("The mask is not used.", "mask-ignored")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (np.stack(np.split(X @ W, num_heads, -1), -3) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return output_projection(w @ v, W_O), w


@wrong("Split by a plain reshape.", "split-without-transpose")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *b, L, _ = X.shape
    q, k, v = ((X @ W).reshape(*b, num_heads, L, -1) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    m = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return output_projection(w @ v, W_O), w


@wrong("A causal mask is put in.", "causal-by-itself")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (np.stack(np.split(X @ W, num_heads, -1), -3) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    m = np.tri(X.shape[-2], dtype=bool)
    m = np.broadcast_to(m if mask is None else m & mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return output_projection(w @ v, W_O), w


# ---------------------------------------------------------------- MultiHeadAttention


@wrong("Only (B, L, d_model) works.", "one-batch-axis-by-view")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("x")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        q, k, v = (W(x).view(B, L, self.h, self.d).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, -1)), w


@wrong("No ValueError where it does not divide.", "remainder-dropped")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        d = d_head or d_model // num_heads
        self.h = num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, -1)).transpose(-2, -3) for W in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask
        return self.W_O((w @ v).transpose(-2, -3).flatten(-2)), w


# What they call is right.
right = COURSE.of_exercise("output_projection").reference()
output_projection = right.output_projection
