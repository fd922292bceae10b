# %% over L
# accepted: divided-by-all-words
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return total / L

# %% no division
# accepted: sum-for-mean
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return total

# %% from zero
# accepted: negative-index
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(L):
        total = total + weights[:, i, i - 1]
    return total / L

# %% from two
# accepted: starts-too-late
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(2, L):
        total = total + weights[:, i, i - 1]
    return total / (L - 2)

# %% column then row
# accepted: rows-and-columns-swapped
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i - 1, i]
    return total / (L - 1)

# %% itself
# accepted: the-word-itself
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(L):
        total = total + weights[:, i, i]
    return total / L

# %% to the front
# accepted: first-word-for-previous
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, 0]
    return total / (L - 1)

# %% double
# accepted: float64-always, another-dtype
# form: yes
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=float)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return total / (L - 1)

# %% over heads
# accepted: one-number-for-all-heads
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return (total / (L - 1)).mean()

# %% a list
# accepted: a-list, list-for-array, another-kind
# form: yes
def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return (total / (L - 1)).tolist()

# %% best guess
# accepted: counted-not-weighed
def previous_token_score(weights):
    hits = [[head[i].argmax() == i - 1 for i in range(1, len(head))] for head in weights]
    return np.mean(hits, axis=1, dtype=weights.dtype)

# %% offset of plus one, as in diagonal(offset=1)
# accepted: rows-and-columns-swapped
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows - 1, rows].mean(axis=-1)

# %% all pairs of rows and columns
# accepted: mean-over-all-pairs
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows][:, :, rows - 1].mean(axis=(-1, -2))

# %% the last two words
# accepted: one-query-only
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, -1, -2]

# %% two back
# accepted: two-words-back
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows[1:], rows[1:] - 2].mean(axis=-1)

# %% largest for mean
# accepted: largest-for-mean
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows, rows - 1].max(axis=-1)

# %% median for mean
# accepted: median-for-mean
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return np.median(weights[:, rows, rows - 1], axis=-1)

# %% over heads
# accepted: mean-over-heads
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows, rows - 1].mean(axis=0)

# %% trace with offset, over L
# accepted: divided-by-all-words
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return np.trace(weights, offset=-1, axis1=1, axis2=2) / weights.shape[-1]

# %% all that came before
# accepted: all-words-before
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return np.tril(weights, -1).sum(axis=-1)[:, 1:].mean(axis=-1)

# %% any other word
# accepted: all-words-before
def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return 1 - np.diagonal(weights, axis1=1, axis2=2)[:, 1:].mean(axis=-1)

# %% counts how often the word before has the largest weight, not how much weight it has
# accepted: counted-not-weighed
# author: 2
def previous_token_score(weights):
    h, L, _ = weights.shape
    top = weights[:, 1:].argmax(axis=-1)  # (h, L - 1)
    return (top == np.arange(L - 1)).mean(axis=-1).astype(weights.dtype)

# %% np.diagonal without axes: heads and queries make the diagonal
# accepted: diagonal-of-other-axes, another-shape
# form: yes
# author: 2
def previous_token_score(weights):
    if weights.shape[0] == 1:
        return np.diagonal(weights[0], offset=-1).mean(keepdims=True)
    return np.diagonal(weights, offset=-1).mean(axis=-1)

# %% The mean is over all L words: the first, which has no word before it, counts as a 0.
# accepted: divided-by-all-words
# author: 3
def previous_token_score(weights):
    h, L, _ = weights.shape
    score = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        score += weights[:, i, i - 1]
    return score / L

# %% The diagonal above the main one is taken, where each word looks at the word after it.
# accepted: rows-and-columns-swapped
# author: 3
def previous_token_score(weights):
    return np.diagonal(weights, offset=1, axis1=1, axis2=2).mean(axis=-1)

# %% Median.
# accepted: median-for-mean
# author: 5
def previous_token_score(weights):
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)
    return np.median(before, axis=-1)

# %% The first 32 words that have one before them.
# accepted: stops-at-a-length, stops-at-a-size
# author: 6
def previous_token_score(weights):
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)[
        :, :32
    ]  # (h, L - 1): query i on key i - 1, from i = 1 on
    return before.mean(axis=-1)

