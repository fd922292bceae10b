"""What a value is, in words."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

import numpy as np

from autograder.sandbox.protocol.objects import Form, Other, Record
from autograder.sandbox.protocol.scalars import Generated
from autograder.testing import tables


def kind_of(got: Any) -> str:
    """What a value is, in words."""
    if got is None:
        return "None (is there a `return`?)"
    if isinstance(got, Other):
        return _kind_of_other(got)
    if (table := tables.as_table(got)) is not None:
        return tables.named(table)
    if isinstance(got, np.ndarray):
        return f"an array of shape {got.shape}"
    if hasattr(got, "detach"):
        return f"a tensor of shape {tuple(got.shape)}"
    if isinstance(got, Generated):
        return f"{'an' if got.kind[0] in 'aeiou' else 'a'} {got.kind} of {'more than ' * got.more}{len(got)} values"
    if isinstance(got, tuple | list | set | frozenset | deque):
        return f"a {type(got).__name__} of {len(got)} value{'' if len(got) == 1 else 's'}"
    if isinstance(got, Record):
        return f"something of type {got.type_name}"
    if isinstance(got, dict):
        return f"a dict of {len(got)} value{'' if len(got) == 1 else 's'}"
    return f"a value of type {type(got).__name__}"


def kind_as_cause(got: Any) -> str:
    """Tests that meet the same kind of thing, of whatever size, fail for one reason."""
    return re.sub(r"\d+", "", kind_of(got))


def _kind_of_other(got: Other) -> str:
    """What did not cross the sandbox's boundary."""
    match got.form:
        case Form.TYPE:
            return f"something of type {got.type_name}"
        case Form.ARRAY:
            return f"an array of {got.type_name}"
        case Form.TENSOR:
            return f"a tensor of {got.type_name}"
        case Form.TOO_LARGE:
            return f"{got.form.value}, {got.type_name}"
    return str(got.form.value)
