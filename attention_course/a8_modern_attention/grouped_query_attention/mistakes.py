"""Known mistakes of grouped_query_attention."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options, softmax_options
from ..shared_mistakes import HALF, LIMITS, WHOLE, grouped, in_half, in_turn, neighbours

mistake = Catalogue()


def _first_only(x, h):
    return np.repeat(x[..., :1, :, :], h, axis=-3)


def _last_only(x, h):
    return np.repeat(x[..., -1:, :, :], h, axis=-3)


def _mean(x, h):
    return np.repeat(x.mean(axis=-3, keepdims=True), h, axis=-3)


def _backwards(x, h):
    return neighbours(x[..., ::-1, :, :], h)


def _by_size(x, h):
    g = x.shape[-3]
    return x[..., np.minimum(np.arange(h) // g, g - 1), :, :]


@mistake("queries-averaged", hint="How many heads of queries went in, and how many different outputs come out?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    groups = Q.reshape(*Q.shape[:-3], num_kv_heads, h // num_kv_heads, *Q.shape[-2:])
    return grouped(neighbours(groups.mean(axis=-3), h), K, V, num_kv_heads, mask)


@mistake("one-head-for-each-group", hint="How many heads of output does the docstring ask for?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    output, weights = grouped(Q, K, V, num_kv_heads, mask)
    return output[..., :: h // num_kv_heads, :, :], weights[..., :: h // num_kv_heads, :, :]


@mistake("softmax-over-heads", hint="Add up the weights of all heads at one place, then those of one row. Which is 1?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return grouped(Q, K, V, num_kv_heads, mask, axis=-3)


@mistake("mask-inverted", hint="What does True mean in the mask: may attend, or must not?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return grouped(Q, K, V, num_kv_heads, None if mask is None else ~mask)


@mistake("no-max-subtraction", hint="What is np.exp(1000.0)? What may be taken off a row without changing its weights?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    exps = np.exp(Q @ neighbours(K, h).swapaxes(-2, -1) / math.sqrt(Q.shape[-1]))
    exps = exps if mask is None else np.where(mask, exps, 0)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return weights @ neighbours(V, h), weights


@mistake(
    "no-error", hint="Six heads in four groups: which keys does the last head get? What does the docstring ask for?"
)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, g = Q.shape[-3], K.shape[-3]
    which = np.arange(h) * g // h
    chosen = lambda x, h: x[..., which, :, :]  # noqa: E731
    return grouped(Q, K, V, num_kv_heads, mask, keys=chosen, values=chosen, error=None)


@mistake("output-only", hint="How many things does the docstring promise?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return grouped(Q, K, V, num_kv_heads, mask)[0]


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return grouped(Q, K, V, num_kv_heads, mask)[::-1]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    output, weights = grouped(Q, K, V, num_kv_heads, mask)
    return np.zeros(output.shape) + output, np.zeros(weights.shape) + weights


GROUPS = {
    "heads-in-turn": mistake.known(
        {"keys": in_turn, "values": in_turn},
        hint="With 8 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
    ),
    "values-in-turn": mistake.known(
        {"values": in_turn}, hint="Do a head's keys and its values come from the same head?"
    ),
    "keys-in-turn": mistake.known({"keys": in_turn}, hint="Do a head's keys and its values come from the same head?"),
    "first-head-for-all": mistake.known(
        {"keys": _first_only, "values": _first_only},
        hint="How many heads of keys are there, and how many does your code look at?",
    ),
    "last-head-for-all": mistake.mutant(
        {"keys": _last_only, "values": _last_only},
        hint="How many heads of keys are there, and how many does your code look at?",
    ),
    "heads-averaged": mistake.known(
        {"keys": _mean, "values": _mean}, hint="Does a group have keys of its own, or a mean of all?"
    ),
    "groups-backwards": mistake.known(
        {"keys": _backwards, "values": _backwards},
        hint="Which head of keys belongs to query head 0: the first or the last?",
    ),
    "divided-by-the-groups": mistake.known(
        {"keys": _by_size, "values": _by_size},
        hint="How many query heads are in a group: num_kv_heads, or another number?",
    ),
    "values-of-the-first": mistake.mutant(
        {"values": _first_only}, hint="Do a head's keys and its values come from the same head?"
    ),
    "keys-of-the-first": mistake.mutant(
        {"keys": _first_only}, hint="Do a head's keys and its values come from the same head?"
    ),
}


@mistake.mutants({"half-precision": mistake.mutant(*in_half(grouped), hint=HALF)})
def grouped_query_attention(code):
    return code


SHARING = {
    "scale-by-length": "Write down the shape of K. Which of its numbers is the square root of?",
}


@mistake.mutants(
    GROUPS
    | WHOLE
    | mutation_options.without(mutation_options.SCALES, "scale-by-length", "scale-by-half-d_k")
    | mutation_options.BY_VALUES
    | mutation_options.only(mutation_options.OPERANDS, "keys-blended")
    | mutation_options.only(mutation_options.AFTER, "scaled-after-softmax", "output-scaled")
    | mutation_options.only(
        softmax_options.CURVES, "softmax-missing", "softmax-twice", "no-exponential", "not-normalised", "sign-flipped"
    )
    | mutation_options.only(softmax_options.AXES, "softmax-over-queries", "softmax-over-everything")
    | mutation_options.without(mutation_options.MASKS, "mask-of-the-first-for-all", "mask-transposed")
    | mutation_options.NOTHING
    | mutation_options.ZEROED
    | {
        "stops-at-a-length": mistake.known(*({"reach": limit} for limit in LIMITS), *size_options.cuts(-2, LIMITS)),
        "some-heads-only": mistake.known(*size_options.cuts(-3, (6, 7, 8, 12))),
        "everything-hidden-without-a-mask": mistake.mutant(
            {"unmasked": np.array(False)},
            hint="What does mask=None mean, and what do your lines about the mask make of it?",
        ),
        "another-error": mistake.mutant(
            *({"error": kind} for kind in (AssertionError, TypeError, RuntimeError, Exception)),
            hint="Your code says that the groups do not come out even. Which kind of error does the docstring ask for?",
        ),
        "causal-mask-put-in": mistake.mutant(
            {"always": lambda L, S: np.tri(L, S, dtype=bool)},
            {"causal": "without a mask"},
            hint="May the first query look at the last key? Who says that it must not?",
        ),
    },
    hints=mutation_hints.HINTS | SHARING,
    catalogued=(
        "no-scaling",
        "scale-by-whole-width",
        "softmax-over-queries",
        "mask-ignored",
        "mask-after-softmax",
        "nan-for-nothing",
        "evenly-for-nothing",
        "mask-ignored-when-empty",
    ),
)
def grouped_query_attention(always=None, unmasked=None, **options):
    def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
        mask = unmasked if mask is None else mask
        if always is not None:
            mask = always(Q.shape[-2], K.shape[-2]) & (True if mask is None else mask)
        return grouped(Q, K, V, num_kv_heads, mask, **options)

    return grouped_query_attention
