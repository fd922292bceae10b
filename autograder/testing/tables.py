"""How a table differs from the one that is asked for, the first thing that matters first.

It is no table; its rows and columns are too many or too few; a column is missing; a column holds something else; the
index is another; the rows stand in another order; one cell differs. Frames, series and indexes are compared alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.sandbox.protocol.objects import Other
from autograder.sandbox.protocol.of_pandas import is_of_pandas, table_from
from autograder.sandbox.protocol.tables import FRAME, INDEX, MOMENT, SERIES, SPAN, Column, Table
from autograder.testing.comparing import same_value

Pair = tuple[Any, Column, Column]  # a name, and what came and what is asked for under it
WITHIN = 1e-6  # of numbers, as `expect.TOLERANCE` has it
DIGITS = 6  # by which rows are put in order
LARGEST = 1e300  # beyond which whole numbers are compared as they are
LONGEST = 60  # characters of a value
FEW = 3  # columns that are named in one sentence
WORDS = {FRAME: "table", SERIES: "series", INDEX: "index", MOMENT: "time", SPAN: "length of time"}
FAMILIES = (
    (r"bool.*", "truth values"),
    (r"u?int.*|float.*|double.*|complex.*", "numbers"),
    (r"str.*|large_string.*|period.*|interval.*", "texts"),
    (r"datetime.*", "times"),
    (r"timedelta.*", "lengths of time"),
)
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "truth values"),
    ((int, float, complex, Decimal, Fraction), "numbers"),
    ((str,), "texts"),
    ((date,), "times"),
    ((timedelta,), "lengths of time"),
)


@dataclass(frozen=True)
class How:
    """What counts: see `expect.table`. tells: may what is wanted be told?"""

    row_order: bool = True
    column_order: bool = False
    dtypes: bool = False
    index: bool = True
    atol: float = WITHIN
    tells: bool = False


@dataclass(frozen=True)
class Difference:
    """The first thing that matters: "kind", "shape", "columns", "dtype", "index", "order" or "value"; in words."""

    sort: str
    text: str


def as_table(value: Any) -> Table | None:
    """A table, or something of pandas', as a table; None if it is neither, or cannot be one."""
    value = table_from(value) if is_of_pandas(value) else value
    return value if isinstance(value, Table) else None


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
    """How a table differs from the one that is asked for; None if it does not. The text begins behind `the result`."""
    if got.kind != wanted.kind:
        article = "an" if wanted.kind == INDEX else "a"
        return Difference("kind", f"is {named(got)}, it should be {article} {WORDS[wanted.kind]}")
    steps: tuple[Callable[[Table, Table, How], Difference | None], ...] = (_columns, _dtypes, _content)
    return next((found for step in steps if (found := step(got, wanted, how))), None)


# ---------------------------------------------------------------- columns


def _columns(got: Table, wanted: Table, how: How) -> Difference | None:
    """Of which shape it is, and what its columns are called; a series may be called anything."""
    said = "; ".join(_about_names(got, wanted, how.tells)) if wanted.kind == FRAME else ""
    mine, right = ((len(one), len(_levels(one) if one.kind == INDEX else one.parts)) for one in (got, wanted))
    if mine != right:
        text = f"has {_size(got)}, it should have {_size(wanted)}"
        return Difference("columns" if said and mine[0] == right[0] else "shape", f"{text}: {said}" if said else text)
    if said:
        return Difference("columns", f"has other columns than asked for: {said}")
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
    told = [name for name in extra if tells or name in got.quotable]
    if told:
        yield f"{_listed(told)} {'is' if len(told) == 1 else 'are'} not asked for"
    if len(told) < len(extra):
        rest = len(extra) - len(told)
        yield f"{_count(rest, 'other column' if told else 'column')} {'is' if rest == 1 else 'are'} not asked for"


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, names[:FEW])) + (" and more" if len(names) > FEW else "")
    return f"column {shown}" if len(names) == 1 else f"columns {shown}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _pairs(got: Table, wanted: Table) -> list[Pair]:
    """Columns of one name, or the only ones, in the order that is asked for; of an index its levels."""
    if wanted.kind == INDEX:
        return [("", mine, right) for mine, right in zip(_levels(got), _levels(wanted), strict=True)]
    if wanted.kind != FRAME:
        return [("", mine, right) for mine, right in zip(got.parts, wanted.parts, strict=True)]
    return [(name, got.part(name), right) for name, right in zip(wanted.names, wanted.parts, strict=True)]