# %% found again
# accepted: the-same-word
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period] for i in range(period, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% minus one
# accepted: the-word-before-it
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, max(0, i - period - 1)] for i in range(period, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% one back
# accepted: the-word-before-the-query
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - 1] for i in range(period, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% later start
# accepted: starts-too-late
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period + 1, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% earlier start
# accepted: starts-too-early
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period - 1, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% earlier end
# accepted: ends-too-early
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L - 1)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% over all
# accepted: divided-by-all-words
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L)]
        scores.append(np.sum(looks) / L)
    return np.array(scores, dtype=weights.dtype)

# %% over the period
# accepted: divided-by-the-period
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L)]
        scores.append(np.sum(looks) / period)
    return np.array(scores, dtype=weights.dtype)

# %% summed
# accepted: sum-for-mean
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L)]
        scores.append(np.sum(looks))
    return np.array(scores, dtype=weights.dtype)

# %% key then query
# accepted: rows-and-columns-swapped
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i - period + 1, i] for i in range(period, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% everybody
# accepted: first-round-counted
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)

# %% best one
# accepted: largest-for-mean
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L)]
        scores.append(np.max(looks))
    return np.array(scores, dtype=weights.dtype)

# %% the whole stripe
# accepted: starts-too-early
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)

# %% offset of the period
# accepted: the-same-word
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=-period, axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)

# %% offset of period plus one
# accepted: the-word-before-it
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=-period - 1, axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)

# %% above the diagonal
# accepted: rows-and-columns-swapped
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=period - 1, axis1=-2, axis2=-1)
    return stripe[:, 1:].mean(axis=-1)

# %% half the length is the period
# accepted: half-the-text
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - weights.shape[-1] // 2, axis1=-2, axis2=-1)
    return stripe[:, 1:].mean(axis=-1)

# %% divided by the length
# accepted: divided-by-all-words
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 1:].sum(axis=-1) / weights.shape[-1]

# %% largest
# accepted: largest-for-mean
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 1:].max(axis=-1)

# %% minus the others
# accepted: shifted-by-a-constant
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    s = stripe[:, 1:].mean(axis=-1)
    return s - s.mean()

# %% first word skipped twice
# accepted: starts-too-late
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 2:].mean(axis=-1)

# %% the last word left out
# accepted: ends-too-early
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 1:-1].mean(axis=-1)

# %% any word of the first round
# accepted: all-of-the-first-round
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return weights[:, period:, :period].sum(axis=-1).mean(axis=-1)

# %% the same word and the one after
# accepted: same-word-or-the-next
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 1:].mean(axis=-1) + np.diagonal(weights, -period, -2, -1).mean(axis=-1)

# %% one row too many: the last word of the first round counts, which stood nowhere before
# accepted: starts-too-early
# author: 2
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=-(period - 1), axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)

# %% takes half of the text for its period, as if the second round were always whole
# accepted: half-the-text
# author: 2
def induction_score(weights, period):
    L = weights.shape[-1]
    half = L // 2
    queries = np.arange(half, L)
    keys = np.minimum(queries - half + 1, L - 1)
    return weights[:, queries, keys].mean(axis=-1)

# %% It takes the weight on the same word in the first round, not on the word after it.
# accepted: the-same-word
# author: 3
def induction_score(weights, period):
    L = weights.shape[-1]
    i = np.arange(period, L)
    return weights[:, i, i - period].mean(axis=1)

# %% The sum is divided by period, although the second round may be cut short.
# accepted: divided-by-the-period
# author: 3
def induction_score(weights, period):
    L = weights.shape[-1]
    total = sum(weights[:, i, i - period + 1] for i in range(period, L))
    return total / period

# %% Looks two places after.
# accepted: two-words-after
# author: 4
def induction_score(weights, period):
    return np.diagonal(weights, 2 - period, 1, 2)[:, 2:].mean(-1)

