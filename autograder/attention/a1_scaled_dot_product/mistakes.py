"""Known mistakes of a1: scaled dot-product attention."""

import math
from types import SimpleNamespace

import numpy as np
import torch

from autograder.attention.hidden import decisions
from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- softmax


# Written out, since tests hand it in.
@mistake("axis-ignored", hint="Find each place where an axis matters. Which one do you use there?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@mistake("axis-summed-away", hint="Print the shape of your sum. Does it line up with the rows it should divide?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis)


@mistake("one-maximum-for-all", hint="If one row's scores are near a million and another's near 0, what is left of it?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis, keepdims=True)


@mistake("largest-absolute-value", hint="If all scores of a row are near -1000, what goes into np.exp?")
def softmax(x, axis=-1):
    exps = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@mistake("scores-clipped", hint="Two large scores that differ: do they still differ after your first step?")
def softmax(x, axis=-1):
    exps = np.exp(np.clip(x, -80, 80))
    return exps / exps.sum(axis=axis, keepdims=True)


@mistake("in-place", hint="Print x before and after the call. Who else may still need it?")
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


@mistake("float64-always", hint="Which dtype goes in, which one comes out, and on which line does it change?")
def softmax(x, axis=-1):
    x = np.array(x, dtype=float)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@mistake("matrices-only", hint="For how many axes is your code written? Try one row alone, then three axes.")
def softmax(x, axis=-1):
    weights = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            others = x[:, j] if axis in (0, -2) else x[i]
            weights[i, j] = np.exp(x[i, j] - others.max()) / np.exp(others - others.max()).sum()
    return weights


# ---------------------------------------------------------------- attention_scores


# Written out, since tests hand it in.
@mistake("no-scaling", hint="What are the dot products divided by, and what would happen to the softmax without it?")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1)


# Written out, since tests hand it in.
@mistake("scale-by-d_k", hint="Look at the formula again: what exactly stands below the fraction bar?")
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


# ---------------------------------------------------------------- scaled_dot_product_attention


# Written out, since tests hand it in.
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


# Written out, since tests hand it in.
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


# ---------------------------------------------------------------- torch_scaled_dot_product_attention


@mistake(
    "axes-counted-from-the-front",
    hint="Which axis is d_k? Print the number you divide by, for a batch of sentences.",
)
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(1))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("axis-counted-from-the-front", hint="Which axis is dim=1 for a matrix, and which one for a batch of them?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=1)
    return weights @ value, weights


@mistake("one-batch-axis-only", hint="How many axes do your axis numbers count on? Could they count from the end?")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, value), weights


@mistake("detached-gradient", hint="Which operations hand on a gradient, and is every step one of those?")
def torch_scaled_dot_product_attention(query, key, value):
    scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).detach()
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("detached-gradient", hint="What does the `with` around your code switch off?")
def torch_scaled_dot_product_attention(query, key, value):
    with torch.no_grad():
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
        return weights @ value, weights


@mistake("detached-gradient", hint="Can somebody learn from the weights you give back, or only look at them?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights.detach()


@mistake("detour-through-numpy", hint="What is the kind of what comes back, and can a gradient travel through it?")
def torch_scaled_dot_product_attention(query, key, value):
    Q, K, V = (tensor.detach().numpy() for tensor in (query, key, value))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("float32-always", hint="Which dtype goes in, which one comes out, and on which line does it change?")
def torch_scaled_dot_product_attention(query, key, value):
    query, key, value = query.float(), key.float(), value.float()
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


@mistake("in-place", hint="Print the query before and after the call. What does an operator that ends in _ or = do?")
def torch_scaled_dot_product_attention(query, key, value):
    query /= math.sqrt(query.size(-1))
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


@mistake("output-only", hint="How many things does the docstring promise?")
def torch_scaled_dot_product_attention(query, key, value):
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1) @ value


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights, weights @ value


# ---------------------------------------------------------------- one decision wrong, and two

NUMPY, TORCH = decisions.numpy_ways(), decisions.torch_ways()
CURVES = decisions.CURVES
ATTENTION = (
    decisions.SCALES | decisions.WHOLE_SCALES | decisions.BY_VALUES | decisions.OPERANDS | decisions.TURNS
    | decisions.AFTER | decisions.AXES | CURVES | {"scores-returned": [{"second": "scores"}]}
)  # fmt: skip


def _divided_by_rows(x, curve):
    """`(exps.T / exps.sum(axis=-1)).T`: right for one or two axes."""
    ways = {
        decisions.softmax: lambda: np.exp(x - x.max(axis=-1, keepdims=True)),
        CURVES["no-max-subtraction"][0]["curve"]: lambda: np.exp(x),
    }
    exps = ways.get(curve, lambda: curve(NUMPY, x, -1))()
    return (exps.T / exps.sum(axis=-1)).T


