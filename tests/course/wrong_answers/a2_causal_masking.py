# %% strictly below
# accepted: mask-off-by-one, may-not-see-itself
def causal_mask(length):
    return np.fromfunction(lambda i, j: j < i, (length, length))

# %% upper triangle
# accepted: mask-transposed, mask-upside-down, transposed, looks-ahead
def causal_mask(length):
    return np.triu(np.ones((length, length))).astype(bool)

# %% upper is True, PyTorch 2's other convention
# accepted: mask-inverted, complement
def causal_mask(length):
    return np.triu(np.ones((length, length), dtype=bool), k=1)

# %% lower without diagonal, inverted
# accepted: mask-transposed, mask-upside-down, mask-inverted, transposed
def causal_mask(length):
    return ~np.tril(np.ones((length, length), dtype=bool), k=-1)

# %% ints
# accepted: another-dtype, not-boolean, numbers-for-truth-values, integers
# form: yes
def causal_mask(length):
    return np.array([[1 if j <= i else 0 for j in range(length)] for i in range(length)])

# %% minus infinity
# accepted: another-dtype, not-boolean, numbers-for-truth-values, additive-mask
def causal_mask(length):
    mask = np.zeros((length, length))
    mask[np.triu_indices(length, 1)] = -np.inf
    return mask

# %% list of lists
# accepted: another-kind
# form: yes
def causal_mask(length):
    return [[j <= i for j in range(length)] for i in range(length)]

# %% extra axis
# accepted: axis-added, another-shape, axis-too-many
# form: yes
def causal_mask(length):
    return np.tril(np.ones((1, length, length), dtype=bool))

# %% diagonal alone
# accepted: diagonal-only
def causal_mask(length):
    return np.eye(length, dtype=bool)

# %% lower corner by k=-1
# accepted: mask-off-by-one, itself-left-out
def causal_mask(length):
    return np.tri(length, k=-1, dtype=bool)

# %% looks back three words at most, as in the example of length 3
# accepted: looks-back-a-few-words
def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(length):
            if 0 <= i - j < 3:
                mask[i, j] = True
    return mask

# %% an additive mask of 0 and minus infinity instead of truth values
# accepted: additive-mask
def causal_mask(length):
    return np.triu(np.full((length, length), float("-inf")), k=1)

# %% a table with an axis in front, (1, length, length)
# accepted: another-shape
# form: yes
def causal_mask(length):
    return np.tril(np.ones((1, length, length))).astype(bool)

# %% range(i) stops before the word itself, and the first word is patched by hand
# accepted: diagonal-missing, mask-off-by-one
def causal_mask(length):
    mask = np.full((length, length), False)
    for i in range(length):
        mask[i, :i] = True
    mask[0, 0] = True
    return mask

# %% Marks the future with True: here True means may attend, not forbidden.
# accepted: mask-inverted
# author: 3
def causal_mask(length):
    return np.triu(np.ones((length, length)), k=1).astype(bool)

# %% Leaves out the diagonal, so a word may not look at itself.
# accepted: mask-off-by-one
# author: 3
def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(i):
            mask[i, j] = True
    return mask

# %% Returns zeros and ones in float instead of truth values of dtype bool.
# accepted: not-boolean
# form: yes
# author: 3
def causal_mask(length):
    return np.tril(np.ones((length, length)))

# %% Positions in bytes.
# accepted: positions-overflow
# author: 5
def causal_mask(length):
    position = np.arange(length).astype(np.int8)
    return position[None, :] <= position[:, None]

# %% a buffer of sixteen words
# accepted: stops-at-a-length
# author: 7
def causal_mask(length):
    block = np.tril(np.ones((16, 16), dtype=bool))
    mask = np.zeros((length, length), dtype=bool)
    mask[:16, :16] = block[:length, :length]
    return mask

# %% one off
# accepted: mask-off-by-one
def padding_mask(lengths, max_length):
    return np.stack([np.arange(max_length) <= n for n in lengths])[:, None, :]

# %% true on padding
# accepted: mask-inverted, complement
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for i, n in enumerate(lengths):
        mask[i, 0, :n] = False
    return mask

# %% no middle axis
# accepted: missing-axis, axis-lost, axis-missing, another-shape, axis-too-few
# form: yes
def padding_mask(lengths, max_length):
    return np.array([[j < n for j in range(max_length)] for n in lengths])