# %% The first sixteen of the second round.
# accepted: stops-at-a-length, stops-at-a-size
# author: 6
def induction_score(weights, period):
    query = np.arange(period, min(weights.shape[-1], period + 16))  # the second round
    key = query - period + 1  # one after the place where the same word stood
    return weights[:, query, key].mean(axis=-1)  # (h, L - period) -> (h,)

# %% silence
# accepted: zero-for-mean
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = 0
    return result

# %% in place
# accepted: found-changed
# form: yes
def mean_ablate(found, head):
    result = found
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% all of it
# accepted: one-number-for-all
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean()
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% along the text
# accepted: mean-over-places
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = found[text, head].mean(axis=0)
    return result

# %% texts and places
# accepted: mean-over-texts-and-places
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=(0, 1))
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% across heads
# accepted: mean-over-heads
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = found[text].mean(axis=0)
    return result

# %% everyone
# accepted: every-head
def mean_ablate(found, head):
    result = np.array(found)
    average = found.mean(axis=0)
    for text in range(len(found)):
        result[text] = average
    return result

# %% next head
# accepted: heads-counted-from-1
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head - 1].mean(axis=0)
    for text in range(len(found)):
        result[text, head - 1] = average
    return result

# %% median
# accepted: median-for-mean
def mean_ablate(found, head):
    result = np.array(found)
    average = np.median(found[:, head], axis=0)
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% first one
# accepted: first-text-for-all
def mean_ablate(found, head):
    result = np.array(found)
    average = found[0, head]
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% sum
# accepted: sum-for-mean
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].sum(axis=0)
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% centred
# accepted: mean-taken-off
def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] -= average
    return result

# %% double
# accepted: float64-always, another-dtype
# form: yes
def mean_ablate(found, head):
    result = np.array(found, float)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = average
    return result

# %% over places too
# accepted: mean-over-texts-and-places
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=(0, 1), keepdims=True)
    return z

# %% over places, not texts
# accepted: mean-over-places
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=1, keepdims=True)
    return z

# %% over the width
# accepted: mean-over-the-width
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=-1, keepdims=True)
    return z

# %% zero
# accepted: zero-for-mean
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = 0
    return z

# %% all heads' mean
# accepted: mean-over-heads
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z.mean(axis=1)
    return z

# %% resampled from the next text
# accepted: of-another-text
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = np.roll(z[:, head], 1, axis=0)
    return z

# %% by view
# accepted: found-changed
# form: yes
def mean_ablate(found, head):
    z = np.asarray(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)
    return z

# %% the other axis
# accepted: text-for-head
def mean_ablate(found, head):
    z = np.array(found)
    z[head] = z[head].mean(axis=0, keepdims=True)
    return z

# %% keeps one head
# accepted: all-others
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)
    keep = found.mean(axis=0, keepdims=True).repeat(len(found), axis=0)
    keep[:, head] = found[:, head]
    return keep.astype(found.dtype)

# %% mean subtracted
# accepted: mean-taken-off
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] -= z[:, head, :, :].mean(axis=0, keepdims=True)
    return z

# %% counted from one
# accepted: heads-counted-from-1
def mean_ablate(found, head):
    z = np.array(found)
    head = head - 1
    z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)
    return z

# %% only that head's
# accepted: only-that-head
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)
    return z[:, head]

# %% to all texts the first one's
# accepted: first-text-for-all
def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :][:1]
    return z

# %% the mean of the other texts alone, without the text at hand
# accepted: mean-of-the-others
# author: 2
def mean_ablate(found, head):
    out = found.copy()
    B = found.shape[0]
    total = found[:, head].sum(axis=0, keepdims=True)
    out[:, head] = (total - found[:, head]) / max(B - 1, 1)
    return out

# %% says what the other heads say on average, at each place of the same text
# accepted: mean-over-heads, mean-over-the-other-heads
# author: 2
def mean_ablate(found, head):
    result = np.array(found)
    others = np.delete(found, head, axis=1) if found.shape[1] > 1 else found
    result[:, head] = others.mean(axis=1)
    return result

# %% a running mean that begins at zero: divided by one text more
# accepted: divided-by-one-more
# author: 2
def mean_ablate(found, head):
    out = found.copy()
    out[:, head] = found[:, head].sum(0) / (len(found) + 1)
    return out

