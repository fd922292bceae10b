"""Written by a fourth person, from the notebooks alone."""

import numpy as np

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- offset_attention


@wrong("A band, not one place.", "all-up-to-the-offset")
def offset_attention(length, offset):
    i, j = np.indices((length, length))
    low, high = min(0, offset), max(0, offset)
    return ((j - i >= low) & (j - i <= high)).astype(float)


# ---------------------------------------------------------------- convolution_heads


@wrong("The tap is in W_V and in W_O.", "both-hold-the-tap")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), kernel.reshape(k * d_in, d_out).copy()


@wrong("W_O has the heads side by side, not below each other.", "w-o-side-by-side")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([np.eye(d_in, dtype=kernel.dtype)] * k),
        np.concatenate(list(kernel), axis=1),
    )


@wrong("Every head has the first tap.", "one-tap-for-all")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([kernel[0]] * k),
        np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1)),
    )


@wrong("Each tap transposed.", "W_O-transposed")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([np.eye(d_in, dtype=kernel.dtype)] * k),
        np.concatenate([t.T.reshape(d_in, d_out) for t in kernel]),
    )


# ---------------------------------------------------------------- convolution_by_attention


@wrong("One tap is left out.", "last-tap-missing")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    weights = np.stack([offset_attention(L, j - (k - 1) // 2) for j in range(k)]).astype(X.dtype)
    out = sum((weights[j] @ X @ kernel[j] for j in range(k - 1)), np.zeros((L, kernel.shape[2]), X.dtype))
    return out, weights


# ---------------------------------------------------------------- translation_test


@wrong("Zeros come in at the end, nothing wraps.", "rows-lost")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved_in = np.zeros_like(X)
    for i in range(L):
        if 0 <= i + shift < L:
            moved_in[i + shift] = X[i]
    moved, plain = layer(moved_in), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all(np.abs(plain[i] - moved[i + shift]).max() < 1e-6 for i in rows)


@wrong("Only the first column is compared.", "one-column-only")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all(abs(plain[i][0] - moved[i + shift][0]) < 1e-6 for i in rows)


@wrong("Rounding counts as a difference.", "to-the-last-bit")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all((plain[i] == moved[i + shift]).all() for i in rows)


@wrong("The mean difference is compared.", "average-difference")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return abs(sum((plain[i] - moved[i + shift]).sum() for i in rows)) < 1e-6


@wrong("I + shift may lie near the end.", "border-of-one-output")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if 0 <= i + shift < L]
    return all(np.abs(plain[i] - moved[i + shift]).max() < 1e-6 for i in rows)


@wrong("Returns True whatever comes.", "always-true")
def translation_test(layer, X, shift, margin):
    layer(X)
    return True


# What they call is right.
right = COURSE.of_exercise("offset_attention").reference()
offset_attention = right.offset_attention
