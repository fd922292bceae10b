"""Known mistakes of attention_scores."""

import math
from types import SimpleNamespace

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options, softmax_options
from ..shared_mistakes import NUMPY

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("no-scaling", hint="What are the dot products divided by, and what would happen to the softmax without it?")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1)


# Written out as code, because tests submit it.
@mistake("scale-by-d_k", hint="By what is a score divided in all, and how often? Compare it with the formula.")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1) / Q.shape[-1]


@mistake("scale-by-length", hint="Which axis of Q is d_k? Print the number you divide by.")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-2])


@mistake("one-batch-axis-only", hint="How many axes do your axis numbers count on? Could they count from the end?")
def attention_scores(Q, K):
    return np.matmul(Q, K.transpose(0, 2, 1)) / math.sqrt(Q.shape[-1])


@mistake("batch-items-mixed", hint="With two sentences, should a query of the first meet keys of the second?")
def attention_scores(Q, K):
    return np.dot(Q, K.swapaxes(-2, -1)) / math.sqrt(Q.shape[-1])


@mistake("batch-item-0-for-all", hint="With two sentences, whose keys does the second one's query meet?")
def attention_scores(Q, K):
    keys = K.reshape(-1, *K.shape[-2:])[0]
    return Q @ keys.T / math.sqrt(Q.shape[-1])


@mistake("cosine-similarity", hint="A longer query: should its scores grow, and do yours?")
def attention_scores(Q, K):
    Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    K = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return Q @ K.swapaxes(-2, -1)


@mistake("in-place", hint="Print Q before and after the call.")
def attention_scores(Q, K):
    Q /= math.sqrt(Q.shape[-1])
    return Q @ K.swapaxes(-2, -1)


@mistake("float64-always", hint="Which dtype goes in, which one comes out? Look at every array you make yourself.")
def attention_scores(Q, K):
    scores = np.zeros((*Q.shape[:-1], K.shape[-2]))
    scores += Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    return scores


@mistake("axes-squeezed", hint="What happens to an axis of length one on the way?")
def attention_scores(Q, K):
    return np.squeeze(Q @ K.swapaxes(-2, -1)) / math.sqrt(Q.shape[-1])


@mistake.mutants(
    mutation_options.SCALES
    | mutation_options.WHOLE_SCALES
    | mutation_options.without(mutation_options.OPERANDS, "keys-blended", "queries-blended", "values-with-keys")
    | mutation_options.TURNS
    | {"stops-at-a-length": size_options.cuts(-2, size_options.LENGTHS)}
    | mutation_options.only(size_options.SIZES, "some-heads-only")
    | {
        "scale-fixed": mistake.mutant(
            {"scale": lambda size: 2.0},
            {"scale": lambda size: 8.0},
            hint="Print the number you divide by, for queries of two widths. Does it change?",
        ),
        "scores-in-whole-numbers": mistake.mutant(
            {"end": np.floor}, {"end": np.round}, hint="Are all your scores whole numbers? Which sign makes them so?"
        ),
    }
    | {"maximum-subtracted": [{"end": lambda s: s - s.max(axis=-1, keepdims=True)}, {"end": lambda s: s - s.max()}]}
    | {
        "softmax-already": mistake.known(
            {"end": lambda s: softmax_options.softmax(NUMPY, s, -1)},
            hint="Are these scores, or already weights? Which step comes later?",
        )
    }
    | {"distance-for-dot-product": [{"distance": -1}, {"distance": 1}]},
    hints=mutation_hints.HINTS,
    catalogued=(
        "multiplied-by-the-scale",
        "all-axes-reversed",
        "queries-and-keys-swapped",
        "stops-at-a-length",
        "some-heads-only",
    ),
)
def attention_scores(end=lambda scores: scores, distance=0, **options):
    def scores(Q, K):
        if distance:
            apart = ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)
            return end(distance * apart / options.get("scale", mutation_options.right_scale)(_sizes(Q)))
        return end(mutation_options.scores_of(NUMPY, Q, K, **options))

    return scores


def _sizes(Q):
    return SimpleNamespace(d_k=Q.shape[-1], L=Q.shape[-2])