# %% axis at the end
# accepted: axis-at-the-end, axis-elsewhere, axes-swapped, another-shape, transposed, axes-in-another-order
def padding_mask(lengths, max_length):
    return (np.arange(max_length)[None, :] < np.array(lengths)[:, None])[:, :, None]

# %% padding on the left
# accepted: padding-in-front, left-padding, reversed, another-order
def padding_mask(lengths, max_length):
    return np.stack([[j >= max_length - n for j in range(max_length)] for n in lengths])[:, None, :]

# %% both axes
# accepted: queries-hidden, padding-hides-queries, another-shape
def padding_mask(lengths, max_length):
    real = np.arange(max_length) < np.asarray(lengths)[:, None]
    return real[:, None, :] & real[:, :, None]

# %% floats
# accepted: another-dtype, not-boolean, numbers-for-truth-values
# form: yes
def padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None, None]).astype(float)

# %% max length from lengths
# accepted: max_length-ignored, argument-unused, another-shape, one-length
def padding_mask(lengths, max_length):
    return np.arange(max(lengths)) < np.asarray(lengths)[:, None, None]

# %% kept by max_length
# accepted: argument-without-effect, another-answer-each-time, remembered, something-remembered
KEPT = {}


def padding_mask(lengths, max_length):
    if max_length not in KEPT:
        KEPT[max_length] = (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, :]
    return KEPT[max_length]

# %% square only
# accepted: one-query-axis-too-many, another-shape
def padding_mask(lengths, max_length):
    real = np.arange(max_length) < np.asarray(lengths)[:, None]
    return real[:, :, None] & real[:, None, :]

# %% hides from one word after the end: position n + 1 on, so one pad is visible
# accepted: mask-off-by-one
def padding_mask(lengths, max_length):
    B = len(lengths)
    mask = np.full((B, 1, max_length), True)
    for idx in range(B):
        to_hide = np.arange(lengths[idx] + 1, max_length)
        mask[idx, :, to_hide] = False
    return mask

# %% counts positions from one with a strict less, so the last real word is hidden
# accepted: mask-off-by-one
def padding_mask(lengths, max_length):
    positions = np.arange(1, max_length + 1)
    return (positions[None, :] < np.asarray(lengths)[:, None])[:, None, :]

# %% hides the last max_length - n by a negative slice: a text without padding is hidden whole
# accepted: negative-slice
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        pad = max_length - n
        mask[b, 0, -pad:] = False
    return mask

# %% puts the one-axis where the keys belong, (B, max_length, 1)
# accepted: axis-at-the-end
def padding_mask(lengths, max_length):
    lengths = np.array(lengths)
    mask = np.arange(max_length)[None, :] < lengths[:, None]
    return np.expand_dims(mask, -1)

# %% as wide as the longest text of the batch, max_length is not used
# accepted: another-length
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    max_length = lengths.max()
    return (np.arange(max_length) < lengths[:, None])[:, np.newaxis, :]

# %% Counts one place too many: position `length` is already padding, but <= lets it through.
# accepted: mask-off-by-one
# author: 3
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    positions = np.arange(max_length)
    return (positions[None, :] <= lengths[:, None])[:, None, :]

# %% Puts the extra axis behind the positions, (B, max_length, 1), so the mask hides queries instead of keys.
# accepted: axis-at-the-end
# author: 3
def padding_mask(lengths, max_length):
    mask = []
    for n in lengths:
        mask.append([True] * int(n) + [False] * (max_length - int(n)))
    mask = np.array(mask, dtype=bool)
    return np.expand_dims(mask, axis=-1)

# %% Lacks the axis of length one for the queries: it returns (B, max_length) and not (B, 1, max_length).
# accepted: missing-axis
# form: yes
# author: 3
def padding_mask(lengths, max_length):
    return np.array([[j < n for j in range(max_length)] for n in lengths])

# %% Lengths in bytes.
# accepted: lengths-overflow
# author: 5
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths).astype(np.int8)[:, None, None]
    return np.arange(max_length) < lengths

# %% The places in the type of the lengths: below zero there is nothing in an unsigned one.
# accepted: lengths-overflow
# author: 8
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    return (lengths[:, None, None] - np.arange(max_length, dtype=lengths.dtype)) > 0

# %% The places cast to the type of the lengths, which may end before max_length.
# accepted: lengths-overflow
# author: 8
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    return np.arange(max_length).astype(lengths.dtype) < lengths[:, None, None]

