"""How a table differs from the expected one: the first difference that matters.

In this order: not a table; too many or too few rows and columns; a column is missing; a column holds another
kind of values; the index is another; the rows stand in another order; a cell differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from cellcage.values.tables.table import FRAME, INDEX, MOMENT, SERIES, SPAN, Column, Table
from cellcage.values.value import LARGEST, Other, in_four_digits, not_close, same
from cellcage.values.value_type import Difference

Pair = tuple[Any, Column, Column]  # a name, and the actual and the expected column under it
DIGITS = 6  # by which rows are sorted
FEW = 3  # columns that are named in one sentence
WORDS = {FRAME: "table", SERIES: "series", INDEX: "index", MOMENT: "time", SPAN: "length of time"}
DTYPE_FAMILIES = (
    (r"bool.*", "truth values"),
    (r"u?int.*|float.*|double.*|complex.*", "numbers"),
    (r"str.*|large_string.*|period.*|interval.*", "texts"),
    (r"datetime.*", "times"),
    (r"timedelta.*", "lengths of time"),
)
TYPE_FAMILIES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "truth values"),
    ((int, float, complex), "numbers"),
    ((str,), "texts"),
    ((date,), "times"),
    ((timedelta,), "lengths of time"),
)


@dataclass(frozen=True)
class How:
    """What counts, see `expect.table`. tells: whether the message gives the expected value."""

    row_order: bool = True
    column_order: bool = False
    dtypes: bool = False
    index: bool = True
    atol: float = 0.0
    tells: bool = False


def named(table: Table) -> str:
    """`a table of 3 rows and 2 columns`."""
    word = f"{'an' if table.kind == INDEX else 'a'} {WORDS[table.kind]}"
    return f"{word} of {_size(table)}" if table.kind in (FRAME, SERIES, INDEX) else word


def _size(table: Table) -> str:
    if table.kind == FRAME:
        return f"{_count(len(table), 'row')} and {_count(len(table.parts), 'column')}"
    levels = len(table.rows or []) if table.kind == INDEX else 1
    return _count(len(table), "value") + (f" of {levels} levels" if levels > 1 else "")


def difference(got: Table, wanted: Table, how: How = How()) -> Difference | None:
    """How a table differs from the expected one; None if it does not.

    Its `sort` is "kind", "shape", "columns", "dtype", "index", "order" or "value".
    """
    if got.kind != wanted.kind:
        article = "an" if wanted.kind == INDEX else "a"
        return Difference("kind", f"is {named(got)}, it should be {article} {WORDS[wanted.kind]}")
    return _columns(got, wanted, how) or _dtypes(got, wanted, how) or _content(got, wanted, how)


# ---------------------------------------------------------------- columns


def _columns(got: Table, wanted: Table, how: How) -> Difference | None:
    """A difference in the shape, or in the columns' names; a series may have any name."""
    names = "; ".join(_about_names(got, wanted, how.tells)) if wanted.kind == FRAME else ""
    shape, right = ((len(one), len(_levels(one) if one.kind == INDEX else one.parts)) for one in (got, wanted))
    if shape != right:
        text = f"has {_size(got)}, it should have {_size(wanted)}"
        same_rows = shape[0] == right[0]
        return Difference("columns" if names and same_rows else "shape", f"{text}: {names}" if names else text)
    if names:
        return Difference("columns", f"has other columns than asked for: {names}")
    if how.column_order and got.names != wanted.names and wanted.kind == FRAME:
        place = next(n for n, pair in enumerate(zip(got.names, wanted.names, strict=True)) if pair[0] != pair[1])
        return Difference("columns", f"has its columns in another order: {got.names[place]!r} is number {place + 1}")
    return None


