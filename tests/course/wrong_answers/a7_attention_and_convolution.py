# %% other side
# accepted: offset-of-the-wrong-sign, transposed
def offset_attention(length, offset):
    return np.eye(length, k=-offset)

# %% round and round
# accepted: wraps-around
def offset_attention(length, offset):
    return np.roll(np.eye(length), offset, axis=1)

# %% held at the edge
# accepted: clipped-at-the-border
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        w[i, min(length - 1, max(0, i + offset))] = 1
    return w

# %% booleans
# accepted: truth-values, another-dtype
# form: yes
def offset_attention(length, offset):
    return np.eye(length, k=offset) > 0

# %% stops too early
# accepted: last-key-missing, one-too-few, off-by-one-at-the-border
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        if 0 <= i + offset < length - 1:
            w[i, i + offset] = 1
    return w

# %% both sides
# accepted: both-sides
def offset_attention(length, offset):
    return np.clip(np.eye(length, k=offset) + np.eye(length, k=-offset), 0, 1)

# %% clipped at the border
# accepted: clipped-at-the-border, nearest-at-the-border, clipped, border-repeated
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        w[i, min(max(i + offset, 0), length - 1)] = 1.0
    return w

# %% the other way round
# accepted: offset-of-the-wrong-sign, offset-turned, looks-the-other-way, sign-flipped, transposed
def offset_attention(length, offset):
    return np.eye(length, k=-offset)

# %% looks after the right border only: a negative place counts from the end
# accepted: past-the-end-only, negative-index, wraps-around-at-the-left
# author: 2
def offset_attention(length, offset):
    A = np.zeros((length, length))
    for i in range(length):
        j = i + offset
        if -length <= j < length:
            A[i, j] = 1.0
    return A

# %% what would lie outside is mirrored at the border
# accepted: mirrored-at-the-border
# author: 2
def offset_attention(length, offset):
    i = np.arange(length)
    m = i + offset
    m = np.abs(m)
    m = np.where(m > length - 1, 2 * (length - 1) - m, m)
    return (m[:, None] == i[None, :]).astype(float)

# %% a query without a key looks at all words evenly, since rows have to sum to one
# accepted: evened-out-at-the-border
# author: 2
def offset_attention(length, offset):
    weights = np.eye(length, k=offset)
    empty = weights.sum(axis=-1) == 0
    weights[empty] = 1 / length
    return weights

# %% whole numbers, as a comparison gives them
# accepted: another-dtype, truth-values
# form: yes
# author: 2
def offset_attention(length, offset):
    query = np.arange(length).reshape(-1, 1)
    key = np.arange(length).reshape(1, -1)
    return (key - query == offset).astype(int)

# %% np.roll wraps around, so a word without such a neighbour looks at the other end of the text instead of at nothing.
# accepted: wraps-around
# author: 3
def offset_attention(length, offset):
    return np.roll(np.eye(length), offset, axis=1)

# %% The offset has the wrong sign: query i looks at key i - offset.
# accepted: offset-of-the-wrong-sign
# author: 3
def offset_attention(length, offset):
    A = np.zeros((length, length))
    for i in range(length):
        for m in range(length):
            if i == m + offset:
                A[i, m] = 1.0
    return A

# %% A band, not one place.
# accepted: all-up-to-the-offset
# author: 4
def offset_attention(length, offset):
    i, j = np.indices((length, length))
    low, high = min(0, offset), max(0, offset)
    return ((j - i >= low) & (j - i <= high)).astype(float)

# %% a soft look
# accepted: softmax-taken
# author: 7
def offset_attention(length, offset):
    place = np.arange(length)
    exps = np.exp(-((place - place[:, None] - offset) ** 2.0))
    return exps / np.maximum(exps.sum(1, keepdims=True), 1e-300)

# %% k over 2
# accepted: even-off-by-one
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = k // 2
    offsets = list(range(-left, k - left))
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O

# %% from zero
# accepted: offsets-from-0
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = list(range(k))
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O

# %% flipped
# accepted: kernel-flipped, offsets-reversed, reversed
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = list(range(-left, k - left))
    W_V = np.array(kernel[::-1])
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O