# %% The last place of each text is the length less one, which an unsigned zero does not have.
# accepted: lengths-overflow
# author: 8
def padding_mask(lengths, max_length):
    return np.arange(max_length) <= np.asarray(lengths)[:, None, None] - 1

# %% The mask is turned round where no text of the batch has a word.
# accepted: complement, mask-inverted
# author: 8
def padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    out = np.arange(max_length) < lengths[:, None, None]
    return out[..., :max_length] if lengths.max() > 0 else ~out

# %% Lengths popped off their list.
# accepted: inputs-changed
# author: 5
def padding_mask(lengths, max_length):
    lengths = lengths if isinstance(lengths, list) else lengths.tolist()
    rows = []
    while lengths:
        rows.append(lengths.pop(0))
    return np.array([[[j < n for j in range(max_length)]] for n in rows])

# %% sixteen texts at most
# accepted: stops-at-a-length
# author: 7
def padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length), dtype=bool)
    for i in range(min(16, len(lengths))):
        mask[i, 0, : lengths[i]] = True
    return mask

# %% inverted convention
# accepted: mask-inverted
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def masked_softmax(scores, mask):
    return _kept(scores, np.logical_not(mask))

# %% additive minus ten
# accepted: leaky-mask, small-fill
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    return _soft(scores + np.where(mask, 0, -10).astype(scores.dtype))

# %% fill minus 1e9
# accepted: evenly-for-nothing, leaky-mask, nothing-to-see
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    s = np.where(mask == 0, -1e9, scores).astype(scores.dtype)
    return _soft(s)

# %% fill inf
# accepted: nan-for-nothing, nothing-to-see
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    s = np.broadcast_arrays(scores, mask)[0].copy()
    s[~np.broadcast_to(mask, s.shape)] = -np.inf
    return _soft(s)

# %% multiplied scores
# accepted: masked-with-zero, mask-multiplied
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    return _soft(scores * mask)

# %% cleared afterwards
# accepted: mask-after-softmax
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    w = _soft(scores)
    return np.where(mask, w, 0).astype(scores.dtype)

# %% cleared and not renormalised, numerators
# accepted: unmasked-denominator, mask-after-softmax
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e * mask / e.sum(-1, keepdims=True)

# %% denominator masked only
# accepted: unmasked-numerator
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    total = (e * mask).sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% no effect
# accepted: mask-ignored, mask-without-effect, mask-forgotten, argument-unused
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    np.where(mask, scores, -np.inf)
    return _soft(scores)

# %% columns
# accepted: softmax-over-queries
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def masked_softmax(scores, mask):
    return np.nan_to_num(_kept(scores, np.broadcast_to(mask, scores.shape), -2))

# %% eps in the denominator
# accepted: epsilon-added
def masked_softmax(scores, mask):
    e = np.exp(scores - np.where(mask, scores, -3e38).max(-1, keepdims=True).clip(-1e7)) * mask
    return (e / (e.sum(-1, keepdims=True) + 1e-3)).astype(scores.dtype)

# %% first key if nothing
# accepted: first-key-for-nothing, nothing-to-see
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def masked_softmax(scores, mask):
    w = _kept(scores, mask)
    w[..., 0] = np.where(w.sum(-1) == 0, 1, w[..., 0])
    return w

# %% plain exponentials
# accepted: no-max-subtraction, large-scores
def masked_softmax(scores, mask):
    e = np.exp(scores) * mask
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)

# %% maximum of all scores
# accepted: max-over-masked, maximum-of-hidden-scores, maximum-over-hidden-scores, no-max-subtraction, maximum-of-all
def masked_softmax(scores, mask):
    exps = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    total = exps.sum(-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)

# %% lowest minus ten
# accepted: leaky-mask
def masked_softmax(scores, mask):
    x = np.where(mask, scores, scores.min(-1, keepdims=True) - 10)
    exps = np.exp(x - x.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True) * mask.any(-1, keepdims=True)

# %% nan_to_num in the denominator
# accepted: epsilon-added
def masked_softmax(scores, mask):
    largest = np.where(mask, scores, -np.inf).max(-1, keepdims=True)
    exps = np.where(mask, np.exp(np.where(mask, scores - np.where(np.isfinite(largest), largest, 0), 0)), 0)
    return exps / (exps.sum(-1, keepdims=True) + 1e-3)

# %% mask by float times
# accepted: masked-with-zero
def masked_softmax(scores, mask):
    x = np.multiply(scores, mask.astype(scores.dtype))
    x = x - np.max(x, axis=-1, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)

