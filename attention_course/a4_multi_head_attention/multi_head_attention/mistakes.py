"""Known mistakes of multi_head_attention."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_options
from ..shared_mistakes import NUMPY, OF_D_MODEL, SLIPS, WORDS, in_heads

mistake = Catalogue()


def _split(projected, num_heads):
    *batch, L, width = projected.shape
    return projected.reshape(*batch, L, num_heads, width // num_heads).swapaxes(-3, -2)


def _concat(heads):
    *batch, h, L, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d)


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights if mask is None else np.where(mask, weights, 0)


@mistake("one-head-for-all", hint="Compare two heads' weights. Should they be the same?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    outputs, all_weights = [], []
    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads
    if mask is not None:
        mask = np.broadcast_to(mask, (*X.shape[:-2], num_heads, X.shape[-2], X.shape[-2]))
    for i in range(num_heads):
        Q, K, V = X @ W_Q[:, :d_k], X @ W_K[:, :d_k], X @ W_V[:, :d_v]
        own = None if mask is None else mask[..., i, :, :]
        weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), own)
        outputs.append(weights @ V)
        all_weights.append(weights)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(all_weights, axis=-3)


@mistake("one-big-head", hint="How many matrices of weights are there? Over how many columns does a score add up?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    one = None if mask is None else mask[..., 0, :, :] if mask.ndim > 2 else mask
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), one)
    return weights @ V @ W_O, np.stack([weights] * num_heads, axis=-3)


@mistake("weights-averaged", hint="The weights should show what each head looks at. How many axes do they have?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _concat(weights @ V) @ W_O, weights.mean(axis=-3)


@mistake("d_k-from-d_model", hint="d_model need not be h * d_k. Which shape tells you how wide a head really is?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape
    d_k = d_model // num_heads
    Q, K, V = ((X @ W).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("values-split-by-d_k", hint="d_v may differ from d_k. From which matrix can you read how wide a value is?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, _ = X.shape
    d_k = W_Q.shape[-1] // num_heads
    Q, K, V = ((X @ W).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("leaky-mask", hint="Could a visible score be lower than the number you put in place of the hidden ones?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e3)
    weights = _softmax(scores)
    if mask is not None:
        weights = weights * np.any(mask, axis=-1, keepdims=True)
    return _concat(weights @ V) @ W_O, weights


@mistake("mask-for-the-first-head-only", hint="Look at each head's weights in turn. Where does the mask show?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    if mask is not None:
        mask = np.broadcast_to(mask, (*V.shape[:-1], V.shape[-2])).copy()
        mask[..., 1:, :, :] = True
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("no-max-subtraction", hint="What could be subtracted from the scores before exp without changing the weights?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    exps = np.exp(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]))
    if mask is not None:
        exps = exps * mask
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return _concat(weights @ V) @ W_O, weights


@mistake("float64-always", hint="Which dtype has each number and array that you make yourself?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / np.asarray([math.sqrt(Q.shape[-1])]), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return weights, _concat(weights @ V) @ W_O


@mistake("output-only", hint="How many things does the docstring promise?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _concat(weights @ V) @ W_O


@mistake("in-place", hint="Whose array does an operator like /= change?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    W_Q /= math.sqrt(W_Q.shape[-1] // num_heads)
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake.mutants(
    SLIPS
    | OF_D_MODEL
    | {
        "residual-added": [{"residual": 1}],
        # `np.where(mask, scores, -1e9)` takes None for False.
        "nothing-seen-without-a-mask": mistake.mutant(
            {"none_hides": True}, hint="In np.where(mask, ...), what does None count as? Whom may a word see then?"
        ),
        "heads-before-the-batch": mistake.mutant(
            {"mixed": lambda w, V, size: (w @ V, np.moveaxis(w, -3, 0))},
            hint="With a batch, which axis of your weights is that of the heads? Which should it be?",
        ),
    },
    mutation_options.EMPTY, WORDS,
    catalogued=(
        "no-scaling", "scale-by-d_k", "scale-by-d_model", "softmax-over-queries", "heads-interleaved",
        "split-without-transpose", "concat-without-transpose", "W_O-missing", "W_O-transposed", "mask-inverted",
        "mask-after-softmax", "masked-with-zero", "axis-added-to-mask", "nan-for-nothing", "evenly-for-nothing",
        "mask-ignored-when-empty", "mask-cut", "stops-at-a-length", "some-heads-only", "heads-tied",
        "weights-of-one-head",
    ),
)  # fmt: skip
def multi_head_attention(end=lambda concatenated, W_O: concatenated @ W_O, residual=0, none_hides=False, **options):
    def attend(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
        mask = np.zeros((1, 1), dtype=bool) if mask is None and none_hides else mask
        Q, K, V, width = X @ W_Q, X @ W_K, X @ W_V, X.shape[-1]
        found = in_heads(NUMPY, Q, K, V, num_heads, width, mask, lambda found: end(found, W_O), **options)
        return (found[0] + X, found[1]) if residual else found

    return attend