# ---------------------------------------------------------------- dtypes


def _dtypes(got: Table, wanted: Table, how: How) -> Difference | None:
    for name, mine, right in _pairs(got, wanted):
        families = _family(mine), _family(right)
        if (how.dtypes and mine.dtype != right.dtype) or (None not in families and families[0] != families[1]):
            dtypes = _told_dtype(mine.dtype), _told_dtype(right.dtype)
            said = f"has dtype {dtypes[0]}{_in(name)} where {dtypes[1]} is wanted"
            if dtypes[0] == dtypes[1] and families[0] != families[1]:
                said = f"holds {families[0]}{_in(name)} where {families[1]} are wanted"
            elif dtypes[0] == dtypes[1]:
                said = f"has another kind of {dtypes[0]}{_in(name)} than asked for"
            return Difference("dtype", said)
    return None


def _in(name: Any) -> str:
    return f" in column {name!r}" if name != "" else ""


def _told_dtype(dtype: str) -> str:
    """Without what a student's code could write into it: a time zone, the ends of an interval."""
    return re.sub(r"(?<=^period|terval)\[.*", "", re.sub(", .*", "]", dtype))


def _family(column: Column) -> str | None:
    """What a column holds, whatever keeps it; None if nothing is in it."""
    column = column.categories or column
    found = next((family for dtype, family in FAMILIES if re.fullmatch(dtype, column.dtype, re.IGNORECASE)), None)
    if found:
        return found
    kinds = {_kind_of(item) for item in column.plain if item is not None}
    return None if not kinds else kinds.pop() if len(kinds) == 1 else "values of several kinds"


def _kind_of(item: Any) -> str:
    return next((family for types, family in KINDS if isinstance(item, types)), type(item).__name__)


# ---------------------------------------------------------------- index and cells


def _content(got: Table, wanted: Table, how: How) -> Difference | None:
    pairs, has_index = _pairs(got, wanted), how.index and wanted.kind != INDEX
    mine, right = (_levels(one) if has_index else [] for one in (got, wanted))
    if len(mine) != len(right):
        return Difference("index", f"has an index of {_count(len(mine), 'level')}, it should have {len(right)}")
    levels = [("", *pair) for pair in zip(mine, right, strict=True)]
    wrong, cell = _first_wrong(levels, how), _first_wrong(pairs, how)
    if how.row_order and wrong is None and cell is None:
        return None
    if not how.row_order or cell is not None:
        # Rows that are just numbered lose their numbers where they stand in another order.
        in_order = _in_order([*(levels if wanted.rows is not None else []), *pairs])
        if _first_wrong(in_order, how) is None:
            text = "has the right rows, but they stand in another order"
            return Difference("order", text) if how.row_order else None
        if not how.row_order:
            levels = in_order[: len(in_order) - len(pairs)]
            wrong, cell = _first_wrong(levels, how), _first_wrong(in_order[len(levels) :], how)
    if wrong is not None:
        return Difference("index", _index_text(wrong, wanted, how))
    assert cell is not None
    return Difference("value", _cell_text(cell, wanted, len(pairs), how))


def _levels(table: Table) -> list[Column]:
    return [Column.of(np.arange(len(table)))] if table.rows is None else table.rows


@dataclass(frozen=True)
class _Wrong:
    """The first wrong cell of a column, and in how many of its rows it is wrong."""

    name: Any
    row: int
    count: int
    got: Column
    wanted: Column


def _first_wrong(pairs: Sequence[Pair], how: How) -> _Wrong | None:
    for name, mine, right in pairs:
        rows = np.flatnonzero(_wrong_in(mine, right, how.atol))
        if len(rows):
            return _Wrong(name, int(rows[0]), len(rows), mine, right)
    return None


