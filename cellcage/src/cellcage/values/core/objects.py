"""Objects that left the sandbox, by their public data and without their class. `codec` sends and reads them."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

from cellcage.values.pytorch.tensors import is_tensor

NAME = 80  # characters of a type's, a field's or a column's name
# Attributes by which code recognises arrays, tensors and modules. A field of such a name is read with brackets only, so
# that a record is not mistaken for one of them.
RESERVED = frozenset(dir(np.ndarray)) | {
    "detach", "numpy", "grad", "is_floating_point", "layout", "requires_grad", "named_parameters", "forward",
}  # fmt: skip


class NoField(AttributeError):
    """A test asks an object or a table for a field or column that it does not have."""


class Form(Enum):
    """Why a value does not cross the sandbox's boundary, and the `type_name` of its `Other`."""

    TYPE = "type"  # no value of this type does: the type's name
    ARRAY = "array"  # the dtype is not supported, or it is too large: the dtype, or the size
    TENSOR = "tensor"  # the same
    TOO_LARGE = "something too large"  # what it is
    TOO_DEEP = "something nested too deeply"  # empty, and so for those below
    TOO_MANY = "something of too many objects"
    ENDLESS = "something that holds itself"
    TWICE = "a table in which two columns have one name"


class Other:
    """A value that does not cross the sandbox's boundary: only the name of its type, or what `Form` says."""

    def __init__(self, type_name: str, form: Form = Form.TYPE) -> None:
        self.type_name, self.form = type_name[:NAME], form

    def __repr__(self) -> str:
        return f"a value of type {self.type_name}" if self.form is Form.TYPE else self.form.value


class Record:
    """An object of some class, by its public data: `point.x`, or `point["x"]`. `fields` has the data by name.

    Two records are equal if their data is, whatever the names of their classes.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, type_name: str, fields: Mapping[str, Any]) -> None:
        self.type_name, self.fields = type_name[:NAME], dict(fields)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name in fields and name not in RESERVED:
            return fields[name]
        raise self._no_field(name)

    def _no_field(self, name: str) -> NoField:
        kind = self.__dict__.get("type_name")
        return NoField(f"returned something of type {kind}, which has no public `{name}`.")

    def __getitem__(self, name: str) -> Any:
        if name not in self.fields:
            raise self._no_field(name)
        return self.fields[name]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"an object of type {self.type_name} is no list")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and equal_data(self.fields, other.fields)

    def __repr__(self) -> str:
        return f"{self.type_name}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


def equal_data(first: Any, second: Any) -> bool:
    """Whether two values are exactly equal, including the arrays in them. NaN equals NaN."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.dtype == second.dtype):
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(equal_data(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple | deque) and type(first) is type(second):
        return len(first) == len(second) and all(map(equal_data, first, second))
    if is_tensor(first) and is_tensor(second):
        return equal_data(first.detach().numpy(), second.detach().numpy())
    return bool(first == second) or bool(first != first and second != second)


def public(value: Any) -> Mapping[str, Any]:
    """An object's public data: a dataclass's fields, or else attributes whose names do not begin with an underscore.

    Callables, classes, modules and exceptions have none.
    """
    if type(value) is Record:
        return dict(value.fields)
    if callable(value) or isinstance(value, type | ModuleType | BaseException):
        return {}
    try:
        return {name: item for name, item in _data_of(value) if is_field(name)}
    except Exception:  # from a property or the like of the object's class
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
    """Whether a field may have this name."""
    return type(name) is str and name.isidentifier() and not name.startswith("_") and len(name) <= NAME
