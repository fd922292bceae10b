"""How to add a type of values that may cross the sandbox's boundary: derive from `ValueType`, and register an object.

In a distribution's `pyproject.toml`, where `dates/span_type.py` has the object `SPAN`:

    [project.entry-points."cellcage.values"]
    span = "dates.span_type:SPAN"

A value is sent as plain data: numbers, texts, arrays, and lists of these. The core checks their sizes, dtypes and
depth on both sides, so no type reads bytes. Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, ClassVar

import numpy as np

from cellcage.values.value import HOLDS, Generated, Other, Record, changed, items_in, same

GROUP = "cellcage.values"


@dataclass(frozen=True)
class Difference:
    """The first difference that matters, in words that follow `the result`.

    sort: "kind", "shape" or "dtype" if that differs; else any word
    """

    sort: str
    text: str


class ValueType:
    """A type of values, or a family of them.

    Such a value has up to three forms: that of untrusted code (`native`), one that needs no package beside NumPy
    (`portable`), and plain data (`parts`). The first two may be the same. All methods but `portable` get portable ones.

    tag: names it on the wire, beside the tags of all other types
    package: what native values need; empty for Python's own
    is_array: whether `numpy.asarray` gives their numbers; they are then compared as arrays
    imports: lines that import what `code` uses, by the name used
    """

    tag: str
    package = ""
    is_array = False
    imports: ClassVar[Mapping[str, str]] = {}

    def knows(self, kind: type) -> bool:
        """Whether values of this class belong to the type, in native or portable form. Must not import a package."""
        raise NotImplementedError

    def portable(self, value: Any) -> Any:
        """The value in portable form, or an `Other` that says why it cannot cross."""
        return value

    def parts(self, value: Any) -> Any:
        """The value as plain data, or an `Other` that says why it cannot cross."""
        raise NotImplementedError

    def made_of(self, parts: Any) -> Any:
        """The portable value of plain data. Raises any exception if `parts` would not have given that data.

        The data may be forged, so its types and sizes must be checked before anything is computed with it.
        """
        raise NotImplementedError

    def native(self, value: Any) -> Any:
        """The value in native form, as an object of its own."""
        return value

    def for_caller(self, value: Any) -> Any:
        """The value in native form: the same object each time, so that the call that gave it can be found."""
        return self.native(value)

    def hashable(self, value: Any) -> bool:
        """Whether it may be a member of a set or a key of a dict."""
        return False

    def named(self, value: Any) -> str:
        """What a value is, with an article: `a table of 3 rows and 2 columns`."""
        return f"a value of type {type(value).__name__}"

    def difference(self, got: Any, wanted: Any, atol: float, tells: bool = False) -> Difference | None:
        """How two values of this type differ; None if they do not.

        atol: how far numbers may be off; by default they are exactly equal
        tells: whether the text gives the expected value. If not, the text may have numbers of `got`, but no words that
            untrusted code could have chosen: that code may have asked for the right answer, and could say it
        """
        if same(self.parts(got), self.parts(wanted)):
            return None
        text = f"is `{self.code(got):.60}`, wanted `{self.code(wanted):.60}`" if tells else "is not right"
        return Difference("value", text)

    def compared(self, value: Any) -> Any:
        """The value without what checks ignore by default. Answers are looked up among known mistakes' in this form."""
        return value

    def code(self, value: Any) -> str:
        """Python code that makes the value."""
        return repr(value)

    def shown(self, value: Any, shown: Callable[[Any], str]) -> str:
        """A value as a person writes it down. `shown` does that for its parts."""
        return self.code(value)

    def size(self, value: Any) -> tuple[str, str] | None:
        """A value in a call by its size: `an array (2, 3)`, and `(2, 3)` after a label; None if it is written out."""
        return None

    def axes(self, value: Any) -> tuple[int, ...]:
        """Its lengths, by which the work for a call is guessed."""
        return ()


@functools.cache
def by_tag() -> Mapping[str, ValueType]:
    """All types by their tags: those of this package, and those that other distributions add.

    Reads entry points once, so a fork server calls it before there is untrusted code.
    """
    from cellcage.values.tables.table_type import TableType
    from cellcage.values.tensor_type import TensorType

    added = [entry_point.load() for entry_point in entry_points(group=GROUP)]
    return {found.tag: found for found in (TensorType(), TableType(), *added)}


def type_of(value: Any) -> ValueType | None:
    """The type that a value belongs to, in native or portable form; None if it is one of the core's, or of none."""
    kind: Any = type(value)
    return _of_class(kind)


@functools.lru_cache(maxsize=1000)
def _of_class(kind: type) -> ValueType | None:
    return next((found for found in by_tag().values() if found.knows(kind)), None)


def described(value: Any) -> tuple[ValueType, Any] | None:
    """The type that a value belongs to, and its portable form; None if there is none."""
    known = type_of(value)
    if known is None or isinstance(made := known.portable(value), Other):
        return None
    return known, made


def comparable(value: Any) -> tuple[ValueType, Any] | None:
    """The same for values that are not compared as arrays."""
    found = described(value)
    return None if found is None or found[0].is_array else found


def inside(value: Any) -> Any:
    """What is in an object, or in a type's value that is not an array: plain data. Any other value as it is."""
    if isinstance(value, Record):
        return value.fields
    found = comparable(value)
    return value if found is None else found[0].parts(found[1])


def leaves(value: Any) -> Iterator[Any]:
    """The arrays, numbers, texts and so on in a value: in containers, and in what an object or a type's value has."""
    held = inside(value)
    if isinstance(held, HOLDS):
        for item in items_in(held):
            yield from leaves(item)
    else:
        yield held


def native(value: Any) -> Any:
    """The value as code gets it. An iterator takes the place of items that were read from one.

    Raises whatever a type's package raises.
    """

    def change(item: Any) -> Any:
        if type(item) is Generated:
            return iter(item.items)
        return item if (found := type_of(item)) is None else found.native(item)

    return changed(value, change)


def for_caller(value: Any) -> Any:
    """The value in native form wherever a type's package is imported here and accepts it."""

    def change(item: Any) -> Any:
        known = type_of(item)
        if known is None or (known.package and known.package not in sys.modules):
            return item
        with contextlib.suppress(Exception):  # from the package, about a value of untrusted code's
            return known.for_caller(item)
        return item

    return changed(value, change)


def portable(value: Any) -> Any:
    """The value with everything in it in portable form, as it arrives on the other side."""
    return changed(value, lambda item: item if (found := type_of(item)) is None else found.portable(item))


def compared(value: Any) -> Any:
    """The value without what checks ignore by default: see `ValueType.compared`; NumPy's numbers become Python's."""

    def change(item: Any) -> Any:
        if isinstance(item, np.float64 | np.integer | np.bool_):
            return item.item()
        found = comparable(item)
        return item if found is None else found[0].compared(found[1])

    return changed(value, change)
