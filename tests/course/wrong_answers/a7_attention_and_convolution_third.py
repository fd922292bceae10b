"""Written by a third person, who knew the exercises and no catalogue."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ------------------------------------------------------------------------------------------------- offset_attention


@wrong(
    "np.roll wraps around, so a word without such a neighbour looks at the other end of the text instead of at nothing.",
    "wraps-around",
)
def offset_attention(length, offset):
    return np.roll(np.eye(length), offset, axis=1)


@wrong("The offset has the wrong sign: query i looks at key i - offset.", "offset-of-the-wrong-sign")
def offset_attention(length, offset):
    A = np.zeros((length, length))
    for i in range(length):
        for m in range(length):
            if i == m + offset:
                A[i, m] = 1.0
    return A


def offset_attention(length, offset):
    return np.eye(length, k=offset) if abs(offset) < length else np.zeros((length, length))


# ------------------------------------------------------------------------------------------------ convolution_heads


@wrong(
    "The offsets begin at -(k // 2), which is one too far to the left for an even number of taps.", "even-off-by-one"
)
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = list(range(-(k // 2), k - k // 2))
    W_V = kernel.copy()
    W_O = np.concatenate([np.eye(d_out, dtype=kernel.dtype) for _ in range(k)], axis=0)
    return offsets, W_V, W_O


@wrong("The kernel is flipped, as in books on signals: the first head has the last tap.", "kernel-flipped")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    W_V = np.stack([np.eye(d_in) for _ in range(k)]).astype(kernel.dtype)
    W_O = kernel[::-1].reshape(k * d_in, d_out).copy()
    return offsets, W_V, W_O


@wrong("np.eye without a dtype makes W_O float64 for a float32 kernel.", "another-kind", form=True)
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    offsets = np.arange(k) - (k - 1) // 2
    return offsets, kernel.copy(), np.vstack([np.eye(d_out)] * k)


def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    return offsets, kernel.copy(), np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v) @ W_O


# ----------------------------------------------------------------------------------------- convolution_by_attention


@wrong("The fixed weights go through a softmax, so every head looks a little at every word.", "softmax-taken")
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    L = len(X)
    scores = np.stack([offset_attention(L, o) for o in offsets]).astype(X.dtype)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    heads = weights @ (X @ W_V)
    return output_projection(heads, W_O), weights


@wrong(
    "The heads are put together by a reshape without bringing the word axis to the front, so words and heads get mixed.",
    "concat-without-transpose",
)
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    L = X.shape[0]
    weights = np.array([offset_attention(L, o) for o in offsets], dtype=X.dtype)  # (k, L, L)
    V = np.einsum("li,kio->klo", X, W_V)  # (k, L, d_v)
    heads = np.einsum("klm,kmo->klo", weights, V)
    concat = heads.reshape(L, -1)
    return concat @ W_O, weights


@wrong(
    "The float64 weights of offset_attention make the output float64 for a float32 input.", "float64-always", form=True
)
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    weights = np.stack([offset_attention(len(X), o) for o in offsets])
    heads = np.stack([weights[j] @ (X @ W_V[j]) for j in range(len(offsets))])
    return output_projection(heads, W_O), weights


# ------------------------------------------------------------------------------------------------- translation_test


@wrong(
    "The outputs are compared row for row; that of the moved input stands shift rows further on.", "output-not-moved"
)
def translation_test(layer, X, shift, margin):
    L = X.shape[0]
    y = layer(X)
    y_shifted = layer(np.roll(X, shift, axis=0))
    for i in range(margin, L - margin):
        if margin <= i + shift <= L - 1 - margin:
            if np.abs(y[i] - y_shifted[i]).max() > 1e-6:
                return False
    return True


@wrong(
    "Only row i + shift is kept out of the margin, not row i, so rows from the border or from round the end are compared as well.",
    "what-came-in-compared",
)
def translation_test(layer, X, shift, margin):
    L = len(X)
    expected = np.roll(layer(X), shift, axis=0)
    got = layer(np.roll(X, shift, axis=0))
    inner = slice(margin, L - margin)
    return bool(np.all(np.abs(expected[inner] - got[inner]) < 1e-6))
