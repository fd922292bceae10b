"""Frames, series, indexes, timestamps and time spans of pandas, sent as their columns.

Imports pandas only if there is something to convert.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cellcage.values.tables.table import (
    CATEGORY,
    DTYPES,
    FRAME,
    INDEX,
    KINDS,
    MAX_CELLS,
    MAX_COLUMNS,
    MOMENT,
    SERIES,
    SPAN,
    TIMES,
    Column,
    Table,
    are_names,
)
from cellcage.values.value import NAME, Form, Other

# Columns of these dtypes are sent as arrays, and so are times and categories; all others as lists.
PLAIN = tuple(map(np.dtype, ("bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")))
MAX_ROWS = 2**21  # at eight bytes each they fill the largest array
HIDES_NAMES = "hides_names"  # in a frame's `attrs`, see `Table`


def table_from(value: Any) -> Table | Other:
    """An object of pandas as a table; an `Other` if it is too large, or if two columns have the same name."""
    try:
        return _table_from(value)
    except Exception:  # from pandas, from a package that extends it, or from a class derived from one of its own
        return Other(type(value).__name__)


def _table_from(value: Any) -> Table | Other:
    import pandas

    kind = next((kind for kind in KINDS if isinstance(value, getattr(pandas, kind))), MOMENT)
    value = pandas.Series([value]) if kind in (MOMENT, SPAN) else value
    index = value if kind == INDEX else value.index
    labels = value.columns if kind == FRAME else pandas.Index([None if kind == INDEX else value.name], dtype=object)
    parts = [value] if kind != FRAME else [value.iloc[:, place] for place in range(min(len(labels), MAX_COLUMNS + 1))]
    is_numbered = isinstance(index, pandas.RangeIndex) and index.equals(pandas.RangeIndex(len(index)))
    levels = [] if is_numbered and parts and kind != INDEX else _levels(index)
    cells = sum(len(part) for part in (*parts, *levels) if not _is_array(part.dtype))
    if len(parts) > MAX_COLUMNS or cells > MAX_CELLS or len(index) > MAX_ROWS:
        article = "an" if kind == INDEX else "a"
        return Other(f"{article} {kind} of {' x '.join(map(str, value.shape))}", Form.TOO_LARGE)
    parts = [] if kind == INDEX else [*map(_column, parts)]
    names = ([*map(_name, labels.names)], [*map(_name, index.names)] if levels else [None])
    table = Table(kind, [*map(_column, _levels(labels))], parts, [*map(_column, levels)] or None, *names)
    if kind in (FRAME, SERIES):
        table.hides_names = value.attrs.get(HIDES_NAMES, False)
    return table if are_names(table.names) else Other(kind, Form.TWICE)


def _levels(index: Any) -> list[Any]:
    return [index.get_level_values(level).to_series() for level in range(index.nlevels)]


def _is_array(dtype: Any) -> bool:
    return dtype in PLAIN or dtype == CATEGORY or TIMES.fullmatch(str(dtype)) is not None


def _name(name: Any) -> Any:
    return name if name is None or isinstance(name, bool | int | float) else str(name)[:NAME]


def _column(series: Any) -> Column:
    dtype = str(series.dtype)
    if series.dtype in PLAIN:
        return Column(series.to_numpy(), dtype)
    if dtype == CATEGORY:
        codes = series.cat.codes.to_numpy().astype(np.int64)
        return Column(codes, dtype, _column(series.cat.categories.to_series()), bool(series.cat.ordered))
    if TIMES.fullmatch(dtype):
        return Column(np.array(series.array.asi8), dtype)
    # In a column of arbitrary objects, None and NaN stay distinct.
    pairs = zip(series.isna().tolist(), series.tolist(), strict=True)
    values = [None if missing and not isinstance(item, float) else item for missing, item in pairs]
    values = [str(item) if type(item).__name__ in ("Period", "Interval") else item for item in values]
    if dtype != "object":
        values = [None if item != item else item for item in values]
    return Column(values, dtype if DTYPES.fullmatch(dtype) else "object")


def pandas_object(table: Table) -> Any:
    """The object of pandas that a table represents. Raises whatever pandas raises."""
    import pandas

    parts = [*map(_array, table.parts)]
    if table.kind in (MOMENT, SPAN):
        return pandas.Series(parts[0])[0]
    rows = None if table.rows is None else _index(table.rows, table.row_names)
    if table.kind == INDEX:
        return rows
    if table.kind == SERIES:
        made = pandas.Series(parts[0], index=rows, name=table.names[0])
    else:
        made = pandas.DataFrame(dict(enumerate(parts)), index=rows)
        made.columns = _index(table.labels, table.label_names)
    return made


def _index(levels: Sequence[Column], names: Sequence[Any]) -> Any:
    import pandas

    if len(levels) == 1:
        return pandas.Index(_array(levels[0]), name=names[0])
    return pandas.MultiIndex.from_arrays([*map(_array, levels)], names=names)


def _array(column: Column) -> Any:
    """A column's values as pandas stores them."""
    import pandas

    if column.categories is not None:
        categories = pandas.Index(_array(column.categories))
        return pandas.Categorical.from_codes(column.values, categories, column.ordered)
    if column.times is not None:
        made, times = pandas.Series(column.times.copy()), TIMES.fullmatch(column.dtype)
        assert times is not None
        return (made.dt.tz_localize("UTC").dt.tz_convert(times[3]) if times[3] else made).array
    if isinstance(column.values, np.ndarray):
        return column.values.copy()
    try:
        return pandas.Series(column.values, dtype=column.dtype).array
    except Exception:  # pandas refuses intervals, and dtypes whose package is not installed
        return pandas.Series(column.values, dtype=object).array
