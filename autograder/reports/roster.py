"""The students of a class: a CSV file with a header and the columns `id`, `name` and `email`.

`id` is the name of the student's folder in `submitted/`. A name is `Ada Lovelace`, or `Lovelace, Ada`; the columns
`first_name` and `last_name` of nbgrader's own import are read as well. Other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import AutograderError
from autograder.report import Report
from autograder.reports.table import read_table

NOTHING = "nothing handed in"
FORM = "a roster is a CSV file whose first line is: id,name,email"


@dataclass(frozen=True)
class Person:
    """A student of the class; everything except the id may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def read_roster(path: Path) -> list[Person]:
    """The students in the file, in order. Raises `AutograderError` that names the wrong line."""
    found: dict[str, Person] = {}
    for number, values in read_table(path, ["id"], FORM):
        person = _person(values)
        if not person.id:
            raise AutograderError(f"{path}, line {number}: no id; {FORM}")
        if person.id in found:
            raise AutograderError(f"{path}, line {number}: {person.id!r} stands there twice; take one of them away")
        found[person.id] = person
    if not found:
        raise AutograderError(f"{path} names nobody; {FORM}")
    return list(found.values())


def _person(values: dict[str, str]) -> Person:
    first, last = values.get("first_name", ""), values.get("last_name", "")
    if not first and not last:
        first, last = names_in(values.get("name", ""))
    return Person(values.get("id", ""), first, last, values.get("email", ""))


def names_in(name: str) -> tuple[str, str]:
    """First and last name from `Ada Lovelace` or `Lovelace, Ada`; a single word is a last name."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return first.strip(), last


def with_absent(reports: Sequence[Report], students: Iterable[str] = ()) -> list[Report]:
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