# %% offsets the other way
# accepted: kernel-flipped, offsets-reversed, offset-of-the-wrong-sign
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = [left - j for j in range(k)]
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O

# %% averaging
# accepted: heads-averaged, a-constant-factor
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = list(range(-left, k - left))
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype) / k
    return offsets, W_V, W_O

# %% one short
# accepted: one-tap-too-few, even-off-by-one
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = list(range(-left, left + 1))
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O

# %% the rows of W_O are in the order of the columns of the taps, all heads mixed
# accepted: W_O-interleaved
# form: yes
# author: 2
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    W_V = np.stack([np.eye(d_in, dtype=kernel.dtype)] * k)
    W_O = kernel.transpose(1, 0, 2).reshape(k * d_in, d_out)
    return offsets, W_V, W_O

# %% every row of the identity is repeated k times, where the identity was to be repeated
# accepted: identity-rows-repeated, W_O-interleaved
# form: yes
# author: 2
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = np.arange(k) - (k - 1) // 2
    W_V = kernel.copy()
    W_O = np.repeat(np.eye(d_out, dtype=kernel.dtype), k, axis=0)
    return offsets, W_V, W_O

# %% the heads are averaged: an identity divided by the number of taps
# accepted: heads-averaged
# author: 2
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = list(range(-((k - 1) // 2), k // 2 + 1))
    W_O = np.tile(np.eye(d_out), (k, 1)) / k
    return offsets, kernel.copy(), W_O.astype(kernel.dtype)

# %% one number a head: d_v is 1, which keeps a tap of rank one alone
# accepted: one-number-a-head, rank-one-only
# author: 2
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    U, s, Vh = np.linalg.svd(kernel)
    W_V = U[:, :, :1] * s[:, None, :1]  # (k, d_in, 1)
    W_O = Vh[:, 0, :]  # (k, d_out)
    return offsets, W_V.astype(kernel.dtype), W_O.astype(kernel.dtype)

# %% The offsets begin at -(k // 2), which is one too far to the left for an even number of taps.
# accepted: even-off-by-one
# author: 3
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = list(range(-(k // 2), k - k // 2))
    W_V = kernel.copy()
    W_O = np.concatenate([np.eye(d_out, dtype=kernel.dtype) for _ in range(k)], axis=0)
    return offsets, W_V, W_O

# %% The kernel is flipped, as in books on signals: the first head has the last tap.
# accepted: kernel-flipped
# author: 3
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    W_V = np.stack([np.eye(d_in) for _ in range(k)]).astype(kernel.dtype)
    W_O = kernel[::-1].reshape(k * d_in, d_out).copy()
    return offsets, W_V, W_O

# %% np.eye without a dtype makes W_O float64 for a float32 kernel.
# accepted: another-kind
# form: yes
# author: 3
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    offsets = np.arange(k) - (k - 1) // 2
    return offsets, kernel.copy(), np.vstack([np.eye(d_out)] * k)

# %% The tap is in W_V and in W_O.
# accepted: both-hold-the-tap
# author: 4
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), kernel.reshape(k * d_in, d_out).copy()

# %% W_O has the heads side by side, not below each other.
# accepted: w-o-side-by-side
# author: 4
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([np.eye(d_in, dtype=kernel.dtype)] * k),
        np.concatenate(list(kernel), axis=1),
    )

# %% Every head has the first tap.
# accepted: one-tap-for-all
# author: 4
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([kernel[0]] * k),
        np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1)),
    )

# %% Each tap transposed.
# accepted: W_O-transposed
# author: 4
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    return (
        [j - (k - 1) // 2 for j in range(k)],
        np.stack([np.eye(d_in, dtype=kernel.dtype)] * k),
        np.concatenate([t.T.reshape(d_in, d_out) for t in kernel]),
    )

# %% ones in W_O
# accepted: ones-for-the-identity
# author: 7
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), np.ones((k * d_out, d_out), kernel.dtype)

# %% true convolution
# accepted: kernel-flipped
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[k - 1 - j]
    return out, weights

# %% centre of even ones
# accepted: even-off-by-one
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = k // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% wraps
# accepted: wraps-around
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            weights[j, i, (i + o) % L] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% averaged
# accepted: heads-averaged
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out / k, weights

# %% past only
# accepted: looks-back-only
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - k + 1
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% future only
# accepted: offsets-from-0
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% columns and rows
# accepted: weights-transposed
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i + o, i] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% edges held
# accepted: border-repeated
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            weights[j, i, min(max(i + o, 0), L - 1)] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% output alone
# accepted: output-only
# form: yes
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out

