"""Objects that left the sandbox: public data, without their class.

Nothing here knows how they travel; see `values`. What stands for something of pandas' is in `tables`.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

NAME = 80  # characters of a type's, a field's or a column's name
# What tells arrays, tensors and modules from the rest. A field of such a name is read with brackets only, so that
# nobody takes the object for one of them.
RESERVED = frozenset(dir(np.ndarray)) | {
    "detach", "numpy", "grad", "is_floating_point", "layout", "requires_grad", "named_parameters", "forward",
}  # fmt: skip


class NoField(AttributeError):
    """An object or a table that came back has nothing of a name that a suite asks for."""


class Form(Enum):
    """What does not cross the sandbox's boundary, and what its `Other` then says."""

    TYPE = "type"  # of such a type: the type's name
    ARRAY = "array"  # numbers of such a kind, or too many: their dtype, or their size
    TENSOR = "tensor"
    TOO_LARGE = "something too large"  # what it is
    TOO_DEEP = "something nested too deeply"  # nothing more, as those below
    TOO_MANY = "something of too many objects"
    ENDLESS = "something that holds itself"
    TWICE = "a table in which two columns have one name"


FORMS = [form.value for form in Form]


class Other:
    """A value that does not cross the sandbox's boundary; only the name of its type does, or what its form says."""

    def __init__(self, type_name: str, form: Form = Form.TYPE) -> None:
        self.type_name, self.form = type_name[:NAME], form

    def __repr__(self) -> str:
        return f"a value of type {self.type_name}" if self.form is Form.TYPE else self.form.value


class Record:
    """An object of some class, by its public data: `point.x`, or `point["x"]`.

    Two are equal if their data is, whatever their classes are called. `fields` has the data by name.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, type_name: str, fields: Mapping[str, Any]) -> None:
        self.type_name, self.fields = type_name[:NAME], dict(fields)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name in fields and name not in RESERVED:
            return fields[name]
        raise self._without(name)

    def _without(self, name: str) -> NoField:
        kind = self.__dict__.get("type_name")
        return NoField(f"gave back something of type {kind}, which has no public `{name}`.")

    def __getitem__(self, name: str) -> Any:
        if name not in self.fields:
            raise self._without(name)
        return self.fields[name]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"an object of type {self.type_name} is no list")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and equal_data(self.fields, other.fields)

    def __repr__(self) -> str:
        return f"{self.type_name}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


def equal_data(one: Any, other: Any) -> bool:
    """Exactly equal, arrays in them included."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and _same_array(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal_data(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple | deque) and type(one) is type(other):
        return len(one) == len(other) and all(map(equal_data, one, other))
    if hasattr(one, "detach") and hasattr(other, "detach"):
        return equal_data(one.detach().numpy(), other.detach().numpy())
    return bool(one == other) or bool(one != one and other != other)


def _same_array(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


# ---------------------------------------------------------------- what an object tells


def public(value: Any) -> Mapping[str, Any]:
    """An object's public data: a dataclass's fields, or else what it keeps under names without an underscore.

    Nothing that is a function, a class, a module or an exception has any.
    """
    if type(value) is Record:
        return dict(value.fields)
    if callable(value) or isinstance(value, type | ModuleType | BaseException):
        return {}
    try:
        return {name: item for name, item in _data_of(value) if is_field(name)}
    except Exception:  # code of the object's own
        return {}


def _data_of(value: Any) -> Iterator[tuple[Any, Any]]:
    if dataclasses.is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return
    yield from dict(getattr(value, "__dict__", {})).items()
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if is_field(name) and hasattr(value, name):
                yield name, getattr(value, name)


def is_field(name: Any) -> bool:
    """May a field be called so?"""
    return type(name) is str and name.isidentifier() and not name.startswith("_") and len(name) <= NAME