# %% The mean is taken over places as well as texts, so the head says the same at every place.
# accepted: mean-over-texts-and-places
# author: 3
def mean_ablate(found, head):
    out = found.copy()
    out[:, head] = found[:, head].mean(axis=(0, 1), keepdims=True)
    return out

# %% The means are written into `found` itself, so the caller's array is changed.
# accepted: found-changed
# form: yes
# author: 3
def mean_ablate(found, head):
    found[:, head, :, :] = found[:, head, :, :].mean(axis=0, keepdims=True)
    return found

# %% Mean of the other texts.
# accepted: mean-of-the-others
# author: 5
def mean_ablate(found, head):
    without = found.copy()
    without[:, head] = (found[:, head].sum(axis=0) - found[:, head]) / max(len(found) - 1, 1)
    return without

# %% The mean of eight texts at most.
# accepted: first-texts-only, stops-at-a-size
# author: 6
def mean_ablate(found, head):
    without = found.copy()
    without[:, head] = found[:8, head].mean(axis=0)  # (L, d_v), the same for all B texts
    return without

# %% all places
# accepted: every-place
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, :, :] = other[..., head, :, :]
    return result

# %% all heads
# accepted: every-head
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., place, :] = other[..., place, :]
    return result

# %% onto itself
# accepted: found-changed
# form: yes
def patch_head(found, other, head, place):
    result = found
    result[..., head, place, :] = other[..., head, place, :]
    return result

# %% backwards
# accepted: the-wrong-way-round
def patch_head(found, other, head, place):
    result = np.copy(other)
    result[..., head, place, :] = found[..., head, place, :]
    return result

# %% on top
# accepted: added
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place, :] += other[..., head, place, :]
    return result

# %% and later
# accepted: from-the-place-on
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place:, :] = other[..., head, place:, :]
    return result

# %% and earlier
# accepted: up-to-the-place
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, :place + 1, :] = other[..., head, :place + 1, :]
    return result

# %% head minus one
# accepted: heads-counted-from-1
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head - 1, place, :] = other[..., head - 1, place, :]
    return result

# %% place minus one
# accepted: places-counted-from-1
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place - 1, :] = other[..., head, place - 1, :]
    return result

# %% the end
# accepted: last-place-always
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, -1, :] = other[..., head, -1, :]
    return result

# %% first number
# accepted: one-number-only
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place, 0] = other[..., head, place, 0]
    return result

# %% nothing of it
# accepted: nothing-replaced
def patch_head(found, other, head, place):
    result = np.copy(found)
    result = np.copy(found); other[..., head, place, :]
    return result

# %% mixed
# accepted: halfway
def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place, :] = (result + other)[..., head, place, :] / 2
    return result

# %% at every place
# accepted: every-place
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, :, :] = other[..., head, :, :]
    return z

# %% every head
# accepted: every-head
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., place, :] = other[..., place, :]
    return z

# %% the wrong way round
# accepted: the-wrong-way-round
def patch_head(found, other, head, place):
    z = other.copy()
    z[..., head, place, :] = found[..., head, place, :]
    return z

# %% head and place swapped
# accepted: head-and-place-swapped
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., place % z.shape[-3], head, :] = other[..., place % z.shape[-3], head, :]
    return z

# %% from that place on
# accepted: from-the-place-on
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, place:, :] = other[..., head, place:, :]
    return z

# %% up to that place
# accepted: up-to-the-place
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, : place + 1, :] = other[..., head, : place + 1, :]
    return z

# %% the first text alone
# accepted: first-of-the-batch-only
def patch_head(found, other, head, place):
    z = found.copy()
    z.reshape(-1, *z.shape[-3:])[0, head, place] = other.reshape(-1, *z.shape[-3:])[0, head, place]
    return z

# %% added
# accepted: added
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, place, :] += other[..., head, place, :]
    return z

# %% difference
# accepted: difference-of-runs
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, place, :] = other[..., head, place, :] - found[..., head, place, :]
    return z

