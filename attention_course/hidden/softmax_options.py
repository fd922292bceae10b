"""From scores to weights: ways to get a softmax wrong, for NumPy and PyTorch.

A curve takes the library, scores and an axis. Wrong ones are in `CURVES` and `SHIFTS`, wrong axes in `AXES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Options = dict[str, Any]
Mutants = dict[str, list[Options]]

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
    stairs: Callable[[int, int], Any]  # a causal mask


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: function(x, axis=axis, keepdims=True)


def numpy_functions() -> Library:
    """NumPy's."""
    return Library(
        np.exp, np.log, np.where, _along(np.max), _along(np.sum), np.swapaxes, np.nan_to_num, np.transpose,
        lambda L, S: np.tri(L, S, dtype=bool),
    )  # fmt: skip


def torch_functions() -> Library:
    """PyTorch's."""
    import torch

    def over(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis: function(x, dim=tuple(range(x.dim())) if axis is None else axis, keepdim=True)

    def where(mask: Any, one: Any, other: Any) -> Any:
        return torch.where(mask, one, torch.as_tensor(other, dtype=one.dtype))

    return Library(
        torch.exp, torch.log, where, over(torch.amax), over(torch.sum), torch.transpose,
        lambda x: torch.where(torch.isnan(x), torch.zeros((), dtype=x.dtype), x),
        lambda x: x.permute(*reversed(range(x.dim()))), lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(),
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
