"""Whether two answers are equal: numbers up to rounding, exceptions whatever their texts."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograder.testing.tolerances import ANSWERS, COARSE, ROUNDING
from cellcage.protocol.calls import Answer, Failure, NoAnswer, Reply
from cellcage.values.arrays_codec import layout
from cellcage.values.codec import encode
from cellcage.values.value import Generated, Other, Record, allclose, numbers, same
from cellcage.values.value_type import type_of

SameArray = Callable[[np.ndarray, np.ndarray], bool]


def same_answer(first: Answer, second: Answer) -> bool:
    """Whether two answers are equal. Failures are if they are exceptions of one kind."""
    if isinstance(first, Reply) and isinstance(second, Reply):
        parts = ("value", "inputs", "gradients", "parameters", "shapes")
        return all(same_value(getattr(first, part), getattr(second, part)) for part in parts)
    if isinstance(first, Failure) and isinstance(second, Failure):
        return (first.kind, first.error) == (second.kind, second.error)
    return isinstance(first, NoAnswer) and isinstance(second, NoAnswer)


def differs_by_rounding(first: Answer, second: Answer) -> bool:
    """Whether two answers differ at most in the last digits of their numbers. No argument was changed, then."""
    if not (isinstance(first, Reply) and isinstance(second, Reply)) or first.dropped != second.dropped:
        return False
    if first.inputs is not None or second.inputs is not None or first.shapes != second.shapes:
        return False
    parts = [(one.value, one.gradients, one.parameters) for one in (first, second)]
    return same_value(*parts, by=_differ_by_rounding)


def _differ_by_rounding(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays have the same zeros, and differ by no more than honest styles do."""
    eps, most = ROUNDING.get(first.dtype, 0.0), float(np.abs(second).max(initial=0.0))
    if not eps or not np.isfinite(most):
        return np.array_equal(first, second)
    return np.array_equal(first == 0, second == 0) and bool(np.abs(first - second).max(initial=0.0) <= eps * most)


def same_value(first: Any, second: Any, *, by: SameArray | None = None) -> bool:
    """Whether two values that crossed the sandbox's boundary are equal. by: compares arrays, else `same_array` does"""
    return same(first, second, partial(_decided, by=by or same_array))


def _decided(first: Any, second: Any, by: SameArray) -> bool | None:
    if isinstance(first, Other) or isinstance(second, Other):
        both = isinstance(first, Other) and isinstance(second, Other)
        return both and (first.form, first.type_name) == (second.form, second.type_name)
    if type(first) is not type(second):
        return False
    if hasattr(first, "dtype"):
        same_form = first.dtype == second.dtype and tuple(first.shape) == tuple(second.shape)
        return same_form and by(numbers(first), numbers(second))
    if isinstance(first, complex):
        return by(np.asarray(first), np.asarray(second))
    if (known := type_of(first)) is not None:
        return same_value(*(known.parts(known.portable(value)) for value in (first, second)), by=by)
    return None


def digest(call: bytes, answer: Reply | Failure) -> str:
    """Sixteen letters, the same for equal answers to a call; rounding hardly ever makes a difference."""
    if isinstance(answer, Failure):
        found: Any = answer.kind.name, answer.error
    else:
        found = _outline([answer.value, answer.inputs, answer.gradients, answer.parameters, answer.shapes])
    return hashlib.sha256(call + repr(found).encode("utf-8", "replace")).hexdigest()[:16]


def _outline(value: Any) -> Any:
    """Plain values that are equal for equal answers: numbers are rounded, arrays are summed up."""
    if isinstance(value, Other):
        return value.form.name, value.type_name
    if hasattr(value, "dtype"):
        array = numbers(value)
        if not array.ndim:
            return _outline(array.item())
        return array.shape, _sums(array) if array.dtype.kind in "fc" else array.tolist()
    if isinstance(value, Record):
        return _outline(value.fields)
    if isinstance(value, list | tuple | deque | Generated):
        return type(value).__name__, list(map(_outline, value))
    if isinstance(value, dict):
        return sorted((repr(key), _outline(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if (known := type_of(value)) is not None:
        return _outline(known.parts(known.portable(value)))
    small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1000
    return _rounded(value) if small or isinstance(value, float | complex) else value


def _sums(array: np.ndarray) -> list[Any]:
    """Of an array its size, and two weighted sums as shares of it; NaN and infinity are only counted."""
    flat, places = array.ravel().astype(complex), np.arange(array.size)
    whole = np.isfinite(flat)
    flat, size = np.where(whole, flat, 0), float(np.abs(flat[whole]).sum())
    shares = [complex((flat * np.cos(turn * places)).sum()) / (size or 1.0) for turn in (1, 2)]
    return [int(whole.sum()), *map(_rounded, [size, *shares])]


def _rounded(number: complex) -> str:
    """A number in four digits; of one below 1, three behind the point. -0 is 0."""
    if isinstance(number, complex):
        return f"{_rounded(number.real)} {_rounded(number.imag)}"
    return f"{number:.4g}" if abs(number) >= 1 else f"{round(number, 3) + 0.0:.3f}"


def same_array(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays of one dtype and shape are equal, up to rounding."""
    if first.dtype.kind not in "fc":
        return bool(np.array_equal(first, second))
    return allclose(first, second, ANSWERS.get(first.dtype, COARSE))


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays in a value, or in each part of a tuple or a list."""
    values = value if isinstance(value, tuple | list) else (value,)
    return [numbers(part) for part in values if hasattr(part, "dtype")]


def change_of(before: Any, after: Any) -> str:
    """Describe how a call changed an array or tensor argument; empty if it did not."""
    if not hasattr(after, "shape"):
        return "" if encode(before)[0] == "other" else "is of another kind"  # it may not be able to cross the boundary
    then, now = numbers(before), numbers(after)
    if now.shape != then.shape or now.dtype != then.dtype or layout(now) != layout(then):
        return "has another shape, dtype or layout in memory"
    return "" if np.array_equal(now, then, equal_nan=now.dtype.kind in "fc") else "holds other values"