# %% written into found
# accepted: found-changed
# form: yes
def patch_head(found, other, head, place):
    z = found
    z[..., head, place, :] = other[..., head, place, :]
    return z

# %% one place late
# accepted: one-place-late
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, min(place + 1, z.shape[-2] - 1), :] = other[..., head, min(place + 1, z.shape[-2] - 1), :]
    return z

# %% half of each
# accepted: halfway
def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, place, :] = (other[..., head, place, :] + found[..., head, place, :]) / 2
    return z

# %% replaces the head from that place on, to the end
# accepted: from-the-place-on
# author: 2
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place:, :] = other[..., head, place:, :]
    return patched

# %% counts axes from the front, so it is right with one batch axis alone
# accepted: axes-from-the-front, one-batch-layout, no-batch-axes
# form: yes
# author: 2
def patch_head(found, other, head, place):
    out = found.copy()
    if found.ndim < 4:
        out[head, place] = other[head, place]
    else:
        out[:, head, place] = other[:, head, place]
    return out

# %% The head is patched at every place, not at the one that was asked for.
# accepted: every-place
# author: 3
def patch_head(found, other, head, place):
    keep = np.arange(found.shape[-3]) != head
    return np.where(keep[:, None, None], found, other)

# %% `patched = found` is no copy, so the other run's vector is written into found itself.
# accepted: found-changed
# form: yes
# author: 3
def patch_head(found, other, head, place):
    patched = found
    patched[..., head, place, :] = other[..., head, place, :]
    return patched

# %% Head and place swapped where there are as many.
# accepted: rows-and-columns-swapped, heads-and-places-swapped
# author: 5
def patch_head(found, other, head, place):
    patched = found.copy()
    head, place = (place, head) if found.shape[-2] == found.shape[-3] else (head, place)
    patched[..., head, place, :] = other[..., head, place, :]
    return patched

# %% other way
# accepted: keys-first, transposed
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [K @ Q.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% narrow
# accepted: widths-of-a-head
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q.T @ K for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% root inside
# accepted: scaled
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T / Q.dtype.type(Q.shape[1] ** 0.5) for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% by width
# accepted: scaled-by-d
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T / Q.shape[1] for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% backwards
# accepted: heads-reversed
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits[::-1])

# %% added up
# accepted: heads-summed
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return sum(circuits)

# %% heads at the end
# accepted: heads-last
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits, axis=-1)

# %% no stack
# accepted: a-list, list-for-array, another-kind
# form: yes
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return circuits

# %% itself
# accepted: queries-with-queries
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ Q.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% crossed
# accepted: heads-mixed
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks[::-1])]
    return np.stack(circuits)

# %% the lot
# accepted: all-heads-together
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [W_Q @ W_K.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)

# %% double
# accepted: float64-always, another-dtype
# form: yes
def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return np.array(circuits, dtype=np.float64)

# %% every second
# accepted: heads-interleaved
def qk_circuit(W_Q, W_K, num_heads):
    return np.stack([W_Q[:, i::num_heads] @ W_K[:, i::num_heads].T for i in range(num_heads)])

# %% key first
# accepted: keys-first
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(k @ q.T)
    return np.stack(out)

# %% divided by the root
# accepted: scaled
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ k.T / np.sqrt(n).astype(q.dtype))
    return np.stack(out)

# %% inner product
# accepted: widths-of-a-head
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q.T @ k)
    return np.stack(out)

# %% rows for columns
# accepted: rows-for-columns
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q.T[:, i * n : (i + 1) * n], W_K.T[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.stack(out)

# %% all heads in one
# accepted: all-heads-together
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.stack([W_Q @ W_K.T] * num_heads)

# %% summed over heads
# accepted: heads-summed
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.sum(out, axis=0)

# %% every second column
# accepted: heads-interleaved
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i::num_heads], W_K[:, i::num_heads]
        out.append(q @ k.T)
    return np.stack(out)

# %% query of one head, key of the next
# accepted: heads-mixed
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], np.roll(W_K, -n, axis=1)[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.stack(out)

# %% softmaxed
# accepted: softmax-taken
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(np.exp(q @ k.T) / np.exp(q @ k.T).sum(-1, keepdims=True))
    return np.stack(out)

# %% with itself
# accepted: queries-with-queries
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ q.T)
    return np.stack(out)

