"""Reads tables that people saved from a spreadsheet.

Spreadsheets in countries that write 3,5 for 3.5 separate columns by semicolons. Columns may stand in any order, and
their names may have capital letters.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.errors import AutograderError
from autograder.text import composed


def read_table(path: Path, needed: Collection[str], form: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row that is not empty: its line, and its values by column; a space in a column's name becomes `_`.

    form: says how the file should look, for errors
    Raises `AutograderError` if a needed column is missing, or the file cannot be read.
    """
    try:
        text = composed(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise AutograderError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AutograderError(f"{path} is not UTF-8 text; save it as `CSV UTF-8`") from None
    lines = text.splitlines() or [""]
    try:
        head, *rows = csv.reader(lines, delimiter=max(",;\t", key=lines[0].count))
    except csv.Error as error:
        raise AutograderError(f"{path} is not a CSV file ({error}); {form}") from None
    columns = {name.strip().lower().replace(" ", "_"): place for place, name in enumerate(head)}
    for name in needed:
        if name not in columns:
            raise AutograderError(f"{path}: no column `{name}`; {form}")
    for number, row in enumerate(rows, start=2):
        values = {name: row[place].strip() if place < len(row) else "" for name, place in columns.items()}
        if any(values.values()):
            yield number, values
