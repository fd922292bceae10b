"""Ways to get a softmax wrong, for NumPy and PyTorch.

A curve makes weights from scores: it takes the library, scores and an axis. Wrong curves are in `CURVES` and `SHIFTS`,
wrong axes in `AXES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Options = dict[str, Any]
Mutants = dict[str, list[Options]]

# ---------------------------------------------------------------- one interface to two libraries


@dataclass(frozen=True)
class Library:
    """The few functions of NumPy or PyTorch that attention needs."""

    exp: Callable[..., Any]
    log: Callable[..., Any]
    where: Callable[..., Any]
    largest: Callable[..., Any]  # of (x, axis); the axis stays, with length 1
    total: Callable[..., Any]
    swap: Callable[..., Any]
    turned: Callable[..., Any]  # reverses the order of all axes
    stairs: Callable[[int, int], Any]  # a causal mask of (L, S)


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: function(x, axis=axis, keepdims=True)


def numpy_functions() -> Library:
    """NumPy's functions."""
    return Library(
        exp=np.exp,
        log=np.log,
        where=np.where,
        largest=_along(np.max),
        total=_along(np.sum),
        swap=np.swapaxes,
        turned=np.transpose,
        stairs=lambda L, S: np.tri(L, S, dtype=bool),
    )


def torch_functions() -> Library:
    """PyTorch's functions."""
    import torch

    def over(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis: function(x, dim=tuple(range(x.dim())) if axis is None else axis, keepdim=True)

    def where(mask: Any, x: Any, otherwise: Any) -> Any:
        return torch.where(mask, x, torch.as_tensor(otherwise, dtype=x.dtype))

    return Library(
        exp=torch.exp,
        log=torch.log,
        where=where,
        largest=over(torch.amax),
        total=over(torch.sum),
        swap=torch.transpose,
        turned=lambda x: x.permute(*reversed(range(x.dim()))),
        stairs=lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(),
    )


# ---------------------------------------------------------------- curves: from scores to weights


def softmax(xp: Library, x: Any, axis: Any) -> Any:
    """The right curve."""
    exps = xp.exp(x - xp.largest(x, axis))
    return exps / xp.total(exps, axis)


def _powers(base: float) -> Callable[..., Any]:
    return lambda xp, x, axis: softmax(xp, x * math.log(base), axis)


def _over(below: Callable[..., Any]) -> Callable[..., Any]:
    """Exponentials divided by something other than their sum."""

    def curve(xp: Library, x: Any, axis: Any) -> Any:
        exps = xp.exp(x - xp.largest(x, axis))
        return exps / below(xp, exps, axis)

    return curve


def _shared(xp: Library, x: Any, axis: Any) -> Any:
    return x / xp.total(x, axis)


def _count(x: Any, axis: Any) -> int:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(x.shape[i] for i in axes)


CURVES: Mutants = {
    "softmax-missing": [{"curve": lambda xp, x, axis: x}],
    "softmax-twice": [{"curve": lambda xp, x, axis: softmax(xp, softmax(xp, x, axis), axis)}],
    "no-exponential": [
        {"curve": _shared},
        {"curve": lambda xp, x, axis: _shared(xp, x - xp.largest(x, axis), axis)},
    ],
    "not-normalised": [
        {"curve": lambda xp, x, axis: xp.exp(x - xp.largest(x, axis))},
        {"curve": lambda xp, x, axis: xp.exp(x)},
        {"curve": lambda xp, x, axis: xp.exp(x - xp.largest(x, axis)) / xp.total(x, axis)},
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
    """Subtracts a number other than the largest from the scores that are not hidden.

    by: gives that number from the library, the scores, which of them are seen, and the axis
    """

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


def _summed_over_queries(xp: Library, x: Any, axis: Any) -> Any:
    """The maximum is over the right axis, and only the sum is not."""
    exps = xp.exp(x - xp.largest(x, axis))
    return exps / xp.total(exps, -2)


AXES: Mutants = {
    "softmax-over-queries": [{"axis": -2}, {"curve": _summed_over_queries}],
    "softmax-over-axis-0": [{"axis": 0}],
    "softmax-over-axis-1": [{"axis": 1}],
    "softmax-over-everything": [{"axis": None}, {"axis": (-2, -1)}],
}
