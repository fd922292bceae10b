"""What the known mistakes of a9 share: hints, and wrong scores and circuits."""

import numpy as np

# Hints that several exercises use.
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


def columns_of(W, h):
    """Each head's columns, (h, d_model, d)."""
    return W.reshape(W.shape[0], h, -1).swapaxes(0, 1)


def strided(W, h):
    """Every h-th column, (h, d_model, d)."""
    return W.reshape(W.shape[0], -1, h).transpose(2, 0, 1)


def mean(x):
    return x.mean(axis=-1)


def over_all(x):
    """The sum, which is later divided by the number of all weights of a head."""
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


# Fixed numbers of heads and words. The first is used by a known mistake, all are used by mutants.
FEW_HEADS, FEW_WORDS = (6, 5, 7, 8), (64, 32, 16, 48, 12, 24, 10, 20)
FEW = {
    "stops-at-a-length": "Which is the last word that has a say in your score? Try a text of 71 words.",
    "some-heads-only": "How many heads does your code go through? Is that number written in it?",
    "half-precision": "Print the dtype after each line, and the digits that are left. Where do so many of them go?",
}


def picked(weights, queries, keys, turned):
    """The weights at these pairs of query and key."""
    weights = weights.swapaxes(-2, -1) if turned else weights
    return weights[:, queries, keys]


def _without_others(limit):
    return lambda M: M * (np.arange(len(M)) < limit).astype(M.dtype)[:, None, None]


PRODUCTS = {
    "some-heads-only": [{"end": _without_others(limit)} for limit in FEW_HEADS],
    "half-precision": [{"end": lambda M: M.astype(np.float16).astype(M.dtype)}],
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
