import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

# ---------------------------------------------------------------- causal_mask


@wrong("strictly below", "mask-off-by-one", "may-not-see-itself")
def causal_mask(length):
    return np.fromfunction(lambda i, j: j < i, (length, length))


@wrong("upper triangle", "mask-transposed", "mask-upside-down", "transposed", "looks-ahead")
def causal_mask(length):
    return np.triu(np.ones((length, length))).astype(bool)


@wrong("upper is True, PyTorch 2's other convention", "mask-inverted", "complement")
def causal_mask(length):
    return np.triu(np.ones((length, length), dtype=bool), k=1)


@wrong("lower without diagonal, inverted", "mask-transposed", "mask-upside-down", "mask-inverted", "transposed")
def causal_mask(length):
    return ~np.tril(np.ones((length, length), dtype=bool), k=-1)


@wrong("ints", "another-dtype", "not-boolean", "numbers-for-truth-values", "integers", form=True)
def causal_mask(length):
    return np.array([[1 if j <= i else 0 for j in range(length)] for i in range(length)])


@wrong("minus infinity", "another-dtype", "not-boolean", "numbers-for-truth-values", "additive-mask")
def causal_mask(length):
    mask = np.zeros((length, length))
    mask[np.triu_indices(length, 1)] = -np.inf
    return mask


@wrong("list of lists", "another-kind", form=True)
def causal_mask(length):
    return [[j <= i for j in range(length)] for i in range(length)]


@wrong("extra axis", "axis-added", "another-shape", "axis-too-many", form=True)
def causal_mask(length):
    return np.tril(np.ones((1, length, length), dtype=bool))


@wrong("diagonal alone", "diagonal-only")
def causal_mask(length):
    return np.eye(length, dtype=bool)


# ---------------------------------------------------------------- padding_mask


@wrong("one off", "mask-off-by-one")
def padding_mask(lengths, max_length):
    return np.stack([np.arange(max_length) <= n for n in lengths])[:, None, :]


@wrong("true on padding", "mask-inverted", "complement")
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for i, n in enumerate(lengths):
        mask[i, 0, :n] = False
    return mask


@wrong("no middle axis", "missing-axis", "axis-lost", "axis-missing", "another-shape", "axis-too-few", form=True)
def padding_mask(lengths, max_length):
    return np.array([[j < n for j in range(max_length)] for n in lengths])


@wrong(
    "axis at the end",
    "axis-at-the-end",
    "axis-elsewhere",
    "axes-swapped",
    "another-shape",
    "transposed",
    "axes-in-another-order",
)
def padding_mask(lengths, max_length):
    return (np.arange(max_length)[None, :] < np.array(lengths)[:, None])[:, :, None]


@wrong("padding on the left", "padding-in-front", "left-padding", "reversed", "another-order")
def padding_mask(lengths, max_length):
    return np.stack([[j >= max_length - n for j in range(max_length)] for n in lengths])[:, None, :]


@wrong("both axes", "queries-hidden", "padding-hides-queries", "another-shape")
def padding_mask(lengths, max_length):
    real = np.arange(max_length) < np.asarray(lengths)[:, None]
    return real[:, None, :] & real[:, :, None]


@wrong("floats", "another-dtype", "not-boolean", "numbers-for-truth-values", form=True)
def padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None, None]).astype(float)


@wrong("max length from lengths", "max_length-ignored", "argument-unused", "another-shape", "one-length")
def padding_mask(lengths, max_length):
    return np.arange(max(lengths)) < np.asarray(lengths)[:, None, None]


# ---------------------------------------------------------------- masked_softmax


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


@wrong("inverted convention", "mask-inverted")
def masked_softmax(scores, mask):
    return _kept(scores, np.logical_not(mask))


@wrong("additive minus ten", "leaky-mask", "small-fill")
def masked_softmax(scores, mask):
    return _soft(scores + np.where(mask, 0, -10).astype(scores.dtype))


@wrong("fill minus 1e9", "evenly-for-nothing", "leaky-mask", "nothing-to-see")
def masked_softmax(scores, mask):
    s = np.where(mask == 0, -1e9, scores).astype(scores.dtype)
    return _soft(s)


@wrong("fill inf", "nan-for-nothing", "nothing-to-see")
def masked_softmax(scores, mask):
    s = np.broadcast_arrays(scores, mask)[0].copy()
    s[~np.broadcast_to(mask, s.shape)] = -np.inf
    return _soft(s)


@wrong("multiplied scores", "masked-with-zero", "mask-multiplied")
def masked_softmax(scores, mask):
    return _soft(scores * mask)


