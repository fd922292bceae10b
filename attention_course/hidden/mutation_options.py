"""Decisions in attention that people get wrong, as options of one right implementation for NumPy and PyTorch.

`attend(numpy_ways, **options)` makes attention on queries, keys, values and a mask. Each option is one decision: what
the scores are divided by, which axis a softmax runs over, which operand stands where, how a mask hides. What a wrong
one is called is in `SCALES`, `OPERANDS`, `CURVES`, `AXES` and `MASKS`, what to ask about it in `HINTS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from .size_options import cut

Options = dict[str, Any]
Mutants = dict[str, list[Options]]

HINTS = {
    "no-scaling": "What are the dot products divided by before the softmax?",
    "scale-by-d_k": "Look at the formula again: what exactly stands below the fraction bar?",
    "scale-by-d_v": "Whose width is below the square root: that of the keys or that of the values?",
    "scale-by-length": "Which axis is d_k? Print the number you divide by.",
    "squared-in-place-of-root": "As d_k grows, does what you divide by grow faster than d_k, or more slowly?",
    "scale-by-fourth-root": "Square what you divide by, and square it again: which number do you get?",
    "scale-by-half-d_k": "Print the number you divide by. Is its square d_k?",
    "scale-in-whole-numbers": "Print what you divide by. Is it the root of d_k to the last digit?",
    "scale-by-d_model": "How wide is a query of one head, and is that the number below your square root?",
    "scale-by-whole-width": "How wide is a query of one head, and is that the number below your square root?",
    "scale-by-num_heads": "Which number of this exercise is d_k? Print what you divide by.",
    "multiplied-by-the-scale": "Do your scores grow or shrink as d_k grows?",
    "scaled-after-softmax": "In the formula, is the square root inside the softmax or outside?",
    "queries-with-queries": "Which argument is in your formula twice, and which one is missing?",
    "keys-with-keys": "Which argument is in your formula twice, and which one is missing?",
    "queries-and-keys-swapped": "Which of the two should a row of scores belong to?",
    "keys-blended": "The weights say how much of each ... what? Which argument is never used?",
    "queries-blended": "The weights say how much of each ... what? Which argument is never used?",
    "values-with-keys": "A score compares a query with what? Which argument is in the wrong place?",
    "all-axes-reversed": "What is the shape of K.T for three axes, and which two should change places?",
    "reshaped-not-transposed": "Take a matrix of 2 rows: what does a reshape make of it, and what a transpose?",
    "softmax-over-queries": "Add up one row of your weights, and one column. Which of the two is 1?",
    "softmax-over-axis-0": "Which axis is axis 0 for a matrix, and which one for a batch of them?",
    "softmax-over-axis-1": "Which axis is axis 1 for a matrix, and which one for a batch of them?",
    "softmax-over-everything": "With two rows of scores, what does each row of your weights sum to?",
    "softmax-over-heads": "Add up the weights of all heads at one place, then those of one row. Which of the two is 1?",
    "scores-blended": "Which numbers say how much of each value comes in: the scores, or the weights?",
    "softmax-missing": "Does each row of your weights sum to 1?",
    "softmax-twice": "How often does a score go through the softmax before it becomes a weight?",
    "no-exponential": "What do negative scores become in your weights?",
    "not-normalised": "What should each row add up to, and what does yours?",
    "sigmoid-for-softmax": "Does each row of your weights sum to 1? What does a key's weight know of the other keys?",
    "log-softmax": "Can a weight be negative? Which step makes yours so?",
    "hard-maximum": "How much of the second-best key is in your output? Which step of the formula is not there?",
    "another-base": "Which number is raised to the power of the score?",
    "sign-flipped": "Which key gets the largest weight in yours: that of the largest score?",
    "squares-summed": "What do the numbers of one row sum to, and what do their squares?",
    "mean-for-sum": "What should each row add up to, and what does yours?",
    "divided-by-the-maximum": "What should each row add up to, and what does yours?",
    "epsilon-added": "What does each row add up to, to the last digit? What do you add below the fraction bar?",
    "no-max-subtraction": "What is np.exp(1000.0)? What is the largest number that goes into your exp?",
    "another-number-subtracted": "Which number is taken off a row before exp? Is it the largest of those that count?",
    "maximum-subtracted": "Where does taking off the largest belong: to the scores, or to the softmax?",
    "cosine-similarity": "A longer query: should its scores grow, and do yours?",
    "distance-for-dot-product": "Is a score a distance between two vectors? Look at the formula again.",
    "mask-inverted": "What does True mean in the mask: may attend, or must not?",
    "mask-transposed": "Which axis of the mask belongs to the queries?",
    "mask-ignored": "Give another mask: do your weights change? Follow a hidden score to its weight.",
    "mask-after-softmax": "Does each row of your weights still sum to 1 once the mask has been applied?",
    "axis-added-to-mask": "Write down the axes of the mask as it comes, and as your code uses it: do they fit?",
    "mask-multiplied": "What is e to the power of 0, and is that what a hidden key should get?",
    "mask-added": "How much does a hidden key lose in your scores? Is that enough to make it vanish?",
    "masked-with-zero": "What is e to the power of 0, and is that what a hidden key should get?",
    "leaky-mask": "Put a score of a million under the mask. How much of it comes through?",
    "unmasked-numerator": "Which weight has a hidden key in your result? Above the fraction bar, where is the mask?",
    "unmasked-denominator": "Does each row sum to 1? Below the fraction bar, where is the mask?",
    "nan-for-nothing": "What does a softmax divide by if every key is hidden?",
    "evenly-for-nothing": "If every key is hidden, all fills are equal. What does a softmax make of equal scores?",
    "first-key-for-nothing": "If every key is hidden, which weight may the first one have?",
    "mask-of-the-first-for-all": "Do two texts with different masks get different weights?",
    "padding-hides-queries": "Padding hides some keys. Does your code also touch the rows of some queries?",
    "even-weights": "Does your output change if the queries do?",
    "weights-applied-twice": "How often are the values multiplied by the weights?",
    "scores-returned": "What is the second thing to give back: numbers before the softmax or after it?",
    "output-scaled": "In the formula, is the square root inside the softmax or outside?",
    "stops-at-a-length": "How long a text is your code made for? Try one of a hundred words.",
    "some-heads-only": "How many heads is your code made for? Try eight of them.",
    "detached-gradient": "Which operations hand on a gradient, and is every step one of those?",
}


# ---------------------------------------------------------------- two libraries, one vocabulary


@dataclass(frozen=True)
class Library:
    """The few functions that attention needs, of NumPy's or PyTorch's."""

    exp: Callable[..., Any]
    log: Callable[..., Any]
    where: Callable[..., Any]
    largest: Callable[..., Any]  # (x, axis), the axis kept
    total: Callable[..., Any]
    swap: Callable[..., Any]
    even: Callable[..., Any]  # NaN becomes 0
    turned: Callable[..., Any]  # the order of all axes reversed


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: function(x, axis=axis, keepdims=True)


def numpy_ways() -> Library:
    """NumPy's."""
    return Library(
        np.exp, np.log, np.where, _along(np.max), _along(np.sum), np.swapaxes, np.nan_to_num, np.transpose
    )  # fmt: skip