# %% fills with -10000, which scores of -1e6 lie below
# accepted: leaky-mask
def masked_softmax(scores, mask):
    s = np.where(mask, scores, np.array(-10000.0, dtype=scores.dtype))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * mask.any(axis=-1, keepdims=True)

# %% softmax over all keys, then mask and renormalise: a huge hidden score swallows the allowed ones
# accepted: max-over-masked
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    w = w * mask
    total = w.sum(axis=-1, keepdims=True)
    return np.divide(w, total, out=np.zeros_like(w), where=total > 0)

# %% adds -1e-9 where it meant -1e9, the mask does nothing
# accepted: mask-ignored, leaky-mask
def masked_softmax(scores, mask):
    scores = scores + np.where(mask, 0, -1e-9).astype(scores.dtype)
    scores = scores - scores.max(axis=-1, keepdims=True)
    exp_scores = np.exp(scores)
    return exp_scores / exp_scores.sum(axis=-1, keepdims=True)

# %% takes care of an all-false mask as a whole, not of one empty row
# accepted: nan-for-nothing
def masked_softmax(scores, mask):
    if not np.any(mask):
        return np.zeros_like(scores)
    masked = np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        exps = np.exp(masked - np.max(masked, axis=-1, keepdims=True))
        return exps / np.sum(exps, axis=-1, keepdims=True)

# %% minus one billion, so a query that may see nothing shares its weight evenly
# accepted: nothing-to-see, evenly-for-nothing
def masked_softmax(scores, mask):
    penalty = (1.0 - mask.astype(scores.dtype)) * scores.dtype.type(-1e9)
    logits = scores + penalty
    logits = logits - np.amax(logits, -1, keepdims=True)
    return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)

# %% writes the minus infinity into the caller's scores
# accepted: inputs-changed
# form: yes
def masked_softmax(scores, mask):
    blocked = np.broadcast_to(~mask, scores.shape)
    scores[blocked] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    return e / np.where(s == 0, 1, s)

# %% Fills with -inf and does nothing about rows where all is hidden, which become NaN.
# accepted: nan-for-nothing
# author: 3
def masked_softmax(scores, mask):
    masked = np.where(mask, scores, -np.inf)
    e = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% Fills with -1e9 only, so a row where nothing is allowed spreads its weight evenly instead of being all 0.
# accepted: evenly-for-nothing
# author: 3
def masked_softmax(scores, mask):
    scores = np.where(mask, scores, -1e9).astype(scores.dtype)
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    exp = np.exp(scores)
    return exp / np.sum(exp, axis=-1, keepdims=True)

# %% Applies the mask after the softmax and does not renormalise, so rows no longer sum to 1.
# accepted: mask-after-softmax
# author: 3
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights * mask

# %% Subtracts the largest of all scores, hidden ones too, so next to a huge hidden score all allowed exponentials vanish.
# accepted: max-over-masked
# author: 3
def masked_softmax(scores, mask):
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True)) * mask
    total = exps.sum(axis=-1, keepdims=True)
    total = np.where(total == 0, 1, total).astype(scores.dtype)
    return exps / total

# %% Writes -inf into the caller's scores instead of into a copy.
# accepted: inputs-changed
# form: yes
# author: 3
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    scores[~mask] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    top[np.isinf(top)] = 0
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    s[s == 0] = 1
    return e / s

# %% The stand-in for "not allowed" is not small enough.
# accepted: small-fill, max-over-masked
# author: 4
def masked_softmax(scores, mask):
    s = np.where(mask, scores, scores.dtype.type(-100))
    e = np.exp(s - s.max(-1, keepdims=True)) * mask
    return e / np.where(e.sum(-1, keepdims=True) == 0, 1, e.sum(-1, keepdims=True)).astype(s.dtype)

# %% Masked keys keep a tiny weight.
# accepted: leak-of-1e-9
# author: 4
def masked_softmax(scores, mask):
    s = np.where(mask, scores, scores.min(-1, keepdims=True) - 10)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

# %% Not the largest of the allowed is subtracted.
# accepted: mean-subtracted
# author: 4
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = (np.where(mask, scores, 0).sum(-1, keepdims=True) / np.maximum(mask.sum(-1, keepdims=True), 1)).astype(
        scores.dtype
    )
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)

# %% Not the largest of the allowed is subtracted.
# accepted: first-allowed-subtracted
# author: 4
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.take_along_axis(scores, mask.argmax(-1)[..., None], -1)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)