def _about_names(got: Table, wanted: Table, tells: bool) -> Iterator[str]:
    missing = [name for name in wanted.names if name not in got.names]
    extra = [name for name in got.names if name not in wanted.names]
    for name in [name for name in extra if name is not None and name in wanted.row_names]:
        yield f"{name!r} is a column and should be the index"
        extra.remove(name)
    for name in [name for name in missing if name is not None and name in got.row_names]:
        yield f"{name!r} is the index and should be a column"
        missing.remove(name)
    if missing:
        yield f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    quoted = [] if got.hides_names and not tells else extra
    if quoted:
        yield f"{_listed(quoted)} {'is' if len(quoted) == 1 else 'are'} not asked for"
    if rest := len(extra) - len(quoted):
        yield f"{_count(rest, 'other column' if quoted else 'column')} {'is' if rest == 1 else 'are'} not asked for"


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, names[:FEW])) + (" and more" if len(names) > FEW else "")
    return f"column {shown}" if len(names) == 1 else f"columns {shown}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _pairs(got: Table, wanted: Table) -> list[Pair]:
    """Columns of one name in the expected order; for an index its levels, for a series its only column."""
    if wanted.kind == FRAME:
        return [(name, got.part(name), right) for name, right in zip(wanted.names, wanted.parts, strict=True)]
    columns, right = (_levels(one) if wanted.kind == INDEX else one.parts for one in (got, wanted))
    return [("", *pair) for pair in zip(columns, right, strict=True)]


# ---------------------------------------------------------------- dtypes


def _dtypes(got: Table, wanted: Table, how: How) -> Difference | None:
    for name, column, right in _pairs(got, wanted):
        families = _family(column), _family(right)
        other_family = None not in families and families[0] != families[1]
        if other_family or (how.dtypes and column.dtype != right.dtype):
            dtypes = _shown_dtype(column.dtype), _shown_dtype(right.dtype)
            if dtypes[0] != dtypes[1]:
                text = f"has dtype {dtypes[0]}{_in(name)} where {dtypes[1]} is wanted"
            elif families[0] != families[1]:
                text = f"holds {families[0]}{_in(name)} where {families[1]} are wanted"
            else:
                text = f"has another kind of {dtypes[0]}{_in(name)} than asked for"
            return Difference("dtype", text)
    return None


def _in(name: Any) -> str:
    return f" in column {name!r}" if name != "" else ""


def _shown_dtype(dtype: str) -> str:
    """A dtype without what a student's code can write into it: a time zone, the ends of an interval."""
    return re.sub(r"(?<=^period|terval)\[.*", "", re.sub(", .*", "]", dtype))


def _family(column: Column) -> str | None:
    """What a column holds, whatever its dtype; None if it is empty."""
    column = column.categories or column
    found = next((family for dtype, family in DTYPE_FAMILIES if re.fullmatch(dtype, column.dtype, re.IGNORECASE)), None)
    if found:
        return found
    families = {_family_of(item) for item in column.plain if item is not None}
    return None if not families else families.pop() if len(families) == 1 else "values of several kinds"


def _family_of(item: Any) -> str:
    return next((family for types, family in TYPE_FAMILIES if isinstance(item, types)), type(item).__name__)


# ---------------------------------------------------------------- index and cells


def _content(got: Table, wanted: Table, how: How) -> Difference | None:
    pairs, levels = _pairs(got, wanted), list[Pair]()
    columns = len(pairs)
    if how.index and wanted.kind != INDEX:
        index, right = _levels(got), _levels(wanted)
        if len(index) != len(right):
            return Difference("index", f"has an index of {_count(len(index), 'level')}, it should have {len(right)}")
        levels = [("", *pair) for pair in zip(index, right, strict=True)]
    # Rows that are only numbered lose their numbers when they are sorted.
    sortable = [*(levels if wanted.rows is not None else []), *pairs]
    if not how.row_order:
        in_order = _in_order(sortable)
        levels, pairs = in_order[: len(in_order) - columns], in_order[len(in_order) - columns :]
    wrong_level, wrong_cell = _first_wrong(levels, how), _first_wrong(pairs, how)
    if how.row_order and wrong_cell is not None and _first_wrong(_in_order(sortable), how) is None:
        return Difference("order", "has the right rows, but they stand in another order")
    if wrong_level is not None:
        return Difference("index", _index_text(wrong_level, wanted, how))
    return None if wrong_cell is None else Difference("value", _cell_text(wrong_cell, wanted, columns, how))


def _levels(table: Table) -> list[Column]:
    return [Column.of(np.arange(len(table)))] if table.rows is None else table.rows


@dataclass(frozen=True)
class _Wrong:
    """The first wrong cell of a column, and the number of rows in which the column is wrong."""

    name: Any
    row: int
    count: int
    got: Column
    wanted: Column


