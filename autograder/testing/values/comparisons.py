"""The comparison of each registered type, and values as suites get them."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from autograder.testing.values.comparison import Comparison
from autograder.testing.values.pytorch.tensor_comparison import TensorComparison
from autograder.testing.values.tables.table_comparison import TableComparison
from cellcage.values.conversion import changed
from cellcage.values.core.objects import Other
from cellcage.values.value_types import type_of

GROUP = "autograder.values"
DEFAULT = Comparison()


@functools.cache
def by_tag() -> Mapping[str, Comparison]:
    """All comparisons by the tags of their types."""
    added = {entry_point.name: entry_point.load() for entry_point in entry_points(group=GROUP)}
    return {"tensor": TensorComparison(), "table": TableComparison(), **added}


def described(value: Any) -> tuple[Comparison, Any] | None:
    """The comparison for a value of a registered type, and its portable form; None if there is none."""
    known = type_of(value)
    if known is None or isinstance(made := known.portable(value), Other):
        return None
    return by_tag().get(known.tag, DEFAULT), made


def comparable(value: Any) -> tuple[Comparison, Any] | None:
    """The same for values that are not compared as arrays."""
    found = described(value)
    return None if found is None or found[0].is_array else found


def compared(value: Any) -> Any:
    """The value without what checks ignore by default: see `Comparison.compared`; NumPy's numbers become Python's."""

    def change(item: Any) -> Any:
        if isinstance(item, np.float64 | np.integer | np.bool_):
            return item.item()
        found = comparable(item)
        return item if found is None else found[0].compared(found[1])

    return changed(value, change)


def for_suite(value: Any) -> Any:
    """The value in native form wherever a type's package is imported here and accepts it."""

    def change(item: Any) -> Any:
        known = type_of(item)
        if known is None or (known.package and known.package not in sys.modules):
            return item
        with contextlib.suppress(Exception):  # from the package, about a value of a student's
            return by_tag().get(known.tag, DEFAULT).for_suite(item, known)
        return item

    return changed(value, change)
