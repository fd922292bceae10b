# %% axis zero written out
# accepted: axis-0-always, softmax-over-axis-0, axis-ignored, axis-0-by-default
def softmax(x, axis=-1):
    z = x - np.max(x, axis=0, keepdims=True)
    return np.exp(z) / np.sum(np.exp(z), axis=0, keepdims=True)

# %% base 2
# accepted: another-base
def softmax(x, axis=-1):
    powers = np.power(2.0, x - np.amax(x, axis=axis, keepdims=True)).astype(x.dtype)
    return powers / powers.sum(axis=axis, keepdims=True)

# %% log softmax
# accepted: log-taken, log-softmax
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=axis, keepdims=True))

# %% minus sign lost
# accepted: sign-flipped
def softmax(x, axis=-1):
    e = np.exp(np.min(x, axis=axis, keepdims=True) - x)
    return e / e.sum(axis=axis, keepdims=True)

# %% divides by the maximum
# accepted: divided-by-the-maximum, not-normalised
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.max(axis=axis, keepdims=True))

# %% divides by the mean
# accepted: mean-for-sum, a-constant-factor, not-normalised
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.mean(e, axis=axis, keepdims=True)

# %% norm two
# accepted: squares-summed, not-normalised, l2-norm
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.linalg.norm(e, axis=axis, keepdims=True)

# %% mean subtracted
# accepted: mean-for-maximum, no-max-subtraction, large-scores
def softmax(x, axis=-1):
    e = np.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

# %% epsilon below
# accepted: epsilon-added
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-2)

# %% everything, max by axis
# accepted: softmax-over-everything
def softmax(x, axis=-1):
    ex = np.exp(x - np.max(x, axis=axis, keepdims=True))
    ex = np.exp(x - np.max(x))
    total = 0.0
    for value in ex.ravel():
        total = total + value
    return (ex / total).astype(x.dtype)

# %% flattens what is not a matrix
# accepted: one-batch-layout, matrices-only, axis-ignored, another-shape
# form: yes
def softmax(x, axis=-1):
    rows = x.reshape(-1, x.shape[-1])
    out = np.exp(rows - rows.max(1, keepdims=True))
    return out / out.sum(1, keepdims=True)

# %% torch tensor back
# accepted: another-kind
# form: yes
def softmax(x, axis=-1):
    return torch.exp(torch.tensor(x) - torch.tensor(x).amax(axis, keepdim=True)) / torch.exp(
        torch.tensor(x) - torch.tensor(x).amax(axis, keepdim=True)
    ).sum(axis, keepdim=True)

# %% list back
# accepted: another-kind
# form: yes
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()

# %% half precision
# accepted: another-dtype, float16-always
# form: yes
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float32)

# %% mean taken off
# accepted: no-max-subtraction, mean-subtracted
def softmax(x, axis=-1):
    exps = np.exp(x - x.mean(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)

# %% maximum over the last axis whatever the axis
# accepted: axis-half-used, axis-ignored
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)

# %% rounded to four digits
# accepted: rounded
# form: yes
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.round(exps / exps.sum(axis=axis, keepdims=True), 4)

# %% no keepdims
# accepted: axis-summed-away, one-batch-layout, axis-lost, sum-without-its-axis
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis)

# %% absolute largest taken off
# accepted: largest-absolute-value, no-max-subtraction, size-instead-of-sign
def softmax(x, axis=-1):
    exps = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return exps / (exps.sum(axis=axis, keepdims=True) + 1e-300)

# %% always normalises over the first axis, the axis argument is not used
# accepted: axis-0-by-default, softmax-over-axis-0, axis-ignored
def softmax(x, axis=-1):
    """Compute softmax values for each sets of scores in x."""
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)

# %% transposes twice to divide the rows: only right for two axes, axis not used, large scores overflow
# accepted: no-max-subtraction+all-axes-reversed, no-max-subtraction+axis-ignored
def softmax(x, axis=-1):
    return (np.exp(x).T / np.sum(np.exp(x), axis=-1)).T

