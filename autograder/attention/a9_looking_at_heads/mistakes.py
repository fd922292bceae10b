"""Known mistakes of a9: scores of heads, heads silenced and replaced, and the matrices of one head."""

import numpy as np

from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- previous_token_score


@mistake("the-word-itself", hint="Row 2 of the weights is the third word's. In which column stands the word before it?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=0, axis1=-2, axis2=-1).mean(axis=-1)


@mistake("two-words-back", hint="Row 2 of the weights is the third word's. In which column stands the word before it?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=-2, axis1=-2, axis2=-1).mean(axis=-1)


@mistake("first-word-counted", hint="The first word has no word before it. What does its row do in your mean?")
def previous_token_score(weights):
    return (np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).sum(axis=-1) + weights[:, 0, 0]) / weights.shape[-1]


@mistake("counted-not-weighed", hint="A head may look there with half its weight. Is that a yes or a no, or a number?")
def previous_token_score(weights):
    L = weights.shape[-1]
    return (weights.argmax(axis=-1)[:, 1:] == np.arange(L - 1)).mean(axis=-1).astype(weights.dtype)


@mistake("first-word-for-previous", hint="Is it the word before that each word looks at here, or always the same word?")
def previous_token_score(weights):
    return weights[:, 1:, 0].mean(axis=-1)


@mistake("all-words-before", hint="How many keys does the score of one query look at?")
def previous_token_score(weights):
    return np.tril(weights, -1).sum(axis=(-2, -1)) / (weights.shape[-1] - 1)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def previous_token_score(weights):
    return [float(head.mean()) for head in np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).mean(axis=-1).astype(np.float64)


# ---------------------------------------------------------------- induction_score


@mistake(
    "the-word-before-it", hint="What comes next is asked. On which side of the earlier word does the answer stand?"
)
def induction_score(weights, period):
    query = np.arange(period + 1, weights.shape[-1])
    return weights[:, query, query - period - 1].mean(axis=-1)


@mistake("the-word-before-the-query", hint="In which round does the word stand that is to be copied?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return weights[:, query, query - 1].mean(axis=-1)


@mistake("starts-too-late", hint="Which is the first word that has come before: number period, or the one after it?")
def induction_score(weights, period):
    query = np.arange(min(period + 1, weights.shape[-1] - 1), weights.shape[-1])
    return weights[:, query, query - period + 1].mean(axis=-1)


@mistake("ends-too-early", hint="Which is the last query? Does the head look for something there, too?")
def induction_score(weights, period):
    query = np.arange(period, max(period + 1, weights.shape[-1] - 1))
    return weights[:, query, query - period + 1].mean(axis=-1)


@mistake("counted-not-weighed", hint="A head may look there with half its weight. Is that a yes or a no, or a number?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return (weights[:, query].argmax(axis=-1) == query - period + 1).mean(axis=-1).astype(weights.dtype)


@mistake("same-word-or-the-next", hint="On how many keys does a head put its weight that knows what comes next?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return (weights[:, query, query - period] + weights[:, query, query - period + 1]).mean(axis=-1)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return [float(head[query, query - period + 1].mean()) for head in weights]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return weights[:, query, query - period + 1].mean(axis=-1).astype(np.float64)


# ---------------------------------------------------------------- mean_ablate


@mistake("all-others", hint="Whose numbers are replaced: this head's, or everybody else's?")
def mean_ablate(found, head):
    result = np.broadcast_to(found.mean(axis=0), found.shape).copy()
    result[:, head] = found[:, head]
    return result


@mistake("found-changed", hint="After the call, what does the caller's array hold?")
def mean_ablate(found, head):
    found[:, head] = found[:, head].mean(axis=0)
    return found


@mistake("text-for-head", hint="Which axis of `found` are the texts, and which the heads?")
def mean_ablate(found, head):
    result = found.copy()
    text = min(head, len(found) - 1)
    result[text] = found[text].mean(axis=0)
    return result


@mistake("place-for-head", hint="Which axis of `found` are the places, and which the heads?")
def mean_ablate(found, head):
    result = found.copy()
    place = min(head, found.shape[2] - 1)
    result[:, :, place] = found[:, :, place].mean(axis=0)
    return result


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def mean_ablate(found, head):
    result = np.zeros(found.shape)
    result[:] = found
    without = result.copy()
    without[:, head] = result[:, head].mean(axis=0)
    return without


# ---------------------------------------------------------------- patch_head


@mistake("everything", hint="How much of the first run is left in your result?")
def patch_head(found, other, head, place):
    return other.copy()


@mistake("heads-and-places-swapped", hint="Count the axes from the end: width, then which, then which?")
def patch_head(found, other, head, place):
    h, L = found.shape[-3:-1]
    patched = found.copy()
    patched[..., min(place, h - 1), min(head, L - 1), :] = other[..., min(place, h - 1), min(head, L - 1), :]
    return patched


@mistake("found-changed", hint="After the call, what does the caller's `found` hold?")
def patch_head(found, other, head, place):
    found[..., head, place, :] = other[..., head, place, :]
    return found


@mistake("other-changed", hint="After the call, what does the caller's `other` hold?")
def patch_head(found, other, head, place):
    piece = other[..., head, place, :].copy()
    other[...] = found
    other[..., head, place, :] = piece
    return other


@mistake("heads-counted-from-1", hint="Which is the first head: number 0, or number 1?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head - 1, place, :] = other[..., head - 1, place, :]
    return patched


@mistake("places-counted-from-1", hint="Which is the first place: number 0, or number 1?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place - 1, :] = other[..., head, place - 1, :]
    return patched


@mistake(
    "no-batch-axes", hint="Which axis are the heads if there are texts in front: the first, or the third from the end?"
)
def patch_head(found, other, head, place):
    result = found.copy()
    if found.ndim == 3:
        result[head, place] = other[head, place]
    else:
        result[min(head, len(found) - 1), place % found.shape[1]] = other[
            min(head, len(found) - 1), place % found.shape[1]
        ]
    return result


@mistake("nothing-replaced", hint="Where does the other run come into your result?")
def patch_head(found, other, head, place):
    result = found.copy()
    result[..., head, place, :].copy()[...] = other[..., head, place, :]
    return result


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place, :] = other[..., head, place, :]
    return patched.astype(np.float64)


# ---------------------------------------------------------------- qk_circuit


@mistake("softmax-taken", hint="What a head looks for is a matrix of scores. Do its rows have to sum to 1?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    M = Q @ K.swapaxes(-2, -1)
    exps = np.exp(M - M.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    return (Q @ K.swapaxes(-2, -1)).astype(np.float64)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    return list(Q @ K.swapaxes(-2, -1))


# ---------------------------------------------------------------- ov_circuit


@mistake(
    "W_O-reshaped-by-columns", hint="Head 0 meets the first d rows of W_O. Which numbers does your reshape give it?"
)
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    return V @ W_O.reshape(W_O.shape[1], num_heads, -1).transpose(1, 2, 0)


@mistake("values-with-values", hint="Which argument is in your formula twice, and which one is missing?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    return V @ V.swapaxes(-2, -1)


@mistake("residual-added", hint="The word itself goes on beside the heads. Is it part of what this head copies?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return V @ rows + np.eye(len(W_V), dtype=W_V.dtype)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return (V @ rows).astype(np.float64)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return list(V @ rows)


# ---------------------------------------------------------------- one decision wrong, and two

# What several exercises ask.
HINTS = {
    "diagonal-of-other-axes": "Three axes: which two of them does your diagonal go down together?",
    "divided-by-all-entries": "How many words have a word before them, or have been met before? Is that L * L?",
    "mean-over-heads": "How many scores are there: one for each head, or one for each word?",
    "median-for-mean": "Which is a mean: the middle one, or the sum divided by how many there are?",
    "rows-and-columns-swapped": "Which axis of the weights are the queries: the last, or the one before it?",
    "scaled-by-d": "Is anything divided on the way from a word to its score?",
    "scaled-by-root-of-d_model": "Is anything divided on the way from a word to its score?",
    "multiplied-by-the-root": "Is anything multiplied on the way from a word to its score?",
    "sign-turned": "Which sign has a product of two matrices?",
    "one-number-for-all-heads": "How many heads came in, and how many scores go out?",
    "starts-too-late": "Which is the first query that counts: does the second word have a word before it?",
    "heads-interleaved": "Are a head's columns neighbours, or every h-th one?",
    "all-heads-together": "Which columns are head 0's own? How many of them go into its matrix?",
    "heads-summed": "How many heads are there, and how many matrices come out?",
    "heads-reversed": "Which columns are head 0's: the first ones, or the last?",
    "reshaped-not-split": "Take two columns a head: what does a reshape to (h, d_model, d) put into head 0?",
    "widths-of-a-head": "A circuit leads from word to word. How wide is a word, and how wide is your matrix?",
    "heads-last": "Which axis are the heads in the docstring?",
    "one-head-too-few": "How many heads are there, and how many matrices come out?",
}


def _columns(W, h):
    """Each head's columns, (h, d_model, d)."""
    return W.reshape(W.shape[0], h, -1).swapaxes(0, 1)


def _rows(W, h):
    """Each head's rows, (h, d, d_model)."""
    return W.reshape(h, -1, W.shape[1])


def _strided(W, h):
    """Every h-th column, (h, d_model, d)."""
    return W.reshape(W.shape[0], -1, h).transpose(2, 0, 1)


def _mean(x):
    return x.mean(axis=-1)


def _over_all(x):
    """The sum, to be divided by the number of all weights of a head."""
    return x.sum(axis=-1)


ENDS = {
    "sum-for-mean": [{"end": lambda x: x.sum(axis=-1)}],
    "largest-for-mean": [{"end": lambda x: x.max(axis=-1)}],
    "median-for-mean": [{"end": lambda x: np.median(x, axis=-1)}],
    "mean-over-heads": [{"end": lambda x: x.mean(axis=0)}],
    "one-number-for-all-heads": [
        {"heads": lambda x: x.mean()},
        {"heads": lambda x: float(x.mean())},
        {"heads": lambda x: np.full_like(x, x.mean())},
    ],
    "divided-by-all-entries": [{"end": "all entries"}],
    "diagonal-of-other-axes": [{"axes": (0, 1)}, {"axes": (0, 2)}],
    "head-0-for-all": [{"heads": lambda x: np.full_like(x, x[0])}],
    "rows-and-columns-swapped": [{"turned": True}],
}


def _picked(weights, queries, keys, turned):
    """Weights at (query, key) for pairs that exist."""
    weights = weights.swapaxes(-2, -1) if turned else weights
    return weights[:, queries, keys]


@mistake.recipe(
    {
        **ENDS,
        "the-word-itself": [{"back": 0}],
        "two-words-back": [{"back": 2}],
        "divided-by-all-words": [{"end": lambda x: x.sum(axis=-1) / (x.shape[-1] + 1)}],
        "one-query-too-few": [{"stop": -1}],
        "starts-too-late": [{"start": 2}],
        "negative-index": [{"start": 0}],
        "one-query-only": [{"end": lambda x: x[:, -1]}, {"end": lambda x: x[:, 0]}],
    },
    hints=HINTS | {
        "one-query-only": "How many words have a word before them? Does each of them count in yours?",
        "negative-index": "What is weights[:, 0, -1]? Is that a word before the first?",
        "one-query-too-few": "Which is the first query that counts, and which the last?",
        "divided-by-all-words": "How many words have a word before them? By how many do you divide?",
        "sum-for-mean": "A head that always looks at the word before has score 1. Which score has it in yours?",
        "head-0-for-all": "Whose weights are in the score of head 1?",
        "largest-for-mean": "Does one word that looks back make a head that always does?",
    },
    held=(
        "divided-by-all-words", "rows-and-columns-swapped", "sum-for-mean", "one-number-for-all-heads",
        "head-0-for-all", "one-query-only", "negative-index", "largest-for-mean", "one-query-too-few",
        "starts-too-late",
    ),
)  # fmt: skip
def previous_token_score(back=1, start=1, stop=0, end=_mean, heads=lambda x: x, turned=False, axes=None):
    end = _over_all if end == "all entries" else end

    def score(weights):
        if axes is not None:
            return np.diagonal(weights, -1, *axes).mean(axis=-1)
        query = np.arange(start, weights.shape[-1] + stop)
        found = _picked(weights, query, query - back, turned)
        return heads(end(found) / (weights.shape[-1] ** 2 if end is _over_all else 1))

    return score


@mistake.recipe(
    {
        **ENDS,
        "the-same-word": [{"ahead": 0}],
        "the-word-before-it": [{"ahead": -1}],
        "two-words-after": [{"ahead": 2}],
        "divided-by-the-period": [{"divided": lambda L, period: period}],
        "divided-by-all-words": [{"divided": lambda L, period: L}],
        "starts-too-late": [{"start": 1}],
        "starts-too-early": [{"start": -1}],
        "ends-too-early": [{"stop": -1}],
        "first-round-counted": [{"whole": True}],
        "one-query-only": [{"end": lambda x: x[:, 0]}, {"end": lambda x: x[:, -1]}],
        "all-of-the-first-round": [{"all_of_it": True}],
        "half-the-text": [{"length": lambda L, period: L // 2}],
    },
    hints=HINTS | {
        "all-of-the-first-round": "Which word of the first round is looked for: any, or the one after the same word?",
        "the-same-word": "There stands the word that the head has met again. Which word does it want to know?",
        "two-words-after": "How far after the earlier word does the answer stand?",
        "divided-by-the-period": "The text may end before the second round does. By how many do you divide?",
        "starts-too-early": "Word number period - 1 is in which round? Has it been met before?",
        "half-the-text": "Where does the second round begin if the text ends before that round does?",
        "first-round-counted": "What is weights[:, 0, 1 - period]? Has word 0 been met before?",
        "divided-by-all-words": "How many queries are in the second round? By how many do you divide?",
        "sum-for-mean": "A head that always looks there has score 1. Which score has it in yours?",
        "head-0-for-all": "Whose weights are in the score of head 1?",
        "largest-for-mean": "Does one word that looks there make a head that always does?",
        "one-query-only": "How many words are in the second round? Does each of them count in yours?",
    },
    held=(
        "the-same-word", "two-words-after", "divided-by-all-words", "divided-by-the-period", "sum-for-mean",
        "starts-too-early", "half-the-text", "first-round-counted", "rows-and-columns-swapped",
        "one-number-for-all-heads", "head-0-for-all", "largest-for-mean", "one-query-only",
    ),
)  # fmt: skip
def induction_score(ahead=1, divided=None, start=0, stop=0, whole=False, end=_mean, heads=lambda x: x, turned=False,
                    length=lambda L, period: period, all_of_it=False, axes=None):  # fmt: skip
    end = _over_all if end == "all entries" else end

    def score(weights, period):
        L = weights.shape[-1]
        if axes is not None:
            return np.diagonal(weights, 1 - period, *axes).mean(axis=-1)
        period = length(L, period)
        if all_of_it:
            return weights[:, period:, :period].sum(axis=-1).mean(axis=-1)
        query = np.arange(0 if whole else period + start, L + stop)
        found = _picked(weights, query, query - period + ahead, turned)
        if divided is not None:
            return heads(found.sum(axis=-1) / divided(L, period))
        return heads(end(found) / (L**2 if end is _over_all else 1))

    return score


@mistake.recipe(
    {
        "mean-over-places": [{"said": lambda own: own.mean(axis=1, keepdims=True)}],
        "mean-over-texts-and-places": [{"said": lambda own: own.mean(axis=(0, 1))}],
        "mean-over-the-width": [{"said": lambda own: own.mean(axis=-1, keepdims=True)}],
        "mean-over-heads": [
            {"of": lambda found, head: found.mean(axis=1)},
            {"of": lambda found, head: np.delete(found, head, axis=1).mean(axis=1)},
        ],
        "mean-over-texts-and-heads": [
            {"of": lambda found, head: found.mean(axis=(0, 1))},
            {"of": lambda found, head: np.delete(found, head, axis=1).mean(axis=(0, 1))},
        ],
        "another-head-copied": [
            {"of": lambda found, head: found[:, (head + 1) % found.shape[1]]},
            {"of": lambda found, head: found[:, head - 1]},
            {"of": lambda found, head: found[:, head - 1].mean(axis=0)},
            {"of": lambda found, head: found[:, (head + 1) % found.shape[1]].mean(axis=0)},
        ],
        "mean-of-the-others": [{"said": lambda own: (own.sum(axis=0) - own) / max(len(own) - 1, 1)}],
        "one-number-for-all": [{"said": lambda own: own.mean()}],
        "zero-for-mean": [{"said": lambda own: 0 * own}],
        "sum-for-mean": [{"said": lambda own: own.sum(axis=0)}],
        "median-for-mean": [{"said": lambda own: np.median(own, axis=0)}],
        "divided-by-one-more": [{"said": lambda own: own.sum(axis=0) / (len(own) + 1)}],
        "divided-by-one-less": [{"said": lambda own: own.sum(axis=0) / max(len(own) - 1, 1)}],
        "largest-for-mean": [{"said": lambda own: own.max(axis=0)}],
        "of-another-text": [
            {"said": lambda own: np.roll(own, 1, axis=0)},
            {"said": lambda own: np.roll(own, -1, axis=0)},
        ],
        "first-text-for-all": [{"said": lambda own: own[0]}, {"said": lambda own: own[-1]}],
        "mean-taken-off": [{"said": lambda own: own - own.mean(axis=0)}],
        "heads-counted-from-1": [{"first": 1}],
        "from-the-head-on": [{"which": lambda head: slice(head, None)}],
        "every-head": [{"which": lambda head: slice(None)}],
        "only-that-head": [{"given": lambda result, head: result[:, head]}],
    },
    hints=HINTS | {
        "divided-by-one-more": "How many texts are in your sum, and by how many is it divided?",
        "divided-by-one-less": "How many texts are in your sum, and by how many is it divided?",
        "largest-for-mean": "Which number does the text ask for: the largest, or the mean?",
        "mean-over-texts-and-heads": "Which numbers are in your mean: those of this head alone?",
        "another-head-copied": "Which head says that in the texts as they were?",
        "of-another-text": "Does the head still tell of one text, if of another one? Over which axis is the mean?",
        "zero-for-mean": "Silence is one way. Which numbers does the text ask for in its place?",
        "mean-over-places": "Over which axis is the mean: the texts, or the places of one text?",
        "mean-over-texts-and-places": "Does the head say the same at every place? Over which axis is the mean?",
        "mean-over-the-width": "What a head finds is a vector. Which axis has its numbers, and which the texts?",
        "one-number-for-all": "Is the mean one number, or one vector for each place?",
        "first-text-for-all": "What the head says is to be what it says on average. Whose words are those of yours?",
        "heads-counted-from-1": "Which is the first head: number 0, or number 1?",
        "from-the-head-on": "How many heads are to be taken away?",
        "mean-taken-off": "Does the head say its mean, or everything but its mean?",
        "mean-of-the-others": "How many texts are in the mean: all of them?",
        "only-that-head": "The model goes on with what comes back. What of the other heads?",
        "mean-over-heads": "Which axis is the mean over: is it this head in other texts, or other heads?",
        "every-head": "How many heads are to be taken away?",
        "sum-for-mean": "By how many is the sum divided?",
    },
    held=(
        "zero-for-mean", "mean-over-places", "mean-over-texts-and-places", "mean-over-heads", "mean-over-the-width",
        "one-number-for-all", "every-head", "first-text-for-all", "heads-counted-from-1", "from-the-head-on",
        "median-for-mean", "sum-for-mean", "mean-taken-off", "mean-of-the-others", "only-that-head",
    ),
)  # fmt: skip
def mean_ablate(said=lambda own: own.mean(axis=0), first=0, which=lambda head: slice(head, head + 1),
                given=lambda result, head: result, of=None):  # fmt: skip
    def ablated(found, head):
        result = found.copy()
        heads = np.arange(found.shape[1])[which(head - first)] if head >= first else [-1]
        for one in heads:
            result[:, one] = said(found[:, one]) if of is None else of(found, one)
        return given(result, head)

    return ablated


@mistake.recipe(
    {
        "every-place": [{"places": lambda place: slice(None)}],
        "from-the-place-on": [{"places": lambda place: slice(place, None)}],
        "one-place-late": [
            {"places": lambda place: slice(place + 1, place + 2)},
        ],
        "one-place-early": [{"places": lambda place: slice(max(place - 1, 0), max(place, 1))}],
        "up-to-the-place": [{"places": lambda place: slice(None, place + 1)}],
        "last-place-always": [{"places": lambda place: slice(-1, None)}],
        "every-head": [{"heads": lambda head: slice(None)}],
        "head-0-always": [{"heads": lambda head: slice(0, 1)}],
        "from-the-head-on": [{"heads": lambda head: slice(head, None)}],
        "the-wrong-way-round": [{"runs": lambda found, other: (other, found)}],
        "added": [{"said": lambda here, there: here + there}],
        "halfway": [{"said": lambda here, there: (here + there) / 2}],
        "silenced": [{"said": lambda here, there: 0 * there}],
        "difference-of-runs": [{"said": lambda here, there: there - here}],
        "one-number-only": [{"width": slice(0, 1)}],
        "axes-from-the-front": [{"front": 1}, {"front": 0}],
    },
    hints=HINTS | {
        "axes-from-the-front": "With texts of texts in front, which index of yours still counts from the first axis?",
        "one-place-late": "Places are counted from 0. Which one has changed in your answer?",
        "one-place-early": "Places are counted from 0. Which one has changed in your answer?",
        "difference-of-runs": "Is the new vector that of the other run, or the step from the one to the other?",
        "every-place": "At how many places does the head say something else?",
        "the-wrong-way-round": "Which run is the one that goes on, and from which one is a piece taken?",
        "added": "If both runs say the same, what does the patched one say in yours?",
        "halfway": "Does the head say what it said in the other run, or something between the two?",
        "silenced": "What does the other run have to do with your result?",
        "from-the-place-on": "At how many places does the head say something else?",
        "up-to-the-place": "At how many places does the head say something else?",
        "one-number-only": "What a head finds for a word is a vector. How much of it have you replaced?",
        "last-place-always": "Which argument has no influence on your result?",
        "head-0-always": "Which argument has no influence on your result?",
        "from-the-head-on": "How many heads say something else?",
        "every-head": "How many heads say something else at that place?",
    },
    held=(
        "every-place", "every-head", "the-wrong-way-round", "added", "halfway", "silenced", "from-the-place-on",
        "up-to-the-place", "one-number-only", "last-place-always", "head-0-always",
    ),
)  # fmt: skip
def patch_head(
    places=lambda place: slice(place, place + 1),
    heads=lambda head: slice(head, head + 1),
    runs=lambda found, other: (found, other),
    said=lambda here, there: there,
    width=slice(None),
    front=None,
):
    def patched(found, other, head, place):
        here, there = runs(found, other)
        result, where = here.copy(), np.s_[..., heads(head), places(place), width]
        if front is not None:  # axes in front that the code counts on, if there are any
            where = (slice(None),) * min(front, here.ndim - 3) + (head, place)
        result[where] = said(here[where], there[where])
        return result

    return patched


PRODUCTS = {
    "heads-reversed": [{"end": lambda M: M[::-1].copy()}],
    "all-heads-together": [{"end": lambda M: np.repeat(M.sum(axis=0, keepdims=True), len(M), axis=0)}],
    "heads-summed": [{"end": lambda M: M.sum(axis=0)}],
    "head-0-for-all": [{"end": lambda M: np.repeat(M[:1], len(M), axis=0)}],
    "heads-last": [{"end": lambda M: np.moveaxis(M, 0, -1)}],
    "one-head-too-few": [{"end": lambda M: M[:-1]}],
    "sign-turned": [{"factor": lambda h, d, width: -1.0}],
    "scaled": [{"factor": lambda h, d, width: d**-0.5}],
    "scaled-by-d": [{"factor": lambda h, d, width: 1 / d}],
    "scaled-by-root-of-d_model": [{"factor": lambda h, d, width: width**-0.5}],
    "multiplied-by-the-root": [{"factor": lambda h, d, width: d**0.5}],
}
BY_H = {"factor": lambda h, d, width: 1 / h}


@mistake.recipe(
    {
        **PRODUCTS,
        "averaged": [BY_H],
        "keys-first": [{"operands": lambda Q, K: (K, Q)}],
        "queries-with-queries": [{"operands": lambda Q, K: (Q, Q)}],
        "keys-with-keys": [{"operands": lambda Q, K: (K, K)}],
        "heads-mixed": [
            {"operands": lambda Q, K: (Q, K[::-1])},
            {"operands": lambda Q, K: (Q, np.roll(K, 1, axis=0))},
            {"operands": lambda Q, K: (Q, np.roll(K, -1, axis=0))},
        ],
        "heads-interleaved": [{"cut": _strided}],
        "reshaped-not-split": [{"cut": lambda W, h: W.reshape(h, W.shape[0], -1)}],
        "widths-of-a-head": [{"product": lambda Q, K: Q.swapaxes(-2, -1) @ K}],
    },
    hints=HINTS | {
        "keys-first": "In x_i M x_j, whose word stands on the left: the one that looks, or the one looked at?",
        "queries-with-queries": "Which argument is in your formula twice, and which one is missing?",
        "keys-with-keys": "Which argument is in your formula twice, and which one is missing?",
        "averaged": "Is anything divided on the way from a word to its score?",
        "scaled": "Is the square root part of the matrix here? Look at what the docstring promises.",
        "heads-mixed": "Whose keys does head 0's query meet?",
        "head-0-for-all": "Which columns go into the matrix of head 1?",
    },
    held=(
        "keys-first", "heads-interleaved", "all-heads-together", "heads-summed", "scaled", "queries-with-queries",
        "keys-with-keys", "heads-reversed", "heads-mixed", "reshaped-not-split", "widths-of-a-head", "heads-last",
        "head-0-for-all", "averaged", "one-head-too-few",
    ),
)  # fmt: skip
def qk_circuit(cut=_columns, operands=lambda Q, K: (Q, K), product=lambda Q, K: Q @ K.swapaxes(-2, -1),
               end=lambda M: M, factor=lambda h, d, width: 1.0):  # fmt: skip
    def circuit(W_Q, W_K, num_heads):
        Q, K = operands(cut(W_Q, num_heads), cut(W_K, num_heads))
        scale = factor(num_heads, W_Q.shape[1] // num_heads, len(W_Q))
        return end(product(Q, K) * W_Q.dtype.type(scale))

    return circuit


@mistake.recipe(
    {
        **PRODUCTS,
        "heads-averaged": [BY_H],
        "transposed": [{"turn": lambda M: M.swapaxes(-2, -1)}],
        "heads-interleaved": [{"columns": _strided, "rows": lambda W, h: _strided(W.T, h).swapaxes(-2, -1)}],
        "columns-interleaved": [{"columns": _strided}],
        "rows-interleaved": [{"rows": lambda W, h: _strided(W.T, h).swapaxes(-2, -1)}],
        "reshaped-not-split": [{"columns": lambda W, h: W.reshape(h, W.shape[0], -1)}],
        "first-rows-for-all": [{"rows": lambda W, h: _rows(W, h)[:1]}],
        "values-of-all-heads": [{"columns": lambda W, h: _columns(W, h).sum(axis=0)}],
        "heads-mixed": [
            {"rows": lambda W, h: _rows(W, h)[::-1]},
            {"rows": lambda W, h: np.roll(_rows(W, h), -1, axis=0)},
            {"rows": lambda W, h: np.roll(_rows(W, h), 1, axis=0)},
        ],
        "widths-of-a-head": [{"product": lambda values, out: out @ values}],
    },
    hints=HINTS | {
        "values-of-all-heads": "Whose columns of W_V go with a head's rows of W_O?",
        "transposed": "A word stands on the left, as a row. What comes out at the right?",
        "columns-interleaved": "Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        "rows-interleaved": "Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        "first-rows-for-all": "Through whose rows of W_O does head 1 speak?",
        "heads-averaged": "Heads add up what they have found. Is anything divided by how many they are?",
        "heads-mixed": "Through whose rows of W_O does head 0 speak?",
        "head-0-for-all": "Which columns go into the matrix of head 1?",
        "scaled": "Where does the square root belong: to the scores, or to what is copied?",
    },
    held=(
        "transposed", "widths-of-a-head", "heads-interleaved", "columns-interleaved", "rows-interleaved",
        "all-heads-together", "heads-summed", "heads-reversed", "heads-mixed", "reshaped-not-split",
        "first-rows-for-all", "head-0-for-all", "heads-averaged", "scaled", "heads-last", "one-head-too-few",
    ),
)  # fmt: skip
def ov_circuit(
    columns=_columns,
    rows=_rows,
    product=lambda values, out: values @ out,
    turn=lambda M: M,
    end=lambda M: M,
    factor=lambda h, d, width: 1.0,
):
    def circuit(W_V, W_O, num_heads):
        scale = factor(num_heads, W_V.shape[1] // num_heads, len(W_V))
        return end(turn(product(columns(W_V, num_heads), rows(W_O, num_heads)) * W_V.dtype.type(scale)))

    return circuit
