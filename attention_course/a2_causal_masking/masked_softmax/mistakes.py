"""Known mistakes of masked_softmax."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options
from ..shared_mistakes import CURVES, NUMPY, SHIFTS, UNDER

mistake = Catalogue()


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


# Code that adds -1e9 to all scores of a row gives the softmax of what was there before, as if the mask had been
# ignored. Nobody could tell the two apart.
# 10 below the lowest leaves so little that the visible tests cannot tell it from equal fills.
_LEAKS = [way for way in UNDER["leaky-mask"] if way != {"hide": "below the lowest", "fill": -10.0}]


@mistake.mutants(
    {name: options for name, options in UNDER.items() if name != "mask-ignored-when-empty"}
    | {"leaky-mask": _LEAKS}
    | CURVES
    | SHIFTS
    | {"stops-at-a-length": [cut for axis in (-2, -1) for cut in size_options.cuts(axis, size_options.LENGTHS)]}
    | mutation_options.only(size_options.SIZES, "some-heads-only"),
    mutation_options.EMPTY,
    mutation_hints.HINTS
    | {"nan-for-nothing": "If all is masked, what is the row's maximum, and what is it minus itself?"},
    catalogued=(
        "mask-inverted", "mask-after-softmax", "masked-with-zero", "nan-for-nothing", "evenly-for-nothing",
        "softmax-over-queries", "stops-at-a-length", "some-heads-only",
    ),
)  # fmt: skip
def masked_softmax(sized=lambda part: part, **options):
    return lambda scores, mask: sized(mutation_options.weights(NUMPY, scores, mask, **options))


def _multiplied(scores, mask):
    return np.exp(scores) * ~mask


def _one_maximum(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    return np.exp(hidden - hidden.max())


def _one_maximum_guarded(scores, mask):
    exps = _one_maximum(scores, mask)
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


def _guarded(scores, mask):
    exps = np.exp(scores) * mask
    total = exps.sum(axis=-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)


def _summed_away(guarded):
    """Only a square of scores can be divided by its sums without their axis."""

    def softmax(scores, mask):
        hidden = np.where(mask, scores, -np.inf)
        top = hidden.max(axis=-1, keepdims=True)
        exps = np.exp(hidden - np.where(np.isfinite(top), top, 0))
        total = exps.sum(axis=-1)
        return exps / (np.where(total > 0, total, 1) if guarded else total)

    return softmax


# Nothing is subtracted, so that a large score, or a row where all is allowed, gives NaN.
@mistake.mutants(
    {
        "no-max-subtraction": mistake.mutant(
            {"exps": lambda scores, mask: np.exp(scores) * mask},
            {"exps": lambda scores, mask: np.where(mask, np.exp(scores), 0)},
            {"whole": _guarded},
            hint="What is np.exp(1000)? Do the weights hang on scores, or on differences of scores?",
        ),
        "no-exponential": mistake.mutant(
            {"exps": lambda scores, mask: np.where(mask, scores, 0)},
            hint="What do negative scores become in your weights?",
        ),
        "axis-summed-away": mistake.mutant(
            *({"whole": _summed_away(guarded)} for guarded in (True, False)),
            hint="Print the shape of your sum. Does it line up with the rows it should divide?",
        ),
        "one-maximum-for-all": [{"exps": _one_maximum}, {"whole": _one_maximum_guarded}],
        "mask-inverted": [
            {"exps": _multiplied},
            {"exps": lambda scores, mask: np.exp(np.where(mask, -np.inf, scores))},
            {"exps": lambda scores, mask: np.where(mask, 0, np.exp(scores))},
        ],
    }
)
def masked_softmax(exps=_multiplied, whole=None):
    def softmax(scores, mask):
        powers = exps(scores, mask)
        return powers / powers.sum(axis=-1, keepdims=True)

    return whole or softmax
