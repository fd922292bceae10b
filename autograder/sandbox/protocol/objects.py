"""Objects and tables that left the sandbox: public data, without their class or package.

`Record` stands for an object, `Table` for a pandas frame. Nothing here knows how they travel; see `values`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

NAME = 80  # characters of a type's, a field's or a column's name
MAX_TEXT = 20_000  # of one in a table
# What tells arrays, tensors and modules from the rest. A field of such a name is read with brackets only, so that
# nobody takes the object for one of them.
RESERVED = frozenset(dir(np.ndarray)) | {
    "detach", "numpy", "grad", "is_floating_point", "layout", "requires_grad", "named_parameters", "forward",
}  # fmt: skip

# A column of one of these is an array; any other a list.
PLAIN = tuple(map(np.dtype, ("bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")))


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
        return isinstance(other, Record) and _equal(self.fields, other.fields)

    def __repr__(self) -> str:
        return f"{self.type_name}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


class Table:
    """A pandas frame, by its columns: each an array, or a list in which None stands for what is missing.

    `index` is such a column, or None if the rows are just numbered. Neither side needs pandas for it.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: Mapping[str, Any], index: Any = None) -> None:
        self.columns, self.index = dict(columns), index

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise NoField(f"gave back a table that has no column `{name}`.")
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), () if self.index is None else self.index))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and _equal([self.columns, self.index], [other.columns, other.index])

    def __repr__(self) -> str:
        return f"Table({', '.join(map(repr, self.columns))}; {len(self)} rows)"

    def to_pandas(self) -> Any:
        """The same as a frame, for a suite that has pandas."""
        import pandas

        return pandas.DataFrame(self.columns, index=self.index)


def _equal(one: Any, other: Any) -> bool:
    """Exactly equal, arrays in them included."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and _same_array(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    if hasattr(one, "detach") and hasattr(other, "detach"):
        return _equal(one.detach().numpy(), other.detach().numpy())
    return bool(one == other)


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


def of_pandas(frame: Any) -> Table | None:
    """A frame's columns, whatever keeps them, NumPy or Arrow; None if two have one name."""
    names = [str(name)[:NAME] for name in frame.columns]
    if len(set(names)) < len(names):
        return None
    columns = {name: _column(frame.iloc[:, place]) for place, name in enumerate(names)}
    numbered = type(frame.index).__name__ == "RangeIndex" and list(frame.index[:2]) == [0, 1][: len(frame)]
    return Table(columns, None if numbered else _column(frame.index.to_series()))


def _column(series: Any) -> Any:
    """A column as an array; as a list if its values are texts, times or of several kinds, or some are missing."""
    if series.dtype in PLAIN:
        return series.to_numpy()
    missing = series.isna().tolist()
    return [None if gone else _plain(item) for gone, item in zip(missing, series.tolist(), strict=True)]


def _plain(item: Any) -> Any:
    item = item.item() if isinstance(item, np.generic) else item
    return item if isinstance(item, bool | int | float | str) else str(item)[:MAX_TEXT]
