"""Known mistakes of causal_attention."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options, softmax_options
from ..shared_mistakes import CURVES, NUMPY, SEEN_AHEAD

mistake = Catalogue()


def _attention(Q, K, V, mask, scale):
    """A right attention under a mask, which the mistakes below use."""
    hidden = np.where(mask, Q @ K.swapaxes(-2, -1) / scale, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    exps = np.exp(hidden - np.where(np.isfinite(top), top, 0))
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return weights @ V, weights


def _both(Q, padding):
    causal = np.tril(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool))
    return causal if padding is None else causal & padding


@mistake("mask-off-by-one", hint="May the first word look at itself? Look at the diagonal of the weights.")
def causal_attention(Q, K, V, padding=None):
    before = np.tril(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool), -1)
    return _attention(Q, K, V, before if padding is None else before & padding, math.sqrt(Q.shape[-1]))


@mistake("mask-inverted", hint="Which half of the weights is zero: before the diagonal or behind it?")
def causal_attention(Q, K, V, padding=None):
    mask = np.triu(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool))
    return _attention(Q, K, V, mask if padding is None else mask & padding, math.sqrt(Q.shape[-1]))


@mistake("leaky-mask", hint="Scores may be as low as minus a million. Does a masked one lose against them?")
def causal_attention(Q, K, V, padding=None):
    mask = _both(Q, padding)
    scores = np.where(mask, Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), -1e4)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True) * mask.any(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("batch-item-0-for-all", hint="Do two texts of different lengths get the same mask?")
def causal_attention(Q, K, V, padding=None):
    return _attention(Q, K, V, _both(Q, None if padding is None else padding[0]), math.sqrt(Q.shape[-1]))


@mistake(
    "one-for-nothing", hint="In a text of length 0, what may the first word look at? And what do your weights say?"
)
def causal_attention(Q, K, V, padding=None):
    itself = np.eye(Q.shape[-2], dtype=bool)
    return _attention(Q, K, V, _both(Q, padding) | itself, math.sqrt(Q.shape[-1]))


@mistake("padded-output-cleared", hint="Padding hides keys. Does your code also do something to what a query finds?")
def causal_attention(Q, K, V, padding=None):
    output, weights = _attention(Q, K, V, _both(Q, padding), math.sqrt(Q.shape[-1]))
    return output if padding is None else output * padding.swapaxes(-2, -1), weights


@mistake("scores-returned", hint="Which of your arrays has rows that sum to 1? Is it the one you return?")
def causal_attention(Q, K, V, padding=None):
    output, _ = _attention(Q, K, V, _both(Q, padding), math.sqrt(Q.shape[-1]))
    return output, Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])


@mistake("output-only", hint="People want to look at the weights. Where do they go in your code?")
def causal_attention(Q, K, V, padding=None):
    return _attention(Q, K, V, _both(Q, padding), math.sqrt(Q.shape[-1]))[0]


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def causal_attention(Q, K, V, padding=None):
    output, weights = _attention(Q, K, V, _both(Q, padding), math.sqrt(Q.shape[-1]))
    return weights, output


@mistake("no-max-subtraction", hint="What is np.exp(1000)? Do the weights hang on scores, or on differences of scores?")
def causal_attention(Q, K, V, padding=None):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.where(_both(Q, padding), np.exp(scores), 0)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return weights @ V, weights


@mistake(
    "float64-always", hint="Which dtype has each number and array that you make yourself? What does it do to float32?"
)
def causal_attention(Q, K, V, padding=None):
    return _attention(Q, K, V, _both(Q, padding), np.sqrt(Q.shape[-1]))


@mistake("in-place", hint="Print Q before and after the call. Who else may still need it?")
def causal_attention(Q, K, V, padding=None):
    Q /= math.sqrt(Q.shape[-1])
    return _attention(Q, K, V, _both(Q, padding), 1)


CAUSAL = {
    "mask-off-by-one": [{"k": 1}, {"k": -1}],
    "causal-mask-transposed": [{"upper": True}],
    "mask-inverted": [*mutation_options.MASKS["mask-inverted"], {"table": lambda causal: ~causal}],
    "mask-forgotten": mistake.known({"k": 10**6}),
    "some-ahead-seen": [{"table": table} for table in SEEN_AHEAD],
    "padding-ignored": mistake.known({"join": lambda causal, padding: causal}),
    "padding-inverted": [{"join": lambda causal, padding: causal & ~padding}],
    "padding-instead-of-causal": mistake.known({"join": lambda causal, padding: padding}),
    "padding-or-causal": mistake.known({"join": lambda causal, padding: causal | padding}),
    "padding-hides-queries": mistake.known(
        {"join": lambda causal, padding: causal & padding & padding.swapaxes(-2, -1)}
    ),
    "padding-transposed": [{"join": lambda causal, padding: causal & padding.swapaxes(-2, -1)}],
    "causal-with-padding-only": [{"alone": lambda causal: causal | True}],
    "mask-ignored-when-empty": mistake.known(
        {"join": lambda causal, padding: causal & padding if padding.any() else causal, "empty": "zeros"},
        *mutation_options.NOTHING["mask-ignored-when-empty"],
    ),
    "padding-on-the-values": [
        {"join": lambda causal, padding: causal, "values": lambda V, padding: V * padding.swapaxes(-2, -1)}
    ],
}
WORDS = mutation_hints.HINTS | {
    "causal-mask-transposed": "Row i of the mask belongs to query i. Which columns are True in row 0?",
    "padding-inverted": "What does True mean in the padding: a real word, or padding?",
    "padding-transposed": "Which axis of the padding meets the keys? Does yours hide columns of weights, or rows?",
    "causal-with-padding-only": "Which mask does your code use if no padding is given?",
    "padding-on-the-values": "A padded word: which weight does it get in yours, and which one should it get?",
    "mask-forgotten": "Change the last word. Does the output of the first one change, too?",
    "padding-ignored": "Where in your code does `padding` go in?",
    "padding-instead-of-causal": "When there is padding, does your code still remember not to look ahead?",
    "padding-or-causal": "A key has to pass both masks. Which sign joins two conditions that must both hold?",
    "some-ahead-seen": "Print the mask of six words. Is every place above the diagonal False?",
    "mask-ignored-when-empty": "Two texts of length 0: is that the same as no padding, in your code?",
    "nan-for-nothing": "In a text of length 0, what does your softmax divide by?",
}


@mistake.mutants(
    mutation_options.SCALES
    | mutation_options.BY_VALUES
    | mutation_options.without(mutation_options.OPERANDS, "values-with-keys")
    | mutation_options.ZEROED
    | mutation_options.without(mutation_options.MASKS, "mask-transposed", "mask-of-the-first-for-all")
    | mutation_options.NOTHING
    | softmax_options.AXES
    | mutation_options.in_one_part(mutation_options.without(CURVES, "another-base", "epsilon-added"))
    | mutation_options.TURNS
    | mutation_options.only(mutation_options.AFTER, "scaled-after-softmax", "output-scaled")
    | {"stops-at-a-length": [*size_options.TABLES, *size_options.SIZES["stops-at-a-length"]]}
    | mutation_options.only(size_options.SIZES, "some-heads-only")
    | CAUSAL,
    mutation_options.EMPTY,
    hints=WORDS,
    catalogued=(
        "no-scaling",
        "scale-by-d_k",
        "scale-by-d_v",
        "mask-after-softmax",
        "softmax-over-queries",
        "nan-for-nothing",
        "all-axes-reversed",
        "stops-at-a-length",
        "some-heads-only",
    ),
)
def causal_attention(
    k=0,
    upper=False,
    join=lambda causal, padding: causal & padding,
    alone=lambda causal: causal,
    values=lambda V, padding: V,
    table=lambda causal: causal,
    **options,
):
    def attend(Q, K, V, padding=None):
        allowed = np.tril(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool), k)
        allowed = table(allowed.T if upper else allowed)
        allowed = alone(allowed) if padding is None else join(allowed, padding)
        V = V if padding is None else values(V, padding)
        return mutation_options.attend(NUMPY, Q, K, V, allowed, **options)

    return attend


def _softmax(scores, mask=True):
    return mutation_options.weights(NUMPY, scores, np.broadcast_to(mask, scores.shape))


def _in_turn(Q, K, V, padding):
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), _both(Q, None))
    weights = weights if padding is None else _softmax(weights, padding)
    return weights @ V, weights


def _twice(Q, K, V, padding):
    weights = _softmax(_softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])), _both(Q, padding))
    return weights @ V, weights


def _padded_after(Q, K, V, padding):
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), _both(Q, None))
    weights = weights if padding is None else weights * padding
    return weights @ V, weights


@mistake.mutants(
    {
        "softmax-twice": [{"whole": _twice}],
        "a-softmax-for-each-mask": mistake.mutant(
            {"whole": _in_turn},
            hint="How many softmaxes has the formula? What does your second one make of a weight of 0?",
        ),
        "padding-after-softmax": mistake.mutant(
            {"whole": _padded_after},
            hint="A padded word has weight 0 in yours. Do the others of its row still sum to 1?",
        ),
    },
    hints=WORDS,
)
def causal_attention(whole=_twice):
    return lambda Q, K, V, padding=None: whole(Q, K, V, padding)
