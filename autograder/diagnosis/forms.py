"""What is wrong with one answer beside its numbers: its kind, its parts, its gradients, what it left behind."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.diagnosis.differences import (
    NOT_ALONE,
    ComparedCall,
    as_numbers,
    is_flat,
    nearly_equal,
    of_each_part,
    parts,
)
from autograder.sandbox.protocol.calls import Failure, Reply
from autograder.sandbox.protocol.scalars import Generated
from autograder.testing.comparing import allclose, numbers, same_value
from autograder.testing.student import parts_of

IN_PLACE = re.compile("by an in-?place operation|in an in-?place operation")  # autograd's words


def kind(one: ComparedCall) -> str:
    """The right numbers, as a list, say."""
    for mine, right in parts(one) or ():
        a, b = as_numbers(mine), as_numbers(right)
        if a is None or b is None or not nearly_equal(a, b):
            return ""
    got, wanted = getattr(one.got, "value", None), getattr(one.wanted, "value", None)
    pairs = [(got, wanted), *(parts(one) or ())]
    differ = [(a, b) for a, b in pairs if type(a) is not type(b)]
    if parts(one) is None or not differ:
        return ""
    return f"The numbers are right, but they come as {_kind_of(differ[0][0])} and not as {_kind_of(differ[0][1])}."


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if hasattr(value, "detach"):
        return "a tensor"
    name = value.kind if isinstance(value, Generated) else type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


@of_each_part
def dtype(a: np.ndarray, b: np.ndarray) -> str:
    """The right numbers in another dtype."""
    same = a.dtype != b.dtype and a.shape == b.shape and allclose(a.astype(float), b.astype(float), 1e-3, 1e-3)
    return f"The numbers are right, but they are {a.dtype} where {b.dtype} is asked for." if same else ""


def parts_swapped(one: ComparedCall) -> str:
    """The right parts in another order."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply) or not isinstance(one.wanted.value, tuple):
        return ""
    mine, right = parts_of(one.got.value), list(one.wanted.value)
    same = len(mine) == len(right) and all(any(same_value(part, item) for item in right) for part in mine)
    is_swapped = same and not all(map(same_value, mine, right))
    return "The values are right, but they come back in another order." if is_swapped else ""


def parts_missing(one: ComparedCall) -> str:
    """Some of the parts alone."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply) or is_flat(one.wanted.value):
        return ""
    mine, right = parts_of(one.got.value), parts_of(one.wanted.value)
    if not 0 < len(mine) < len(right) or not all(any(same_value(part, item) for item in right) for part in mine):
        return ""
    return f"What comes back is right, but it is {len(mine)} of the {len(right)} things that the docstring names."


def _same_value(one: ComparedCall) -> bool:
    both = isinstance(one.got, Reply) and isinstance(one.wanted, Reply)
    return both and same_value(one.got.value, one.wanted.value)  # type: ignore[union-attr]


def another_error(one: ComparedCall) -> str:
    """An exception of another type."""
    if not isinstance(one.got, Failure) or not isinstance(one.wanted, Failure) or one.got.error == one.wanted.error:
        return ""
    return f"Your code raises {one.got.error} where {one.wanted.error} is asked for."


def no_error(one: ComparedCall) -> str:
    """A value in place of an exception."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Failure):
        return ""
    return f"Your code gives something back where {one.wanted.error} is asked for."


def inputs_changed(one: ComparedCall) -> str:
    """The right value, and an argument that was written into."""
    if isinstance(one.got, Failure) and isinstance(one.wanted, Reply) and IN_PLACE.search(one.got.text):
        return NOT_ALONE  # it may have been no argument
    if not _same_value(one) or same_value(one.got.inputs, one.wanted.inputs):  # type: ignore[union-attr]
        return ""
    return "The answer is right, but after the call an argument is no longer what it was."


def _both_gradients(one: ComparedCall) -> tuple[list[Any], list[Any]]:
    """The student's and the right ones, if the values are right; else none."""
    if not _same_value(one):
        return [], []
    assert isinstance(one.got, Reply) and isinstance(one.wanted, Reply)
    mine, right = ([*(a.gradients or ()), *a.parameters.values()] for a in (one.got, one.wanted))
    return mine, right


def nan_gradients(one: ComparedCall) -> str:
    """The right value, and gradients that are NaN."""
    mine, right = _both_gradients(one)
    both = [(numbers(a), numbers(b)) for a, b in zip(mine, right, strict=False) if a is not None and b is not None]
    found = sum(bool(np.isnan(a).any() and not np.isnan(b).any()) for a, b in both)
    return f"The values are right, but {found} of {len(right)} gradients are NaN." if found else ""


def gradients(one: ComparedCall) -> str:
    """The right value, and other gradients."""
    mine, right = _both_gradients(one)
    if not right or same_value(mine, right) or nan_gradients(one):
        return ""
    kinds = [
        "none" if a is None else "zero" if not numbers(a).any() else "wrong"
        for a, b in zip(mine, right, strict=False)
        if b is not None and not same_value(a, b)
    ]
    if len(mine) != len(right) or not kinds:
        return "The values are right, but no gradient comes back."
    if len(kinds) == len([b for b in right if b is not None]) and len(set(kinds)) == 1 and kinds[0] != "wrong":
        said = {"none": "there is no gradient", "zero": "every gradient is zero"}[kinds[0]]
        return f"The values are right, but {said}."
    return f"The values are right, but {len(kinds)} of {len(right)} gradients are not."


def of_form(one: ComparedCall) -> str:
    """What is wrong with an answer whose numbers are right: its kind, its dtype, what it left behind. Else empty."""
    found = (find(one) for find in (kind, dtype, inputs_changed, nan_gradients, gradients))
    return next((said for said in found if said), "")
