"""pandas' objects without pandas: a `Table` represents a frame, a series, an index, a timestamp or a time span.

It is sent as lists and arrays, and its reader checks each column. `pandas_tables` converts it from and to pandas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cellcage.values.value import NoField, same
from cellcage.wire import WireError

MAX_COLUMNS = 256
MAX_CELLS = 20_000  # of all columns of a table that are not arrays
FRAME, SERIES, INDEX, MOMENT, SPAN = KINDS = ("DataFrame", "Series", "Index", "Timestamp", "Timedelta")
CATEGORY = "category"
ZONE = r"(?=.{1,40}\])[A-Z][\w+\-]*(?:/[A-Z][\w+\-]*)*(?::\d\d)?"  # never the path of a file
TIMES = re.compile(rf"(datetime|timedelta)64\[(s|ms|us|ns)(?:, ({ZONE}))?\]", re.ASCII)
DTYPES = re.compile(
    r"object|str|string|category|boolean|bool|[Uu]?[Ii]nt(?:8|16|32|64)|[Ff]loat(?:16|32|64)|complex(?:64|128)"
    r"|(?:period|interval)\[[\w\-, ]{1,40}[\])]?\]?|(?:bool|string|large_string|u?int\d{1,2}|float|double)\[pyarrow\]",
    re.ASCII,
)


@dataclass(frozen=True)
class Column:
    """The values of a column, or of a level of an index: an array, or a list with None for a missing value.

    dtype: pandas' name for it. Times are whole numbers of their unit
    categories: of a categorical column, whose values are then category numbers, -1 for a missing value
    """

    values: Any
    dtype: str
    categories: Column | None = None
    ordered: bool = False

    @classmethod
    def of(cls, values: Any) -> Column:
        """A column with the values of an array or a list."""
        return cls(values, values.dtype.name if isinstance(values, np.ndarray) else "object")

    @cached_property
    def times(self) -> np.ndarray | None:
        """Times as an array of NumPy's datetime64 or timedelta64; None if the values are not times."""
        found = TIMES.fullmatch(self.dtype)
        return self.values.view(f"{'M' if found[1] == 'datetime' else 'm'}8[{found[2]}]") if found else None

    @cached_property
    def plain(self) -> list[Any]:
        """Python values, None for a missing one."""
        if self.categories is not None:
            return [None if code < 0 else self.categories.plain[code] for code in self.values.tolist()]
        items = self.values if self.times is None else self.times.astype(f"{self.times.dtype.kind}8[us]")
        listed = items.tolist() if isinstance(items, np.ndarray) else items
        return [None if type(item) is float and item != item else item for item in listed]

    @property
    def numbers(self) -> np.ndarray | None:
        """Numbers or truth values as an array; None if the values are something else."""
        is_plain = isinstance(self.values, np.ndarray) and self.categories is None and self.times is None
        return self.values if is_plain else None

    @property
    def given(self) -> Any:
        """An array of numbers, or else a list of Python values."""
        return self.plain if self.numbers is None else self.numbers

    def data(self) -> list[Any]:
        """The column as lists and arrays, to be sent."""
        return [self.dtype, self.values, *([] if self.categories is None else [self.categories.data(), self.ordered])]


