"""Known mistakes of online_softmax_step."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints
from ..shared_mistakes import ones, online, zeros

mistake = Catalogue()


def _finite(way):
    """The state before the first block stays zero, whatever it is multiplied by."""
    return lambda old, new: np.where(np.isfinite(old), way(np.where(np.isfinite(old), old, 0), new), 0)


_by_the_largest = [
    _finite(lambda old, new: old / new),
    _finite(lambda old, new: new / old),
    _finite(lambda old, new: np.exp(old)),
    _finite(lambda old, new: np.exp(-new)),
    _finite(lambda old, new: new),
    _finite(lambda old, new: 1 / new),
]


def _difference(old, new):
    return np.where(np.isfinite(old), old - new, 0)


@mistake("grown-for-shrunk", hint="A larger score turns up. Does the old part count for more now, or for less?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    grow = lambda old, new: np.exp(np.where(np.isfinite(old), new - old, 0))  # noqa: E731
    return online(shrink_total=grow, shrink_mixed=grow)(largest, total, mixed, Q, K, V)


@mistake("shrunk-twice", hint="By what is the old part multiplied, and how often?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    twice = lambda old, new: np.exp(2 * (old - new))  # noqa: E731
    return online(shrink_total=twice, shrink_mixed=twice)(largest, total, mixed, Q, K, V)


@mistake(
    "block-shrunk-too", hint="The block's own powers are measured from the new largest score. Do they shrink again?"
)
def online_softmax_step(largest, total, mixed, Q, K, V):
    found = np.maximum(largest, (Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])).max(axis=-1))
    once = np.exp(largest - found)
    exps = lambda scores, largest: np.exp(scores - largest[..., None]) * once[..., None]  # noqa: E731
    return online(exps=exps)(largest, total, mixed, Q, K, V)


@mistake("largest-kept", hint="What is the largest score after a block that holds a larger one?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    kept = lambda old, block: np.where(np.isfinite(old), old, block)  # noqa: E731
    return online(new=kept)(largest, total, mixed, Q, K, V)


@mistake("softmax-of-the-block", hint="What does each row of the block's powers sum to? Should it be 1 already?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    def exps(scores, largest):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    return online(exps=exps)(largest, total, mixed, Q, K, V)


@mistake("values-not-weighted", hint="How much of each value goes into what is mixed?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    plain = lambda exps, V: V.sum(axis=-2, keepdims=True) + 0 * exps[..., :1]  # noqa: E731
    return online(block=plain)(largest, total, mixed, Q, K, V)


@mistake("total-and-mixed-swapped", hint="In which order does the docstring name the three?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    return online(end=lambda largest, total, mixed: (largest, mixed, total))(largest, total, mixed, Q, K, V)


@mistake("nan-at-the-beginning", hint="What is -inf minus -inf? Which of your lines meets it before the first block?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    shrink = lambda old, new: np.exp(old - new) + 0 * old  # noqa: E731
    return online(shrink_total=shrink, shrink_mixed=shrink)(largest, total, mixed, Q, K, V)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    found, new_total, new_mixed = online()(largest, total, mixed, Q, K, V)
    total[...], mixed[...] = new_total, new_mixed
    return found, total, mixed


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    return tuple(np.zeros(part.shape) + part for part in online()(largest, total, mixed, Q, K, V))


@mistake.mutants(
    {
        "nothing-shrunk": mistake.known(
            {"shrink_total": ones, "shrink_mixed": ones},
            hint="A larger score turns up. What was summed up before: from which score was it measured?",
        ),
        "total-not-shrunk": mistake.known(
            {"shrink_total": ones},
            hint="You shrink what was mixed before. What else was measured from the old largest score?",
        ),
        "mixed-not-shrunk": mistake.known(
            {"shrink_mixed": ones}, hint="You shrink the old total. What else was measured from the old largest score?"
        ),
        "grown-for-shrunk": [
            {"shrink_total": lambda old, new: np.exp(new - old), "shrink_mixed": lambda old, new: np.exp(new - old)}
        ],
        "total-grown": mistake.mutant(
            {"shrink_total": lambda old, new: np.exp(new - old)},
            hint="A larger score turns up. Does the old total count for more now, or for less?",
        ),
        "mixed-grown": mistake.mutant(
            {"shrink_mixed": lambda old, new: np.exp(new - old)},
            hint="A larger score turns up. Does the old mixture count for more now, or for less?",
        ),
        "largest-of-the-block": mistake.known(
            {"new": lambda old, block: block}, hint="The largest score so far: may it become smaller with a new block?"
        ),
        "largest-kept": [{"new": lambda old, block: old}],
        "nothing-subtracted": mistake.known(
            {"exps": lambda scores, largest: np.exp(scores)},
            {"new": lambda old, block: 0 * block, "shrink_total": ones, "shrink_mixed": ones},
            hint="From what is each score of the block measured before e is raised to it?",
        ),
        "one-largest-for-all": mistake.known(
            {"new": lambda old, block: np.maximum(old, block).max(axis=-1, keepdims=True) + 0 * block},
            {"new": lambda old, block: np.maximum(old, block.max(axis=-1, keepdims=True))},
            hint="How many queries are there, and how many largest scores?",
        ),
        "old-largest-given-back": mistake.mutant(
            {"given_back": lambda old, new: old},
            {"given_back": lambda old, new: np.maximum(old, -1e30)},
            hint="What is the largest score after a block that holds a larger one?",
        ),
        "old-total-forgotten": mistake.mutant(
            {"shrink_total": zeros}, hint="What was summed up before this block: is it in both of your new sums?"
        ),
        "old-mixed-forgotten": mistake.mutant(
            {"shrink_mixed": zeros}, hint="What was mixed before this block: is it in both of your new sums?"
        ),
        "what-came-before-forgotten": mistake.known(
            {"shrink_total": zeros, "shrink_mixed": zeros},
            hint="What was summed up before this block: is it in your new sums?",
        ),
        "rescaled-by-the-largest": mistake.mutant(
            *({"shrink_total": way, "shrink_mixed": way} for way in _by_the_largest),
            hint="By what is e ** (s - 2) multiplied to become e ** (s - 5): does a largest score alone say that?",
        ),
        "exponent-left-out": mistake.mutant(
            {"exps": lambda scores, largest: scores - largest[..., None]},
            {"exps": lambda scores, largest: scores},
            hint="Which step of a softmax makes all numbers positive? Is it there?",
        ),
        "difference-for-power": mistake.mutant(
            {"shrink_total": _difference, "shrink_mixed": _difference},
            hint="By what is e ** (s - 2) multiplied to become e ** (s - 5)?",
        ),
        "another-base": [
            {
                "exps": lambda scores, largest: np.exp2(scores - largest[..., None]),
                "shrink_total": lambda old, new: np.exp2(old - new),
                "shrink_mixed": lambda old, new: np.exp2(old - new),
            }
        ],
        "measured-from-the-old-largest": mistake.mutant(
            {"measured_from": lambda old, new: old},
            {"measured_from": lambda old, new: np.where(np.isfinite(old), old, new)},
            hint="From which largest score is the old total measured after your step, and from which one the block?",
        ),
        "softmax-of-the-block": [{"block": lambda exps, V: exps / exps.sum(axis=-1, keepdims=True) @ V}],
        "own-largest-subtracted": mistake.mutant(
            {"exps": lambda scores, largest: np.exp(scores - scores.max(axis=-1, keepdims=True))},
            hint="From what are the block's scores measured, and from what the old sums?",
        ),
        "divided-in-each-step": mistake.known(
            {"end": lambda largest, total, mixed: (largest, total, mixed / total[..., None])},
            {
                "end": lambda largest, total, mixed: (largest, total, mixed / total[..., None]),
                "before": lambda total, mixed: mixed * total[..., None],
            },
            hint="When is what is mixed divided by the total: in each step, or once at the very end?",
        ),
        "mean-of-the-block": mistake.known(
            {"summed": lambda exps: exps.mean(axis=-1)},
            hint="Are a block's powers summed up, or is it their mean that you take?",
        ),
        "no-scaling": mistake.known({"scale": lambda d: 1.0}),
        "scale-by-d_k": mistake.known({"scale": lambda d: d}),
        "values-zero": mistake.mutant(
            {"block": lambda exps, V: exps @ (0 * V)}, hint="Does your result change if the values do?"
        ),
        "multiplied-by-the-scale": [{"scale": lambda d: 1 / math.sqrt(d)}],
    },
    hints=mutation_hints.HINTS,
)
def online_softmax_step(**options):
    return online(**options)