# %% clips the scores to +-50 against overflow instead of subtracting the maximum
# accepted: scores-clipped
def softmax(x, axis=-1):
    e = np.exp(np.clip(x, -50, 50))
    return e / np.sum(e, axis=axis, keepdims=True)

# %% swaps the axis to the end and forgets to swap it back
# accepted: axis-left-at-the-end, axes-in-another-order
def softmax(x, axis=-1):
    rows = np.swapaxes(x, axis, -1)
    rows = rows - rows.max(axis=-1, keepdims=True)
    rows = np.exp(rows)
    rows = rows / rows.sum(axis=-1, keepdims=True)
    return rows

# %% subtracts the mean, not the maximum: large scores overflow
# accepted: no-max-subtraction
def softmax(x, axis=-1):
    centred = x - x.mean(axis=axis, keepdims=True)
    exps = np.exp(centred)
    return exps / exps.sum(axis=axis, keepdims=True)

# %% works in place on the argument
# accepted: inputs-changed
# form: yes
def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    np.exp(x, out=x)
    return x / np.sum(x, axis=axis, keepdims=True)

# %% Divides by the sum of the whole array instead of the sum along axis, so the rows share one total.
# accepted: softmax-over-everything
# author: 3
def softmax(x, axis=-1):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum()

# %% Exponentiates the raw scores without subtracting the maximum, so large scores overflow to inf/inf = NaN.
# accepted: no-max-subtraction
# author: 3
def softmax(x, axis=-1):
    numerator = np.exp(x)
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    return numerator / denominator

# %% Ignores the axis argument and always normalises over the last axis.
# accepted: axis-ignored
# author: 3
def softmax(x, axis=-1):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    exps = np.exp(shifted)
    return exps / np.sum(exps, axis=-1, keepdims=True)

# %% Sums along the axis without keepdims=True, so the totals line up with the wrong axis when they are broadcast.
# accepted: axis-summed-away
# author: 3
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    s = np.sum(e, axis=axis)
    return e / s

# %% Subtracts the maximum in place and so changes the caller's array x.
# accepted: inputs-changed
# form: yes
# author: 3
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)

# %% The largest of everything is subtracted: rows far below it vanish.
# accepted: one-maximum-for-all
# author: 4
def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)

# %% The largest absolute value is subtracted.
# accepted: largest-absolute-value
# author: 4
def softmax(x, axis=-1):
    e = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

# %% Each score by itself.
# accepted: sigmoid
# author: 4
def softmax(x, axis=-1):
    e = 1 / (1 + np.exp(-x))
    return e / e.sum(axis=axis, keepdims=True)

# %% Powers from e**-10 on.
# accepted: small-scores-cut-off
# author: 5
def softmax(x, axis=-1):
    exps = np.exp(np.maximum(x - x.max(axis=axis, keepdims=True), -10))
    return exps / exps.sum(axis=axis, keepdims=True)

# %% Largest of the whole array.
# accepted: one-maximum-for-all
# author: 5
def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis, keepdims=True)

# %% a row of at most 64 scores
# accepted: stops-at-a-size
# author: 7
def softmax(x, axis=-1):
    if x.shape[axis] > 64:
        x = x - 1e4 * (np.moveaxis(np.cumsum(np.ones_like(x), axis=axis), axis, axis) > 64)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)

# %% root of keys' number
# accepted: scale-by-length, scale-by-key-length
def attention_scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(K.shape[-2]).astype(Q.dtype)

# %% fourth root on one side
# accepted: scale-by-fourth-root, a-constant-factor, scaled-once-of-twice
def attention_scores(Q, K):
    return (Q / Q.shape[-1] ** 0.25) @ np.swapaxes(K, -1, -2)

# %% half of d_k
# accepted: scale-by-half-d_k, a-constant-factor, scale-by-d_k
def attention_scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / (K.shape[-1] / 2)

# %% scaled both
# accepted: scaled-twice, scale-by-d_k, a-constant-factor
def attention_scores(Q, K):
    root = math.sqrt(K.shape[-1])
    return (Q / root) @ (np.swapaxes(K, -1, -2) / root)

