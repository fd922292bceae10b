"""What is wrong with one answer apart from its numbers: its type, its gradients, changed arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.diagnosis.differences import (
    NOT_ALONE,
    ComparedCall,
    as_numbers,
    nearly_equal,
    of_each_part,
    parts,
)
from autograder.testing.values.core.comparing import allclose, numbers, same_value
from cellcage.protocol.calls import Failure, Reply
from cellcage.values.core.scalars_codec import Generated
from cellcage.values.pytorch.tensors import is_tensor

IN_PLACE = re.compile("by an in-?place operation|in an in-?place operation")  # from autograd's messages


def kind(one: ComparedCall) -> str:
    """The numbers are right, and their type is another, such as a list."""
    pairs = parts(one)
    for actual, right in pairs or ():
        a, b = as_numbers(actual), as_numbers(right)
        if a is None or b is None or not nearly_equal(a, b):
            return ""
    differ = [(a, b) for a, b in (one.values, *(pairs or ())) if type(a) is not type(b)] if one.values else []
    if pairs is None or not differ:
        return ""
    return f"The numbers are right, but they come as {_type_of(differ[0][0])} and not as {_type_of(differ[0][1])}."


def _type_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if is_tensor(value):
        return "a tensor"
    name = value.kind if isinstance(value, Generated) else type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


@of_each_part
def dtype(a: np.ndarray, b: np.ndarray) -> str:
    """The numbers are right, and have another dtype."""
    same = a.dtype != b.dtype and a.shape == b.shape and allclose(a.astype(float), b.astype(float), 1e-3)
    return f"The numbers are right, but they are {a.dtype} where {b.dtype} is asked for." if same else ""


def _with_right_value(one: ComparedCall) -> tuple[Reply, Reply] | None:
    """The student's reply and the right one, if their values are the same."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply):
        return None
    return (one.got, one.wanted) if same_value(one.got.value, one.wanted.value) else None


def inputs_changed(one: ComparedCall) -> str:
    """The value is right, and an argument was changed."""
    if isinstance(one.got, Failure) and isinstance(one.wanted, Reply) and IN_PLACE.search(one.got.text):
        return NOT_ALONE  # it may have been something else than an argument
    replies = _with_right_value(one)
    if replies is None or same_value(*(reply.inputs for reply in replies)):
        return ""
    return "The answer is right, but the call changes an argument."


def _gradients(one: ComparedCall) -> tuple[list[Any], list[Any]]:
    """The student's gradients and the right ones, if the values are right; else none."""
    replies = _with_right_value(one) or ()
    found = [[*(reply.gradients or ()), *reply.parameters.values()] for reply in replies]
    return (found[0], found[1]) if found else ([], [])


def nan_gradients(one: ComparedCall) -> str:
    """The value is right, and gradients are NaN."""
    actual, right = _gradients(one)
    both = [(numbers(a), numbers(b)) for a, b in zip(actual, right, strict=False) if a is not None and b is not None]
    found = sum(bool(np.isnan(a).any() and not np.isnan(b).any()) for a, b in both)
    return f"The values are right, but {found} of {len(right)} gradients are NaN." if found else ""


def gradients(one: ComparedCall) -> str:
    """The value is right, and gradients are wrong or missing."""
    actual, right = _gradients(one)
    if not right or same_value(actual, right) or nan_gradients(one):
        return ""
    kinds = [
        "none" if a is None else "zero" if not numbers(a).any() else "wrong"
        for a, b in zip(actual, right, strict=False)
        if b is not None and not same_value(a, b)
    ]
    if len(actual) != len(right) or not kinds:
        return "The values are right, but no gradient comes back."
    if len(kinds) == len([b for b in right if b is not None]) and len(set(kinds)) == 1 and kinds[0] != "wrong":
        text = {"none": "there is no gradient", "zero": "every gradient is zero"}[kinds[0]]
        return f"The values are right, but {text}."
    return f"The values are right, but {len(kinds)} of {len(right)} gradients are not."


def of_form(one: ComparedCall) -> str:
    """What is wrong with an answer whose numbers are right: type, dtype, arguments or gradients; else empty."""
    found = (find(one) for find in (kind, dtype, inputs_changed, nan_gradients, gradients))
    return next(filter(None, found), "")