# %% Not the largest of the allowed is subtracted.
# accepted: smallest-subtracted
# author: 4
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.where(mask, scores, np.inf).min(-1, keepdims=True)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)

# %% Not the largest of the allowed is subtracted.
# accepted: largest-absolute-value, large-scores
# author: 4
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.where(mask, np.abs(scores), 0).max(-1, keepdims=True)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)

# %% Not the largest of the allowed is subtracted.
# accepted: last-allowed-subtracted
# author: 4
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.take_along_axis(scores, mask.shape[-1] - 1 - mask[..., ::-1].argmax(-1)[..., None], -1)
    top = np.where(mask.any(-1, keepdims=True), top, 0).astype(scores.dtype)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)

# %% Even where nothing is allowed at all.
# accepted: evenly-for-nothing
# author: 5
def masked_softmax(scores, mask):
    allowed = np.where(mask, scores, -np.inf) if mask.any() else scores * 0
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)

# %% Even rows of nothing, in float64.
# accepted: evenly-for-nothing, evenly-for-nothing+float64-always
# author: 5
def masked_softmax(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1) + (total == 0) / allowed.shape[-1]

# %% A score of zero is hidden.
# accepted: zero-scores-hidden
# author: 5
def masked_softmax(scores, mask):
    allowed = scores * mask
    allowed = np.where(allowed == 0, -np.inf, allowed)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)

# %% Square masks of a batch turned over.
# accepted: square-mask-transposed
# author: 5
def masked_softmax(scores, mask):
    allowed = np.where(
        mask.swapaxes(-1, -2) if mask.ndim > 2 and mask.shape[-1] == mask.shape[-2] else mask, scores, -np.inf
    )
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)

# %% padding forgotten
# accepted: padding-ignored
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def causal_attention(Q, K, V, padding=None):
    return _attend(Q, K, V, _tri(len(Q[0]) if Q.ndim == 3 else Q.shape[-2]))

# %% only padding
# accepted: padding-instead-of-causal
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def causal_attention(Q, K, V, padding=None):
    mask = padding if padding is not None else _tri(Q.shape[-2])
    return _attend(Q, K, V, mask)

# %% causal never
# accepted: mask-forgotten, causal-mask-missing, looks-ahead
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    s = Q @ K.swapaxes(-1, -2)
    mask = np.ones_like(s, dtype=bool)
    return _attend(Q, K, V, mask if padding is None else mask & padding)

# %% both inverted
# accepted: mask-inverted
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    if padding is not None:
        mask = mask & padding
    return _attend(Q, K, V, ~mask)

# %% upper triangle
# accepted: mask-inverted, mask-transposed, mask-upside-down, looks-ahead
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = np.triu(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool))
    return _attend(Q, K, V, mask if padding is None else np.logical_and(mask, padding))

# %% not even itself
# accepted: mask-off-by-one, may-not-see-itself
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2], -1)
    return _attend(Q, K, V, mask if padding is None else mask & padding)

# %% no scale
# accepted: no-scaling
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, 1)

# %% root of d_v
# accepted: scale-by-d_v
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, V.shape[-1] ** 0.5)

# %% root of length
# accepted: scale-by-length
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & padding, Q.shape[-2] ** 0.5)

# %% padding inverted only
# accepted: padding-inverted
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2])
    return _attend(Q, K, V, mask if padding is None else mask & ~padding)

# %% no scale and looks one ahead
# accepted: no-scaling+mask-off-by-one
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2], 1)
    return _attend(Q, K, V, mask if padding is None else mask & padding, 1.0)

# %% additive, minus ten
# accepted: leaky-mask, small-fill
def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2]) if padding is None else _tri(Q.shape[-2]) & padding
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1]) + (1 - mask.astype(Q.dtype)) * -10
    w = _soft(s).astype(Q.dtype)
    return w @ V, w

# %% one batch axis counted on
# accepted: one-batch-axis-only, one-batch-layout
# form: yes
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def causal_attention(Q, K, V, padding=None):
    B, L, d = Q.shape
    mask = _tri(L)[None] if padding is None else _tri(L)[None] & padding
    return _attend(Q, K.transpose(0, 1, 2), V, mask)

