"""Marks and feedback pages back to where the submissions came from: `autograder return`.

The names in the downloaded zip say whose a file is. A system finds the student by the same names when a zip is
uploaded to it, so every page gets the name that the notebook had.

- Canvas: `Assignment#infer_comment_context_from_filename` takes the first two numbers between underscores for the
  user's and the file's (`doejane_4321_98765_first.ipynb`), and ignores a file that is not of that user's
  submission. `GradebookImporter` wants `Student, ID, Section` first, finds a student by ID, and a column by its title,
  or by the number in brackets at its end. https://github.com/instructure/canvas-lms
- Gradescope: see `returning_gradescope`.
- Moodle: `assignfeedback_file_zip_importer` finds a student by the number in the folder's name
  (`Jane Doe_123456_assignsubmission_file`). `assignfeedback_offline_grade_importer` reads the grading worksheet by
  its columns Identifier (`Participant 123456`), Grade and Last modified (grade).
  https://github.com/moodle/moodle/tree/main/mod/assign/feedback
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader.collectors import Canvas, Gradescope, Moodle
from autograder.nbgrader.grading_status import grading_statuses
from autograder.nbgrader.system_collector import collected_as
from autograder.reports.marks_file import as_csv
from autograder.reports.plain_text import points

HIDDEN = "while Canvas hides the names, it takes no marks from a file"
CANVAS_HEAD = ("Student", "ID", "Section")
# Of Moodle's worksheet, in English.
IDENTIFIER, NAME, GRADE, MAXIMUM = "Identifier", "Full name", "Grade", "Maximum Grade"
_AFTER_NUMBER = "_assignsubmission_"  # in a name of Moodle's, after whose it is
_BY_NUMBER = "by which Moodle finds each member of a group; name it with --sheet"
System = Literal["canvas", "moodle", "gradescope"]  # where submissions come from, and marks go to
COLLECTORS: dict[System, Any] = {"canvas": Canvas, "moodle": Moodle, "gradescope": Gradescope}


@dataclass(frozen=True)
class Handed:
    """One student's notebook as the system named it: the student's number there, and the beginning of its name.

    group: it is of a group that the student is in, so the number is not the student's own
    """

    student: str
    number: str
    stem: str
    group: bool = False


@dataclass(frozen=True)
class StudentMarks:
    """One student's marks now. `score` is None if there are none, and `problem` says why, or what is not final."""

    student: str
    name: str
    score: float | None
    max_score: float
    problem: str = ""


def handed_in(nbgrader: Any, assignment: Assignment, system: System) -> tuple[dict[str, Handed], list[str]]:
    """Whose is what, by student, from what `nbgrader zip_collect` has unpacked; and a sentence for all it has left.

    It is the collector that says whose a file is, so that marks go back to where a notebook came from.
    Raises `AutograderError` if there is nothing of this system.
    """
    folder = Path(nbgrader.coursedir.root, "downloaded", assignment.name, "extracted")
    collector = COLLECTORS[system](extracted=str(folder))
    found = dict[str, Handed]()
    for path, owner in collector.sorted_out.taken.items():
        ours = collected_as(owner) == assignment.notebook.name
        for student in (owner.student, *(owner.others if owner.for_each else ())):
            if path.suffix == ".ipynb" and (ours or student not in found):
                found[student] = Handed(student, owner.number, owner.stem, owner.for_each)
    if not found:
        raise AutograderError(
            f"{folder}: nothing that {system.capitalize()} has named; download the submissions there, and collect them "
            f"with nbgrader zip_collect {assignment.name}{''.join(f'; {sentence}' for sentence in collector.left[:1])}"
        )
    hidden = [f"{one.student}: {HIDDEN}" for one in found.values() if _is_hidden(one)]
    return found, [*(f"not collected, so nothing goes back: {sentence}" for sentence in collector.left), *hidden]


def _is_hidden(one: Handed) -> bool:
    """Has Canvas hidden the name, and with it the number that it finds a student by?"""
    return one.number.startswith("anon_")


def marks(nbgrader: Any, assignment: Assignment) -> list[StudentMarks]:
    """Everybody's marks in the gradebook, with manual grades, less penalties for late work."""
    coursedir = nbgrader.coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return [_mark(one) for one in grading_statuses(book, coursedir) if one.assignment == assignment.name]


def _mark(one: Any) -> StudentMarks:
    person = one.student
    name = ", ".join(word for word in (person.last_name, person.first_name) if word) or person.id
    if one.submission is None:
        return StudentMarks(person.id, name, None, one.max_score, one.problem)
    notebooks = one.submission.notebooks
    score = round(sum(n.score - (n.late_submission_penalty or 0.0) for n in notebooks), 2)
    waits = sum(grade.needs_manual_grade for n in notebooks for grade in n.grades)
    problem = one.problem or (f"{waits} of the cells wait for a person; this is the sum without them" if waits else "")
    return StudentMarks(person.id, name, score, one.max_score, problem)


def canvas_csv(found: Sequence[StudentMarks], handed: dict[str, Handed], column: str) -> str:
    """What Canvas imports in its gradebook; who has no marks keeps an empty field, which changes nothing there."""
    rows = [
        (one.name, handed[one.student].number, "", "" if one.score is None else points(one.score))
        for one in found
        if one.student in handed and not _is_hidden(handed[one.student])
    ]
    return as_csv((*CANVAS_HEAD, column), rows)