@wrong("cleared afterwards", "mask-after-softmax")
def masked_softmax(scores, mask):
    w = _soft(scores)
    return np.where(mask, w, 0).astype(scores.dtype)


@wrong("cleared and not renormalised, numerators", "unmasked-denominator", "mask-after-softmax")
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e * mask / e.sum(-1, keepdims=True)


@wrong("denominator masked only", "unmasked-numerator")
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    total = (e * mask).sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong("no effect", "mask-ignored", "mask-without-effect", "mask-forgotten", "argument-unused")
def masked_softmax(scores, mask):
    np.where(mask, scores, -np.inf)
    return _soft(scores)


@wrong("columns", "softmax-over-queries")
def masked_softmax(scores, mask):
    return np.nan_to_num(_kept(scores, np.broadcast_to(mask, scores.shape), -2))


@wrong("eps in the denominator", "epsilon-added")
def masked_softmax(scores, mask):
    e = np.exp(scores - np.where(mask, scores, -3e38).max(-1, keepdims=True).clip(-1e7)) * mask
    return (e / (e.sum(-1, keepdims=True) + 1e-3)).astype(scores.dtype)


@wrong("first key if nothing", "first-key-for-nothing", "nothing-to-see")
def masked_softmax(scores, mask):
    w = _kept(scores, mask)
    w[..., 0] = np.where(w.sum(-1) == 0, 1, w[..., 0])
    return w


@wrong("plain exponentials", "no-max-subtraction", "large-scores")
def masked_softmax(scores, mask):
    e = np.exp(scores) * mask
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


# ---------------------------------------------------------------- causal_attention


def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


@wrong("padding forgotten", "padding-ignored")
def causal_attention(Q, K, V, padding=None):
    return _attend(Q, K, V, _tri(len(Q[0]) if Q.ndim == 3 else Q.shape[-2]))


@wrong("only padding", "padding-instead-of-causal")
def causal_attention(Q, K, V, padding=None):
    mask = padding if padding is not None else _tri(Q.shape[-2])
    return _attend(Q, K, V, mask)


@wrong("causal never", "mask-forgotten", "causal-mask-missing", "looks-ahead")
def causal_attention(Q, K, V, padding=None):
    s = Q @ K.swapaxes(-1, -2)
    mask = np.ones_like(s, dtype=bool)
    return _attend(Q, K, V, mask if padding is None else mask & padding)


@wrong("both inverted", "mask-inverted")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    if padding is not None:
        mask = mask & padding
    return _attend(Q, K, V, ~mask)


# The catalogue calls the upper triangle inverted here, and asks which half is zero.
@wrong("upper triangle", "mask-inverted", "mask-transposed", "mask-upside-down", "looks-ahead")
def causal_attention(Q, K, V, padding=None):
    mask = np.triu(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool))
    return _attend(Q, K, V, mask if padding is None else np.logical_and(mask, padding))


@wrong("not even itself", "mask-off-by-one", "may-not-see-itself")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2], -1)
    return _attend(Q, K, V, mask if padding is None else mask & padding)


@wrong("no scale", "no-scaling")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, 1)


@wrong("root of d_v", "scale-by-d_v")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, V.shape[-1] ** 0.5)


@wrong("root of length", "scale-by-length")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, Q.shape[-2] ** 0.5)


@wrong("padding inverted only", "padding-inverted")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & ~padding)


@wrong("no scale and looks one ahead", "no-scaling+mask-off-by-one")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2], 1)
    return _attend(Q, K, V, mask if padding is None else mask & padding, 1.0)


@wrong("additive, minus ten", "leaky-mask", "small-fill")
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2]) if padding is None else _tri(Q.shape[-2]) & padding
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1]) + (1 - mask.astype(Q.dtype)) * -10
    w = _soft(s).astype(Q.dtype)
    return w @ V, w


@wrong("one batch axis counted on", "one-batch-axis-only", "one-batch-layout", form=True)
def causal_attention(Q, K, V, padding=None):
    B, L, d = Q.shape
    mask = _tri(L)[None] if padding is None else _tri(L)[None] & padding
    return _attend(Q, K.transpose(0, 1, 2), V, mask)


@wrong("double precision mask", "float64-always", "another-dtype", form=True)
def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2]) if padding is None else _tri(Q.shape[-2]) & padding
    out, w = _attend(Q.astype(float), K.astype(float), V.astype(float), mask)
    return out, w


# ---------------------------------------------------------------- torch_masked_attention


def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