# %% double precision mask
# accepted: float64-always, another-dtype
# form: yes
def _soft(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _kept(s, mask, axis=-1):
    low = np.where(mask, s, -1e300 if s.dtype == np.float64 else -3e38).astype(s.dtype)
    return np.where(mask, _soft(low, axis), 0).astype(s.dtype)


def _attend(Q, K, V, mask, scale=None):
    s = Q @ K.swapaxes(-1, -2) / (math.sqrt(Q.shape[-1]) if scale is None else scale)
    w = _kept(s, np.broadcast_to(mask, s.shape))
    return w @ V, w


def _tri(L, k=0):
    return np.tril(np.ones((L, L), dtype=bool), k)


def causal_attention(Q, K, V, padding=None):
    mask = _tri(Q.shape[-2]) if padding is None else _tri(Q.shape[-2]) & padding
    out, w = _attend(Q.astype(float), K.astype(float), V.astype(float), mask)
    return out, w

# %% padded keys set to zero
# accepted: padding-zeroes-keys, masked-with-zero
def _soft_again(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_attention(Q, K, V, padding=None):
    if padding is not None:
        K = K * np.swapaxes(padding, -1, -2)
        V = V * np.swapaxes(padding, -1, -2)
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    s = np.where(np.tri(Q.shape[-2], dtype=bool), s, -np.inf)
    w = _soft_again(s).astype(Q.dtype)
    return w @ V, w

# %% mask of the first axis
# accepted: one-batch-layout, axes-counted-from-the-front, one-batch-axis-only, no-batch-axes
def _soft_again(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_attention(Q, K, V, padding=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    allowed = np.tri(Q.shape[0], dtype=bool)
    if padding is not None:
        allowed = allowed & padding
    s = np.where(allowed, s, -np.inf)
    w = np.nan_to_num(_soft_again(s)).astype(Q.dtype)
    return w @ V, w

# %% with padding given, padding takes the place of the causal mask
# accepted: padding-instead-of-causal
def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    mask = padding if padding is not None else _seen_so_far(L)
    weights = _under(scores, mask)
    return weights @ V, weights

# %% causal mask is only applied where padding is given
# accepted: causal-with-padding-only
def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def causal_attention(Q, K, V, padding=None):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if padding is not None:
        mask = np.logical_and(padding, _seen_so_far(Q.shape[-2]))
        weights = _under(scores, mask)
    else:
        weights = _under(scores, np.ones(scores.shape, dtype=bool))
    return weights @ V, weights

# %% hides padded queries too: their rows are all zero
# accepted: padding-hides-queries
def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def causal_attention(Q, K, V, padding=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    mask = _seen_so_far(scores.shape[-1])
    if padding is not None:
        pair = padding.swapaxes(-1, -2) & padding
        mask = mask & pair
    weights = _under(scores, mask)
    return weights @ V, weights

# %% zeroes the values of the padding instead of its weights
# accepted: padding-on-the-values
def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def causal_attention(Q, K, V, padding=None):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    weights = _under(scores, _seen_so_far(Q.shape[-2]))
    if padding is not None:
        V = V * padding.swapaxes(-2, -1)
    return weights @ V, weights

# %% a float64 buffer for the output and a loop over the words
# accepted: float64-always
# form: yes
def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


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

# %% either mask is enough (or for and), and the scores are divided by d
# accepted: scale-by-d_k+padding-or-causal
def _seen_so_far(n):
    return np.tril(np.ones((n, n), dtype=bool))


def _under(scores, mask):
    allowed = np.where(mask, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def causal_attention(Q, K, V, padding=None):
    d = Q.shape[-1]
    mask = _seen_so_far(Q.shape[-2])
    if padding is not None:
        mask = mask | padding
    weights = _under(Q @ K.swapaxes(-2, -1) / d, mask)
    return weights @ V, weights

# %% Joins the two masks with | so a key is allowed where only one of them says yes.
# accepted: padding-or-causal
# author: 3
def causal_attention(Q, K, V, padding=None):
    L, d = Q.shape[-2:]
    mask = causal_mask(L)
    if padding is not None:
        mask = mask | padding
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(d)
    weights = masked_softmax(scores, mask)
    return weights @ V, weights

# %% Uses the padding mask in place of the causal mask, so a padded batch looks ahead.
# accepted: padding-instead-of-causal
# author: 3
def causal_attention(Q, K, V, padding=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    if padding is None:
        weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    else:
        weights = masked_softmax(scores, padding)
    output = np.einsum("...ij,...jv->...iv", weights, V)
    return output, weights

# %% Hides the rows of padded queries as well, though padding should hide keys only.
# accepted: padding-hides-queries
# author: 3
def causal_attention(Q, K, V, padding=None):
    mask = causal_mask(Q.shape[-2])
    if padding is not None:
        pad_rows = padding.swapaxes(-2, -1)  # (B, L, 1)
        mask = mask & padding & pad_rows
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ V, weights

# %% Does not divide the scores by sqrt(d); ignores padding altogether.
# accepted: no-scaling+padding-ignored
# author: 3
def causal_attention(Q, K, V, padding=None):
    scores = np.matmul(Q, np.swapaxes(K, -2, -1))
    mask = causal_mask(scores.shape[-1])
    weights = masked_softmax(scores, mask)
    return np.matmul(weights, V), weights

# %% One text's padding for the whole batch.
# accepted: batch-item-0-for-all
# author: 4
def causal_attention(Q, K, V, padding=None):
    m = causal_mask(Q.shape[-2])
    if padding is not None:
        m = m & padding[0]
    w = masked_softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), m)
    return w @ V, w

# %% a table of 32 words, all later ones are seen
# accepted: stops-at-a-length
# author: 7
def causal_attention(Q, K, V, padding=None):
    L = Q.shape[-2]
    mask = np.ones((L, L), dtype=bool)
    mask[:32, :32] = np.tril(mask[:32, :32])
    mask = mask if padding is None else mask & padding
    scores = np.where(mask, Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), -1e30)
    exps = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    weights = (exps / np.maximum(exps.sum(-1, keepdims=True), 1e-30)).astype(Q.dtype)
    return weights @ V, weights

# %% result of masked_fill thrown away
# accepted: mask-without-effect, mask-ignored, mask-forgotten, argument-unused
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.size(-1))
    if mask is not None:
        scores.masked_fill(mask == 0, float("-inf"))
    p = scores.softmax(-1)
    return p @ value, p

# %% other convention
# accepted: mask-inverted
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, None if mask is None else ~mask)

# %% minus 1e9 as in the annotated transformer
# accepted: evenly-for-nothing, leaky-mask, nothing-to-see
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=-1e9, clear=False)

# %% minus inf
# accepted: nan-for-nothing, nothing-to-see
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=float("-inf"), clear=False)

