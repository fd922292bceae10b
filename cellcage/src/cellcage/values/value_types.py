"""The registered types of values: those of this package, and those that other distributions add by an entry point."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from cellcage.values.pytorch.tensor_type import TensorType
from cellcage.values.tables.pandas_tables import TableType
from cellcage.values.value_type import ValueType

GROUP = "cellcage.values"


@functools.cache
def by_tag() -> Mapping[str, ValueType]:
    """All types by their tags. Reads entry points once, so a fork server calls it before there is untrusted code."""
    added = [entry_point.load() for entry_point in entry_points(group=GROUP)]
    return {found.tag: found for found in (TensorType(), TableType(), *added)}


def type_of(value: Any) -> ValueType | None:
    """The type that a value belongs to, in native or portable form; None if it is one of the core's, or of none."""
    kind: Any = type(value)
    return _of_class(kind)


@functools.lru_cache(maxsize=1000)
def _of_class(kind: type) -> ValueType | None:
    return next((found for found in by_tag().values() if found.knows(kind)), None)
