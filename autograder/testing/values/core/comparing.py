"""Whether two answers are equal: numbers up to rounding, exceptions whatever their texts."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from autograder.testing.tolerances import ANSWERS, COARSE, FLOAT64, ROUNDING
from cellcage.protocol.calls import Answer, Failure, NoAnswer, Reply
from cellcage.values.codec import encode
from cellcage.values.core.arrays_codec import layout
from cellcage.values.core.objects import Other, Record
from cellcage.values.core.scalars_codec import Generated
from cellcage.values.pytorch.tensors import is_tensor
from cellcage.values.value_types import type_of

SameArray = Callable[[np.ndarray, np.ndarray], bool]

LARGEST = 1e300  # whole numbers beyond are compared exactly
LONGEST = 60  # characters of a value in a sentence


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
    if isinstance(first, Other) or isinstance(second, Other):
        both = isinstance(first, Other) and isinstance(second, Other)
        return both and (first.form, first.type_name) == (second.form, second.type_name)
    if type(first) is not type(second):
        return False
    if hasattr(first, "dtype"):
        same_form = first.dtype == second.dtype and tuple(first.shape) == tuple(second.shape)
        return same_form and (by or same_array)(numbers(first), numbers(second))
    if isinstance(first, Record):
        return same_value(first.fields, second.fields, by=by)
    if isinstance(first, complex):
        return bool(first == second or abs(first - second) <= ANSWERS[FLOAT64] * (1 + abs(second)))
    if isinstance(first, Generated):
        return first.more == second.more and same_value(first.items, second.items, by=by)
    if isinstance(first, list | tuple | deque):
        return len(first) == len(second) and all(map(partial(same_value, by=by), first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same_value(first[key], second[key], by=by) for key in first)
    if (known := type_of(first)) is not None:
        return same_value(*(known.parts(known.portable(value)) for value in (first, second)), by=by)
    return bool(first == second or (first != first and second != second))  # NaN is NaN, in a list, too


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
    if first.dtype.kind != "f":
        return bool(np.array_equal(first, second))
    return allclose(first, second, ANSWERS.get(first.dtype, COARSE))


def allclose(first: np.ndarray, second: np.ndarray, tolerance: float) -> bool:
    """As `np.allclose` with `equal_nan` and one tolerance, in a sixth of the time, which is most of a diagnosis."""
    with np.errstate(all="ignore"):
        gaps = np.abs(first - second)
        if np.isfinite(gaps).all():
            return bool((gaps <= tolerance + tolerance * np.abs(second)).all())
    return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True))


def not_close(found: np.ndarray, right: np.ndarray, atol: float) -> np.ndarray:
    """Where two arrays differ by more than `atol`, as a share of numbers above 1. NaN equals NaN."""
    with np.errstate(all="ignore"):
        near = np.abs(found - right) <= atol * np.maximum(1.0, np.abs(right))
    return np.asarray(~(near | (found == right) | ((found != found) & (right != right))))


def float_of(number: Any) -> float:
    """A number of any size as a float."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def in_four_digits(value: Any) -> str:
    """A number in four digits, a smaller whole number as it is; any other value as Python writes it, shortened."""
    if isinstance(value, int) and abs(value) > 10**9:
        value = float(value) if abs(value) < LARGEST else Decimal(value)
    return f"{value:.4g}" if isinstance(value, complex | float | Decimal) else repr(value)[:LONGEST]


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays in a value, or in each part of a tuple or a list."""
    values = value if isinstance(value, tuple | list) else (value,)
    return [numbers(part) for part in values if hasattr(part, "dtype")]


def numbers(value: Any) -> np.ndarray:
    """An array or a tensor as an array."""
    return np.asarray(value.detach() if is_tensor(value) else value)


def change_of(before: Any, after: Any) -> str:
    """Describe how a call changed an array or tensor argument; empty if it did not."""
    if not hasattr(after, "shape"):
        return "" if encode(before)[0] == "other" else "is of another kind"  # it may not be able to cross the boundary
    then, now = numbers(before), numbers(after)
    if now.shape != then.shape or now.dtype != then.dtype or layout(now) != layout(then):
        return "has another shape, dtype or layout in memory"
    return "" if np.array_equal(now, then, equal_nan=now.dtype.kind in "fc") else "holds other values"
