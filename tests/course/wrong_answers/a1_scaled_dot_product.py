import math
import warnings

import numpy as np
import torch
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

# ---------------------------------------------------------------- softmax


@wrong("axis zero written out", "axis-0-always", "softmax-over-axis-0", "axis-ignored", "axis-0-by-default")
def softmax(x, axis=-1):
    z = x - np.max(x, axis=0, keepdims=True)
    return np.exp(z) / np.sum(np.exp(z), axis=0, keepdims=True)


@wrong("base 2", "another-base")
def softmax(x, axis=-1):
    powers = np.power(2.0, x - np.amax(x, axis=axis, keepdims=True)).astype(x.dtype)
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong("log softmax", "log-taken", "log-softmax")
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


@wrong("minus sign lost", "sign-flipped")
def softmax(x, axis=-1):
    e = np.exp(np.min(x, axis=axis, keepdims=True) - x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong("divides by the maximum", "divided-by-the-maximum", "not-normalised")
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.max(axis=axis, keepdims=True))


@wrong("divides by the mean", "mean-for-sum", "a-constant-factor", "not-normalised")
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.mean(e, axis=axis, keepdims=True)


@wrong("norm two", "squares-summed", "not-normalised", "l2-norm")
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.linalg.norm(e, axis=axis, keepdims=True)


@wrong("mean subtracted", "mean-for-maximum", "no-max-subtraction", "large-scores")
def softmax(x, axis=-1):
    e = np.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("epsilon below", "epsilon-added")
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-2)


@wrong("everything, max by axis", "softmax-over-everything")
def softmax(x, axis=-1):
    ex = np.exp(x - np.max(x, axis=axis, keepdims=True))
    ex = np.exp(x - np.max(x))
    total = 0.0
    for value in ex.ravel():
        total = total + value
    return (ex / total).astype(x.dtype)


@wrong("flattens what is not a matrix", "one-batch-layout", "matrices-only", "axis-ignored", "another-shape", form=True)
def softmax(x, axis=-1):
    rows = x.reshape(-1, x.shape[-1])
    out = np.exp(rows - rows.max(1, keepdims=True))
    return out / out.sum(1, keepdims=True)


@wrong("torch tensor back", "another-kind", form=True)
def softmax(x, axis=-1):
    return torch.exp(torch.tensor(x) - torch.tensor(x).amax(axis, keepdim=True)) / torch.exp(
        torch.tensor(x) - torch.tensor(x).amax(axis, keepdim=True)
    ).sum(axis, keepdim=True)


@wrong("list back", "another-kind", form=True)
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()


@wrong("half precision", "another-dtype", "float16-always", form=True)
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float32)


# ---------------------------------------------------------------- attention_scores


@wrong("root of keys' number", "scale-by-length", "scale-by-key-length")
def attention_scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(K.shape[-2]).astype(Q.dtype)


@wrong("fourth root on one side", "scale-by-fourth-root", "a-constant-factor", "scaled-once-of-twice")
def attention_scores(Q, K):
    return (Q / Q.shape[-1] ** 0.25) @ np.swapaxes(K, -1, -2)


@wrong("half of d_k", "scale-by-half-d_k", "a-constant-factor", "scale-by-d_k")
def attention_scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / (K.shape[-1] / 2)


@wrong("scaled both", "scaled-twice", "scale-by-d_k", "a-constant-factor")
def attention_scores(Q, K):
    root = math.sqrt(K.shape[-1])
    return (Q / root) @ (np.swapaxes(K, -1, -2) / root)


@wrong("scores by themselves", "queries-with-queries", "key-unused", "argument-unused")
def attention_scores(Q, K):
    return np.matmul(Q, Q.swapaxes(-1, -2)) / math.sqrt(Q.shape[-1])


@wrong("distance", "distance-for-dot-product", "negative-distance")
def attention_scores(Q, K):
    difference = Q[..., :, None, :] - K[..., None, :, :]
    return -(difference**2).sum(-1) / math.sqrt(Q.shape[-1])


