"""The form of values that code works with, and the one that needs no package, also inside lists, tuples and dicts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from cellcage.values.core.scalars_codec import Generated
from cellcage.values.value_types import type_of

ATOMS = {bool, int, float, str, type(None)}


def native(value: Any) -> Any:
    """The value as code gets it. An iterator takes the place of items that were read from one.

    Raises whatever a type's package raises.
    """

    def change(item: Any) -> Any:
        if type(item) is Generated:
            return iter(item.items)
        found = type_of(item)
        return item if found is None else found.native(item)

    return changed(value, change)


def portable(value: Any) -> Any:
    """The value with everything in it in portable form, as it arrives on the other side."""

    def change(item: Any) -> Any:
        found = type_of(item)
        return item if found is None else found.portable(item)

    return changed(value, change)


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
