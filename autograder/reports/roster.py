"""The students of a class: a CSV file with a header and the columns `id`, `name` and `email`.

`id` is the name of the student's folder in `submitted/`. A name is `Ada Lovelace`, or `Lovelace, Ada`; the columns
`first_name` and `last_name` of nbgrader's own import are read as well, and `student` of Canvas's export. Other columns
are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.discovery import name_problem
from autograder.errors import AutograderError
from autograder.report import Report
from autograder.text import composed, shown_name

NOBODY = ("", "Points Possible")  # in Canvas's column `Student`: its second and sometimes third line
EMAIL = ("email", "e-mail", "email_address")
NOTHING = "nothing collected"
FORM = "a roster is a CSV file whose first line is: id,name,email"


@dataclass(frozen=True)
class Person:
    """A student of the class; everything except the id may be empty."""

    id: str
    first_name: str
    last_name: str
    email: str


def read_roster(path: Path) -> list[Person]:
    """The students in the file, in order. Raises `AutograderError` that names the wrong line."""
    found: dict[str, Person] = {}
    for number, values in read_table(path, ["id"], FORM):
        person = _person(values)
        if not person.id and values.get("student") in NOBODY:
            continue
        if not person.id:
            raise AutograderError(f"{path}, line {number}: no id; {FORM}")
        if "/" in person.id or (problem := name_problem(person.id)):
            reason = "it has a slash in it" if "/" in person.id else problem
            raise AutograderError(f"{path}, line {number}: '{shown_name(person.id)}' cannot be an id: {reason}")
        if person.id in found:
            raise AutograderError(f"{path}, line {number}: {person.id!r} appears twice; remove one")
        found[person.id] = person
    if not found:
        raise AutograderError(f"{path} lists nobody; {FORM}")
    return list(found.values())


def folders_of_numbers(ids: Collection[str], folders: Collection[str]) -> dict[str, str]:
    """The folder by number: Canvas's own list has numbers, with which its folders' names end."""
    numbers = {one for one in ids if one.isdigit()} - set(folders)
    return {number: name for name in folders if (number := name.rpartition("_")[2]) in numbers}


def _person(values: dict[str, str]) -> Person:
    first, last = values.get("first_name", ""), values.get("last_name", "")
    if not first and not last:
        first, last = _first_and_last(values.get("name") or values.get("student", ""))
    email = next((values[name] for name in EMAIL if values.get(name)), "")
    return Person(values.get("id", ""), first, last, email)


def _first_and_last(name: str) -> tuple[str, str]:
    """First and last name from `Ada Lovelace` or `Lovelace, Ada`; a single word is a last name."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return first.strip(), last


def with_absent(reports: Sequence[Report], students: Iterable[str]) -> list[Report]:
    """The reports, plus a failed one for each assignment that a student of the class has not submitted."""
    everybody = list(dict.fromkeys([*(report.student for report in reports), *students]))
    max_scores: dict[str, float] = {}
    for report in reports:
        max_scores[report.assignment] = max(max_scores.get(report.assignment, 0.0), report.max_score)
    submitted = {(report.assignment, report.student) for report in reports}
    absent = [
        Report(student, name, (), points, NOTHING)
        for name, points in max_scores.items()
        for student in everybody
        if (name, student) not in submitted
    ]
    return [*reports, *absent]


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