@dataclass(eq=False)
class Table:
    """A pandas frame by its columns; or another of `KINDS`, which has one column, or only an index.

    labels: the columns' names, a `Column` for each level of them; parts: the columns
    rows: the levels of the index; None if the rows are just numbered
    label_names, row_names: the names of these levels
    hides_names: whether no message may show the names of unexpected columns
    """

    kind: str
    labels: list[Column]
    parts: list[Column]
    rows: list[Column] | None
    label_names: list[Any]
    row_names: list[Any]
    hides_names: bool = False
    made: Any = None  # the same as an object of pandas, as your side gets it

    @cached_property
    def names(self) -> list[Any]:
        """The names of the columns; tuples if these have several levels."""
        return items_of(self.labels)

    def part(self, name: Any) -> Column:
        """The column of this name. Raises `NoField`."""
        if name not in self.names:
            raise NoField(f"returned a table that has no column `{name}`.")
        return self.parts[self.names.index(name)]

    def only(self, name: Any) -> Table:
        """A table of one of the columns, without the index."""
        return Table(self.kind, [Column.of([name])], [self.part(name)], None, [None], [None])

    def __getitem__(self, name: Any) -> Any:
        return self.part(name).given

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __len__(self) -> int:
        return len([*self.parts, *(self.rows or []), Column([], "object")][0].values)

    def __hash__(self) -> int:
        if self.kind not in (MOMENT, SPAN):
            raise TypeError(f"a {self.kind} has no hash")
        return hash(self.parts[0].plain[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and same(self.data(), other.data())

    def __repr__(self) -> str:
        if self.kind in (MOMENT, SPAN):
            return str(self.parts[0].plain[0])
        return f"Table({', '.join(map(repr, self.names))}; {len(self)} rows)"

    def data(self) -> list[Any]:
        """The table as lists and arrays, to be sent."""
        rows = None if self.rows is None else [level.data() for level in self.rows]
        labels, parts = ([column.data() for column in columns] for columns in (self.labels, self.parts))
        return [self.kind, labels, parts, rows, self.label_names, self.row_names]


def items_of(levels: Sequence[Column]) -> list[Any]:
    """The items of an index: values, or tuples if there are several levels."""
    return levels[0].plain if len(levels) == 1 else [*zip(*(level.plain for level in levels), strict=True)]


def table_of(data: Any) -> Table:
    """The table that was sent as these lists and arrays. Raises `WireError` if they are not a table."""
    _must(type(data) is list and len(data) == 6 and data[0] in KINDS)
    kind, labels, parts = data[0], _columns(data[1]), _columns(data[2])
    rows = None if data[3] is None else _columns(data[3])
    _must(bool(labels) and rows != [] and len(parts) <= MAX_COLUMNS)
    _must(not parts and rows is not None if kind == INDEX else kind == FRAME or len(parts) == 1)
    _must(_length(labels) == (1 if kind == INDEX else len(parts)))
    length = _length([*parts, *(rows or [])])
    _must(kind not in (MOMENT, SPAN) or (length == 1 and parts[0].times is not None))
    for names, levels in zip(data[4:], (len(labels), len(rows or [0])), strict=True):
        _must(type(names) is list and len(names) == levels)
        _must(all(name is None or isinstance(name, str | int | float) for name in names))
    table = Table(kind, labels, parts, rows, *data[4:])
    _must(are_names(table.names))
    return table


def are_names(names: Sequence[Any]) -> bool:
    """Whether columns may have these names: each only once, and hashable."""
    try:
        return len(set(names)) == len(names)
    except TypeError:
        return False


def _must(holds: bool) -> None:
    if not holds:
        raise WireError("not a table")


def _columns(data: Any) -> list[Column]:
    _must(type(data) is list)
    found = [_column(column) for column in data]
    _must(sum(len(column.values) for column in found if type(column.values) is list) <= MAX_CELLS)
    return found


def _column(data: Any) -> Column:
    _must(type(data) is list and len(data) in (2, 4) and type(data[0]) is str)
    dtype, values, *more = data
    is_array, times = type(values) is np.ndarray and values.ndim == 1, TIMES.fullmatch(dtype)
    _must(bool(more) == (dtype == CATEGORY) and bool(times or DTYPES.fullmatch(dtype)))
    if times or more:
        _must(is_array and values.dtype == np.int64)
        values = np.ascontiguousarray(values)
    else:
        _must(type(values) is list or (is_array and values.dtype.name == dtype))
    if not more:
        return Column(values, dtype)
    _must(type(more[0]) is list and more[0][:1] != [CATEGORY] and type(more[1]) is bool)
    categories = _column(more[0])
    _must(not len(values) or -1 <= values.min() <= values.max() < len(categories.values))
    return Column(values, dtype, categories, more[1])


def _length(columns: Sequence[Column]) -> int:
    sizes = {len(column.values) for column in columns}
    _must(len(sizes) <= 1)
    return max(sizes, default=0)