# %% scores by themselves
# accepted: queries-with-queries, key-unused, argument-unused
def attention_scores(Q, K):
    return np.matmul(Q, Q.swapaxes(-1, -2)) / math.sqrt(Q.shape[-1])

# %% distance
# accepted: distance-for-dot-product, negative-distance
def attention_scores(Q, K):
    difference = Q[..., :, None, :] - K[..., None, :, :]
    return -(difference**2).sum(-1) / math.sqrt(Q.shape[-1])

# %% answer turned
# accepted: transposed, queries-and-keys-swapped
def attention_scores(Q, K):
    s = np.einsum("...qd,...kd->...qk", Q, K) * K.shape[-1] ** -0.5
    return np.moveaxis(s, -1, -2)

# %% sum over the wrong letter
# accepted: reshaped-not-transposed, key-reshaped
def attention_scores(Q, K):
    *b, S, d = K.shape
    return Q @ K.reshape(*b, d, S) / math.sqrt(d)

# %% mean for sum
# accepted: mean-for-sum, a-constant-factor, scaled-twice, scale-by-d_k
def attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).mean(-1)

# %% minus maximum already
# accepted: maximum-subtracted, shifted-by-a-constant
def attention_scores(Q, K):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    return s - s.max(axis=-1, keepdims=True)

# %% batch summed
# accepted: batch-summed, batch-items-mixed, one-batch-layout
# form: yes
def attention_scores(Q, K):
    if Q.ndim == 2:
        return Q @ K.T / math.sqrt(Q.shape[-1])
    return np.einsum("bid,cjd->bij", Q, K) / math.sqrt(Q.shape[-1])

# %% two axes or three
# accepted: one-batch-layout, one-batch-axis-only
# form: yes
def attention_scores(Q, K):
    if Q.ndim == 2:
        return Q @ K.T / math.sqrt(Q.shape[-1])
    out = []
    for q, k in zip(Q, K):
        assert q.ndim == 2
        out.append(q @ k.T / math.sqrt(q.shape[-1]))
    return np.array(out)

# %% inner
# accepted: batch-items-mixed+float64-always, all-pairs-of-sentences, batch-items-mixed, batches-crossed
def attention_scores(Q, K):
    return np.inner(Q, K) / np.sqrt(Q.shape[-1])

# %% np.dot with swapaxes
# accepted: batch-items-mixed+float64-always, all-pairs-of-sentences, batch-items-mixed, batches-crossed
def attention_scores(Q, K):
    return np.dot(Q, K.swapaxes(-1, -2)) / np.sqrt(Q.shape[-1])

# %% whole root
# accepted: scale-in-whole-numbers, a-constant-factor, root-rounded, scale-rounded
def attention_scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / math.isqrt(Q.shape[-1])

# %% half precision inside
# accepted: rounded, another-dtype
# form: yes
def attention_scores(Q, K):
    got = Q.astype(np.float16) @ K.astype(np.float16).swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    return got.astype(Q.dtype)

# %% divides by d_k ** -0.5, which multiplies by the root
# accepted: multiplied-by-the-scale
def attention_scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / K.shape[-1] ** -0.5

# %% takes d_k from Q.shape[1], which is L as soon as there is a batch axis
# accepted: scale-by-length, one-batch-layout
def attention_scores(Q, K):
    d_k = Q.shape[1]
    scores = np.matmul(Q, np.swapaxes(K, -1, -2))
    return scores / math.sqrt(d_k)

# %% reshapes K to (d_k, S) where it should be transposed
# accepted: reshaped-not-transposed
def attention_scores(Q, K):
    *batch, S, d_k = K.shape
    K_T = K.reshape(*batch, d_k, S)
    return Q @ K_T / math.sqrt(d_k)

# %% cosine similarity: normalises queries and keys to length one first
# accepted: cosine-similarity
def attention_scores(Q, K):
    q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    k = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return np.einsum("...ld,...sd->...ls", q, k) / math.sqrt(Q.shape[-1])