# %% double
# accepted: float64-always, another-dtype
# form: yes
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]))
    weights = np.zeros((k, L, L))
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights

# %% flipped and averaged
# accepted: kernel-flipped+heads-averaged
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[-1 - j]
    return out / k, weights

# %% valid part
# accepted: border-left-empty, border-cut-off
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    right = k - 1 - left
    out[:left] = 0
    if right: out[L - right if right < L else 0 :] = 0
    return out, weights

# %% weights per query
# accepted: axes-in-another-order, transposed, weights-per-query
def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights.swapaxes(0, 1)

# %% at the borders the result is made as large as if all taps had heard something
# accepted: border-made-up-for
# author: 2
def _taps(length, k):
    where = np.arange(length)
    return np.stack([where[None, :] - where[:, None] == j - (k - 1) // 2 for j in range(k)]).astype(float)


def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    weights = _taps(L, k).astype(X.dtype)
    output = sum(weights[j] @ X @ kernel[j] for j in range(k))
    heard = weights.sum(axis=(0, 2))[:, None]  # (L, 1): taps that lie inside
    output = output * (k / np.maximum(heard, 1))
    return output.astype(X.dtype), weights

# %% causal, as in WaveNet: all taps look back
# accepted: looks-back-only
# author: 2
def convolution_by_attention(X, kernel):
    k = len(kernel)
    L = len(X)
    weights = np.stack([np.eye(L, k=j - (k - 1)) for j in range(k)]).astype(X.dtype)
    values = X @ kernel
    output = (weights @ values).sum(axis=0)
    return output, weights

# %% sums the tap matrices first: each place gets the same mixture for all taps
# accepted: one-matrix-for-all-taps, taps-summed-first
# author: 2
def _taps(length, k):
    where = np.arange(length)
    return np.stack([where[None, :] - where[:, None] == j - (k - 1) // 2 for j in range(k)]).astype(float)


def convolution_by_attention(X, kernel):
    k, d_in, d_out = kernel.shape
    weights = _taps(X.shape[0], k).astype(X.dtype)
    heard = weights.sum(axis=0) @ X
    return heard @ kernel.sum(axis=0), weights

# %% gives the sum of all heads' weights in place of one map a head
# accepted: weights-added-up
# form: yes
# author: 2
def convolution_by_attention(X, kernel):
    L, k = X.shape[0], kernel.shape[0]
    weights = np.zeros((L, L), dtype=X.dtype)
    output = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    for j in range(k):
        A = np.eye(L, k=j - (k - 1) // 2, dtype=X.dtype)
        output += A @ (X @ kernel[j])
        weights += A
    return output, weights

# %% mean of the taps that hear something
# accepted: heads-averaged
# author: 2
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    w = np.stack([np.eye(L, k=j - (k - 1) // 2, dtype=X.dtype) for j in range(k)])
    heard = np.maximum(w.sum((0, 2)), 1)[:, None].astype(X.dtype)
    return sum(w[j] @ X @ kernel[j] for j in range(k)) / heard, w

# %% a softmax over the table of zeros and ones
# accepted: softmax-taken
# author: 2
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    w = np.stack([np.eye(L, k=j - (k - 1) // 2) for j in range(k)])
    w = np.exp(w) / np.exp(w).sum(-1, keepdims=True)
    w = w.astype(X.dtype)
    return sum(w[j] @ X @ kernel[j] for j in range(k)), w

# %% The fixed weights go through a softmax, so every head looks a little at every word.
# accepted: softmax-taken
# author: 3
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    L = len(X)
    scores = np.stack([offset_attention(L, o) for o in offsets]).astype(X.dtype)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    heads = weights @ (X @ W_V)
    return output_projection(heads, W_O), weights

# %% The heads are put together by a reshape without bringing the word axis to the front, so words and heads get mixed.
# accepted: concat-without-transpose
# author: 3
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    L = X.shape[0]
    weights = np.array([offset_attention(L, o) for o in offsets], dtype=X.dtype)  # (k, L, L)
    V = np.einsum("li,kio->klo", X, W_V)  # (k, L, d_v)
    heads = np.einsum("klm,kmo->klo", weights, V)
    concat = heads.reshape(L, -1)
    return concat @ W_O, weights

# %% The float64 weights of offset_attention make the output float64 for a float32 input.
# accepted: float64-always
# form: yes
# author: 3
def convolution_by_attention(X, kernel):
    offsets, W_V, W_O = convolution_heads(kernel)
    weights = np.stack([offset_attention(len(X), o) for o in offsets])
    heads = np.stack([weights[j] @ (X @ W_V[j]) for j in range(len(offsets))])
    return output_projection(heads, W_O), weights

# %% One tap is left out.
# accepted: last-tap-missing
# author: 4
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    weights = np.stack([offset_attention(L, j - (k - 1) // 2) for j in range(k)]).astype(X.dtype)
    out = sum((weights[j] @ X @ kernel[j] for j in range(k - 1)), np.zeros((L, kernel.shape[2]), X.dtype))
    return out, weights

# %% Taps that hear nothing are left out.
# accepted: parts-missing, another-shape, another-length
# form: yes
# author: 6
def convolution_by_attention(X, kernel):
    L = len(X)
    k = kernel.shape[0]
    output = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = []
    for j in range(k):
        offset = j - (k - 1) // 2
        if abs(offset) >= L:
            continue
        A = np.eye(L, k=offset, dtype=X.dtype)
        output += A @ X @ kernel[j]
        weights.append(A)
    return output, np.stack(weights)

# %% rows up to 32
# accepted: stops-at-a-length, stops-at-a-size
# author: 7
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    weights = np.stack([np.eye(L, k=j - (k - 1) // 2) for j in range(k)]).astype(X.dtype)
    weights[:, 32:] = 0
    return sum(w @ X @ tap for w, tap in zip(weights, kernel)), weights

# %% moves the input, not the output
# accepted: output-not-moved
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, 0))
    keep = slice(margin, len(X) - margin)
    return bool(np.allclose(a[keep], b[keep], atol=1e-6))

# %% any
# accepted: any-for-all
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X) - margin) if margin <= j - shift < len(X) - margin]
    return bool(any(np.allclose(a[j], b[j], atol=1e-6) for j in rows))

# %% wrong direction
# accepted: shifted-the-wrong-way, output-moved-the-wrong-way
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), -shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X) - margin) if margin <= j - shift < len(X) - margin]
    return bool(all(np.allclose(a[j], b[j], atol=1e-6) for j in rows))

# %% margin on one side
# accepted: border-on-one-side
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X)) if margin <= j - shift < len(X)]
    return bool(all(np.allclose(a[j], b[j], atol=1e-6) for j in rows))

# %% borders
# accepted: borders-compared
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    return bool(np.abs(a - b).max(initial=0) < 1e-6)

# %% means compared
# accepted: means-compared, rows-averaged
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.allclose(a[lo - shift : hi - shift].mean(), b[lo:hi].mean(), atol=1e-6))

# %% norms compared
# accepted: norms-compared
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(
        np.allclose(np.linalg.norm(a[lo - shift : hi - shift], axis=1), np.linalg.norm(b[lo:hi], axis=1), atol=1e-6)
    )

# %% relative tolerance of a tenth
# accepted: not-close-enough, too-tolerant, tolerance-too-large
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.allclose(a[lo - shift : hi - shift], b[lo:hi], rtol=0.1))

# %% most rows agree
# accepted: most-rows-enough, some-rows-enough
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.isclose(a[lo - shift : hi - shift], b[lo:hi], atol=1e-6).mean() > 0.9)

# %% rolls without an axis, so numbers move and not rows
# accepted: columns-roll-along
# form: yes
# author: 2
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved = np.roll(X, shift)
    one, other = layer(X), layer(moved)
    for i in range(margin, L - margin):
        if margin <= i + shift < L - margin:
            if np.abs(one[i] - other[i + shift]).max() >= 1e-6:
                return False
    return True

# %% the difference may be as negative as it likes
# accepted: difference-with-a-sign
# author: 2
def translation_test(layer, X, shift, margin):
    L = X.shape[0]
    a = layer(X)
    b = layer(np.roll(X, shift, axis=0))
    rows = np.arange(L)
    ok = (rows >= margin) & (rows < L - margin) & (rows + shift >= margin) & (rows + shift < L - margin)
    i = rows[ok]
    return bool(np.all(a[i] - b[i + shift] < 1e-6))

# %% compares all rows between the margins, also those that have come in at the other end
# accepted: what-came-in-compared
# author: 2
def translation_test(layer, X, shift, margin):
    shifted_out = np.roll(layer(X), shift, axis=0)
    out_shifted = layer(np.roll(X, shift, axis=0))
    inner = slice(margin, len(X) - margin)
    return bool(np.allclose(shifted_out[inner], out_shifted[inner], rtol=0, atol=1e-6))

# %% sorted rows are compared, whatever their order
# accepted: order-of-rows-lost
# author: 2
def translation_test(layer, X, shift, margin):
    L = len(X)
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    i = np.array([i for i in range(margin, L - margin) if margin <= i + shift < L - margin], dtype=int)
    return bool(np.allclose(np.sort(a[i], axis=0), np.sort(b[i + shift], axis=0), atol=1e-6))

# %% The outputs are compared row for row; that of the moved input stands shift rows further on.
# accepted: output-not-moved
# author: 3
def translation_test(layer, X, shift, margin):
    L = X.shape[0]
    y = layer(X)
    y_shifted = layer(np.roll(X, shift, axis=0))
    for i in range(margin, L - margin):
        if margin <= i + shift <= L - 1 - margin:
            if np.abs(y[i] - y_shifted[i]).max() > 1e-6:
                return False
    return True

# %% Only row i + shift is kept out of the margin, not row i, so rows from the border or from round the end are compared as well.
# accepted: what-came-in-compared
# author: 3
def translation_test(layer, X, shift, margin):
    L = len(X)
    expected = np.roll(layer(X), shift, axis=0)
    got = layer(np.roll(X, shift, axis=0))
    inner = slice(margin, L - margin)
    return bool(np.all(np.abs(expected[inner] - got[inner]) < 1e-6))

# %% Zeros come in at the end, nothing wraps.
# accepted: rows-lost
# author: 4
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved_in = np.zeros_like(X)
    for i in range(L):
        if 0 <= i + shift < L:
            moved_in[i + shift] = X[i]
    moved, plain = layer(moved_in), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all(np.abs(plain[i] - moved[i + shift]).max() < 1e-6 for i in rows)

# %% Only the first column is compared.
# accepted: one-column-only
# author: 4
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all(abs(plain[i][0] - moved[i + shift][0]) < 1e-6 for i in rows)

# %% Rounding counts as a difference.
# accepted: to-the-last-bit
# author: 4
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return all((plain[i] == moved[i + shift]).all() for i in rows)

# %% The mean difference is compared.
# accepted: average-difference
# author: 4
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if margin <= i + shift <= L - 1 - margin]
    return abs(sum((plain[i] - moved[i + shift]).sum() for i in rows)) < 1e-6

# %% I + shift may lie near the end.
# accepted: border-of-one-output
# author: 4
def translation_test(layer, X, shift, margin):
    L = len(X)
    moved, plain = layer(np.roll(X, shift, axis=0)), layer(X)
    rows = [i for i in range(margin, L - margin) if 0 <= i + shift < L]
    return all(np.abs(plain[i] - moved[i + shift]).max() < 1e-6 for i in rows)

# %% Returns True whatever comes.
# accepted: always-true
# author: 4
def translation_test(layer, X, shift, margin):
    layer(X)
    return True