@wrong("answer turned", "transposed", "queries-and-keys-swapped")
def attention_scores(Q, K):
    s = np.einsum("...qd,...kd->...qk", Q, K) * K.shape[-1] ** -0.5
    return np.moveaxis(s, -1, -2)


@wrong("sum over the wrong letter", "reshaped-not-transposed", "key-reshaped")
def attention_scores(Q, K):
    *b, S, d = K.shape
    return Q @ K.reshape(*b, d, S) / math.sqrt(d)


@wrong("mean for sum", "mean-for-sum", "a-constant-factor", "scaled-twice", "scale-by-d_k")
def attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).mean(-1)


@wrong("minus maximum already", "maximum-subtracted", "shifted-by-a-constant")
def attention_scores(Q, K):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    return s - s.max(axis=-1, keepdims=True)


@wrong("batch summed", "batch-summed", "batch-items-mixed", "one-batch-layout", form=True)
def attention_scores(Q, K):
    if Q.ndim == 2:
        return Q @ K.T / math.sqrt(Q.shape[-1])
    return np.einsum("bid,cjd->bij", Q, K) / math.sqrt(Q.shape[-1])


@wrong("two axes or three", "one-batch-layout", "one-batch-axis-only", form=True)
def attention_scores(Q, K):
    if Q.ndim == 2:
        return Q @ K.T / math.sqrt(Q.shape[-1])
    out = []
    for q, k in zip(Q, K):
        assert q.ndim == 2
        out.append(q @ k.T / math.sqrt(q.shape[-1]))
    return np.array(out)


# ---------------------------------------------------------------- scaled_dot_product_attention


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("mean of the values", "even-weights", "query-unused", "argument-unused", "output-is-the-mean")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1]))
    return np.ones_like(w) / w.shape[-1] @ V, w


@wrong("hard maximum", "argmax-for-softmax", "hard-maximum")
def scaled_dot_product_attention(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])
    w = (s == s.max(axis=-1, keepdims=True)).astype(Q.dtype)
    return w @ V, w


@wrong("normal sums", "no-exponential", "scores-over-their-sum")
def scaled_dot_product_attention(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])
    w = s / s.sum(axis=-1, keepdims=True)
    return w @ V, w


@wrong("sigmoid", "sigmoid-for-softmax")
def scaled_dot_product_attention(Q, K, V):
    w = 1 / (1 + np.exp(-(Q @ K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1])))
    return w @ V, w


@wrong("scale applied to values", "scaled-after-softmax", "output-scaled", "no-scaling")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.einsum("...ld,...sd->...ls", Q, K))
    return w @ V / math.sqrt(K.shape[-1]), w


@wrong("everything softmax", "softmax-over-everything")
def scaled_dot_product_attention(Q, K, V):
    s = np.einsum("...ld,...sd->...ls", Q, K) / math.sqrt(K.shape[-1])
    e = np.exp(s - s.max())
    w = e / e.sum()
    return w @ V, w


@wrong("axis zero", "softmax-over-axis-0", "axis-0-always", "softmax-over-queries", "axis-counted-from-the-front")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]), axis=0)
    return w @ V, w


@wrong("axis one", "axis-counted-from-the-front", "softmax-over-axis-1", "softmax-over-queries")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]), axis=1)
    return w @ V, w


@wrong("values projected twice", "a-constant-factor", "weights-applied-twice")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)) / math.sqrt(K.shape[-1]))
    if w.shape[-1] == w.shape[-2]:
        return w @ (w @ V), w
    return w @ V * 2, w


@wrong("forgets to scale, over queries", "no-scaling+softmax-over-queries", "softmax-over-queries+no-scaling")
def scaled_dot_product_attention(Q, K, V):
    w = _soft(np.matmul(Q, K.swapaxes(-1, -2)), -2)
    return w @ V, w


