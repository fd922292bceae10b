"""Frames, series, indexes, timestamps and time spans of pandas, sent as their columns."""

from __future__ import annotations

import sys
from typing import Any

from cellcage.values.core.objects import Other
from cellcage.values.tables.pandas_tables import pandas_object, table_from
from cellcage.values.tables.table import KINDS, MOMENT, SPAN, Table, table_of
from cellcage.values.value_type import ValueType


class TableType(ValueType):
    """Objects of pandas; their portable form is a `Table`."""

    tag = "table"
    package = "pandas"

    def knows(self, kind: type) -> bool:
        """Whether it is `Table`, or a class of pandas' `KINDS`."""
        pandas = sys.modules.get("pandas")
        if pandas is None or not hasattr(pandas, MOMENT):
            return kind is Table
        return issubclass(kind, (Table, type(pandas.NaT), *(getattr(pandas, name) for name in KINDS)))

    def portable(self, value: Any) -> Table | Other:
        """The object as a table; an `Other` if it is too large, or if two columns have the same name."""
        return value if isinstance(value, Table) else table_from(value)

    def parts(self, value: Table) -> list[Any]:
        """The columns and their names."""
        return value.data()

    def made_of(self, parts: Any) -> Table:
        """The table of these columns. Raises `WireError`."""
        return table_of(parts)

    def native(self, value: Table) -> Any:
        """The object of pandas. Raises whatever pandas raises."""
        return pandas_object(value)

    def hashable(self, value: Table) -> bool:
        """Whether it is a timestamp or a time span."""
        return value.kind in (MOMENT, SPAN)
