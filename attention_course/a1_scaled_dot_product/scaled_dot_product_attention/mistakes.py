"""Known mistakes of scaled_dot_product_attention."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints
from ..shared_mistakes import ATTENTION, NUMPY, attention

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("softmax-twice", hint="How often does a score go through the softmax before it becomes a weight?")
def scaled_dot_product_attention(Q, K, V):
    weights = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    for _ in range(2):
        exps = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("output-only", hint="How many things does the docstring promise?")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights, weights @ V


@mistake("list-returned", hint="What is the kind of what comes back, and which one does the docstring promise?")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return [weights @ V, weights]


# Written out as code, because tests submit it.
@mistake("keys-blended", hint="The weights say how much of each ... what? Which argument is never used?")
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ K, weights


@mistake("float64-always", hint="Which dtype goes in, which one comes out? Look at every array you make yourself.")
def scaled_dot_product_attention(Q, K, V):
    scores = np.zeros((*Q.shape[:-1], K.shape[-2]))
    scores += Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("in-place", hint="Print Q before and after the call.")
def scaled_dot_product_attention(Q, K, V):
    Q *= 1 / math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-2, -1)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake.mutants(
    ATTENTION, hints=mutation_hints.HINTS,
    catalogued=(
        "no-scaling", "scale-by-d_k", "scale-by-d_v", "scaled-after-softmax", "softmax-over-queries", "softmax-missing",
        "scores-returned", "all-axes-reversed", "no-max-subtraction", "stops-at-a-length", "some-heads-only",
    ),
)  # fmt: skip
def scaled_dot_product_attention(second="weights", **options):
    return lambda Q, K, V: attention(NUMPY, Q, K, V, second, options)
