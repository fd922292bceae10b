"""Do two answers say the same? To rounding, and however the words of an error may go."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Failure, NoAnswer, Reply
from autograder.sandbox.protocol.objects import Other, Record
from autograder.sandbox.protocol.scalars import Generated
from autograder.sandbox.protocol.tables import Table

# Honest float32 differs by 3e-6 between styles, at large scores by 2e-4. Honest float64 by 1e-6 where a table or a root
# is kept in float32. Two mistakes differ by 0.01 or more.
ATOL = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 3e-6}


def same_answer(one: Answer, other: Answer) -> bool:
    """Do two answers say the same? Failures do if they are exceptions of one kind."""
    if isinstance(one, Reply) and isinstance(other, Reply):
        pairs = [
            (one.value, other.value),
            (one.inputs, other.inputs),
            (one.gradients, other.gradients),
            (one.parameters, other.parameters),
            (one.shapes, other.shapes),
        ]
        return all(same_value(first, second) for first, second in pairs)
    if isinstance(one, Failure) and isinstance(other, Failure):
        return (one.kind, one.error) == (other.kind, other.error)
    return isinstance(one, NoAnswer) and isinstance(other, NoAnswer)


def same_value(one: Any, other: Any) -> bool:
    """Are two values that came across the sandbox's boundary equal, to rounding?"""
    if isinstance(one, Other) or isinstance(other, Other):
        both = isinstance(one, Other) and isinstance(other, Other)
        return both and (one.form, one.type_name) == (other.form, other.type_name)
    if hasattr(one, "dtype") and hasattr(other, "dtype"):
        return _equal_arrays(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, Record):
        return same_value(one.fields, other.fields)
    if isinstance(one, Table):
        return same_value(one.data(), other.data())
    if isinstance(one, complex):
        return bool(one == other or abs(one - other) <= ATOL[np.dtype(float)] * (1 + abs(other)))
    if isinstance(one, Generated):
        return one.more == other.more and same_value(one.items, other.items)
    if isinstance(one, list | tuple | deque):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    return bool(one == other or (one != one and other != other))  # NaN is NaN, in a list, too


def _equal_arrays(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or one.dtype != other.dtype or tuple(one.shape) != tuple(other.shape):
        return False
    return same_array(numbers(one), numbers(other))


def same_array(one: np.ndarray, other: np.ndarray) -> bool:
    """Are two arrays of one dtype and shape equal, to rounding?"""
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    atol = ATOL.get(one.dtype, 1e-3)
    return allclose(one, other, atol, atol)


def allclose(one: np.ndarray, other: np.ndarray, rtol: float, atol: float) -> bool:
    """As `np.allclose` with `equal_nan`, in a sixth of its time, which is most of what a diagnosis takes."""
    with np.errstate(all="ignore"):
        apart = np.abs(one - other)
        if np.isfinite(apart).all():
            return bool((apart <= atol + rtol * np.abs(other)).all())
    return bool(np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True))


def float_of(number: Any) -> float:
    """A number of any size as a float."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays in a value: of a tuple or a list each."""
    values = value if isinstance(value, tuple | list) else (value,)
    return [numbers(v) for v in values if hasattr(v, "dtype")]


def numbers(value: Any) -> np.ndarray:
    """An array or a tensor as an array."""
    return np.asarray(value.detach() if hasattr(value, "detach") else value)