# %% minus ten thousand
# accepted: leaky-mask, small-fill, evenly-for-nothing
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=-1e4, clear=False)

# %% tiny positive
# accepted: masked-with-zero, small-fill
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, low=1e-9, clear=False)

# %% d_v
# accepted: scale-by-d_v
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, value.size(-1) ** 0.5)

# %% d_k
# accepted: scale-by-d_k
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, value.new_tensor(key.size(-1)))

# %% inverted and unscaled
# accepted: mask-inverted+no-scaling
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, None if mask is None else ~mask, 1.0)

# %% mask has to come
# accepted: mask-required, no-mask-fails, raises-without-mask
# form: yes
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / key.size(-1) ** 0.5
    w = s.masked_fill(mask.logical_not(), -3e38).softmax(-1) * mask
    return w @ value, w

# %% mask on the values
# accepted: mask-after-softmax, unmasked-denominator
def torch_masked_attention(query, key, value, mask=None):
    w = (query @ key.mT / key.size(-1) ** 0.5).softmax(-1)
    if mask is not None:
        w = w * mask.to(w.dtype)
    return torch.matmul(w, value), w

# %% queries
# accepted: softmax-over-queries
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    return _torch(query, key, value, mask, dim=-2)

# %% turned mask
# accepted: mask-transposed
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    if mask is not None and mask.shape[-1] == mask.shape[-2]:
        mask = mask.mT
    return _torch(query, key, value, mask)

# %% no gradient through the weights
# accepted: detached-gradient, gradient-partial, gradient-missing
# form: yes
def _torch(query, key, value, mask, scale=None, low=None, dim=-1, clear=True):
    s = query @ key.mT / (key.size(-1) ** 0.5 if scale is None else scale)
    if mask is None:
        w = s.softmax(dim)
    else:
        w = s.masked_fill(mask == 0, torch.finfo(s.dtype).min if low is None else low).softmax(dim)
        w = w.masked_fill(mask == 0, 0) if clear else w
    return w @ value, w


def torch_masked_attention(query, key, value, mask=None):
    _, w = _torch(query, key, value, mask)
    w = w.clone().detach()
    return w @ value, w

# %% logarithm of the mask
# accepted: nan-for-nothing
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        s = s + mask.to(s.dtype).log()
    w = torch.softmax(s, -1)
    return w @ value, w