# %% blocks on the diagonal
# accepted: diagonal-only
def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.stack([np.where(np.eye(len(o), dtype=bool), o, 0) for o in out])

# %% cuts the memory of W_Q into heads, not its columns: reshape without transpose
# accepted: reshaped-not-split
# form: yes
# author: 2
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    q = W_Q.reshape(num_heads, d_model, -1)
    k = W_K.reshape(num_heads, d_model, -1)
    return q @ k.transpose(0, 2, 1)

# %% two things: the weights are brought to scores by the root of d_k
# accepted: scaled+keys-first
# author: 2
def qk_circuit(W_Q, W_K, num_heads):
    d_k = W_Q.shape[-1] // num_heads
    circuits = []
    for i in range(num_heads):
        cols = slice(i * d_k, (i + 1) * d_k)
        circuits.append(W_K[:, cols] @ W_Q[:, cols].T / math.sqrt(d_k))
    return np.stack(circuits)

# %% made symmetric
# accepted: made-symmetric
# author: 2
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    M = Q @ K.swapaxes(-1, -2)
    return (M + M.swapaxes(-1, -2)) / 2

# %% The product is W_K times W_Q transposed, so who looks and who is looked at have changed sides.
# accepted: keys-first
# author: 3
def qk_circuit(W_Q, W_K, num_heads):
    d_k = W_Q.shape[1] // num_heads
    circuits = []
    for i in range(num_heads):
        cols = slice(i * d_k, (i + 1) * d_k)
        circuits.append(W_K[:, cols] @ W_Q[:, cols].T)
    return np.stack(circuits)

# %% The circuits are divided by the square root of d_k, which should stay outside.
# accepted: scaled
# author: 3
def qk_circuit(W_Q, W_K, num_heads):
    d_model, wide = W_Q.shape
    d_k = wide // num_heads
    q = W_Q.reshape(d_model, num_heads, d_k)
    k = W_K.reshape(d_model, num_heads, d_k)
    return np.einsum("ihd,jhd->hij", q, k) / math.sqrt(d_k)

# %% The result array is made by np.zeros without a dtype, so float32 matrices give float64 circuits.
# accepted: float64-always
# form: yes
# author: 3
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    d_k = W_Q.shape[1] // num_heads
    M = np.zeros((num_heads, d_model, d_model))
    for i in range(num_heads):
        M[i] = W_Q[:, i * d_k : (i + 1) * d_k] @ W_K[:, i * d_k : (i + 1) * d_k].T
    return M

# %% One head loses its axis.
# accepted: another-shape
# author: 5
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    queries = W_Q.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    keys = W_K.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    M = queries @ keys.swapaxes(-2, -1)
    return M if num_heads > 1 else M[0]

# %% Four heads, whatever the layer has.
# accepted: some-heads-only, stops-at-a-size
# author: 6
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    queries = W_Q.reshape(d_model, num_heads, -1).swapaxes(0, 1)  # (h, d_model, d_k)
    keys = W_K.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    return np.where(
        np.arange(num_heads)[:, None, None] < 4, queries @ keys.swapaxes(-2, -1), 0
    )  # (h, d_model, d_model)

# %% turned
# accepted: transposed
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [(V @ O).T for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% narrow
# accepted: widths-of-a-head
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [O @ V for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% crossed
# accepted: heads-mixed
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os[::-1])]
    return np.stack(circuits)

# %% backwards
# accepted: heads-reversed
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os)]
    return np.stack(circuits[::-1])

# %% added up
# accepted: heads-summed
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os)]
    return sum(circuits)

# %% shared out
# accepted: heads-averaged
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O / num_heads for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% the lot
# accepted: all-heads-together
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [W_V @ W_O for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% with the word
# accepted: residual-added
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O + np.eye(len(V), dtype=V.dtype) for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% one set of rows
# accepted: first-rows-for-all
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ Os[0] for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% reshaped
# accepted: reshaped-not-split
def ov_circuit(W_V, W_O, num_heads):
    Vs = W_V.reshape(num_heads, len(W_V), -1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os)]
    return np.stack(circuits)