def moodle_csv(sheet: Path, found: Sequence[StudentMarks], handed: dict[str, Handed]) -> tuple[str, str]:
    """Moodle's own grading worksheet with the marks filled in, and what somebody should know of it; or "".

    All else stays as Moodle wrote it, to the byte, so that it accepts the file. Raises `AutograderError` if it is none.
    """
    text, rows = _read(sheet)
    students, told, at, out = {one.student: one for one in found}, "", 0, io.StringIO()
    by_number = {one.number: students.get(one.student) for one in handed.values() if one.number and not one.group}
    for row in rows:
        values = {name: _value(field[0]) for name, field in row.items()}
        one = by_number.get(_number_in(values))
        if one is None or one.score is None or GRADE not in values:
            continue
        place = row[GRADE]
        out.write(text[at : place.start()] + points(one.score))
        at = place.end()
        if _number(values.get(MAXIMUM, "")) not in (None, one.max_score):
            told = f"Moodle's maximum grade is {values[MAXIMUM]}, here it is {points(one.max_score)}; set it in Moodle"
    return out.getvalue() + text[at:], told


def each_member(sheet: Path | None, handed: dict[str, Handed]) -> tuple[dict[str, Handed], list[str]]:
    """Work of a group under each member's own number, which Moodle's worksheet has beside the full name.

    In the names of files Moodle looks for a student's number, and would take the group's for one.
    Returns that, and a sentence for each member whose number is not known: nothing goes back to them.
    """
    if not any(one.group for one in handed.values()):
        return handed, []
    numbers = defaultdict[str, list[str]](list)
    for row in _read(sheet)[1] if sheet else ():
        values = {name: _value(field[0]) for name, field in row.items()}
        numbers[values.get(NAME, "")].append(_number_in(values))
    found, left = dict(handed), list[str]()
    for student, one in handed.items():
        if one.group and len(numbers[student]) == 1:
            rest = one.stem[one.stem.index(_AFTER_NUMBER) :]
            found[student] = Handed(student, numbers[student][0], f"{student}_{numbers[student][0]}{rest}")
        elif one.group:
            del found[student]
            left.append(f"{student}: {'twice' if numbers[student] else 'not'} in the worksheet, {_BY_NUMBER}")
    return found, left


def _read(sheet: Path) -> tuple[str, list[dict[str, re.Match[str]]]]:
    """Moodle's worksheet: its text, and of each row the fields by column. Raises `AutograderError` if it is none."""
    try:
        text = sheet.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AutograderError(f"{sheet} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    head, *rows = _fields(text)
    names = [_value(field[0]) for field in head]
    if IDENTIFIER not in names or GRADE not in names:
        raise AutograderError(
            f"{sheet} has no columns {IDENTIFIER} and {GRADE}; in Moodle, in English, choose "
            "`Download grading worksheet` on the page of all submissions"
        )
    return text, [dict(zip(names, row, strict=False)) for row in rows]


def _number_in(row: dict[str, str]) -> str:
    """A student's number in a row of the worksheet, or ""."""
    number = re.search(r"\d+$", row.get(IDENTIFIER, ""))
    return number[0] if number else ""


_FIELD = re.compile(r'(?:"(?:[^"]|"")*"|[^",\r\n])*')


def _fields(text: str) -> Iterator[list[re.Match[str]]]:
    """The fields of each row of a CSV file, each with its place; quotes may hold commas and line breaks."""
    at, row = int(text.startswith("\ufeff")), []
    while at <= len(text):
        field = _FIELD.match(text, at)
        assert field is not None
        row.append(field)
        at = field.end() + 1
        if text[field.end() : at] != ",":
            yield row
            row = []
            at += text[field.end() : field.end() + 2] == "\r\n"
            if at >= len(text):
                return


def _value(field: str) -> str:
    return field[1:-1].replace('""', '"') if len(field) > 1 and field[0] == field[-1] == '"' else field


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def write_pages(nbgrader: Any, assignment: Assignment, handed: dict[str, Handed], path: Path) -> list[str]:
    """Write the zip of feedback pages under the names that the system knows. Returns who has no page."""
    coursedir, missing = nbgrader.coursedir, []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, one in sorted(handed.items()):
            folder = Path(coursedir.format_path(coursedir.feedback_directory, student, assignment.name))
            page = folder / f"{assignment.notebook.stem}.html"
            if page.is_file():
                archive.write(page, f"{one.stem}{page.name}")
            else:
                missing.append(student)
    return missing


def without_marks(found: Sequence[StudentMarks], handed: dict[str, Handed]) -> Iterator[str]:
    """A sentence for everybody who has handed in there and has no marks."""
    known = {one.student for one in found}
    yield from (f"{one.student}: {one.problem}" for one in found if one.score is None and one.student in handed)
    yield from (f"{student}: not in the gradebook yet" for student in handed if student not in known)


def to_know(found: Sequence[StudentMarks], handed: dict[str, Handed]) -> Iterator[str]:
    """A sentence for everybody whose marks are not final, or who handed in elsewhere."""
    for one in found:
        if one.score is not None and one.student not in handed:
            yield f"{one.student} has marks, and is not among the downloaded submissions"
        elif one.score is not None and one.problem:
            yield f"{one.student}: {one.problem}"