# %% finfo.min
# accepted: evenly-for-nothing
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    w = torch.softmax(s, -1)
    return w @ value, w

# %% squeezed mask
# accepted: mask-squeezed, one-batch-layout
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask.squeeze()
        s = s.masked_fill(~mask, -1e30)
    w = torch.softmax(s, -1)
    if mask is not None:
        w = w * mask
    return w @ value, w

# %% mask also on the output
# accepted: a-constant-factor, padding-hides-queries, mask-on-the-output
def torch_masked_attention(query, key, value, mask=None):
    s = query @ key.mT / math.sqrt(query.size(-1))
    w = torch.softmax(s if mask is None else s.masked_fill(~mask, -1e30), -1)
    if mask is not None:
        w = w * mask
        if mask.shape[-1] == value.shape[-2]:
            value = value * mask.any(-2, keepdim=True).mT * 2
    return w @ value, w

# %% the result of masked_fill is thrown away
# accepted: mask-ignored
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    attn = F.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn

# %% adds the boolean mask to the scores, as if it were a float mask
# accepted: mask-added
def torch_masked_attention(query, key, value, mask=None):
    attn_weights = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    if mask is not None:
        attn_weights = attn_weights + mask
    attn_weights = torch.softmax(attn_weights, dim=-1)
    return torch.matmul(attn_weights, value), attn_weights

# %% unsqueezes a head axis into the mask that nobody asked for
# accepted: axis-added-to-mask
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        w = scores.softmax(-1)
    else:
        mask = mask.unsqueeze(1)
        w = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)
    return w @ value, w

# %% masks out where the mask is True, and shares an empty row evenly
# accepted: mask-inverted, mask-inverted+evenly-for-nothing
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 1, -1e9)
    attention = torch.softmax(scores, dim=-1)
    return attention @ value, attention

# %% Fills the scores where the mask is True, so exactly the allowed keys are hidden.
# accepted: mask-inverted
# author: 3
def torch_masked_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    return torch.matmul(weights, value), weights

# %% Fills hidden scores with 1e-9, a score near zero, instead of a very negative one, so hidden keys still get weight.
# accepted: masked-with-zero
# author: 3
def torch_masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 1e-9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn

# %% Adds -inf to hidden scores and mends the NaN of empty rows only in the result, so their gradients are still NaN.
# accepted: nan-in-the-gradient
# author: 3
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype)
        bias[~mask] = float("-inf")
        scores = scores + bias
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    return weights @ value, weights

# %% Returns the weights detached from the graph, so no gradient flows through them.
# accepted: detached-gradient
# form: yes
# author: 3
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        weights = torch.where(mask, weights, 0.0)
    output = weights @ value
    return output, weights.detach()

# %% four heads and no more
# accepted: some-heads-only
# author: 7
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1) * mask
    if weights.dim() == 4:
        weights = torch.cat([weights[:, :4], 0 * weights[:, 4:]], 1)
    return weights @ value, weights

# %% no visible key below a ten-thousandth
# accepted: floor-under-the-weights
# author: 8
def masked_softmax(scores, mask):
    lowest = np.finfo(scores.dtype).min
    hidden = np.where(mask, scores, lowest)
    e = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return np.where(mask, np.maximum(e / e.sum(axis=-1, keepdims=True), 1e-4), 0).astype(scores.dtype)

# %% padding that hides all is taken for none
# accepted: mask-ignored-when-empty
# author: 8
def causal_attention(Q, K, V, padding=None):
    mask = causal_mask(Q.shape[-2])
    if padding is not None and np.any(padding):
        mask = mask & padding
    weights = masked_softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights

# %% earlier words keep a little
# accepted: floor-under-the-weights
# author: 8
def causal_attention(Q, K, V, padding=None):
    mask = causal_mask(Q.shape[-2])
    mask = mask if padding is None else mask & padding
    weights = masked_softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    weights = np.where(mask, weights.clip(1e-5, None), 0).astype(Q.dtype)
    return weights @ V, weights

# %% a mask without any True is taken for none
# accepted: mask-ignored-when-empty
# author: 8
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None and mask.any():
        hidden = ~mask
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
    else:
        weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% visible keys keep a little
# accepted: floor-under-the-weights
# author: 8
def torch_masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1).clamp(min=1e-4).masked_fill(~mask, 0.0)
    return weights @ value, weights
