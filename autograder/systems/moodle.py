"""Moodle: names of folders in the download, teams, and the grading worksheet.

`assignfeedback_file_zip_importer` finds a student by the number in the folder's name
(`Jane Doe_123456_assignsubmission_file`). `assignfeedback_offline_grade_importer` reads the grading worksheet by its
columns Identifier (`Participant 123456`), Grade and Last modified (grade).
https://github.com/moodle/moodle/tree/main/mod/assign
"""

from __future__ import annotations

import csv
import functools
import io
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import digits

from autograder.errors import AutograderError
from autograder.reports.marks_file import write
from autograder.reports.rubric import points
from autograder.systems.collecting import GROUPS, Handed, Owner
from autograder.systems.system import Return, System

# Columns of the worksheet, in English.
IDENTIFIER, NAME, GRADE, MAXIMUM = "Identifier", "Full name", "Grade", "Maximum Grade"
_AFTER_NUMBER = "_assignsubmission_"  # follows the owner and the number in Moodle's file names
_NO_SHEET = "Moodle finds each member of a group by the number in its worksheet; name it with --sheet"
_NO_NUMBER = {  # by how many the worksheet has
    0: f"not in the worksheet; correct the name in {GROUPS}, or download the worksheet again",
    2: "two people in the worksheet have this name, and only its group's folder says whose work this is; enter this "
    "mark in Moodle by hand",
}
_LIST = f"{GROUPS} beside archive/ (columns group and student"
_TEAM = re.compile(r"(?:group|team|gruppe|groupe|équipe|grupo|equipo|gruppo|groep)\b", re.IGNORECASE)


class Moodle(System):
    """`Jane Doe_123456_assignsubmission_file/first.ipynb`, or both in one name, belongs to `Jane Doe`.

    From `mod/assign/classes/downloader.php` of Moodle. The number differs in each assignment, so the name has to
    identify the student. If two students have one name, neither is collected, and both are reported. Where Moodle
    hides the names, all students are called `Participant`, and an id is `Participant_123456`.

    A team's work has the group's name, `Group A_12_assignsubmission_file`, or the default group's name and no number.
    """

    title = "Moodle"
    options = ("sheet",)
    _name = re.compile(r"(?P<name>[^_]+)(?:_(?P<user>\d+))?_assignsubmission_[a-z]+(?:_(?P<rest>.*))?")

    def owner(self, path: Path) -> Owner | None:
        """The owner of a file, from the outermost folder or file that Moodle has named."""
        found = self._outermost(path)
        if found is None:
            return None
        part, inside = found.string, path.parts[path.parts.index(found.string) + 1 :]
        folder = part if inside else part.removesuffix(f"_{found['rest'] or ''}")
        rest = "/".join(inside) if inside else found["rest"] or ""
        hidden, number = found["name"] in self.names_for_all, found["user"] or ""
        student = f"{found['name']}_{number}" if hidden else found["name"]
        return Owner(student, number, folder, f"{folder}/", rest)

    def _outermost(self, path: Path) -> re.Match[str] | None:
        """The outermost name on a path that Moodle has given; those below it were chosen by a student."""
        return next((found for part in path.parts if (found := self._name.fullmatch(part))), None)

    @functools.cached_property
    def names_for_all(self) -> set[str]:
        """The students' name where Moodle hides names: `Participant`, or the one name they share."""
        root = Path(self.extracted)
        found = [match for path in root.rglob("*") if (match := self._outermost(path.relative_to(root)))]
        names, numbers = {match["name"] for match in found}, {match["user"] for match in found}
        return {"Participant"} | (names if len(names) == 1 and len(numbers) > 2 else set())

    def why_no_student(self, owner: Owner) -> str:
        """A team's folder belongs to no student unless its members are listed. The roster says who is no team."""
        if not owner.number or _TEAM.match(owner.student):
            return f"this belongs to a group; list its members in {_LIST})"
        if self.groups and owner.student not in self.roster:
            return (
                f"this may be a group or a student; list a group's members in {_LIST}, a student as a group and its "
                "only member), or enter a roster that has the student as id with autograder roster, and collect again"
            )
        return ""

    def why_not(self, marks: bool, pages: bool, options: Mapping[str, str]) -> str:
        """Marks need Moodle's worksheet."""
        if marks and "sheet" not in options:
            return "Moodle takes back its own worksheet; name it with --sheet"
        return super().why_not(marks, pages, options)

    def with_numbers(self, handed: Handed, options: Mapping[str, str]) -> tuple[Handed, list[str]]:
        """A group's work under each member's own number, which the worksheet has beside the full name.

        In the names of files Moodle looks for a student's number, and would take the group's for one.
        """
        if not any(owner.group for owner in handed.values()):
            return handed, []
        numbers = defaultdict[str, list[str]](list)
        for row in _read(Path(options["sheet"])) if "sheet" in options else ():
            numbers[row.get(NAME, "")].append(_number_in(row))
        found, unknown = dict(handed), list[str]()
        for student, owner in handed.items():
            # The folder of a student who is a group of one has the student's own number.
            own = [number for number in numbers[student] if number == owner.number] or numbers[student]
            if owner.group and len(own) == 1:
                (number,), rest = own, owner.stem[owner.stem.index(_AFTER_NUMBER) :]
                found[student] = replace(owner, number=number, stem=f"{student}_{number}{rest}", group="")
            elif owner.group:
                del found[student]
                unknown.append(f"{student}: {_NO_NUMBER[min(2, len(own))] if 'sheet' in options else _NO_SHEET}")
        return found, unknown

    def write_marks(self, found: Return, path: Path) -> list[str]:
        """Write Moodle's own grading worksheet with the marks filled in."""
        sheet = _read(Path(found.options["sheet"]))
        students, warning, out = {marks.student: marks for marks in found.marks}, "", io.StringIO()
        by_number = {owner.number: students.get(student) for student, owner in found.handed.items() if owner.number}
        for row in sheet:
            marks = by_number.get(_number_in(row))
            if marks is not None and marks.score is not None:
                row[GRADE], maximum = points(marks.score), row.get(MAXIMUM, "")
                if _is_other_number(maximum, marks.max_score):
                    most = points(marks.max_score)
                    warning = f"Moodle's maximum grade is {maximum}, here it is {most}; set it in Moodle"
        writer = csv.DictWriter(out, [*filter(None, sheet[0])], lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(sheet)
        write(path, "\ufeff" + out.getvalue())
        return [warning] if warning else []


def _read(sheet: Path) -> list[dict[str, str]]:
    """The rows of Moodle's worksheet, by column. Raises `AutograderError` if it isn't one, or is empty."""
    try:
        with sheet.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, restval=""))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AutograderError(f"{sheet} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not rows or not {IDENTIFIER, GRADE} <= rows[0].keys():
        raise AutograderError(
            f"{sheet} has no columns {IDENTIFIER} and {GRADE}; in Moodle, in English, choose "
            "`Download grading worksheet` on the page of all submissions"
        )
    return rows


def _number_in(row: dict[str, str]) -> str:
    """A student's number in a row of the worksheet, or ""."""
    value = row[IDENTIFIER]
    return value[len(value.rstrip(digits)) :]


def _is_other_number(text: str, number: float) -> bool:
    try:
        return float(text) != number
    except ValueError:
        return False