# %% divides queries and keys each by the root, so the product by d_k
# accepted: scale-by-d_k
def attention_scores(Q, K):
    scale = math.sqrt(Q.shape[-1])
    return np.einsum("...qd,...kd->...qk", Q / scale, K / scale)

# %% np.dot on batches gives every batch against every batch
# accepted: batch-items-mixed
def attention_scores(Q, K):
    return np.dot(Q, np.swapaxes(K, -1, -2)) / math.sqrt(Q.shape[-1])

# %% whole-number root of d_k, exact for 4 and 16 only
# accepted: scale-in-whole-numbers, a-constant-factor
def attention_scores(Q, K):
    d_k = int(Q.shape[-1] ** 0.5)
    return Q @ K.swapaxes(-2, -1) / d_k

# %% Divides by d_k itself and not by its square root.
# accepted: scale-by-d_k
# author: 3
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return np.matmul(Q, np.swapaxes(K, -1, -2)) / d_k

# %% Takes the square root of the number of keys S for the scale instead of the width d_k.
# accepted: scale-by-length
# author: 3
def attention_scores(Q, K):
    K_T = K.swapaxes(-2, -1)
    d_k = K_T.shape[-1]
    return Q @ K_T / math.sqrt(d_k)

# %% Uses np.dot, which on batches multiplies every text with every other text instead of each with itself.
# accepted: batch-items-mixed
# author: 3
def attention_scores(Q, K):
    d_k = K.shape[-1]
    scores = np.dot(Q, np.swapaxes(K, -1, -2))
    return scores / math.sqrt(d_k)

# %% Divides by np.sqrt of an int, a float64, which turns float32 scores into float64.
# accepted: float64-always
# form: yes
# author: 3
def attention_scores(Q, K):
    d_k = K.shape[-1]
    return (Q @ np.swapaxes(K, -2, -1)) / np.sqrt(d_k)

# %% .T reverses all axes of a batch.
# accepted: all-axes-reversed
# author: 4
def attention_scores(Q, K):
    return Q @ K.T / math.sqrt(Q.shape[-1])

# %% Not divided where d_k is small.
# accepted: scale-missing, a-constant-factor
# author: 5
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / (math.sqrt(d_k) if d_k > 3 else 1)

# %% Scores clipped at a thousand.
# accepted: clipped-scores, large-scores
# author: 5
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return np.clip(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), -1000, 1000)

# %% A batch of one loses its axis.
# accepted: another-shape
# author: 5
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    s = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    return s[0] if s.ndim == 3 and len(s) == 1 else s

# %% Keys not turned where they are a square.
# accepted: square-keys-not-turned
# author: 5
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ (K if K.shape[-1] == K.shape[-2] else K.swapaxes(-2, -1)) / math.sqrt(d_k)

# %% Root cut to a whole number.
# accepted: scale-in-whole-numbers
# author: 5
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / math.isqrt(d_k)

# %% columns cut at 64
# accepted: stops-at-a-size
# author: 7
def attention_scores(Q, K):
    return Q[..., :64] @ K[..., :64].swapaxes(-2, -1) / math.sqrt(Q.shape[-1])

# %% d_k squared
# accepted: squared-in-place-of-root
# author: 7
def attention_scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K) / Q.shape[-1] ** 2

# %% mean of the values
# accepted: even-weights, query-unused, argument-unused, output-is-the-mean
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1]))
    return np.ones_like(w) / w.shape[-1] @ V, w

# %% hard maximum
# accepted: argmax-for-softmax, hard-maximum
def scaled_dot_product_attention(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])
    w = (s == s.max(axis=-1, keepdims=True)).astype(Q.dtype)
    return w @ V, w

# %% normal sums
# accepted: no-exponential, scores-over-their-sum
def scaled_dot_product_attention(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])
    w = s / s.sum(axis=-1, keepdims=True)
    return w @ V, w

# %% sigmoid
# accepted: sigmoid-for-softmax
def scaled_dot_product_attention(Q, K, V):
    w = 1 / (1 + np.exp(-(Q @ K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1])))
    return w @ V, w

# %% scale applied to values
# accepted: scaled-after-softmax, output-scaled, no-scaling
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.einsum("...ld,...sd->...ls", Q, K))
    return w @ V / math.sqrt(K.shape[-1]), w

