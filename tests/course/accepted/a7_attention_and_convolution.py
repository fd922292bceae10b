"""Correct answers to a7 in many styles."""

import numpy as np

from autograder.testing import Catalogue

accepted = Catalogue()


def rule(k):
    return [j - (k - 1) // 2 for j in range(k)]


# ---------------------------------------------------------------- offset_attention


@accepted("np.eye")
def offset_attention(length, offset):
    return np.eye(length, k=offset)


@accepted("a loop that looks before it writes")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    for i in range(length):
        if 0 <= i + offset < length:
            weights[i, i + offset] = 1.0
    return weights


@accepted("an identity, moved, and cleared where it came round")
def offset_attention(length, offset):
    if abs(offset) >= length:
        return np.zeros((length, length))
    weights = np.roll(np.eye(length), offset, axis=1)
    if offset > 0:
        weights[length - offset :] = 0
    if offset < 0:
        weights[:-offset] = 0
    return weights


@accepted("a softmax that is hot, with empty rows cleared")
def offset_attention(length, offset):
    place = np.arange(length)
    scores = -1e4 * (place - place[:, None] - offset) ** 2.0
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exps / exps.sum(axis=1, keepdims=True)
    weights[(place + offset < 0) | (place + offset >= length)] = 0
    return weights


@accepted("an identity cut out of a wider one")
def offset_attention(length, offset):
    wide = np.concatenate([np.zeros((length, length)), np.eye(length), np.zeros((length, length))], axis=1)
    start = length - max(-length, min(length, offset))
    return wide[:, start : start + length].copy()


@accepted("fromfunction")
def offset_attention(length, offset):
    return np.fromfunction(lambda i, m: np.where(m == i + offset, 1.0, 0.0), (length, length))


@accepted("np.put on flat indices")
def offset_attention(length, offset):
    query = np.arange(length)
    query = query[(query + offset >= 0) & (query + offset < length)]
    weights = np.zeros(length * length)
    weights[query * length + query + offset] = 1
    return weights.reshape(length, length)


# ---------------------------------------------------------------- convolution_heads


@accepted("values hand on, W_O is the kernel")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return rule(k), W_V, kernel.reshape(k * d_in, d_out)


@accepted("values do the work, offsets as an array")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    offsets = np.arange(k) - (k - 1) // 2
    return offsets, kernel, np.concatenate([np.eye(d_out, dtype=kernel.dtype)] * k)


@accepted("singular values, as narrow as it goes")
def convolution_heads(kernel):
    U, S, Vt = np.linalg.svd(kernel, full_matrices=False)
    W_O = S[..., None] * Vt
    return tuple(rule(len(kernel))), U, W_O.reshape(-1, kernel.shape[2])


@accepted("a random basis and its inverse")
def convolution_heads(kernel):
    k, d_in, _ = kernel.shape
    basis = np.linalg.qr(np.random.default_rng(5).normal(size=(d_in, d_in)))[0].astype(kernel.dtype)
    W_O = np.concatenate([basis.T @ tap for tap in kernel])
    return rule(k), np.stack([basis] * k), W_O


@accepted("heads from right to left")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    eye = np.eye(d_out, dtype=kernel.dtype)
    return rule(k)[::-1], kernel[::-1].copy(), np.vstack([eye for _ in range(k)])


@accepted("wider than needed")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.zeros((k, d_in, d_out + 2), dtype=kernel.dtype)
    W_O = np.zeros((k, d_out + 2, d_out), dtype=kernel.dtype)
    for j in range(k):
        W_V[j, :, :d_out] = 2 * kernel[j]
        W_O[j, :d_out] = np.eye(d_out) / 2
    return rule(k), W_V, W_O.reshape(-1, d_out)


@accepted("a rotation between the two, by QR")
def convolution_heads(kernel):
    k = len(kernel)
    pairs = [np.linalg.qr(tap) for tap in kernel]
    W_V = np.stack([q for q, _ in pairs]).astype(kernel.dtype)
    W_O = np.vstack([r for _, r in pairs]).astype(kernel.dtype)
    return [*range(-((k - 1) // 2), 1 + k // 2)], W_V, W_O


# ---------------------------------------------------------------- convolution_by_attention


@accepted("heads in a list, concatenated")
def convolution_by_attention(X, kernel):
    k, d_in, d_out = kernel.shape
    weights = [np.eye(len(X), k=o, dtype=X.dtype) for o in rule(k)]
    return np.concatenate([A @ X for A in weights], axis=-1) @ kernel.reshape(k * d_in, d_out), np.array(weights)


@accepted("one einsum")
def convolution_by_attention(X, kernel):
    weights = np.stack([np.eye(len(X), k=o, dtype=X.dtype) for o in rule(len(kernel))])
    return np.einsum("jlm,mi,jio->lo", weights, X, kernel), weights


@accepted("heads from right to left, one after the other")
def convolution_by_attention(X, kernel):
    weights, output = [], 0
    for offset, tap in list(zip(rule(len(kernel)), kernel, strict=True))[::-1]:
        weights.append(np.eye(len(X), k=offset))
        output = output + weights[-1].astype(X.dtype) @ (X @ tap)
    return output, np.stack(weights)


@accepted("its own earlier functions, values before weights")
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    weights = np.array([offset_attention(len(X), o) for o in offsets], dtype=X.dtype)
    heads = np.einsum("jlm,jmv->ljv", weights, X @ W_V)  # (L, k, d_v): the heads of one word side by side
    return heads.reshape(len(X), -1) @ W_O, weights


@accepted("loops")
def convolution_by_attention(X, kernel):
    k, _, d_out = kernel.shape
    output, weights = np.zeros((len(X), d_out), dtype=X.dtype), np.zeros((k, len(X), len(X)), dtype=X.dtype)
    for i in range(len(X)):
        for j, offset in enumerate(rule(k)):
            if 0 <= i + offset < len(X):
                weights[j, i, i + offset] = 1
                output[i] += X[i + offset] @ kernel[j]
    return output, weights


@accepted("one matrix for all")
def convolution_by_attention(X, kernel):
    L, d_out = len(X), kernel.shape[2]
    weights = [np.eye(L, k=o) for o in rule(len(kernel))]
    band = sum(np.kron(A, tap.T) for A, tap in zip(weights, kernel, strict=True))  # (L * d_out, L * d_in)
    return (band @ X.ravel()).reshape(L, d_out).astype(X.dtype), np.stack(weights)


@accepted("weights left float64, their products cast")
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    weights = np.array([offset_attention(X.shape[0], o) for o in offsets])
    found = np.einsum("jim,jmv->jiv", weights, X @ W_V).astype(X.dtype)
    return np.concatenate(list(found), axis=-1) @ W_O, weights


# ---------------------------------------------------------------- translation_test


@accepted("slices by the sign of the shift")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved = np.roll(X, shift, axis=0)
    first, last = max(margin, margin - shift), min(L - margin, L - margin - shift)
    return np.allclose(layer(X)[first:last], layer(moved)[first + shift : last + shift], atol=1e-6)


@accepted("a loop over rows")
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved = np.array([X[(i - shift) % L] for i in range(L)])
    before, after = layer(X), layer(moved)
    for i in range(margin, L - margin):
        if margin <= i + shift <= L - 1 - margin and np.abs(before[i] - after[i + shift]).max() > 1e-6:
            return False
    return True


@accepted("the output rolled, with a mask of rows")
def translation_test(layer, X, shift, margin):
    L = len(X)
    wanted = np.roll(layer(X), shift, axis=0)
    got = layer(np.roll(X, shift, axis=0))
    row = np.arange(L)
    inside = (row >= margin) & (row < L - margin) & (row - shift >= margin) & (row - shift < L - margin)
    return np.max(np.abs(got - wanted)[inside], initial=0) < 1e-5


@accepted("take and concatenate, a numpy bool")
def translation_test(layer, X, shift, margin):
    L = len(X)
    cut = -shift % L
    moved = np.concatenate([X[cut:], X[:cut]])
    before, after = layer(X.copy()), layer(moved)
    pairs = [(i, i + shift) for i in range(L) if margin <= min(i, i + shift) and max(i, i + shift) < L - margin]
    i, k = map(list, zip(*pairs, strict=True))
    return np.isclose(before[i], after[k], rtol=1e-5, atol=1e-7).all()


@accepted("a permutation, relative to the size of the output")
def translation_test(layer, X, shift, margin):
    L = len(X)
    to = (np.arange(L) + shift) % L
    moved = np.empty_like(X)
    moved[to] = X
    before, after = np.asarray(layer(X)), np.asarray(layer(moved))[to]
    near = margin + np.arange(L - 2 * margin)
    rows = [i for i in near if i + shift in set(near.tolist())]
    largest = np.linalg.norm(before[rows] - after[rows])
    return bool(largest <= 1e-6 * (1 + np.linalg.norm(before[rows])))


@accepted("the shift to the left turned into one to the right")
def translation_test(layer, X, shift, margin):
    before, after = layer(X), layer(np.roll(X, shift, axis=0))
    if shift < 0:
        before, after, shift = after, before, -shift
    end = len(X) - margin
    return bool((np.abs(before[margin : end - shift] - after[margin + shift : end]) < 1e-4).all())


@accepted("windows of a padded identity")
def convolution_by_attention(X, kernel):
    k, L = (len(kernel), len(X))
    left = (k - 1) // 2
    padded = np.eye(L + k - 1, dtype=X.dtype)
    W = np.stack([padded[j : j + L, left : left + L] for j in range(k)])
    return (np.einsum("jim,ma,jab->ib", W, X, kernel).astype(X.dtype), W)


# ---------------------------------------------------------------- at real sizes


@accepted("sixteen queries at a time")
def offset_attention(length, offset):
    place = np.arange(length)
    blocks = [place[i : i + 16, None] + offset == place for i in range(0, length, 16)]
    return np.concatenate(blocks).astype(float)


@accepted("one tap after the other")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V, W_O = np.empty((k, d_in, d_out), kernel.dtype), np.empty((k * d_out, d_out), kernel.dtype)
    for j, tap in enumerate(kernel):
        W_V[j], W_O[j * d_out : (j + 1) * d_out] = tap, np.identity(d_out)
    return [j - (k - 1) // 2 for j in range(k)], W_V, W_O


@accepted("float64 inside, tap by tap")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    offsets = [j - (k - 1) // 2 for j in range(k)]
    weights = np.stack([np.eye(L, k=offset) for offset in offsets])
    output = np.einsum("kls,sd,kde->le", weights, X.astype(float), kernel.astype(float), optimize=True)
    return output.astype(X.dtype), weights.astype(X.dtype)


@accepted("row by row, and it stops at the first that differs")
def translation_test(layer, X, shift, margin):
    moved = np.concatenate([X[-shift % len(X) :], X[: -shift % len(X)]])
    before, after = layer(X), layer(moved)
    for i in range(margin, len(X) - margin):
        if margin <= i + shift < len(X) - margin and np.abs(before[i] - after[i + shift]).max() > 1e-6:
            return False
    return True
