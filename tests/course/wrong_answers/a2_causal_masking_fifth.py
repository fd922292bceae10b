"""Written by a fifth person, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- causal_mask


@wrong("Positions in bytes.", "positions-overflow")
def causal_mask(length):
    position = np.arange(length).astype(np.int8)
    return position[None, :] <= position[:, None]


# ---------------------------------------------------------------- padding_mask


@wrong("Lengths in bytes.", "lengths-overflow")
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths).astype(np.int8)[:, None, None]
    return np.arange(max_length) < lengths


@wrong("Lengths popped off their list.", "inputs-changed")
def padding_mask(lengths, max_length):
    lengths = lengths if isinstance(lengths, list) else lengths.tolist()
    rows = []
    while lengths:
        rows.append(lengths.pop(0))
    return np.array([[[j < n for j in range(max_length)]] for n in rows])


# ---------------------------------------------------------------- masked_softmax


@wrong("Even where nothing is allowed at all.", "evenly-for-nothing")
def masked_softmax(scores, mask):
    allowed = np.where(mask, scores, -np.inf) if mask.any() else scores * 0
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong("Even rows of nothing, in float64.", "evenly-for-nothing", "evenly-for-nothing+float64-always")
def masked_softmax(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1) + (total == 0) / allowed.shape[-1]


@wrong("A score of zero is hidden.", "zero-scores-hidden")
def masked_softmax(scores, mask):
    allowed = scores * mask
    allowed = np.where(allowed == 0, -np.inf, allowed)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong("Square masks of a batch turned over.", "square-mask-transposed")
def masked_softmax(scores, mask):
    allowed = np.where(
        mask.swapaxes(-1, -2) if mask.ndim > 2 and mask.shape[-1] == mask.shape[-2] else mask, scores, -np.inf
    )
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)
