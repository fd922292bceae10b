"""Whether two answers are equal: numbers up to rounding, exceptions whatever their texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograder.testing.tolerances import ANSWERS, COARSE, ROUNDING
from cellcage.protocol.calls import Answer, Failure, NoAnswer, Reply
from cellcage.values.value import Other, allclose, numbers, same
from cellcage.values.value_type import inside

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


def same_array(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays of one dtype and shape are equal, up to rounding."""
    if first.dtype.kind not in "fc":
        return bool(np.array_equal(first, second))
    return allclose(first, second, ANSWERS.get(first.dtype, COARSE))


def same_value(first: Any, second: Any, *, by: SameArray = same_array) -> bool:
    """Whether two values that crossed the sandbox's boundary are equal. by: compares their arrays"""
    return same(first, second, partial(_decided, by=by))


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
    held = inside(first), inside(second)
    return None if held[0] is first else same_value(*held, by=by)