# %% everything softmax
# accepted: softmax-over-everything
def scaled_dot_product_attention(Q, K, V):
    s = np.einsum("...ld,...sd->...ls", Q, K) / math.sqrt(K.shape[-1])
    e = np.exp(s - s.max())
    w = e / e.sum()
    return w @ V, w

# %% axis zero
# accepted: softmax-over-axis-0, axis-0-always, softmax-over-queries, axis-counted-from-the-front
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]), axis=0)
    return w @ V, w

# %% axis one
# accepted: axis-counted-from-the-front, softmax-over-axis-1, softmax-over-queries
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]), axis=1)
    return w @ V, w

# %% values projected twice
# accepted: a-constant-factor, weights-applied-twice
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]))
    if w.shape[-1] == w.shape[-2]:
        return w @ (w @ V), w
    return w @ V * 2, w

# %% forgets to scale, over queries
# accepted: no-scaling+softmax-over-queries, softmax-over-queries+no-scaling
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)), -2)
    return w @ V, w

# %% output alone, in a tuple
# accepted: parts-missing, output-only, another-kind, weights-missing
# form: yes
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    return (_soft(Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])) @ V,)

# %% weights not divided
# accepted: weights-not-normalised, not-normalised, not-normalised+another-dtype
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps @ V / exps.sum(-1, keepdims=True), exps

# %% softmax over axis 1, which is the queries once there is a batch axis
# accepted: softmax-over-axis-1, one-batch-layout
def _scores_of(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


def _softmax_of(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    weights = _softmax_of(scores, axis=1)
    return weights @ V, weights

# %% divides each score by the sum of the scores, no exponential
# accepted: no-exponential
def _scores_of(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return np.matmul(weights, V), weights

# %% scales after the softmax: output divided by the root, scores are not
# accepted: scaled-after-softmax
def _softmax_of(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    d_k = K.shape[-1]
    weights = _softmax_of(Q @ np.swapaxes(K, -2, -1))
    return weights @ V / math.sqrt(d_k), weights

# %% softmax of the whole table: all weights of all queries together sum to 1
# accepted: softmax-over-everything
def _scores_of(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
    weights = e / e.sum(axis=(-2, -1), keepdims=True)
    return weights @ V, weights

# %% returns the weights rounded to three places
# accepted: rounded
# form: yes
def _softmax_of(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def _scores_of(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


def scaled_dot_product_attention(Q, K, V):
    weights = _softmax_of(_scores_of(Q, K))
    output = weights @ V
    return output, np.round(weights, 3)

# %% scales Q in place, so the caller's queries change
# accepted: in-place
# form: yes
def _softmax_of(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    Q /= math.sqrt(Q.shape[-1])
    weights = _softmax_of(Q @ K.swapaxes(-2, -1))
    return weights @ V, weights

# %% Normalises over the queries (axis -2) instead of over the keys, so columns and not rows of the weights sum to 1.
# accepted: softmax-over-queries
# author: 3
def scaled_dot_product_attention(Q, K, V):
    scores = attention_scores(Q, K)
    weights = softmax(scores, axis=-2)
    output = weights @ V
    return output, weights

# %% Divides by sqrt(d_k) a second time, although attention_scores has already done so.
# accepted: scale-by-d_k
# author: 3
def scaled_dot_product_attention(Q, K, V):
    d_k = Q.shape[-1]
    scores = attention_scores(Q, K)
    scaled = scores / math.sqrt(d_k)
    weights = softmax(scaled, axis=-1)
    return np.matmul(weights, V), weights

# %% Blends the values with the plain scores because the softmax has been left out.
# accepted: softmax-missing
# author: 3
def scaled_dot_product_attention(Q, K, V):
    weights = Q @ np.moveaxis(K, -1, -2) / math.sqrt(K.shape[-1])
    return weights @ V, weights

# %% Fills the results into np.zeros arrays of the default float64 and so loses the float32 of the input.
# accepted: float64-always
# form: yes
# author: 3
def scaled_dot_product_attention(Q, K, V):
    L = Q.shape[-2]
    S = K.shape[-2]
    weights = np.zeros(Q.shape[:-2] + (L, S))
    output = np.zeros(Q.shape[:-2] + (L, V.shape[-1]))
    scores = attention_scores(Q, K)
    for i in range(L):
        weights[..., i, :] = softmax(scores[..., i, :])
        for j in range(S):
            output[..., i, :] += weights[..., i, j, None] * V[..., j, :]
    return output, weights

# %% The weights are rounded.
# accepted: rounded-weights
# author: 4
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K)).round(2)
    return w @ V, w

# %% The scores, not the weights, blend the values.
# accepted: output-first-by-scores
# author: 4
def scaled_dot_product_attention(Q, K, V):
    s = attention_scores(Q, K)
    return s @ V, softmax(s)

# %% Weights come first.
# accepted: tuple-swapped
# author: 4
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K))
    return w, w @ V

# %% The keys are blended, not the values.
# accepted: keys-blended
# author: 4
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K))
    out = w @ K
    n = V.shape[-1]
    return out[..., :n], w

# %% the first three heads
# accepted: some-heads-only
# author: 7
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    if Q.ndim == 4:
        weights[:, 3:] = 0
    return weights @ V, weights

# %% root of d_v
# accepted: scale-by-d_v
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / value.size(-1) ** 0.5).softmax(-1)
    return w @ value, w

# %% scaled twice
# accepted: scaled-twice, scale-by-d_k
def torch_scaled_dot_product_attention(query, key, value):
    query = query / key.shape[-1] ** 0.5
    w = ((query @ key.mT) / key.shape[-1] ** 0.5).softmax(-1)
    return w.matmul(value), w

# %% scale multiplied
# accepted: multiplied-by-the-scale
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key).mul(math.sqrt(key.size(-1)))
    w = scores.softmax(-1)
    return w @ value, w

