"""Known mistakes of single_head."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_options, size_options, softmax_options
from ..shared_mistakes import NUMPY, OF_D_MODEL, SCALES, WORDS

mistake = Catalogue()


def _attend(Q, K, V, scale):
    scores = Q @ K.swapaxes(-2, -1) / scale
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def _own(W, head, num_heads):
    d = W.shape[-1] // num_heads
    return W[:, head * d : (head + 1) * d]


@mistake("d_k-from-d_model", hint="d_model need not be h * d_k. Which shape tells you how wide a head really is?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    d = X.shape[-1] // num_heads
    Q, K, V = (X @ W[:, head * d : (head + 1) * d] for W in (W_Q, W_K, W_V))
    return _attend(Q, K, V, math.sqrt(d))


@mistake("values-split-by-d_k", hint="d_v may differ from d_k. From which matrix can you read how wide a value is?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    d_k = W_Q.shape[-1] // num_heads
    Q, K, V = (X @ W[:, head * d_k : (head + 1) * d_k] for W in (W_Q, W_K, W_V))
    return _attend(Q, K, V, math.sqrt(d_k))


@mistake("columns-to-the-end", hint="Where do the columns of one head begin, and where do they end?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads
    return _attend(X @ W_Q[:, head * d_k :], X @ W_K[:, head * d_k :], X @ W_V[:, head * d_v :], math.sqrt(d_k))


@mistake(
    "axes-counted-from-the-front", hint="With a batch, which axes does a .T turn? How could you count from the end?"
)
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    Q, K, V = (X @ _own(W, head, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("float64-always", hint="Which dtype has each number and array that you make yourself?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    Q, K, V = (X @ _own(W, head, num_heads) for W in (W_Q, W_K, W_V))
    return _attend(Q, K, V, np.asarray([math.sqrt(Q.shape[-1])]))


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    Q, K, V = (X @ _own(W, head, num_heads) for W in (W_Q, W_K, W_V))
    return _attend(Q, K, V, math.sqrt(Q.shape[-1]))[::-1]


@mistake("output-only", hint="How many things does the docstring promise?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    Q, K, V = (X @ _own(W, head, num_heads) for W in (W_Q, W_K, W_V))
    return _attend(Q, K, V, math.sqrt(Q.shape[-1]))[0]


@mistake("in-place", hint="Whose array does an operator like /= change?")
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    W_Q /= math.sqrt(W_Q.shape[-1] // num_heads)
    return _attend(*(X @ _own(W, head, num_heads) for W in (W_Q, W_K, W_V)), 1.0)


def of_head(which):
    """Columns of a head other than the one asked for."""
    return lambda W, head, h: _own(W, which(head, h), h)


def _between(places):
    """Columns from one place to another, counted with the width of a head."""

    def columns(W, head, h):
        return W[:, slice(*places(head, W.shape[-1] // h))]

    return columns


def _own_part(X, head, num_heads):
    """The columns of X that would belong to this head if X itself were split into heads."""
    d = X.shape[-1] // num_heads
    return slice(head * d, (head + 1) * d)


def _only_own_part(X, head, num_heads):
    columns = _own_part(X, head, num_heads)
    return X * (np.arange(X.shape[-1]) == np.r_[columns][:, None]).any(axis=0)


OWN = {
    "first-head-only": [{"columns": of_head(lambda head, h: 0)}],
    "heads-reversed": [{"columns": of_head(lambda head, h: h - 1 - head)}],
    "heads-counted-from-1": [
        {"columns": of_head(lambda head, h: (head - 1) % h)},
        {"columns": _between(lambda head, d: ((head - 1) * d, head * d))},  # none for head 0, or all but the last d
    ],
    "columns-off-by-one": [
        {"columns": _between(lambda head, d, first=first, last=last: (head * d + first, (head + 1) * d + last))}
        for first, last in ((0, -1), (0, 1), (1, 1), (1, 0))
    ],
    "heads-and-width-exchanged": [{"columns": lambda W, head, h: W[:, head * h : (head + 1) * h]}],
    "heads-interleaved": [{"columns": lambda W, head, h: W[:, head::h]}],
    "keys-of-head-0-for-all": [{"at": (None, 0, None)}],
    "queries-of-head-0-for-all": [{"at": (0, None, None)}],
    "values-of-head-0-for-all": [{"at": (None, None, 0)}],
    "values-from-W_K": [{"sources": lambda Q, K, V: (Q, K, K)}, {"values": "of W_K, as wide as those of W_V"}],
    "values-from-W_Q": [{"sources": lambda Q, K, V: (Q, K, Q)}],
    "keys-from-W_Q": [{"sources": lambda Q, K, V: (Q, Q, V)}],
    "queries-from-W_K": [{"sources": lambda Q, K, V: (K, K, V)}],
    "queries-and-keys-swapped": [{"sources": lambda Q, K, V: (K, Q, V)}],
    "W_K-and-W_V-swapped": [{"sources": lambda Q, K, V: (Q, V, K)}],
    "one-big-head": [{"at": ("all", "all", None)}, {"at": ("all", "all", "all")}],
    "values-of-all-heads": [{"at": (None, None, "all")}],
    # Of one matrix or of all, with the root of the width that comes out. With only one of W_Q and W_K, it raises.
    "columns-to-the-end": [
        {"at": at}
        for at in (("end", None, None), (None, "end", None), (None, None, "end"), ("end", "end", None), ("end",) * 3)
    ],
    "columns-from-the-heads-number": [
        {"columns": lambda W, head, h: W[:, head : head + W.shape[-1] // h]},
    ],
    "one-column-only": [{"columns": lambda W, head, h: W[:, head : head + 1]}],
    "rows-for-columns": [
        {
            "words": lambda X, head, h: X[..., _own_part(X, head, h)],
            "columns": lambda W, head, h: W[_own_part(W.T, head, h)],
            "scale": lambda size: math.sqrt(size.d_model // size.h),
        },
    ],
    "heads-tied": [{"columns": of_head(lambda head, h: min(head, 1))}],
    "words-cut-among-heads": [{"words": _only_own_part}],
    "words-unused": [{"words": lambda X, head, h: np.eye(X.shape[-1], dtype=X.dtype)}],
}
# With the root of the width that comes out, and not of the one that was meant.
BY_D_MODEL = [{"columns": lambda W, head, h: W[:, _own_part(W.T, head, h)]}]
SIZES = {
    "stops-at-a-length": size_options.SIZES["stops-at-a-length"],
    "some-heads-only": [{"columns": of_head(lambda head, h, most=most: min(head, most - 1))} for most in (3, 4)],
}


@mistake.mutants(
    OWN | SIZES | SCALES | {"d_k-from-d_model": OF_D_MODEL["d_k-from-d_model"] + BY_D_MODEL}
    | softmax_options.AXES | mutation_options.TURNS | mutation_options.AFTER
    | mutation_options.only(
        softmax_options.CURVES, "softmax-missing", "softmax-twice", "no-exponential", "not-normalised",
        "no-max-subtraction", "sign-flipped", "hard-maximum",
    )
    | mutation_options.CAUSAL | mutation_options.ZEROED | {"residual-added": [{"residual": True}]},
    hints=WORDS | {
        "first-head-only": "Call it with head=0 and with head=1: do they differ? Which columns are head 1's?",
        "heads-counted-from-1": "Heads are counted from 0. Which columns does head 0 own?",
        "columns-off-by-one": "How many columns has your slice, and how many has one head? Is the end in or out?",
        "some-heads-only": "With eight heads, is head 6 another one than head 2?",
        "one-big-head": "Over how many columns does a score of yours add up, and how many has one head?",
        "values-of-all-heads": "How wide is what you return, and how wide are one head's values?",
        "columns-from-the-heads-number": "Head 0 owns the first d_k columns. Which is the first column of head 1?",
        "words-unused": "Where does X go in? How many rows has your output, and how many words are there?",
        "one-column-only": "How many columns does one head own? Divide the width of a matrix by the number of heads.",
        "rows-for-columns": "A word has d_model numbers. Which axis of a matrix meets them, and which axis is shared?",
        "words-cut-among-heads": "Which is cut: the numbers of a word, or what the matrices make of it?",
    },
    catalogued=(
        "first-head-only", "heads-counted-from-1", "heads-interleaved", "no-scaling", "scale-by-d_k",
        "scale-by-whole-width", "softmax-over-queries", "values-of-head-0-for-all", "values-from-W_K",
        "no-max-subtraction", "stops-at-a-length", "some-heads-only",
    ),
)  # fmt: skip
def single_head(
    columns=_own, at=(None, None, None), sources=lambda Q, K, V: (Q, K, V), words=lambda X, head, h: X, residual=False,
    values="", **options,
):  # fmt: skip
    def own(W, head, other, num_heads):
        if other == "end":
            return W[:, head * (W.shape[-1] // num_heads) :]
        return W if other == "all" else columns(W, head if other is None else other, num_heads)

    def attend(X, W_Q, W_K, W_V, head, num_heads):
        each = zip((W_Q, W_K, W_V), at, strict=True)
        seen = words(X, head, num_heads)
        Q, K, V = sources(*(seen @ own(W, head, other, num_heads) for W, other in each))
        if values:
            first = head * V.shape[-1]
            V = seen @ W_K[:, first : first + V.shape[-1]]
        more = {"h": num_heads, "d_model": X.shape[-1]}
        output, weights = mutation_options.attend(NUMPY, Q, K, V, more=more, **options)
        return (output + X[..., : output.shape[-1]] if residual else output), weights

    return attend