def _first_wrong(pairs: Sequence[Pair], how: How) -> _Wrong | None:
    for name, column, right in pairs:
        rows = np.flatnonzero(_wrong_rows(column, right, how.atol))
        if len(rows):
            return _Wrong(name, int(rows[0]), len(rows), column, right)
    return None


def _wrong_rows(column: Column, right: Column, atol: float) -> np.ndarray:
    a, b = column.numbers, right.numbers
    if a is None or b is None:
        return ~np.array([_same(x, y, atol) for x, y in zip(column.plain, right.plain, strict=True)], dtype=bool)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return np.asarray(a != b)
    return not_close(a.astype(float), b.astype(float), atol)


def _same(got: Any, wanted: Any, atol: float) -> bool:
    """Whether two cells are equal. A missing value equals a missing value."""
    if got is None or wanted is None or isinstance(got, Other):
        return got is wanted is None
    if (kinds := {type(got), type(wanted)}) <= {int, float} or kinds == {complex}:
        rounds = kinds != {int} and abs(got) < LARGEST > abs(wanted)
        return bool(got == wanted or (rounds and abs(got - wanted) <= atol * max(1, abs(wanted))))
    return type(got) is type(wanted) and same(got, wanted)


def _in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """The columns with the rows of both tables sorted."""
    if not pairs:
        return []
    # Columns of numbers come last, since they may differ by rounding.
    keys = sorted(pairs, key=lambda pair: _family(pair[2]) == "numbers")
    rows, right_rows = (
        sorted(range(len(pairs[0][1].values)), key=_key([pair[side] for pair in keys])) for side in (1, 2)
    )
    return [(name, taken(column, rows), taken(right, right_rows)) for name, column, right in pairs]


def _key(columns: Sequence[Column]) -> Callable[[int], Any]:
    plain = [column.plain for column in columns]

    def sortable(item: Any) -> Any:
        if type(item) is float:
            item = int(item) if item.is_integer() else f"{item:+.{DIGITS - 1}e}"
        return item is None, str(item)

    return lambda row: [sortable(column[row]) for column in plain]


def taken(column: Column, order: Sequence[int]) -> Column:
    """The column with its values in this order."""
    values = column.given
    return Column.of(values[order] if isinstance(values, np.ndarray) else [values[row] for row in order])


# ---------------------------------------------------------------- words


def _index_text(wrong: _Wrong, wanted: Table, how: How) -> str:
    if wanted.rows is None:
        return "has an index of its own; its rows should be numbered from 0"
    return f"has another index than asked for: it is {_quoted(wrong, how)} at row {wrong.row}"


def _cell_text(wrong: _Wrong, wanted: Table, columns: int, how: How) -> str:
    row = ""
    if how.row_order:
        has_labels = how.index and wanted.kind != INDEX  # the values of an index are what is asked for
        labels = [level.plain[wrong.row] for level in wanted.rows or []] if has_labels else []
        row = f" at row {', '.join(map(shown, labels or [wrong.row]))}"
    right = f", wanted {shown(wrong.wanted.plain[wrong.row])}" if how.tells else ", which is not right"
    text = f"is {_quoted(wrong, how)}{_in(wrong.name)}{row}{right}"
    count = len(wrong.wanted.values)
    if count == 1:
        return text
    of_column = "of this column " if columns > 1 else ""
    return f"{text} ({wrong.count} of {count} values {of_column}{'differs' if wrong.count == 1 else 'differ'})"


def _quoted(wrong: _Wrong, how: How) -> str:
    """The wrong value, as far as a message may quote it: a text only if the expected column has it, too."""
    got = wrong.got.plain[wrong.row]
    if got is None or isinstance(got, bool | int | float | complex):
        return shown(got)
    if how.tells or any(same(value, got) for value in wrong.wanted.plain):
        return shown(got)
    return {"texts": "another text", "times": "another time"}.get(_family_of(got), "another value")


def shown(value: Any) -> str:
    """A cell in a sentence: a number in four digits."""
    if value is None:
        return "missing"
    return in_four_digits(str(value) if isinstance(value, date | timedelta) else value)