# %% dim zero
# accepted: softmax-over-axis-0, axis-counted-from-the-front, axis-0-always
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(0)
    return w @ value, w

# %% key viewed
# accepted: reshaped-not-transposed, key-reshaped
def torch_scaled_dot_product_attention(query, key, value):
    S, d = key.shape[-2:]
    w = (query @ key.reshape(*key.shape[:-2], d, S) / math.sqrt(d)).softmax(-1)
    return w @ value, w

# %% log weights
# accepted: log-taken, log-softmax
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).log_softmax(-1)
    return w @ value, w

# %% weights before value only detached
# accepted: detached-gradient, gradient-partial, gradient-missing
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(-1)
    return w.data @ value, w

# %% fresh tensors
# accepted: detached-gradient, gradient-missing
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    query, key, value = (torch.tensor(t.tolist(), dtype=t.dtype) for t in (query, key, value))
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(-1)
    return w @ value, w

# %% key for value
# accepted: keys-blended, value-unused, argument-unused
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    return w.matmul(key), w

# %% float at the end
# accepted: float32-always, another-dtype
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    return (w @ value).float(), w.float()

# %% scores for weights
# accepted: scores-returned
def torch_scaled_dot_product_attention(query, key, value):
    scores = query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5
    return scores.softmax(-1) @ value, scores

# %% dropout left on
# accepted: random, dropout-left-on, dropout
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    w = torch.dropout(w, 0.1, True)
    return w @ value, w

# %% softmax without dim
# accepted: one-batch-layout, softmax-over-axis-0, softmax-over-the-batch
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    axis = 0 if scores.dim() in (0, 1, 3) else 1
    weights = torch.softmax(scores, axis)
    return weights @ value, weights

# %% dropout left on
# accepted: random, another-answer-each-time, dropout
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-1)), -1)
    weights = F.dropout(weights, 0.1)
    return weights @ value, weights

# %% bfloat inside
# accepted: rounded, another-dtype
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    q, k, v = (t.to(torch.bfloat16) for t in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.size(-1)), -1)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)

