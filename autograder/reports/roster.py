"""Who is in the class: a CSV file with a header and the columns `id`, `name` and `email`, as a spreadsheet saves it.

`id` is the name of the student's folder in `submitted/`. A name is `Ada Lovelace`, or `Lovelace, Ada`; the columns
`first_name` and `last_name` of nbgrader's own import are read as well. Other columns are passed over.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import AutograderError
from autograder.report import Report

NOTHING = "nothing handed in"
FORM = "a roster is a CSV file whose first line is: id,name,email"


@dataclass(frozen=True)
class Person:
    """A student of the class; all but the id may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def read_roster(path: Path) -> list[Person]:
    """Everybody in the file, in order. Raises `AutograderError` with the line that is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise AutograderError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AutograderError(f"{path} is not UTF-8 text; save it as `CSV UTF-8`") from None
    head, *rows = csv.reader(text.splitlines(), delimiter=_delimiter(text)) if text.strip() else [[]]
    columns = {name.strip().lower().replace(" ", "_"): place for place, name in enumerate(head)}
    if "id" not in columns:
        raise AutograderError(f"{path}: no column `id`; {FORM}")
    found: dict[str, Person] = {}
    for number, row in enumerate(rows, start=2):
        values = {name: row[place].strip() for name, place in columns.items() if place < len(row)}
        if not any(values.values()):
            continue
        person = _person(values)
        if not person.id:
            raise AutograderError(f"{path}, line {number}: no id; {FORM}")
        if person.id in found:
            raise AutograderError(f"{path}, line {number}: {person.id!r} stands there twice; take one of them away")
        found[person.id] = person
    if not found:
        raise AutograderError(f"{path} names nobody; {FORM}")
    return list(found.values())


def _delimiter(text: str) -> str:
    """A spreadsheet that writes 3,5 for 3.5 puts semicolons between columns."""
    head = text.splitlines()[0]
    return ";" if head.count(";") > head.count(",") else ","


def _person(values: dict[str, str]) -> Person:
    first, last = values.get("first_name", ""), values.get("last_name", "")
    if not first and not last:
        first, last = names_in(values.get("name", ""))
    return Person(values.get("id", ""), first, last, values.get("email", ""))


def names_in(name: str) -> tuple[str, str]:
    """First and last name of `Ada Lovelace` or `Lovelace, Ada`; one word is a last name."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return first.strip(), last


def with_absent(reports: Sequence[Report], students: Iterable[str] = ()) -> list[Report]:
    """The reports, and one for each assignment of whoever else is in the class and has handed in nothing there."""
    everybody = list(dict.fromkeys([*(report.student for report in reports), *students]))
    worth: dict[str, float] = {}
    for report in reports:
        worth[report.assignment] = max(worth.get(report.assignment, 0.0), report.max_score)
    there = {(report.assignment, report.student) for report in reports}
    absent = [
        Report(student, name, (), points, NOTHING)
        for name, points in worth.items()
        for student in everybody
        if (name, student) not in there
    ]
    return [*reports, *absent]