def _summed_away(kept):
    """kept: does the axis of the maximum stay, and that of the sum alone go?"""

    def curve(xp, x, axis):
        exps = np.exp(x - x.max(axis=axis, keepdims=kept))
        return exps / exps.sum(axis=axis)

    return curve


@mistake.recipe(
    decisions.without(CURVES, "softmax-missing")
    | {
        "axis-ignored": [{"axis_of": lambda axis: -1}],
        "axis-0-by-default": [{"default": 0}],
        "softmax-over-axis-0": [{"axis_of": lambda axis: 0}],
        "softmax-over-everything": [{"axis_of": lambda axis: None}],
        "axis-left-at-the-end": [
            {"end": lambda weights, axis: weights.swapaxes(axis, -1)},
            {"end": lambda weights, axis: np.moveaxis(weights, axis, -1)},
        ],
        "all-axes-reversed": [{"by_rows": True}],
        "axis-summed-away": [{"curve": _summed_away(True)}, {"curve": _summed_away(False)}],
    },
    hints=decisions.HINTS
    | {
        "axis-left-at-the-end": "Where is each axis of x in what you give back?",
        "all-axes-reversed": "What does .T make of three axes?",
        "axis-0-by-default": "What does axis=-1 mean for a matrix: down a column, or along a row?",
    },
    held=("not-normalised", "softmax-over-everything", "axis-0-by-default", "no-max-subtraction", "no-exponential"),
)
def softmax(
    curve=decisions.softmax, axis_of=lambda axis: axis, default=-1, end=lambda weights, axis: weights, by_rows=False
):
    if by_rows:
        return lambda x, axis=default: end(_divided_by_rows(x, curve), axis)
    return lambda x, axis=default: end(curve(NUMPY, x, axis_of(axis)), axis)


@mistake.recipe(
    decisions.SCALES
    | decisions.WHOLE_SCALES
    | decisions.without(decisions.OPERANDS, "keys-blended", "queries-blended", "values-with-keys")
    | decisions.TURNS
    | {"maximum-subtracted": [{"end": lambda s: s - s.max(axis=-1, keepdims=True)}, {"end": lambda s: s - s.max()}]}
    | {"softmax-already": [{"end": lambda s: decisions.softmax(NUMPY, s, -1)}]}
    | {"distance-for-dot-product": [{"distance": -1}, {"distance": 1}]},
    hints=decisions.HINTS | {"softmax-already": "Are these scores, or already weights? Which step comes later?"},
    held=("multiplied-by-the-scale", "all-axes-reversed", "queries-and-keys-swapped", "softmax-already"),
)
def attention_scores(end=lambda scores: scores, distance=0, **options):
    def scores(Q, K):
        if distance:
            apart = ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)
            return end(distance * apart / options.get("scale", decisions.right_scale)(_sizes(Q)))
        return end(decisions.scores_of(NUMPY, Q, K, **options))

    return scores


def _sizes(Q):
    return SimpleNamespace(d_k=Q.shape[-1], L=Q.shape[-2])


def _attention(xp, Q, K, V, second, options):
    output, weights = decisions.attend(xp, Q, K, V, **options)
    if second == "scores":
        given = {name: options[name] for name in ("operands", "turn", "scale") if name in options}
        return output, decisions.scores_of(xp, Q, K, **given)
    return output, weights


@mistake.recipe(
    ATTENTION, hints=decisions.HINTS,
    held=(
        "no-scaling", "scale-by-d_k", "scale-by-d_v", "scaled-after-softmax", "softmax-over-queries", "softmax-missing",
        "scores-returned", "all-axes-reversed", "no-max-subtraction",
    ),
)  # fmt: skip
def scaled_dot_product_attention(second="weights", **options):
    return lambda Q, K, V: _attention(NUMPY, Q, K, V, second, options)


@mistake.recipe(
    ATTENTION | {"detached-gradient": [{"mixed": lambda w, V, size: (w.detach() @ V, w.detach())}]},
    hints=decisions.HINTS
    | {"no-max-subtraction": "What is the exp of 1000? What may be taken off a row with its weights unchanged?"},
    held=("no-scaling", "scale-by-d_k", "softmax-over-queries", "no-max-subtraction"),
)
def torch_scaled_dot_product_attention(second="weights", **options):
    return lambda query, key, value: _attention(TORCH, query, key, value, second, options)