def _wrong_in(mine: Column, right: Column, atol: float) -> np.ndarray:
    a, b = mine.numbers, right.numbers
    if a is None or b is None:
        same = [_same(x, y, atol) for x, y in zip(mine.plain, right.plain, strict=True)]
        return ~np.array(same, dtype=bool)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return np.asarray(a != b)
    a, b = a.astype(float), b.astype(float)
    with np.errstate(all="ignore"):
        return np.asarray(~((np.abs(a - b) <= atol * np.maximum(1, np.abs(b))) | (a == b) | ((a != a) & (b != b))))


def _same(one: Any, other: Any, atol: float) -> bool:
    """Are two cells equal? What is missing equals what is missing."""
    if one is None or other is None or isinstance(one, Other):
        return one is other is None
    if type(one) in (int, float) and type(other) in (int, float):
        return one == other or (
            float in (type(one), type(other))
            and abs(one) < LARGEST > abs(other)
            and abs(float(one) - float(other)) <= atol * max(1, abs(float(other)))
        )
    return type(one) is type(other) and same_value(one, other)


def _in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """Columns with the rows of both tables in an order of their own."""
    # Numbers come last, which may differ by their rounding.
    keys = sorted(pairs, key=lambda pair: _family(pair[2]) == "numbers")
    mine, right = (
        sorted(range(len(pairs[0][1].values)), key=_key([pair[side] for pair in keys])) if pairs else []
        for side in (1, 2)
    )
    return [(name, _taken(one, mine), _taken(other, right)) for name, one, other in pairs]


def _key(columns: Sequence[Column]) -> Callable[[int], Any]:
    plain = [column.plain for column in columns]

    def sortable(item: Any) -> Any:
        if type(item) is float:
            item = int(item) if item.is_integer() else f"{item:+.{DIGITS - 1}e}"
        return item is None, str(item)

    return lambda row: [sortable(column[row]) for column in plain]


def _taken(column: Column, order: Sequence[int]) -> Column:
    plain = column.given
    return Column.of(plain[order] if isinstance(plain, np.ndarray) else [plain[row] for row in order])


# ---------------------------------------------------------------- words


def _index_text(wrong: _Wrong, wanted: Table, how: How) -> str:
    if wanted.rows is None:
        return "has an index of its own; its rows should be numbered from 0"
    return f"has another index than asked for: it is {_told(wrong, how)} at row {wrong.row}"


def _cell_text(wrong: _Wrong, wanted: Table, columns: int, how: How) -> str:
    row = ""
    if how.row_order:
        has_labels = how.index and wanted.kind != INDEX  # an index has nothing but what is asked for
        labels = [level.plain[wrong.row] for level in wanted.rows or []] if has_labels else []
        row = f" at row {', '.join(map(shown, labels or [wrong.row]))}"
    count = len(wrong.wanted.values)
    of = f" ({wrong.count} of {count} values {'of this column ' if columns > 1 else ''}differ)" if count > 1 else ""
    of = of.replace("differ)", "differs)") if wrong.count == 1 else of
    right = f", wanted {shown(wrong.wanted.plain[wrong.row])}" if how.tells else ", which is not right"
    return f"is {_told(wrong, how)}{_in(wrong.name)}{row}{right}{of}"


def _told(wrong: _Wrong, how: How) -> str:
    """What came, as far as a message may say it: a text only if it stands elsewhere in what is asked for."""
    got = wrong.got.plain[wrong.row]
    if got is None or isinstance(got, bool | int | float | complex | Decimal | Fraction):
        return shown(got)
    if how.tells or any(same_value(one, got) for one in wrong.wanted.plain):
        return shown(got)
    return {"texts": "another text", "times": "another time"}.get(_kind_of(got), "another value")


def shown(value: Any) -> str:
    """A value in a sentence: a number in four digits."""
    if isinstance(value, complex):
        return f"{value:.4g}"
    if value is None:
        return "missing"
    if isinstance(value, Fraction):
        value = Decimal(value.numerator) / value.denominator
    if isinstance(value, int) and abs(value) > 10**9:
        value = float(value) if abs(value) < LARGEST else Decimal(value)
    if isinstance(value, float | Decimal):
        return f"{value:.4g}"
    return repr(str(value) if isinstance(value, date | timedelta) else value)[:LONGEST]


def row_keys(table: Table) -> list[Any]:
    """Each row as what tells it from others, numbers by their first digits."""
    return [*map(_key(table.parts), range(len(table)))]
