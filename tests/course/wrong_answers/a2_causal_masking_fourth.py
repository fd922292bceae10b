"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- masked_softmax


@wrong('The stand-in for "not allowed" is not small enough.', "small-fill", "max-over-masked")
def masked_softmax(scores, mask):
    s = np.where(mask, scores, scores.dtype.type(-100))
    e = np.exp(s - s.max(-1, keepdims=True)) * mask
    return e / np.where(e.sum(-1, keepdims=True) == 0, 1, e.sum(-1, keepdims=True)).astype(s.dtype)


@wrong("Masked keys keep a tiny weight.", "leak-of-1e-9")
def masked_softmax(scores, mask):
    s = np.where(mask, scores, scores.min(-1, keepdims=True) - 10)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong("Not the largest of the allowed is subtracted.", "mean-subtracted")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = (np.where(mask, scores, 0).sum(-1, keepdims=True) / np.maximum(mask.sum(-1, keepdims=True), 1)).astype(
        scores.dtype
    )
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


@wrong("Not the largest of the allowed is subtracted.", "first-allowed-subtracted")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.take_along_axis(scores, mask.argmax(-1)[..., None], -1)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


@wrong("Not the largest of the allowed is subtracted.", "smallest-subtracted")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.where(mask, scores, np.inf).min(-1, keepdims=True)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


@wrong("Not the largest of the allowed is subtracted.", "largest-absolute-value", "large-scores")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.where(mask, np.abs(scores), 0).max(-1, keepdims=True)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


@wrong("Not the largest of the allowed is subtracted.", "last-allowed-subtracted")
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.take_along_axis(scores, mask.shape[-1] - 1 - mask[..., ::-1].argmax(-1)[..., None], -1)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


# ---------------------------------------------------------------- causal_attention


@wrong("One text's padding for the whole batch.", "batch-item-0-for-all")
def causal_attention(Q, K, V, padding=None):
    m = causal_mask(Q.shape[-2])
    if padding is not None:
        m = m & padding[0]
    w = masked_softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), m)
    return w @ V, w


# What they call is right.
right = COURSE.of_exercise("causal_mask").reference()
causal_mask, masked_softmax = right.causal_mask, right.masked_softmax