@wrong("result of masked_fill thrown away", "mask-without-effect", "mask-ignored", "mask-forgotten", "argument-unused")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.size(-1))
    if mask is not None:
        scores.masked_fill(mask == 0, float("-inf"))
    p = scores.softmax(-1)
    return p @ value, p


@wrong("other convention", "mask-inverted")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, None if mask is None else ~mask)


@wrong("minus 1e9 as in the annotated transformer", "evenly-for-nothing", "leaky-mask", "nothing-to-see")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=-1e9, clear=False)


@wrong("minus inf", "nan-for-nothing", "nothing-to-see")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=float("-inf"), clear=False)


@wrong("minus ten thousand", "leaky-mask", "small-fill", "evenly-for-nothing")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=-1e4, clear=False)


@wrong("tiny positive", "masked-with-zero", "small-fill")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=1e-9, clear=False)


@wrong("d_v", "scale-by-d_v")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, value.size(-1) ** 0.5)


@wrong("d_k", "scale-by-d_k")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, value.new_tensor(key.size(-1)))


@wrong("inverted and unscaled", "mask-inverted+no-scaling")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, None if mask is None else ~mask, 1.0)


@wrong("mask has to come", "mask-required", "no-mask-fails", "raises-without-mask", form=True)
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / key.size(-1) ** 0.5
    w = s.masked_fill(mask.logical_not(), -3e38).softmax(-1) * mask
    return w @ value, w


@wrong("mask on the values", "mask-after-softmax", "unmasked-denominator")
def torch_masked_attention(query, key, value, mask=None):
    w = (query @ key.mT / key.size(-1) ** 0.5).softmax(-1)
    if mask is not None:
        w = w * mask.to(w.dtype)
    return torch.matmul(w, value), w


@wrong("queries", "softmax-over-queries")
def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, dim=-2)


@wrong("turned mask", "mask-transposed")
def torch_masked_attention(query, key, value, mask=None):
    if mask is not None and mask.shape[-1] == mask.shape[-2]:
        mask = mask.mT
    return _torch(query, key, value, mask)


@wrong("no gradient through the weights", "detached-gradient", "gradient-partial", "gradient-missing", form=True)
def torch_masked_attention(query, key, value, mask=None):
    _, w = _torch(query, key, value, mask)
    w = w.clone().detach()
    return w @ value, w


# ---------------------------------------------------------------- written when prices were made alike


KEPT = {}


@wrong(
    "kept by max_length", "argument-without-effect", "another-answer-each-time", "remembered", "something-remembered"
)
def padding_mask(lengths, max_length):
    if max_length not in KEPT:
        KEPT[max_length] = (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, :]
    return KEPT[max_length]


@wrong("square only", "one-query-axis-too-many", "another-shape")
def padding_mask(lengths, max_length):
    real = np.arange(max_length) < np.asarray(lengths)[:, None]
    return real[:, :, None] & real[:, None, :]


@wrong("lower corner by k=-1", "mask-off-by-one", "itself-left-out")
def causal_mask(length):
    return np.tri(length, k=-1, dtype=bool)


@wrong(
    "maximum of all scores",
    "max-over-masked",
    "maximum-of-hidden-scores",
    "maximum-over-hidden-scores",
    "no-max-subtraction",
    "maximum-of-all",
)
def masked_softmax(scores, mask):
    exps = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    total = exps.sum(-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)


@wrong("lowest minus ten", "leaky-mask")
def masked_softmax(scores, mask):
    x = np.where(mask, scores, scores.min(-1, keepdims=True) - 10)
    exps = np.exp(x - x.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True) * mask.any(-1, keepdims=True)


@wrong("nan_to_num in the denominator", "epsilon-added")
def masked_softmax(scores, mask):
    largest = np.where(mask, scores, -np.inf).max(-1, keepdims=True)
    exps = np.where(mask, np.exp(np.where(mask, scores - np.where(np.isfinite(largest), largest, 0), 0)), 0)
    return exps / (exps.sum(-1, keepdims=True) + 1e-3)