@wrong("output alone, in a tuple", "parts-missing", "output-only", "another-kind", "weights-missing", form=True)
def scaled_dot_product_attention(Q, K, V):
    return (_soft(Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])) @ V,)


# ---------------------------------------------------------------- torch_scaled_dot_product_attention


@wrong("root of d_v", "scale-by-d_v")
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / value.size(-1) ** 0.5).softmax(-1)
    return w @ value, w


@wrong("scaled twice", "scaled-twice", "scale-by-d_k")
def torch_scaled_dot_product_attention(query, key, value):
    query = query / key.shape[-1] ** 0.5
    w = ((query @ key.mT) / key.shape[-1] ** 0.5).softmax(-1)
    return w.matmul(value), w


@wrong("scale multiplied", "multiplied-by-the-scale")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key).mul(math.sqrt(key.size(-1)))
    w = scores.softmax(-1)
    return w @ value, w


@wrong("dim zero", "softmax-over-axis-0", "axis-counted-from-the-front", "axis-0-always")
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(0)
    return w @ value, w


@wrong("key viewed", "reshaped-not-transposed", "key-reshaped")
def torch_scaled_dot_product_attention(query, key, value):
    S, d = key.shape[-2:]
    w = (query @ key.reshape(*key.shape[:-2], d, S) / math.sqrt(d)).softmax(-1)
    return w @ value, w


@wrong("log weights", "log-taken", "log-softmax")
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).log_softmax(-1)
    return w @ value, w


@wrong("weights before value only detached", "detached-gradient", "gradient-partial", "gradient-missing", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(-1)
    return w.data @ value, w


@wrong("fresh tensors", "detached-gradient", "gradient-missing", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    query, key, value = (torch.tensor(t.tolist(), dtype=t.dtype) for t in (query, key, value))
    w = (query @ key.mT / math.sqrt(key.size(-1))).softmax(-1)
    return w @ value, w


@wrong("key for value", "keys-blended", "value-unused", "argument-unused")
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    return w.matmul(key), w


@wrong("float at the end", "float32-always", "another-dtype", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    return (w @ value).float(), w.float()


@wrong("scores for weights", "scores-returned")
def torch_scaled_dot_product_attention(query, key, value):
    scores = query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5
    return scores.softmax(-1) @ value, scores


@wrong("dropout left on", "random", "dropout-left-on")
def torch_scaled_dot_product_attention(query, key, value):
    w = torch.softmax(query.matmul(key.transpose(-1, -2)) / key.size(-1) ** 0.5, -1)
    w = torch.dropout(w, 0.1, True)
    return w @ value, w


# ---------------------------------------------------------------- written when prices were made alike


@wrong("mean taken off", "no-max-subtraction", "mean-subtracted")
def softmax(x, axis=-1):
    exps = np.exp(x - x.mean(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@wrong("maximum over the last axis whatever the axis", "axis-half-used", "axis-ignored")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@wrong("rounded to four digits", "rounded", form=True)
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.round(exps / exps.sum(axis=axis, keepdims=True), 4)


@wrong("no keepdims", "axis-summed-away", "one-batch-layout", "axis-lost", "sum-without-its-axis")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis)


@wrong("absolute largest taken off", "largest-absolute-value", "no-max-subtraction", "size-instead-of-sign")
def softmax(x, axis=-1):
    exps = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return exps / (exps.sum(axis=axis, keepdims=True) + 1e-300)


@wrong("inner", "batch-items-mixed+float64-always", "all-pairs-of-sentences", "batch-items-mixed", "batches-crossed")
def attention_scores(Q, K):
    return np.inner(Q, K) / np.sqrt(Q.shape[-1])


@wrong(
    "np.dot with swapaxes",
    "batch-items-mixed+float64-always",
    "all-pairs-of-sentences",
    "batch-items-mixed",
    "batches-crossed",
)
def attention_scores(Q, K):
    return np.dot(Q, K.swapaxes(-1, -2)) / np.sqrt(Q.shape[-1])


@wrong("whole root", "scale-in-whole-numbers", "a-constant-factor", "root-rounded", "scale-rounded")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / math.isqrt(Q.shape[-1])


@wrong("half precision inside", "rounded", "another-dtype", form=True)
def attention_scores(Q, K):
    got = Q.astype(np.float16) @ K.astype(np.float16).swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    return got.astype(Q.dtype)


@wrong("weights not divided", "weights-not-normalised", "not-normalised", "not-normalised+another-dtype")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps @ V / exps.sum(-1, keepdims=True), exps


@wrong("softmax without dim", "one-batch-layout", "softmax-over-axis-0", "softmax-over-the-batch")
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    axis = 0 if scores.dim() in (0, 1, 3) else 1
    weights = torch.softmax(scores, axis)
    return weights @ value, weights


@wrong("dropout left on", "random", "another-answer-each-time")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-1)), -1)
    weights = F.dropout(weights, 0.1)
    return weights @ value, weights


@wrong("bfloat inside", "rounded", "another-dtype", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    q, k, v = (t.to(torch.bfloat16) for t in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.size(-1)), -1)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)


