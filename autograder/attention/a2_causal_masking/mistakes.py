"""Known mistakes of a2: causal and padding masks, softmax under a mask, masked attention."""

import math

import numpy as np
import torch

from autograder.attention.hidden import decisions
from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- causal_mask


@mistake("mask-off-by-one", hint="What may the first word look at? Is there a row in your mask without any True?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool), k=-1)


@mistake("mask-off-by-one", hint="Look at the last True in the second row: which word is that?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool), k=1)


@mistake("not-boolean", hint="What is the dtype of your mask, and what does ~ make of it?")
def causal_mask(length):
    return np.tril(np.ones((length, length)))


@mistake("additive-mask", hint="This mask is there to be added to scores. What should it say instead?")
def causal_mask(length):
    return np.where(np.tri(length) == 1, 0.0, -np.inf)


@mistake("extra-axes", hint="How many axes does your mask have, and how many do you need for query and key?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))[None, None]


@mistake("stops-at-eight", hint="For how many words is your mask made? Try a longer text than those in the notebook.")
def causal_mask(length):
    mask = np.ones((length, length), dtype=bool)
    mask[:8, :8] = np.tril(mask[:8, :8])
    return mask


# ---------------------------------------------------------------- padding_mask


@mistake("mask-inverted", hint="In this course, does True stand for a real word or for padding?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) >= np.asarray(lengths)[:, None, None]


@mistake("missing-axis", hint="Scores have the axes text, query, key. Which of your mask's axes meets which of these?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) < np.asarray(lengths)[:, None]


@mistake("axis-at-the-end", hint="Which axis of the scores does the length-one axis stand for, and where is it?")
def padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, :, None]


@mistake("padding-in-front", hint="At which end of the text does the padding stand?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) >= max_length - np.asarray(lengths)[:, None, None]


@mistake("one-text-loses-its-axis", hint="How many axes has the mask for one text, and how many for two?")
def padding_mask(lengths, max_length):
    mask = np.arange(max_length) < np.asarray(lengths)[:, None, None]
    return mask[0] if len(mask) == 1 else mask


@mistake("lists-refused", hint="What can be done with an array between square brackets that a list does not know?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) < lengths[:, None, None]


@mistake("negative-slice", hint="What does x[-n:] select where n is 0?")
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, -(max_length - n) :] = False
    return mask


@mistake("not-boolean", hint="What is the dtype of your mask, and what does ~ make of it?")
def padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length))
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = 1
    return mask


# ---------------------------------------------------------------- masked_softmax


@mistake("leaky-mask", hint="Scores may be as low as minus a million. Does a masked one lose against them?")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -1e4)
    exps = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) * mask.any(axis=-1, keepdims=True)


@mistake("leaky-mask", hint="A masked score may be as high as a million. How low is it after your subtraction?")
def masked_softmax(scores, mask):
    hidden = scores - 1e4 * (1 - mask.astype(scores.dtype))
    exps = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@mistake("max-over-masked", hint="Which keys take part in the maximum, and what if a masked one is the largest?")
def masked_softmax(scores, mask):
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@mistake("no-max-subtraction", hint="What is np.exp(1000)? Do the weights hang on scores, or on differences of scores?")
def masked_softmax(scores, mask):
    exps = np.where(mask, np.exp(scores), 0)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@mistake(
    "float64-always", hint="Which dtype has each number and array that you make yourself, and which has what goes in?"
)
def masked_softmax(scores, mask):
    hidden = scores + np.where(mask, np.zeros(mask.shape), -1e9)
    exps = np.exp(hidden - hidden.max(axis=-1, keepdims=True)) * mask
    return exps / np.maximum(exps.sum(axis=-1, keepdims=True), 1e-30)


@mistake("in-place", hint="Which array do the lines with square brackets left of = write to, and whose is it?")
def masked_softmax(scores, mask):
    np.copyto(scores, -1e9, where=~mask)
    scores -= scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores) * mask
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@mistake("one-maximum-for-all", hint="If one row's scores are near a million and another's near 0, what is left of it?")
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    exps = np.exp(hidden - max(hidden.max(), -1e9))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@mistake("mask-not-broadcast", hint="In scores[mask], which shape must the mask have? Which shapes may yours have?")
def masked_softmax(scores, mask):
    hidden = scores.copy()
    hidden[~mask] = -np.inf
    top = hidden.max(axis=-1, keepdims=True)
    exps = np.exp(hidden - np.where(np.isfinite(top), top, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


# ---------------------------------------------------------------- causal_attention


def _attention(Q, K, V, mask, scale):
    """What the mistakes below share: softmax of scores under a mask, done right."""
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


@mistake("scores-returned", hint="Which of your arrays has rows that sum to 1? Is it the one you give back?")
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


# ---------------------------------------------------------------- torch_masked_attention


def _torch_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


@mistake("mask-inverted", hint="masked_fill fills where its argument is True. May a query look there?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.zeros_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(mask, -1e9), dim=-1)
    return weights @ value, weights


@mistake("leaky-mask", hint="Put a huge key where nobody may look. How low is its score after your subtraction?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is not None:
        scores = scores - 1e3 * (~mask)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("nan-in-the-gradient", hint="The NaN is gone from the result. Which step on the way back still meets it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    return weights @ value, weights


@mistake("mask-required", hint="What does your code do with the mask when there is none?")
def torch_masked_attention(query, key, value, mask=None):
    weights = torch.softmax(_torch_scores(query, key).masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("detached-gradient", hint="Along which line does a gradient come back, and is there something that cuts it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = (torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask).detach()
    return weights @ value, weights


@mistake("float64-always", hint="Which dtype goes in, which one comes out, and on which line does it change?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query.double(), key.double())
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value.double(), weights


@mistake("detached-gradient", hint="Which of the two things you give back no longer knows where it came from?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights.detach()


@mistake("square-mask-transposed", hint="Which axis of the mask belongs to the queries?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    elif mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("always-causal", hint="Which mask is used when the caller gives none, and which did they ask for?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("in-place", hint="What does a name that ends in _ do to the tensor it is called on, and whose tensor is it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    hidden = mask.logical_not_()
    weights = torch.softmax(scores.masked_fill(hidden, -1e9), dim=-1).masked_fill(hidden, 0.0)
    return weights @ value, weights


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights, weights @ value


@mistake("no-max-subtraction", hint="What is exp(1000)? Do the weights hang on scores, or on differences of scores?")
def torch_masked_attention(query, key, value, mask=None):
    exps = torch.exp(_torch_scores(query, key))
    if mask is not None:
        exps = exps * mask
    weights = exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return weights @ value, weights


# ---------------------------------------------------------------- one decision wrong, and two

NUMPY, TORCH = decisions.numpy_ways(), decisions.torch_ways()
UNDER = decisions.MASKS | decisions.NOTHING | decisions.AXES
CURVES = decisions.without(decisions.CURVES, "no-exponential", "hard-maximum", "mean-for-sum")


@mistake.recipe(
    UNDER | CURVES,
    decisions.EMPTY,
    decisions.HINTS | {"nan-for-nothing": "If all is masked, what is the row's maximum, and what is it minus itself?"},
    held=(
        "mask-inverted", "mask-after-softmax", "masked-with-zero", "nan-for-nothing", "evenly-for-nothing",
        "softmax-over-queries",
    ),
)  # fmt: skip
def masked_softmax(**options):
    return lambda scores, mask: decisions.weights(NUMPY, scores, mask, **options)


@mistake.recipe(
    {
        "mask-off-by-one": [{"k": 1}, {"k": -1}],
        "mask-transposed": [{"turned": True}],
        "diagonal-only": [{"part": "diagonal"}],
        "mask-inverted": [{"inverted": True}],
        "looks-back-a-few-words": [{"back": back} for back in range(2, 7)],
        "diagonal-missing": [{"k": -1, "first": True}],
    },
    hints=decisions.HINTS
    | {
        "diagonal-only": "Which words come before word 2, and may it look at them?",
        "looks-back-a-few-words": "In a long text, how far back does the last word look in yours?",
        "diagonal-missing": "May a word look at itself? Read off the diagonal of your mask.",
        "mask-transposed": "Rows are queries. How many words may the first one see, and how many the last one?",
    },
    held=("mask-inverted", "mask-transposed"),
)
def causal_mask(k=0, turned=False, part="lower", inverted=False, back=None, first=False):
    def mask(length):
        ones = np.ones((length, length), dtype=bool)
        found = np.tril(ones, k) if part == "lower" else np.eye(length, dtype=bool)
        found = found & np.triu(ones, 1 - back) if back else found
        found[0, 0] |= first
        found = found.T if turned else found
        return ~found if inverted else found

    return mask


@mistake.recipe(
    {"mask-off-by-one": [{"more": 1}, {"more": -1}]},
    hints={
        "mask-off-by-one": "A text of two words fills the places 0 and 1. To which places does your mask say yes?",
    },
    held=("mask-off-by-one",),
)
def padding_mask(more=0):
    return lambda lengths, max_length: (np.arange(max_length) < np.asarray(lengths)[:, None] + more)[:, None, :]


CAUSAL = {
    "mask-off-by-one": [{"k": 1}, {"k": -1}],
    "causal-mask-transposed": [{"upper": True}],
    "mask-forgotten": [{"k": 10**6}],
    "padding-ignored": [{"join": lambda causal, padding: causal}],
    "padding-inverted": [{"join": lambda causal, padding: causal & ~padding}],
    "padding-instead-of-causal": [{"join": lambda causal, padding: padding}],
    "padding-or-causal": [{"join": lambda causal, padding: causal | padding}],
    "padding-hides-queries": [{"join": lambda causal, padding: causal & padding & padding.swapaxes(-2, -1)}],
    "causal-with-padding-only": [{"alone": lambda causal: causal | True}],
    "padding-on-the-values": [
        {"join": lambda causal, padding: causal, "heard": lambda V, padding: V * padding.swapaxes(-2, -1)}
    ],
}
WORDS = decisions.HINTS | {
    "causal-mask-transposed": "Row i of the mask belongs to query i. Which columns are True in row 0?",
    "padding-inverted": "What does True mean in the padding: a real word, or padding?",
    "causal-with-padding-only": "Which mask does your code use if no padding is given?",
    "padding-on-the-values": "A padded word: which weight does it get in yours, and which one should it get?",
    "mask-forgotten": "Change the last word. Does the output of the first one change, too?",
    "padding-ignored": "Where in your code does `padding` go in?",
    "padding-instead-of-causal": "When there is padding, does your code still remember not to look ahead?",
    "padding-or-causal": "A key has to pass both masks. Which sign joins two conditions that must both hold?",
    "nan-for-nothing": "In a text of length 0, what does your softmax divide by?",
}


@mistake.recipe(
    decisions.SCALES
    | decisions.BY_VALUES
    | decisions.without(decisions.OPERANDS, "values-with-keys")
    | decisions.without(decisions.MASKS, "mask-transposed", "mask-of-the-first-for-all")
    | decisions.NOTHING
    | decisions.AXES
    | decisions.without(CURVES, "another-base", "epsilon-added")
    | decisions.TURNS
    | CAUSAL,
    decisions.EMPTY,
    WORDS,
    held=(
        "no-scaling", "scale-by-d_k", "scale-by-d_v", "mask-forgotten", "mask-after-softmax", "softmax-over-queries",
        "padding-ignored", "padding-instead-of-causal", "padding-or-causal", "padding-hides-queries", "nan-for-nothing",
        "all-axes-reversed",
    ),
)  # fmt: skip
def causal_attention(
    k=0,
    upper=False,
    join=lambda causal, padding: causal & padding,
    alone=lambda causal: causal,
    heard=lambda V, padding: V,
    **options,
):
    def attend(Q, K, V, padding=None):
        allowed = np.tril(np.ones((Q.shape[-2], Q.shape[-2]), dtype=bool), k)
        allowed = allowed.T if upper else allowed
        allowed = alone(allowed) if padding is None else join(allowed, padding)
        V = V if padding is None else heard(V, padding)
        return decisions.attend(NUMPY, Q, K, V, allowed, **options)

    return attend


@mistake.recipe(
    decisions.SCALES
    | decisions.WHOLE_SCALES
    | decisions.BY_VALUES
    | decisions.OPERANDS
    | UNDER
    | decisions.MASK_AXES
    | decisions.without(CURVES, "another-base", "epsilon-added")
    | decisions.TURNS
    | {"detached-gradient": [{"mixed": lambda w, V, size: (w.detach() @ V, w.detach())}]},
    decisions.EMPTY,
    decisions.HINTS | {"nan-for-nothing": "What does torch.softmax make of a row of nothing but -inf?"},
    held=(
        "no-scaling", "mask-after-softmax", "masked-with-zero", "nan-for-nothing", "evenly-for-nothing",
        "softmax-over-queries", "all-axes-reversed",
    ),
)  # fmt: skip
def torch_masked_attention(**options):
    return lambda query, key, value, mask=None: decisions.attend(TORCH, query, key, value, mask, **options)