def torch_ways() -> Library:
    """PyTorch's."""
    import torch

    def over(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis: function(x, dim=tuple(range(x.dim())) if axis is None else axis, keepdim=True)

    def where(mask: Any, one: Any, other: Any) -> Any:
        return torch.where(mask, one, torch.as_tensor(other, dtype=one.dtype))

    return Library(
        torch.exp, torch.log, where, over(torch.amax), over(torch.sum), torch.transpose,
        lambda x: torch.where(torch.isnan(x), torch.zeros((), dtype=x.dtype), x),
        lambda x: x.permute(*reversed(range(x.dim()))),
    )  # fmt: skip


# ---------------------------------------------------------------- curves: from scores to weights


def softmax(xp: Library, x: Any, axis: Any) -> Any:
    """The right one."""
    exps = xp.exp(x - xp.largest(x, axis))
    return exps / xp.total(exps, axis)


def _powers(base: float) -> Callable[..., Any]:
    return lambda xp, x, axis: softmax(xp, x * math.log(base), axis)


def _over(below: Callable[..., Any]) -> Callable[..., Any]:
    """Exponentials divided by something else than their sum."""

    def curve(xp: Library, x: Any, axis: Any) -> Any:
        exps = xp.exp(x - xp.largest(x, axis))
        return exps / below(xp, exps, axis)

    return curve


def _count(x: Any, axis: Any) -> int:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(x.shape[one] for one in axes)


CURVES: Mutants = {
    "softmax-missing": [{"curve": lambda xp, x, axis: x}],
    "softmax-twice": [{"curve": lambda xp, x, axis: softmax(xp, softmax(xp, x, axis), axis)}],
    "no-exponential": [{"curve": lambda xp, x, axis: x / xp.total(x, axis)}],
    "not-normalised": [
        {"curve": lambda xp, x, axis: xp.exp(x - xp.largest(x, axis))},
        {"curve": lambda xp, x, axis: xp.exp(x)},
    ],
    "sigmoid-for-softmax": [{"curve": lambda xp, x, axis: 1 / (1 + xp.exp(-x))}],
    "log-softmax": [{"curve": lambda xp, x, axis: xp.log(softmax(xp, x, axis))}],
    "hard-maximum": [{"curve": lambda xp, x, axis: (x == xp.largest(x, axis)) * (0 * x + 1)}],
    "another-base": [{"curve": _powers(base)} for base in (2.0, 10.0)],
    "sign-flipped": [{"curve": lambda xp, x, axis: softmax(xp, -x, axis)}],
    "squares-summed": [{"curve": _over(lambda xp, e, axis: xp.total(e * e, axis) ** 0.5)}],
    "mean-for-sum": [{"curve": _over(lambda xp, e, axis: xp.total(e, axis) / _count(e, axis))}],
    "epsilon-added": [
        {"curve": _over(lambda xp, e, axis, by=by: xp.total(e, axis) + by)} for by in (1e-3, 1e-2, 0.1, 1.0)
    ],
    "no-max-subtraction": [{"curve": lambda xp, x, axis: xp.exp(x) / xp.total(xp.exp(x), axis)}],
}


def _shifted(by: Callable[..., Any]) -> Options:
    """Another number than the largest is taken off what is not hidden; `by` gets scores and which are."""

    def curve(xp: Library, x: Any, axis: Any) -> Any:
        seen = x > -1e29
        exps = xp.exp(xp.where(seen, x - by(xp, x, seen * (0 * x + 1), axis), -np.inf))
        return exps / xp.total(exps, axis)

    return {"curve": curve}


SHIFTS: Mutants = {
    "another-number-subtracted": [
        _shifted(lambda xp, x, seen, axis: xp.total(x * seen, axis) / xp.total(seen, axis)),
        _shifted(lambda xp, x, seen, axis: -xp.largest(-x * seen - 1e29 * (1 - seen), axis)),
        _shifted(lambda xp, x, seen, axis: x[..., :1] * seen[..., :1]),
        _shifted(lambda xp, x, seen, axis: x[..., -1:] * seen[..., -1:]),
        _shifted(lambda xp, x, seen, axis: xp.total(x * (seen * (seen.cumsum(-1) == 1)), axis)),
        _shifted(lambda xp, x, seen, axis: xp.total(x * (seen * (seen.cumsum(-1) == xp.total(seen, -1))), axis)),
    ]
}
AXES: Mutants = {
    "softmax-over-queries": [{"axis": -2}],
    "softmax-over-axis-0": [{"axis": 0}],
    "softmax-over-axis-1": [{"axis": 1}],
    "softmax-over-everything": [{"axis": None}, {"axis": (-2, -1)}],
}

# ---------------------------------------------------------------- scores


def right_scale(size: Any) -> float:
    """The root of d_k."""
    return math.sqrt(size.d_k)


SCALES: Mutants = {
    "no-scaling": [{"scale": lambda size: 1.0}],
    "scale-by-d_k": [{"scale": lambda size: size.d_k}],
    "multiplied-by-the-scale": [{"scale": lambda size: 1 / math.sqrt(size.d_k)}, {"scale": lambda size: 1 / size.d_k}],
    "scale-by-length": [
        {"scale": lambda size: math.sqrt(size.S)},
        {"scale": lambda size: math.sqrt(size.L)},
        {"scale": lambda size: size.S},
        {"scale": lambda size: size.L},
        {"scale": lambda size: math.sqrt(size.Q.shape[1])},
        {"scale": lambda size: math.sqrt(size.Q.shape[0])},
    ],
    "squared-in-place-of-root": [{"scale": lambda size: size.d_k**2}],
    "scale-by-fourth-root": [{"scale": lambda size: size.d_k**0.25}],
    "scale-by-half-d_k": [{"scale": lambda size: size.d_k / 2}, {"scale": lambda size: size.d_k // 2}],
}
BY_VALUES: Mutants = {"scale-by-d_v": [{"scale": lambda size: math.sqrt(size.d_v)}, {"scale": lambda size: size.d_v}]}
# Only for exercises whose d_k are no squares of whole numbers.
WHOLE_SCALES: Mutants = {
    "scale-in-whole-numbers": [
        {"scale": lambda size: math.isqrt(size.d_k)},
        {"scale": lambda size: round(math.sqrt(size.d_k))},
        {"scale": lambda size: math.ceil(math.sqrt(size.d_k))},
    ]
}


def _unit(x: Any) -> Any:
    return x / (x * x).sum(-1)[..., None] ** 0.5


OPERANDS: Mutants = {
    "queries-with-queries": [{"operands": lambda Q, K, V: (Q, Q, V)}],
    "keys-with-keys": [{"operands": lambda Q, K, V: (K, K, V)}],
    "queries-and-keys-swapped": [{"operands": lambda Q, K, V: (K, Q, V)}],
    "keys-blended": [
        {"operands": lambda Q, K, V: (Q, K, K)},
        {"operands": lambda Q, K, V: (Q, K, K[..., : V.shape[-1]])},
    ],
    "queries-blended": [{"operands": lambda Q, K, V: (Q, K, Q)}],
    "values-with-keys": [{"operands": lambda Q, K, V: (Q, V, K)}, {"operands": lambda Q, K, V: (Q, V, V)}],
    "cosine-similarity": [
        {"operands": lambda Q, K, V: (_unit(Q), _unit(K), V)},
        {"operands": lambda Q, K, V: (_unit(Q), _unit(K), V), "scale": lambda size: 1.0},
    ],
}


def _viewed(xp: Library, K: Any) -> Any:
    return K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


TURNS: Mutants = {
    "all-axes-reversed": [{"turn": lambda xp, K: xp.turned(K)}],
    "reshaped-not-transposed": [{"turn": _viewed}],
}
AFTER: Mutants = {
    "scaled-after-softmax": [
        {"scale": lambda size: 1.0, "mixed": lambda w, V, size: (w / math.sqrt(size.d_k) @ V, w / math.sqrt(size.d_k))},
        {"scale": lambda size: 1.0, "mixed": lambda w, V, size: (w @ V / math.sqrt(size.d_k), w)},
    ],
    "output-scaled": [{"mixed": lambda w, V, size: (w @ V / math.sqrt(size.d_k), w)}],
    "even-weights": [{"mixed": lambda w, V, size: ((0 * w + 1 / w.shape[-1]) @ V, w)}],
}

# ---------------------------------------------------------------- masks


def _not(mask: Any) -> Any:
    return ~mask


MASKS: Mutants = {
    "mask-inverted": [{"mask": _not}],
    "mask-transposed": [{"mask": lambda mask: mask.swapaxes(-2, -1)}],
    "mask-ignored": [{"hide": "never"}],
    "mask-after-softmax": [{"hide": "after"}],
    "masked-with-zero": [{"fill": 0.0}, {"hide": "multiplied"}, {"fill": 1e-9}, {"fill": 1e-10}],
    "mask-added": [{"hide": "added"}],
    "leaky-mask": [
        *({"fill": -low} for low in (1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6)),
        # Lowered by 1 is the same as the mask added.
        *({"hide": "lowered", "fill": -low} for low in (10.0, 1e2, 1e3, 1e4, 1e5, 1e6)),
        *({"hide": "below the lowest", "fill": -low} for low in (1.0, 10.0)),
        *({"hide": "cleared", "fill": -low} for low in (1.0, 10.0, 1e2, 1e3, 1e4)),
    ],
    "unmasked-numerator": [{"hide": "below"}],
    "mask-of-the-first-for-all": [{"mask": lambda mask: mask[:1]}],
}
# For exercises that take a mask of any shape.
MASK_AXES: Mutants = {
    "axis-added-to-mask": [
        {"mask": lambda mask: mask[..., None, :, :]},
        {"mask": lambda mask: mask[:, None]},
        {"mask": lambda mask: mask[:, None] if mask.ndim == 3 else mask},
        {"mask": lambda mask: mask[None, None]},
    ]
}
NOTHING: Mutants = {
    "nan-for-nothing": [{"empty": "nan"}],
    "evenly-for-nothing": [{"empty": "even"}, {"fill": -1e9}, {"fill": -1e10}, {"fill": -1e8}, {"fill": -1e7}],
    "first-key-for-nothing": [{"empty": "first"}],
}
EMPTY: tuple[tuple[str, Options], ...] = (
    ("", {"empty": "zeros"}),
    ("a query that may attend to nothing gets NaN.", {"empty": "nan"}),
    ("a query that may attend to nothing gets even weights, not zeros.", {"empty": "even"}),
)


def weights(
    xp: Library,
    scores: Any,
    allowed: Any,
    *,
    curve: Callable[..., Any] = softmax,
    axis: Any = -1,
    mask: Callable[[Any], Any] = lambda mask: mask,
    hide: str = "before",
    fill: float | None = None,
    empty: str = "zeros",
) -> Any:
    """Weights under a mask (or none), with each decision an option."""
    if allowed is None or hide == "never":
        return curve(xp, scores, axis)
    seen = mask(allowed)
    if hide == "multiplied":
        return curve(xp, scores * seen, axis)
    if hide == "added":
        return curve(xp, scores + seen, axis)
    if hide == "after":
        return curve(xp, scores, axis) * seen
    if hide == "below":
        exps = xp.exp(scores - xp.largest(scores, axis))
        total = xp.total(exps * seen, axis)
        return exps / xp.where(total > 0, total, 1.0)
    if hide == "lowered":
        return curve(xp, scores + (1 - seen * (0 * scores + 1)) * fill, axis)
    if hide == "below the lowest":
        return curve(xp, xp.where(seen, scores, -xp.largest(-scores, -1) + fill), axis)
    if hide == "cleared":
        filled = xp.where(seen, scores, fill)
        exps = xp.exp(filled - xp.largest(filled, -1)) * seen
        total = xp.total(exps, axis)
        return exps / xp.where(total > 0, total, 1.0)
    if fill is not None:
        return curve(xp, xp.where(seen, scores, fill), axis)
    if empty == "nan":
        return curve(xp, xp.where(seen, scores, -np.inf), axis)
    found = curve(xp, xp.where(seen, scores, -1e30), axis)
    if empty == "even":
        return found
    cleared = xp.where(seen, found, 0.0)
    if empty == "first":
        nothing = xp.total(cleared, -1) == 0
        first = xp.where(nothing, 0 * cleared[..., :1] + 1, 0.0)
        return xp.where(nothing, 0 * cleared, 0.0) + _with_first(cleared, first)
    return cleared


def _with_first(found: Any, first: Any) -> Any:
    found = found * 1
    found[..., :1] = found[..., :1] + first
    return found


def right_mix(w: Any, V: Any, size: Any) -> tuple[Any, Any]:
    """Output and weights."""
    return w @ V, w


def attend(
    xp: Library,
    Q: Any,
    K: Any,
    V: Any,
    allowed: Any = None,
    *,
    operands: Callable[..., Any] = lambda Q, K, V: (Q, K, V),
    turn: Callable[..., Any] = lambda xp, K: xp.swap(K, -2, -1),
    scale: Callable[[Any], float] = right_scale,
    mixed: Callable[..., Any] = right_mix,
    more: Options | None = None,
    reach: int | None = None,
    sized: Callable[[Any], Any] = lambda part: part,
    part: int | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """Attention with each decision an option.

    more: further sizes that a scale may take for d_k; reach: how many keys are looked at; sized: what is done to output
    and weights at the end; part: the one of the two that is wrong, if the other is right
    """
    size = SimpleNamespace(Q=Q, L=Q.shape[-2], S=K.shape[-2], d_k=Q.shape[-1], d_v=V.shape[-1], **(more or {}))
    left, right, values = operands(Q, K, V)
    scores = left @ turn(xp, right) / scale(size)
    if reach is not None:
        scores = scores + (cut(0 * scores + 1, -1, reach) - 1) * 1e30
    output, found = mixed(weights(xp, scores, allowed, **options), values, size)
    if part is not None:
        right = attend(xp, Q, K, V, allowed, empty=options.get("empty", "zeros"))
        return (output, right[1]) if part == 0 else (right[0], found)
    return sized(output), sized(found)


def scores_of(
    xp: Library,
    Q: Any,
    K: Any,
    *,
    operands: Any = None,
    turn: Any = None,
    scale: Any = right_scale,
    sized: Callable[[Any], Any] = lambda part: part,
) -> Any:
    """Scores with each decision an option."""
    size = SimpleNamespace(Q=Q, L=Q.shape[-2], S=K.shape[-2], d_k=Q.shape[-1], d_v=K.shape[-1])
    left, right = (operands(Q, K, K) if operands else (Q, K))[:2]
    return sized(left @ (turn(xp, right) if turn else xp.swap(right, -2, -1)) / scale(size))


def in_one_part(mutants: Mutants) -> Mutants:
    """The same mistakes in both parts of an answer, and in the output or the weights alone."""
    both = {
        name: [*ways, *({**way, "part": part} for part in (0, 1) for way in ways)] for name, ways in mutants.items()
    }
    # Without a softmax in one of them, the parts have names of their own.
    missing = mutants.get("softmax-missing", [])
    return both | {"softmax-missing": missing, "scores-blended": [{**way, "part": 0} for way in missing]}


def only(mutants: Mutants, *names: str) -> Mutants:
    """Some of them."""
    return {name: mutants[name] for name in names}


def without(mutants: Mutants, *names: str) -> Mutants:
    """All but some."""
    return {name: ways for name, ways in mutants.items() if name not in names}
