"""Decisions in attention that people get wrong, as options of one right implementation for NumPy and PyTorch.

`attend(numpy_functions(), Q, K, V, mask, **options)` computes attention. Each option is one decision: what the scores
are divided by, which axis the softmax uses, which argument is used where, how a mask hides. The names of wrong
decisions are in `SCALES`, `OPERANDS`, `TURNS`, `AFTER` and `MASKS` here, and in `softmax_options`. Their hints are in
`mutation_hints`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .size_options import cut
from .softmax_options import Library, Mutants, Options, softmax

# ---------------------------------------------------------------- scores


def right_scale(size: Any) -> float:
    """The square root of d_k."""
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
        {"scale": lambda size: math.sqrt(size.K.shape[0])},
    ],
    "squared-in-place-of-root": [{"scale": lambda size: size.d_k**2}],
    "scale-by-fourth-root": [{"scale": lambda size: size.d_k**0.25}],
    "scale-by-half-d_k": [{"scale": lambda size: size.d_k / 2}, {"scale": lambda size: size.d_k // 2}],
}
BY_VALUES: Mutants = {"scale-by-d_v": [{"scale": lambda size: math.sqrt(size.d_v)}, {"scale": lambda size: size.d_v}]}
# Only for exercises in which no d_k is a square number.
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
ZEROED: Mutants = {
    "every-key-alike": [{"operands": lambda Q, K, V: (0 * Q, K, V)}],
    "values-zeroed": [{"operands": lambda Q, K, V: (Q, K, 0 * V)}],
}
# A causal mask that the exercise does not ask for: only if there is no other mask, or always.
CAUSAL: Mutants = {"always-causal": [{"causal": "without a mask"}, {"causal": "always"}]}


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
    "mask-inverted": [{"mask": _not}, {"hide": "inverted"}],
    "mask-transposed": [{"mask": lambda mask: mask.swapaxes(-2, -1)}],
    "mask-ignored": [{"hide": "never"}],
    "mask-after-softmax": [{"hide": "after"}],
    "masked-with-zero": [{"fill": 0.0}, {"hide": "multiplied"}, {"fill": 1e-9}, {"fill": 1e-10}],
    "mask-added": [{"hide": "added"}],
    "leaky-mask": [
        *({"fill": -low} for low in (1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6)),
        # Lowering by 1 would be the same as adding the mask.
        *({"hide": "lowered", "fill": -low} for low in (10.0, 1e2, 1e3, 1e4, 1e5, 1e6)),
        *({"hide": "below the lowest", "fill": -low} for low in (1.0, 10.0)),
        *({"hide": "cleared", "fill": -low} for low in (1.0, 10.0, 1e2, 1e3, 1e4)),
    ],
    "unmasked-numerator": [{"hide": "below"}],
    "mask-of-the-first-for-all": [{"mask": lambda mask: mask[:1]}],
}
IN_ONE_PART: Mutants = {
    "mask-in-the-weights-only": [{"hide": "never", "part": 0}],
    "mask-in-the-output-only": [{"hide": "never", "part": 1}],
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
    "mask-ignored-when-empty": [{"empty": "ignored"}],
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
    """Attention weights, with or without a mask. Each decision is an option."""
    if allowed is None or hide == "never" or (empty == "ignored" and not allowed.any()):
        return curve(xp, scores, axis)
    seen = mask(allowed)
    if hide == "multiplied":
        return curve(xp, scores * seen, axis)
    if hide == "added":
        return curve(xp, scores + seen, axis)
    if hide == "after":
        return curve(xp, scores, axis) * seen
    if hide == "inverted":  # before the softmax, and not after it
        return xp.where(seen, curve(xp, xp.where(~seen, scores, -1e30), axis), 0.0)
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
    """The right output and weights."""
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
    causal: str = "",
    **options: Any,
) -> tuple[Any, Any]:
    """Output and weights of attention. Each decision is an option.

    more: further sizes that a wrong scale may use in place of d_k
    reach: how many keys are looked at
    sized: what is done to output and weights at the end
    part: which one of output (0) and weights (1) is wrong, if the other is right
    causal: see `CAUSAL`
    """
    size = SimpleNamespace(Q=Q, K=K, L=Q.shape[-2], S=K.shape[-2], d_k=Q.shape[-1], d_v=V.shape[-1], **(more or {}))
    left, right, values = operands(Q, K, V)
    scores = left @ turn(xp, right) / scale(size)
    if causal and (allowed is None or causal == "always"):
        allowed = xp.stairs(size.L, size.S) & (True if allowed is None else allowed)
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
    """Attention scores. Each decision is an option."""
    size = SimpleNamespace(Q=Q, K=K, L=Q.shape[-2], S=K.shape[-2], d_k=Q.shape[-1], d_v=K.shape[-1])
    left, right = (operands(Q, K, K) if operands else (Q, K))[:2]
    return sized(left @ (turn(xp, right) if turn else xp.swap(right, -2, -1)) / scale(size))


def in_one_part(mutants: Mutants) -> Mutants:
    """Each mistake in output and weights, in the output alone, and in the weights alone."""
    both = {
        name: [*ways, *({**way, "part": part} for part in (0, 1) for way in ways)] for name, ways in mutants.items()
    }
    # If the softmax is missing in the output alone, the mistake has another name.
    missing = mutants.get("softmax-missing", [])
    return both | {"softmax-missing": missing, "scores-blended": [{**way, "part": 0} for way in missing]}


def only(mutants: Mutants, *names: str) -> Mutants:
    """The mutants of these names."""
    return {name: mutants[name] for name in names}


def without(mutants: Mutants, *names: str) -> Mutants:
    """The mutants of all other names."""
    return {name: ways for name, ways in mutants.items() if name not in names}
