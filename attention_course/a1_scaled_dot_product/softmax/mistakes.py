"""Known mistakes of softmax."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options, softmax_options
from ..shared_mistakes import CURVES, NUMPY

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("axis-ignored", hint="Find each place where an axis matters. Which one do you use there?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@mistake("axis-summed-away", hint="Print the shape of your sum. Does it line up with the rows it should divide?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max())
    return exps / exps.sum(axis=axis)


@mistake("maximum-without-its-axis", hint="Print the shape of your maximum. Does it line up with its rows?")
def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis))
    return exps / exps.sum(axis=axis, keepdims=True)


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


def _divided_by_rows(x, curve):
    """`(exps.T / exps.sum(axis=-1)).T`: right for one or two axes."""
    ways = {
        softmax_options.softmax: lambda: np.exp(x - x.max(axis=-1, keepdims=True)),
        CURVES["no-max-subtraction"][0]["curve"]: lambda: np.exp(x),
    }
    exps = ways.get(curve, lambda: curve(NUMPY, x, -1))()
    return (exps.T / exps.sum(axis=-1)).T


def _maximum_over(other):
    """other: the axis of the maximum; the sum is over the right one"""

    def curve(xp, x, axis):
        exps = np.exp(x - x.max(axis=other, keepdims=True))
        return exps / exps.sum(axis=axis, keepdims=True)

    return curve


def _without(number):
    """number: what is taken off the scores in place of the largest, from the scores and the axis"""

    def curve(xp, x, axis):
        exps = np.exp(x - number(x, axis))
        return exps / exps.sum(axis=axis, keepdims=True)

    return {"curve": curve}


def _in_one_exp(above):
    """above: whether the largest is taken off above the fraction bar only, or below it only"""

    def curve(xp, x, axis):
        less = x - x.max(axis=axis, keepdims=True)
        return np.exp(less if above else x) / np.exp(x if above else less).sum(axis=axis, keepdims=True)

    return curve


def _row_by_row(xp, x, axis):
    weights = np.zeros_like(x)
    for i, row in enumerate(x):
        exps = np.exp(row - row.max())
        weights[i] = exps / exps.sum()
    return weights


def _summed_away(kept):
    """kept: whether the maximum keeps its axis, so that only the sum loses it"""

    def curve(xp, x, axis):
        exps = np.exp(x - x.max(axis=axis, keepdims=kept))
        return exps / exps.sum(axis=axis)

    return curve


@mistake.mutants(
    mutation_options.without(CURVES, "softmax-missing")
    | {
        "axis-ignored": [{"axis_of": lambda axis: -1}],
        "axis-0-by-default": mistake.known(
            {"default": 0}, hint="What does axis=-1 mean for a matrix: down a column, or along a row?"
        ),
        "softmax-over-axis-0": [{"axis_of": lambda axis: 0}],
        "softmax-over-everything": mistake.known({"axis_of": lambda axis: None}),
        "axis-left-at-the-end": mistake.mutant(
            {"end": lambda weights, axis: weights.swapaxes(axis, -1)},
            {"end": lambda weights, axis: np.moveaxis(weights, axis, -1)},
            hint="Where is each axis of x in what you return?",
        ),
        "all-axes-reversed": mistake.mutant({"by_rows": True}, hint="What does .T make of three axes?"),
        "maximum-over-another-axis": mistake.mutant(
            {"curve": _maximum_over(0)}, hint="Over which axis is your maximum, and over which your sum?"
        ),
        "another-number-subtracted": [
            _without(lambda x, axis: x.mean(axis=axis, keepdims=True)),
            _without(lambda x, axis: x.min(axis=axis, keepdims=True)),
            _without(lambda x, axis: np.take(x, [0], axis)),
            _without(lambda x, axis: np.take(x, [-1], axis)),
        ],
        "maximum-in-one-exp": mistake.mutant(
            {"curve": _in_one_exp(above=True)},
            {"curve": _in_one_exp(above=False)},
            hint="Which number is taken off above the fraction bar, and which one below it?",
        ),
        "axis-1-always": mistake.mutant(
            {"axis_of": lambda axis: 1},
            hint="Which axis do you take if x is a single row, and where does `axis` go in?",
        ),
        "loop-over-rows": mistake.mutant(
            {"curve": _row_by_row},
            hint="What does your loop go over if x is a single row, and where does `axis` go in?",
        ),
        "axis-summed-away": [{"curve": _summed_away(True)}, {"curve": _summed_away(False)}],
        "stops-at-a-length": mistake.known(
            *(
                {"end": lambda weights, axis, along=along, after=after: size_options.cut(weights, along, after)}
                for along in (-2, -1)
                for after in size_options.LENGTHS
            ),
            hint="How many scores, and how many rows of them, is your code made for? Try a hundred.",
        ),
    },
    hints=mutation_hints.HINTS,
    catalogued=(
        "not-normalised",
        "no-max-subtraction",
        "no-exponential",
    ),
)
def softmax(
    curve=softmax_options.softmax,
    axis_of=lambda axis: axis,
    default=-1,
    end=lambda weights, axis: weights,
    by_rows=False,
):
    if by_rows:
        return lambda x, axis=default: end(_divided_by_rows(x, curve), axis)
    return lambda x, axis=default: end(curve(NUMPY, x, axis_of(axis)), axis)
