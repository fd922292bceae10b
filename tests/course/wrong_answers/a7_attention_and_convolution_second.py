"""Written by somebody who knew the exercises and no catalogue."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


def output_projection(heads, W_O):
    h, L, d_v = heads.shape
    return heads.transpose(1, 0, 2).reshape(L, h * d_v) @ W_O


# ---------------------------------------------------------------- offset_attention


@wrong(
    "looks after the right border only: a negative place counts from the end",
    "past-the-end-only",
    "negative-index",
    "wraps-around-at-the-left",
)
def offset_attention(length, offset):
    A = np.zeros((length, length))
    for i in range(length):
        j = i + offset
        if -length <= j < length:
            A[i, j] = 1.0
    return A


@wrong("what would lie outside is mirrored at the border", "mirrored-at-the-border")
def offset_attention(length, offset):
    i = np.arange(length)
    m = i + offset
    m = np.abs(m)
    m = np.where(m > length - 1, 2 * (length - 1) - m, m)
    return (m[:, None] == i[None, :]).astype(float)


@wrong("a query without a key looks at all words evenly, since rows have to sum to one", "evened-out-at-the-border")
def offset_attention(length, offset):
    weights = np.eye(length, k=offset)
    empty = weights.sum(axis=-1) == 0
    weights[empty] = 1 / length
    return weights


@wrong("whole numbers, as a comparison gives them", "another-dtype", "truth-values", form=True)
def offset_attention(length, offset):
    query = np.arange(length).reshape(-1, 1)
    key = np.arange(length).reshape(1, -1)
    return (key - query == offset).astype(int)


# ---------------------------------------------------------------- convolution_heads


@wrong("the rows of W_O are in the order of the columns of the taps, all heads mixed", "W_O-interleaved", form=True)
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    W_V = np.stack([np.eye(d_in, dtype=kernel.dtype)] * k)
    W_O = kernel.transpose(1, 0, 2).reshape(k * d_in, d_out)
    return offsets, W_V, W_O


@wrong(
    "every row of the identity is repeated k times, where the identity was to be repeated",
    "identity-rows-repeated",
    "W_O-interleaved",
    form=True,
)
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = np.arange(k) - (k - 1) // 2
    W_V = kernel.copy()
    W_O = np.repeat(np.eye(d_out, dtype=kernel.dtype), k, axis=0)
    return offsets, W_V, W_O


@wrong("the heads are averaged: an identity divided by the number of taps", "heads-averaged")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = list(range(-((k - 1) // 2), k // 2 + 1))
    W_O = np.tile(np.eye(d_out), (k, 1)) / k
    return offsets, kernel.copy(), W_O.astype(kernel.dtype)


@wrong("one number a head: d_v is 1, which keeps a tap of rank one alone", "one-number-a-head", "rank-one-only")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    U, s, Vh = np.linalg.svd(kernel)
    W_V = U[:, :, :1] * s[:, None, :1]  # (k, d_in, 1)
    W_O = Vh[:, 0, :]  # (k, d_out)
    return offsets, W_V.astype(kernel.dtype), W_O.astype(kernel.dtype)


# ---------------------------------------------------------------- convolution_by_attention


def _taps(length, k):
    where = np.arange(length)
    return np.stack([where[None, :] - where[:, None] == j - (k - 1) // 2 for j in range(k)]).astype(float)


@wrong("at the borders the result is made as large as if all taps had heard something", "border-made-up-for")
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    weights = _taps(L, k).astype(X.dtype)
    output = sum(weights[j] @ X @ kernel[j] for j in range(k))
    heard = weights.sum(axis=(0, 2))[:, None]  # (L, 1): taps that lie inside
    output = output * (k / np.maximum(heard, 1))
    return output.astype(X.dtype), weights


@wrong("causal, as in WaveNet: all taps look back", "looks-back-only")
def convolution_by_attention(X, kernel):
    k = len(kernel)
    L = len(X)
    weights = np.stack([np.eye(L, k=j - (k - 1)) for j in range(k)]).astype(X.dtype)
    values = X @ kernel
    output = (weights @ values).sum(axis=0)
    return output, weights


@wrong(
    "sums the tap matrices first: each place gets the same mixture for all taps",
    "one-matrix-for-all-taps",
    "taps-summed-first",
)
def convolution_by_attention(X, kernel):
    k, d_in, d_out = kernel.shape
    weights = _taps(X.shape[0], k).astype(X.dtype)
    heard = weights.sum(axis=0) @ X
    return heard @ kernel.sum(axis=0), weights


@wrong("gives the sum of all heads' weights in place of one map a head", "weights-added-up", form=True)
def convolution_by_attention(X, kernel):
    L, k = X.shape[0], kernel.shape[0]
    weights = np.zeros((L, L), dtype=X.dtype)
    output = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    for j in range(k):
        A = np.eye(L, k=j - (k - 1) // 2, dtype=X.dtype)
        output += A @ (X @ kernel[j])
        weights += A
    return output, weights


# ---------------------------------------------------------------- translation_test


@wrong("rolls without an axis, so numbers move and not rows", "columns-roll-along", form=True)
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved = np.roll(X, shift)
    one, other = layer(X), layer(moved)
    for i in range(margin, L - margin):
        if margin <= i + shift < L - margin:
            if np.abs(one[i] - other[i + shift]).max() >= 1e-6:
                return False
    return True


@wrong("the difference may be as negative as it likes", "difference-with-a-sign")
def translation_test(layer, X, shift, margin):
    L = X.shape[0]
    a = layer(X)
    b = layer(np.roll(X, shift, axis=0))
    rows = np.arange(L)
    ok = (rows >= margin) & (rows < L - margin) & (rows + shift >= margin) & (rows + shift < L - margin)
    i = rows[ok]
    return bool(np.all(a[i] - b[i + shift] < 1e-6))


@wrong("compares all rows between the margins, also those that have come in at the other end", "what-came-in-compared")
def translation_test(layer, X, shift, margin):
    shifted_out = np.roll(layer(X), shift, axis=0)
    out_shifted = layer(np.roll(X, shift, axis=0))
    inner = slice(margin, len(X) - margin)
    return bool(np.allclose(shifted_out[inner], out_shifted[inner], rtol=0, atol=1e-6))


@wrong("sorted rows are compared, whatever their order", "order-of-rows-lost")
def translation_test(layer, X, shift, margin):
    L = len(X)
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    i = np.array([i for i in range(margin, L - margin) if margin <= i + shift < L - margin], dtype=int)
    return bool(np.allclose(np.sort(a[i], axis=0), np.sort(b[i + shift], axis=0), atol=1e-6))


@wrong("mean of the taps that hear something", "heads-averaged")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    w = np.stack([np.eye(L, k=j - (k - 1) // 2, dtype=X.dtype) for j in range(k)])
    heard = np.maximum(w.sum((0, 2)), 1)[:, None].astype(X.dtype)
    return sum(w[j] @ X @ kernel[j] for j in range(k)) / heard, w


@wrong("a softmax over the table of zeros and ones", "softmax-taken")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    w = np.stack([np.eye(L, k=j - (k - 1) // 2) for j in range(k)])
    w = np.exp(w) / np.exp(w).sum(-1, keepdims=True)
    w = w.astype(X.dtype)
    return sum(w[j] @ X @ kernel[j] for j in range(k)), w