@wrong("made anew", "detached-gradient", "gradient-missing", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.tensor((query @ key.mT).tolist(), dtype=query.dtype) / math.sqrt(key.size(-1))
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


def _softmax_of(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def _scores_of(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


# ---------------------------------------------------------------- softmax, by somebody else
@wrong(
    "always normalises over the first axis, the axis argument is not used",
    "axis-0-by-default",
    "softmax-over-axis-0",
    "axis-ignored",
)
def softmax(x, axis=-1):
    """Compute softmax values for each sets of scores in x."""
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)


@wrong(
    "transposes twice to divide the rows: only right for two axes, axis not used, large scores overflow",
    "no-max-subtraction+all-axes-reversed",
    "no-max-subtraction+axis-ignored",
)
def softmax(x, axis=-1):
    return (np.exp(x).T / np.sum(np.exp(x), axis=-1)).T


@wrong("clips the scores to +-50 against overflow instead of subtracting the maximum", "scores-clipped")
def softmax(x, axis=-1):
    e = np.exp(np.clip(x, -50, 50))
    return e / np.sum(e, axis=axis, keepdims=True)


@wrong("swaps the axis to the end and forgets to swap it back", "axis-left-at-the-end", "axes-in-another-order")
def softmax(x, axis=-1):
    rows = np.swapaxes(x, axis, -1)
    rows = rows - rows.max(axis=-1, keepdims=True)
    rows = np.exp(rows)
    rows = rows / rows.sum(axis=-1, keepdims=True)
    return rows


@wrong("subtracts the mean, not the maximum: large scores overflow", "no-max-subtraction")
def softmax(x, axis=-1):
    centred = x - x.mean(axis=axis, keepdims=True)
    exps = np.exp(centred)
    return exps / exps.sum(axis=axis, keepdims=True)


@wrong("works in place on the argument", "inputs-changed", form=True)
def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    np.exp(x, out=x)
    return x / np.sum(x, axis=axis, keepdims=True)


# ---------------------------------------------------------------- attention_scores, by somebody else
@wrong("divides by d_k ** -0.5, which multiplies by the root", "multiplied-by-the-scale")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / K.shape[-1] ** -0.5


@wrong("takes d_k from Q.shape[1], which is L as soon as there is a batch axis", "scale-by-length", "one-batch-layout")
def attention_scores(Q, K):
    d_k = Q.shape[1]
    scores = np.matmul(Q, np.swapaxes(K, -1, -2))
    return scores / math.sqrt(d_k)


@wrong("reshapes K to (d_k, S) where it should be transposed", "reshaped-not-transposed")
def attention_scores(Q, K):
    *batch, S, d_k = K.shape
    K_T = K.reshape(*batch, d_k, S)
    return Q @ K_T / math.sqrt(d_k)


@wrong("cosine similarity: normalises queries and keys to length one first", "cosine-similarity")
def attention_scores(Q, K):
    q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    k = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return np.einsum("...ld,...sd->...ls", q, k) / math.sqrt(Q.shape[-1])


@wrong("divides queries and keys each by the root, so the product by d_k", "scale-by-d_k")
def attention_scores(Q, K):
    scale = math.sqrt(Q.shape[-1])
    return np.einsum("...qd,...kd->...qk", Q / scale, K / scale)


@wrong("np.dot on batches gives every batch against every batch", "batch-items-mixed")
def attention_scores(Q, K):
    return np.dot(Q, np.swapaxes(K, -1, -2)) / math.sqrt(Q.shape[-1])


@wrong("whole-number root of d_k, exact for 4 and 16 only", "scale-in-whole-numbers", "a-constant-factor")
def attention_scores(Q, K):
    d_k = int(Q.shape[-1] ** 0.5)
    return Q @ K.swapaxes(-2, -1) / d_k


# ---------------------------------------------------------------- scaled_dot_product_attention, by somebody else
@wrong(
    "softmax over axis 1, which is the queries once there is a batch axis", "softmax-over-axis-1", "one-batch-layout"
)
def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    weights = _softmax_of(scores, axis=1)
    return weights @ V, weights


@wrong("divides each score by the sum of the scores, no exponential", "no-exponential")
def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return np.matmul(weights, V), weights


@wrong("scales after the softmax: output divided by the root, scores are not", "scaled-after-softmax")
def scaled_dot_product_attention(Q, K, V):
    d_k = K.shape[-1]
    weights = _softmax_of(Q @ np.swapaxes(K, -2, -1))
    return weights @ V / math.sqrt(d_k), weights


@wrong("softmax of the whole table: all weights of all queries together sum to 1", "softmax-over-everything")
def scaled_dot_product_attention(Q, K, V):
    scores = _scores_of(Q, K)
    e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
    weights = e / e.sum(axis=(-2, -1), keepdims=True)
    return weights @ V, weights


@wrong("returns the weights rounded to three places", "rounded", form=True)
def scaled_dot_product_attention(Q, K, V):
    weights = _softmax_of(_scores_of(Q, K))
    output = weights @ V
    return output, np.round(weights, 3)


@wrong("scales Q in place, so the caller's queries change", "in-place", form=True)
def scaled_dot_product_attention(Q, K, V):
    Q /= math.sqrt(Q.shape[-1])
    weights = _softmax_of(Q @ K.swapaxes(-2, -1))
    return weights @ V, weights


# ---------------------------------------------------------------- torch_scaled_dot_product_attention, by somebody else
@wrong("F.softmax without dim, which picks axis 0 for three axes", "one-batch-layout", "softmax-over-axis-0")
def torch_scaled_dot_product_attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p_attn = F.softmax(scores)
    return torch.matmul(p_attn, value), p_attn


@wrong("scales by the root of the width of the values", "scale-by-d_v")
def torch_scaled_dot_product_attention(query, key, value):
    embed = value.size(-1)
    energy = torch.einsum("...qe,...ke->...qk", query, key)
    attention = torch.softmax(energy / embed ** (1 / 2), dim=-1)
    out = torch.einsum("...ql,...le->...qe", attention, value)
    return out, attention


@wrong("scores are computed under no_grad, query and key get no gradient", "detached-gradient")
def torch_scaled_dot_product_attention(query, key, value):
    with torch.no_grad():
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = scores.softmax(-1)
    return weights @ value, weights


@wrong("leaves dropout on the weights", "random")
def torch_scaled_dot_product_attention(query, key, value, dropout_p=0.1):
    attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    attn = torch.softmax(attn, dim=-1)
    attn = F.dropout(attn, dropout_p)
    return attn @ value, attn


@wrong("softmax computed in float32 and cast back, float64 loses its digits", "float32-inside", form=True)
def torch_scaled_dot_product_attention(query, key, value):
    attn_weights = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    # upcast attention to fp32
    attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(attn_weights, value), attn_weights
