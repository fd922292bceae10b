"""How a wrong table differs from the right one: a missing column, too many rows, a single wrong column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from autograder.diagnosis.differences import ComparedCall
from autograder.testing.expect import kind_of
from autograder.testing.values.core.comparing import same_value
from autograder.testing.values.tables.table_comparison import How, difference, named, row_keys
from cellcage.values.core.objects import Form, Other
from cellcage.values.tables.table import Table

Find = Callable[[ComparedCall], str]
MOST_ROWS = 20_000


def _not_a_table(one: ComparedCall) -> str:
    got, wanted = one.values or (None, None)
    if not isinstance(wanted, Table) or len(wanted) > MOST_ROWS or isinstance(got, Table):
        return ""
    if isinstance(got, Other) and got.form is not Form.TWICE:
        return ""
    return f"Your code gives back {kind_of(got)} where {named(wanted)} is asked for."


def _both(one: ComparedCall) -> tuple[Table, Table] | None:
    """The student's table and the right one; None if one of them is no table, or the right one too long."""
    got, wanted = one.values or (None, None)
    if isinstance(got, Table) and isinstance(wanted, Table) and len(wanted) <= MOST_ROWS:
        return got, wanted
    return None


def _of(*sorts: str) -> Find:
    """Finds answers whose first difference, in order of importance, is of one of these sorts."""

    def find(one: ComparedCall) -> str:
        both = _both(one)
        found = difference(*both) if both else None
        return f"What comes back {found.text}." if found is not None and found.sort in sorts else ""

    return find


def _handed_back(one: ComparedCall) -> str:
    both = _both(one)
    given = [value for value in one.call.args if isinstance(value, Table)]
    if both is None or not any(same_value(both[0], value) for value in given):
        return ""
    return "What comes back is a table as it went in."


def _rows(one: ComparedCall) -> str:
    """Columns and rows are right, but rows are missing or too many."""
    both = _both(one)
    if both is None or both[0].names != both[1].names or len(both[0]) > MOST_ROWS:
        return ""
    actual, right = (Counter(map(repr, row_keys(table))) for table in both)
    missing, more = (right - actual).total(), (actual - right).total()
    if not actual or bool(missing) == bool(more):
        return ""
    if missing:
        return f"All of your rows are right, but {missing} of {len(both[1])} are missing."
    return f"All rows that are asked for are there, and {more} more."


def _one_column(one: ComparedCall) -> str:
    """A table has the right form, and some of its columns are wrong."""
    both = _both(one)
    if both is None:
        return ""
    got, wanted = both
    found = difference(got, wanted)
    if found is None or found.sort != "value":
        return ""
    names = wanted.names if len(wanted.parts) > 1 else []  # a single column, such as a series, may have any name
    wrong = [name for name in names if difference(got.only(name), wanted.only(name), How(index=False))]
    if len(wrong) == len(names):
        return f"What comes back has the right form, but it {found.text}."
    return f"All columns are right but {', '.join(map(repr, wrong))}: what comes back {found.text}."


# Arguments of `OfAnswer`: name, find, hint, with_another. The strongest evidence comes first.
BEFORE: tuple[tuple[str, Find, str, bool], ...] = (
    ("table-as-it-came", _handed_back, "Which line makes a new table, and is that the one that you return?", False),
    ("not-the-table", _not_a_table, "Print the type of what you give back. Which step changes it?", True),
    ("not-the-kind-of-table", _of("kind"), "Print the type of what you give back. Which step changes it?", True),
    ("other-columns", _of("columns"), "Print the columns of your table. Which names does the docstring give?", True),
    ("other-rows", _rows, "Which rows does the docstring ask for, and which line of yours chooses them?", True),
    ("another-size", _of("shape"), "Print the shape after each step: where does it part from what is asked for?", True),
    ("column-of-another-dtype", _of("dtype"), "Print the dtypes after each step. Which one makes this?", True),
    ("rows-in-another-order", _of("order"), "By what are your rows sorted, and does the docstring say by what?", False),
    ("another-index", _of("index"), "Print the index of your table. Which step should set it anew?", False),
)
AFTER = (("wrong-values", _one_column, "Work out this one cell by hand: which rows go into it?", True),)