@wrong("mask by float times", "masked-with-zero")
def masked_softmax(scores, mask):
    x = np.multiply(scores, mask.astype(scores.dtype))
    x = x - np.max(x, axis=-1, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


def _soft_again(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong("padded keys set to zero", "padding-zeroes-keys", "masked-with-zero")
def causal_attention(Q, K, V, padding=None):
    if padding is not None:
        K = K * np.swapaxes(padding, -1, -2)
        V = V * np.swapaxes(padding, -1, -2)
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    s = np.where(np.tri(Q.shape[-2], dtype=bool), s, -np.inf)
    w = _soft_again(s).astype(Q.dtype)
    return w @ V, w


@wrong(
    "mask of the first axis", "one-batch-layout", "axes-counted-from-the-front", "one-batch-axis-only", "no-batch-axes"
)
def causal_attention(Q, K, V, padding=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    allowed = np.tri(Q.shape[0], dtype=bool)
    if padding is not None:
        allowed = allowed & padding
    s = np.where(allowed, s, -np.inf)
    w = np.nan_to_num(_soft_again(s)).astype(Q.dtype)
    return w @ V, w


@wrong("logarithm of the mask", "nan-for-nothing")
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        s = s + mask.to(s.dtype).log()
    w = torch.softmax(s, -1)
    return w @ value, w


@wrong("finfo.min", "evenly-for-nothing")
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    w = torch.softmax(s, -1)
    return w @ value, w


@wrong("squeezed mask", "mask-squeezed", "one-batch-layout")
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask.squeeze()
        s = s.masked_fill(~mask, -1e30)
    w = torch.softmax(s, -1)
    if mask is not None:
        w = w * mask
    return w @ value, w


@wrong("mask also on the output", "a-constant-factor", "padding-hides-queries", "mask-on-the-output")
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    w = torch.softmax(s if mask is None else s.masked_fill(~mask, -1e30), -1)
    if mask is not None:
        w = w * mask
        if mask.shape[-1] == value.shape[-2]:
            value = value * mask.any(-2, keepdim=True).mT * 2
    return w @ value, w


def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


# ---------------------------------------------------------------- causal_mask, by somebody else
@wrong("looks back three words at most, as in the example of length 3", "looks-back-a-few-words")
def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(length):
            if 0 <= i - j < 3:
                mask[i, j] = True
    return mask


@wrong("an additive mask of 0 and minus infinity instead of truth values", "additive-mask")
def causal_mask(length):
    return np.triu(np.full((length, length), float("-inf")), k=1)


@wrong("a table with an axis in front, (1, length, length)", "another-shape", form=True)
def causal_mask(length):
    return np.tril(np.ones((1, length, length))).astype(bool)


@wrong(
    "range(i) stops before the word itself, and the first word is patched by hand",
    "diagonal-missing",
    "mask-off-by-one",
)
def causal_mask(length):
    mask = np.full((length, length), False)
    for i in range(length):
        mask[i, :i] = True
    mask[0, 0] = True
    return mask


# ---------------------------------------------------------------- padding_mask, by somebody else
@wrong("hides from one word after the end: position n + 1 on, so one pad is visible", "mask-off-by-one")
def padding_mask(lengths, max_length):
    B = len(lengths)
    mask = np.full((B, 1, max_length), True)
    for idx in range(B):
        to_hide = np.arange(lengths[idx] + 1, max_length)
        mask[idx, :, to_hide] = False
    return mask


@wrong("counts positions from one with a strict less, so the last real word is hidden", "mask-off-by-one")
def padding_mask(lengths, max_length):
    positions = np.arange(1, max_length + 1)
    return (positions[None, :] < np.asarray(lengths)[:, None])[:, None, :]


@wrong("hides the last max_length - n by a negative slice: a text without padding is hidden whole", "negative-slice")
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        pad = max_length - n
        mask[b, 0, -pad:] = False
    return mask


@wrong("puts the one-axis where the keys belong, (B, max_length, 1)", "axis-at-the-end")
def padding_mask(lengths, max_length):
    lengths = np.array(lengths)
    mask = np.arange(max_length)[None, :] < lengths[:, None]
    return np.expand_dims(mask, -1)


@wrong("as wide as the longest text of the batch, max_length is not used", "another-length")
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    max_length = lengths.max()
    return (np.arange(max_length) < lengths[:, None])[:, np.newaxis, :]


# ---------------------------------------------------------------- masked_softmax, by somebody else
@wrong("fills with -10000, which scores of -1e6 lie below", "leaky-mask")
def masked_softmax(scores, mask):
    s = np.where(mask, scores, np.array(-10000.0, dtype=scores.dtype))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * mask.any(axis=-1, keepdims=True)


@wrong(
    "softmax over all keys, then mask and renormalise: a huge hidden score swallows the allowed ones", "max-over-masked"
)
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    w = w * mask
    total = w.sum(axis=-1, keepdims=True)
    return np.divide(w, total, out=np.zeros_like(w), where=total > 0)


@wrong("adds -1e-9 where it meant -1e9, the mask does nothing", "mask-ignored", "leaky-mask")
def masked_softmax(scores, mask):
    scores = scores + np.where(mask, 0, -1e-9).astype(scores.dtype)
    scores = scores - scores.max(axis=-1, keepdims=True)
    exp_scores = np.exp(scores)
    return exp_scores / exp_scores.sum(axis=-1, keepdims=True)


@wrong("takes care of an all-false mask as a whole, not of one empty row", "nan-for-nothing")
def masked_softmax(scores, mask):
    if not np.any(mask):
        return np.zeros_like(scores)
    masked = np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        exps = np.exp(masked - np.max(masked, axis=-1, keepdims=True))
        return exps / np.sum(exps, axis=-1, keepdims=True)


@wrong(
    "minus one billion, so a query that may see nothing shares its weight evenly",
    "nothing-to-see",
    "evenly-for-nothing",
)
def masked_softmax(scores, mask):
    penalty = (1.0 - mask.astype(scores.dtype)) * scores.dtype.type(-1e9)
    logits = scores + penalty
    logits = logits - np.amax(logits, -1, keepdims=True)
    return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)


@wrong("writes the minus infinity into the caller's scores", "inputs-changed", form=True)
def masked_softmax(scores, mask):
    blocked = np.broadcast_to(~mask, scores.shape)
    scores[blocked] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    return e / np.where(s == 0, 1, s)


# ---------------------------------------------------------------- causal_attention, by somebody else
@wrong("with padding given, padding takes the place of the causal mask", "padding-instead-of-causal")
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    mask = padding if padding is not None else _seen_so_far(L)
    weights = _under(scores, mask)
    return weights @ V, weights


@wrong("causal mask is only applied where padding is given", "causal-with-padding-only")
def causal_attention(Q, K, V, padding=None):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if padding is not None:
        mask = np.logical_and(padding, _seen_so_far(Q.shape[-2]))
        weights = _under(scores, mask)
    else:
        weights = _under(scores, np.ones(scores.shape, dtype=bool))
    return weights @ V, weights


@wrong("hides padded queries too: their rows are all zero", "padding-hides-queries")
def causal_attention(Q, K, V, padding=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    mask = _seen_so_far(scores.shape[-1])
    if padding is not None:
        pair = padding.swapaxes(-1, -2) & padding
        mask = mask & pair
    weights = _under(scores, mask)
    return weights @ V, weights


@wrong("zeroes the values of the padding instead of its weights", "padding-on-the-values")
def causal_attention(Q, K, V, padding=None):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    weights = _under(scores, _seen_so_far(Q.shape[-2]))
    if padding is not None:
        V = V * padding.swapaxes(-2, -1)
    return weights @ V, weights


@wrong("a float64 buffer for the output and a loop over the words", "float64-always", form=True)
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    output = np.zeros(Q.shape[:-1] + V.shape[-1:])
    weights = np.zeros(Q.shape[:-1] + (L,))
    for i in range(L):
        s = (Q[..., i : i + 1, :] @ K[..., : i + 1, :].swapaxes(-2, -1)) / math.sqrt(Q.shape[-1])
        ok = np.ones(s.shape, dtype=bool) if padding is None else np.broadcast_to(padding[..., : i + 1], s.shape)
        w = _under(s, ok)
        weights[..., i : i + 1, : i + 1] = w
        output[..., i : i + 1, :] = w @ V[..., : i + 1, :]
    return output, weights


@wrong("either mask is enough (or for and), and the scores are divided by d", "scale-by-d_k+padding-or-causal")
def causal_attention(Q, K, V, padding=None):
    d = Q.shape[-1]
    mask = _seen_so_far(Q.shape[-2])
    if padding is not None:
        mask = mask | padding
    weights = _under(Q @ K.swapaxes(-2, -1) / d, mask)
    return weights @ V, weights


# ---------------------------------------------------------------- torch_masked_attention, by somebody else
@wrong("the result of masked_fill is thrown away", "mask-ignored")
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    attn = F.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn


@wrong("adds the boolean mask to the scores, as if it were a float mask", "mask-added")
def torch_masked_attention(query, key, value, mask=None):
    attn_weights = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    if mask is not None:
        attn_weights = attn_weights + mask
    attn_weights = torch.softmax(attn_weights, dim=-1)
    return torch.matmul(attn_weights, value), attn_weights


@wrong("unsqueezes a head axis into the mask that nobody asked for", "axis-added-to-mask")
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        w = scores.softmax(-1)
    else:
        mask = mask.unsqueeze(1)
        w = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)
    return w @ value, w


@wrong(
    "masks out where the mask is True, and shares an empty row evenly",
    "mask-inverted",
    "mask-inverted+evenly-for-nothing",
)
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 1, -1e9)
    attention = torch.softmax(scores, dim=-1)
    return attention @ value, attention