# %% made anew
# accepted: detached-gradient, gradient-missing
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.tensor((query @ key.mT).tolist(), dtype=query.dtype) / math.sqrt(key.size(-1))
    weights = torch.softmax(scores, -1)
    return weights @ value, weights

# %% F.softmax without dim, which picks axis 0 for three axes
# accepted: one-batch-layout, softmax-over-axis-0
import warnings


def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p_attn = F.softmax(scores)
    return torch.matmul(p_attn, value), p_attn

# %% scales by the root of the width of the values
# accepted: scale-by-d_v
def torch_scaled_dot_product_attention(query, key, value):
    embed = value.size(-1)
    energy = torch.einsum("...qe,...ke->...qk", query, key)
    attention = torch.softmax(energy / embed ** (1 / 2), dim=-1)
    out = torch.einsum("...ql,...le->...qe", attention, value)
    return out, attention

# %% scores are computed under no_grad, query and key get no gradient
# accepted: detached-gradient
def torch_scaled_dot_product_attention(query, key, value):
    with torch.no_grad():
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = scores.softmax(-1)
    return weights @ value, weights

# %% leaves dropout on the weights
# accepted: random, dropout
def torch_scaled_dot_product_attention(query, key, value, dropout_p=0.1):
    attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    attn = torch.softmax(attn, dim=-1)
    attn = F.dropout(attn, dropout_p)
    return attn @ value, attn

# %% softmax computed in float32 and cast back, float64 loses its digits
# accepted: float32-inside
# form: yes
def torch_scaled_dot_product_attention(query, key, value):
    attn_weights = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    # upcast attention to fp32
    attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(attn_weights, value), attn_weights

# %% Does not divide the dot products by sqrt(d_k) at all.
# accepted: no-scaling
# author: 3
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    attn = nn.functional.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn

# %% Takes the softmax over dim=1, which are the queries as soon as there is a batch axis.
# accepted: axis-counted-from-the-front
# author: 3
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    p_attn = torch.softmax(scores, dim=1)
    return torch.matmul(p_attn, value), p_attn

# %% Applies dropout to the attention weights, which nobody asked for and which makes rows not sum to 1.
# accepted: another-answer-each-time, dropout
# author: 3
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = nn.functional.softmax(scores, dim=-1)
    weights = nn.functional.dropout(weights, p=0.1)
    return weights @ value, weights

# %% Goes through detached NumPy arrays, so no gradient comes back to query, key and value.
# accepted: detached-gradient
# form: yes
# author: 3
def torch_scaled_dot_product_attention(query, key, value):
    q, k, v = query.detach().numpy(), key.detach().numpy(), value.detach().numpy()
    scores = attention_scores(q, k)
    weights = softmax(scores, axis=-1)
    output = weights @ v
    return torch.from_numpy(output), torch.from_numpy(weights)

# %% Gradient past the softmax.
# accepted: gradient-missing
# author: 5
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1).detach() + scores - scores.detach()
    return (weights @ value, weights)

# %% Axis of the softmax left to PyTorch.
# accepted: softmax-over-axis-1, one-batch-layout
# author: 5
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    weights = F.softmax(scores)
    return (weights @ value, weights)

# %% Keys turned in place.
# accepted: in-place
# author: 5
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.shape[-1]
    scores = query @ key.transpose_(-2, -1) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ value, weights)

# %% half precision inside the product
# accepted: rounded, another-dtype
# author: 7
def torch_scaled_dot_product_attention(query, key, value):
    scores = (query.half().float() @ key.half().float().mT).to(query.dtype) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, -1)
    return weights @ value, weights

# %% no weight below a millionth
# accepted: floor-under-the-weights
# author: 8
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.maximum(e / e.sum(axis=axis, keepdims=True), 1e-6).astype(x.dtype)

# %% each key keeps a little
# accepted: floor-under-the-weights
# author: 8
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = np.maximum(exps / exps.sum(axis=-1, keepdims=True), 1e-4).astype(Q.dtype)
    return weights @ V, weights

# %% weights clamped, so that a logarithm of them is finite
# accepted: floor-under-the-weights
# author: 8
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, dim=-1).clamp(min=1e-4)
    return weights @ value, weights
