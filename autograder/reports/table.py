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
    Raises `AutograderError` if a needed column is missing or stands there twice, a row has more values than there are
    columns, or the file cannot be read.
    """
    try:
        text = composed(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise AutograderError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AutograderError(f"{path} is not UTF-8 text; save it as `CSV UTF-8`") from None
    lines = text.splitlines(keepends=True)
    # Excel may write first how it separates columns.
    start = next((at for at, line in enumerate(lines) if line.strip() and not line.lower().startswith("sep=")), 0)
    lines = lines[start:] or [""]
    try:
        reader = csv.reader(lines, delimiter=max(",;\t", key=lines[0].count))
        head, *rows = [(start + reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise AutograderError(f"{path} is not a CSV file ({error}); {form}") from None
    names = [name.strip().lower().replace(" ", "_") for name in head[1]]
    columns = {name: place for place, name in enumerate(names)}
    for name in needed:
        if names.count(name) != 1:
            raise AutograderError(f"{path}: {'two columns' if name in names else 'no column'} `{name}`; {form}")
    for number, row in rows:
        if any(value.strip() for value in row[len(names) :]):
            raise AutograderError(
                f"{path}, line {number}: more values than columns; put a value with a comma in it in quotes; {form}"
            )
        values = {name: row[place].strip() if place < len(row) else "" for name, place in columns.items()}
        if any(values.values()):
            yield number, values
