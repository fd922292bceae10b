"""Values: what is in one, whether two are the same, and how large numbers are compared and written.

An object has left the sandbox by its public data and without its class, as a `Record`. `codec` sends and reads it.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np

HOLDS = (list, tuple, set, frozenset, deque, dict)
ATOMS = {bool, int, float, str, type(None)}
MAX_GENERATED = 1000  # items of a generator that are read
LARGEST = 1e300  # whole numbers beyond are compared exactly
LONGEST = 60  # characters of a value in a sentence
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
        return isinstance(other, Record) and same(self.fields, other.fields)

    def __repr__(self) -> str:
        return f"{self.type_name}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


@dataclass
class Generated(Sequence[Any]):
    """The first items of a generator or another iterator, at most `MAX_GENERATED`; never equal to a list.

    kind: the name of its type, which does not count for equality; more: whether there were more items
    """

    items: list[Any]
    kind: str = field(default="generator", compare=False)
    more: bool = False

    def __getitem__(self, place: Any) -> Any:
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)


def read_out(value: Any) -> Any:
    """A generator, or an iterator of Python's own, as its first items; anything else unchanged."""
    kind = type(value)
    if kind.__module__ not in ("builtins", "itertools") or not isinstance(value, Iterator):
        return value
    items = list(islice(value, MAX_GENERATED + 1))
    return Generated(items[:MAX_GENERATED], kind.__name__, len(items) > MAX_GENERATED)


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


# ---------------------------------------------------------------- what is in a value


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch. Does not import PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_float_tensor(value: Any) -> bool:
    """Whether it is a tensor that may have a gradient."""
    return bool(is_tensor(value) and value.is_floating_point())


def numbers(value: Any) -> np.ndarray:
    """An array or a tensor as an array."""
    return np.asarray(value.detach() if is_tensor(value) else value)


def parts_of(value: Any) -> list[Any]:
    """The values in a tuple, a list or a dict; a list of the value itself if it is anything else."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays among `parts_of` a value."""
    return [numbers(part) for part in parts_of(value) if hasattr(part, "dtype")]


def items_in(value: Any) -> Iterator[Any]:
    """The items of one of `HOLDS`: of a dict its keys, and then its values."""
    yield from value
    yield from value.values() if isinstance(value, dict) else ()


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with everything in its lists, tuples and dicts changed; the same object if nothing changes."""
    if type(value) not in (list, tuple, dict):
        return change(value)
    if isinstance(value, dict):
        keys, items = changed(list(value), change), changed(list(value.values()), change)
        is_same = all(map(operator.is_, keys, value)) and all(map(operator.is_, items, value.values()))
        return value if is_same else dict(zip(keys, items, strict=True))
    if ATOMS.issuperset(map(type, value)):
        return value
    made = [changed(item, change) for item in value]
    return value if all(map(operator.is_, made, value)) else type(value)(made)


def same(first: Any, second: Any, decide: Callable[[Any, Any], bool | None] | None = None) -> bool:
    """Whether two values are the same, with everything in them.

    decide: says so for any two values, or None to look at what is in them; without it numbers are exactly equal,
        whatever their type, and NaN equals NaN
    """
    if (found := (decide or _exactly)(first, second)) is not None:
        return found
    if type(first) is not type(second):
        return False
    if isinstance(first, Record):
        return same(first.fields, second.fields, decide)
    if isinstance(first, Generated):
        return first.more == second.more and same(first.items, second.items, decide)
    if isinstance(first, list | tuple | deque):
        return len(first) == len(second) and all(same(*pair, decide) for pair in zip(first, second, strict=True))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key], decide) for key in first)
    return bool(first == second or (first != first and second != second))  # NaN is NaN, in a list, too


def _exactly(first: Any, second: Any) -> bool | None:
    if is_tensor(first) and is_tensor(second):
        first, second = numbers(first), numbers(second)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return False
    if type(first) is type(second):
        return None
    return bool(first == second) or bool(first != first and second != second)


# ---------------------------------------------------------------- numbers


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