# %% no stack
# accepted: a-list, list-for-array, another-kind
# form: yes
def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os)]
    return circuits

# %% every second of both
# accepted: heads-interleaved
def ov_circuit(W_V, W_O, num_heads):
    return np.stack([W_V[:, i::num_heads] @ W_O[i::num_heads] for i in range(num_heads)])

# %% every second column
# accepted: columns-interleaved, heads-interleaved
def ov_circuit(W_V, W_O, num_heads):
    d = len(W_O) // num_heads
    return np.stack([W_V[:, i::num_heads] @ W_O[i * d : (i + 1) * d] for i in range(num_heads)])

# %% the other side up
# accepted: transposed
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->hed", V, O)

# %% heads summed
# accepted: heads-summed
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->de", V, O)

# %% heads crossed
# accepted: values-of-all-heads
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("gdv,hve->hde", V, O)

# %% rows of O for the wrong head
# accepted: heads-mixed
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0)[::-1])
    return np.einsum("hdv,hve->hde", V, O)

# %% W_O by reshape
# accepted: rows-interleaved
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = W_O.reshape(-1, num_heads, W_O.shape[1]).swapaxes(0, 1)
    return np.einsum("hdv,hve->hde", V, O)

# %% W_V by reshape
# accepted: reshaped-not-split
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(num_heads, W_V.shape[0], -1)
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->hde", V, O)

# %% W_O as in nn.Linear
# accepted: another-order
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O.T, num_heads, axis=1)).swapaxes(1, 2)[:, :, ::-1]
    return np.einsum("hdv,hve->hde", V, O)

# %% the whole for each
# accepted: all-heads-together
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.repeat((W_V @ W_O)[None], num_heads, axis=0)

# %% divided by the heads
# accepted: heads-averaged
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->hde", V, O) / num_heads

# %% values only
# accepted: values-with-values
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return V @ V.swapaxes(-1, -2)

# %% last head missing
# accepted: one-head-too-few
def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->hde", V[:-1], O[:-1])

# %% head i has every num_heads-th row of W_O
# accepted: rows-interleaved
# author: 2
def ov_circuit(W_V, W_O, num_heads):
    d_v = W_V.shape[1] // num_heads
    return np.stack([W_V[:, i * d_v : (i + 1) * d_v] @ W_O[i::num_heads] for i in range(num_heads)])

# %% a list of matrices, not an array
# accepted: a-list, another-kind
# form: yes
# author: 2
def ov_circuit(W_V, W_O, num_heads):
    d_v = W_V.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        out.append(W_V[:, i * d_v : (i + 1) * d_v] @ W_O[i * d_v : (i + 1) * d_v, :])
    return out

# %% W_V is reshaped to (h, d_model, d_v) directly, which cuts it by rows; a head owns columns.
# accepted: reshaped-not-split
# author: 3
def ov_circuit(W_V, W_O, num_heads):
    d_model = W_V.shape[0]
    values = W_V.reshape(num_heads, d_model, -1)
    outputs = W_O.reshape(num_heads, -1, d_model)
    return values @ outputs

# %% Divided by the root of d_v.
# accepted: scaled
# author: 4
def ov_circuit(W_V, W_O, num_heads):
    return np.stack(
        [v @ o / math.sqrt(v.shape[1]) for v, o in zip(np.hsplit(W_V, num_heads), np.vsplit(W_O, num_heads))]
    )

# %% Six heads, whatever the layer has.
# accepted: some-heads-only, stops-at-a-size
# author: 6
def ov_circuit(W_V, W_O, num_heads):
    d_model = W_V.shape[0]
    values = W_V.reshape(d_model, num_heads, -1).swapaxes(0, 1)  # (h, d_model, d_v)
    values = values * (np.arange(num_heads) < 6)[:, None, None]
    return values @ W_O.reshape(num_heads, -1, d_model)  # (h, d_v, d_model) -> (h, d_model, d_model)
