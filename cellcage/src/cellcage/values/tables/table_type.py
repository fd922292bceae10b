"""The type of pandas' objects: how they cross, are compared, and are written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, ClassVar

from cellcage.values.tables import comparison
from cellcage.values.tables.pandas_tables import HIDES_NAMES, pandas_object, table_from
from cellcage.values.tables.table import FRAME, INDEX, KINDS, MOMENT, SERIES, SPAN, Column, Table, items_of, table_of
from cellcage.values.value import Other
from cellcage.values.value_type import Difference, ValueType


class TableType(ValueType):
    """Frames, series, indexes, timestamps and time spans of pandas; their portable form is a `Table`."""

    tag = "table"
    package = "pandas"
    imports: ClassVar = {"pd": "import pandas as pd", "datetime": "import datetime"}

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

    def compared(self, value: Table) -> Table:
        """Columns in order of their names, numbers of one dtype, an index without a name: see `expect.table`."""
        order = sorted(range(len(value.parts)), key=lambda place: str(value.names[place]))
        parts = [_as_float(value.parts[place]) for place in order]
        labels = (
            [comparison.taken(level, order) for level in value.labels] if value.kind == FRAME else [Column.of([None])]
        )
        rows = None if value.rows is None else [*map(_as_float, value.rows)]
        return Table(value.kind, labels, parts, rows, [None] * len(labels), [None] * len(value.row_names))

    def for_caller(self, value: Any) -> Any:
        """The object of pandas, whose `attrs` say whether a message may show its names."""
        if not isinstance(value, Table):
            return value
        if value.made is None:
            value.made = self.native(value)
            if value.kind in (FRAME, SERIES):
                value.made.attrs[HIDES_NAMES] = value.hides_names
        return value.made

    def named(self, value: Table) -> str:
        """`a table of 3 rows and 2 columns`."""
        return comparison.named(value)

    def difference(self, got: Table, wanted: Table, atol: float, tells: bool = False) -> Difference | None:
        """The first difference, where everything counts but the order of columns and dtypes of one family."""
        return comparison.difference(got, wanted, comparison.How(atol=atol, tells=tells))

    def code(self, value: Table) -> str:
        """A call of pandas, with the columns as lists."""
        if value.kind in (MOMENT, SPAN):
            return f"pd.{value.kind}({str(value)!r})"
        rows = f"pd.Index({items_of(value.rows)!r}, name={value.row_names[0]!r})" if value.rows else ""
        if value.kind == INDEX:
            return rows
        columns = [f"{name!r}: {part.plain!r}" for name, part in zip(value.names, value.parts, strict=True)]
        data = f"{{{', '.join(columns)}}}" if value.kind == FRAME else repr(value.parts[0].plain)
        return f"pd.{value.kind}({data}{f', index={rows}' if rows else ''})"

    def shown(self, value: Table, shown: Callable[[Any], str]) -> str:
        """`DataFrame {'city': ['Rome'], index: [0]}`; a time as it is."""
        if value.kind in (MOMENT, SPAN):
            return str(value)
        columns = [*zip(value.names, value.parts, strict=False), *(("index", level) for level in value.rows or [])]
        listed = [f"{name!r}: [{', '.join(_cell(cell, shown) for cell in column.plain)}]" for name, column in columns]
        return f"{value.kind} {{{', '.join(listed)}}}"

    def size(self, value: Table) -> tuple[str, str] | None:
        """`a DataFrame of 3 x 2`."""
        if value.kind in (MOMENT, SPAN):
            return None
        size = f"of {len(value)} x {len(value.parts)}" if value.kind == FRAME else f"of {len(value)}"
        return f"a {value.kind} {size}", size

    def axes(self, value: Table) -> tuple[int, ...]:
        """Rows and columns."""
        return len(value), max(1, len(value.parts))


def _as_float(column: Column) -> Column:
    is_number = column.numbers is not None and column.numbers.dtype.kind in "iuf"
    return Column(column.values.astype(float), "float64") if is_number else column


def _cell(cell: Any, shown: Callable[[Any], str]) -> str:
    return str(cell) if isinstance(cell, date | timedelta) else shown(cell)
