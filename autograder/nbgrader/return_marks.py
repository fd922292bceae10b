"""Marks and feedback pages back to where the submissions came from: `autograder return`.

The names in the downloaded zip say whose a file is. A system reads the same names when a zip is uploaded to it, so each
page gets the name that the notebook had.

- Canvas: `Assignment#infer_comment_context_from_filename` takes the first two numbers between underscores for the
  user's and the file's (`doejane_4321_98765_first.ipynb`), and ignores a file that is not of that user's
  submission. `GradebookImporter` wants `Student, ID, Section` first, finds a student by ID, and a column by its title,
  or by the number in brackets at its end. https://github.com/instructure/canvas-lms
- Gradescope imports no marks, so it gets an autograder that only hands out each submission's finished marks. It tells
  an autograder the submission's number in `submission_metadata.json` and takes `results.json` for it. So a zip with a
  `results.json` for each number brings back all that counts in the gradebook: manual grades, comments, penalties for
  late work. It holds no suite and runs no student code.
  https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Moodle: `assignfeedback_file_zip_importer` finds a student by the number in the folder's name
  (`Jane Doe_123456_assignsubmission_file`). `assignfeedback_offline_grade_importer` reads the grading worksheet by
  its columns Identifier (`Participant 123456`), Grade and Last modified (grade).
  https://github.com/moodle/moodle/tree/main/mod/assign/feedback
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import digits
from typing import Any, Literal, NamedTuple

from nbgrader.api import Gradebook

from autograder.course import CHECK, Assignment
from autograder.errors import AutograderError, SubmissionError
from autograder.nbgrader.collectors import Canvas, Gradescope, Moodle
from autograder.nbgrader.feedback_page import to_look_at_again
from autograder.nbgrader.gradebook_export import GradingStatus, grading_statuses
from autograder.nbgrader.gradebook_rows import autograded_folder, class_list, comments_of, total
from autograder.nbgrader.system_collector import GROUPS, Owner, collected_as
from autograder.reading import parse_json, read_bytes
from autograder.reports.marks_file import as_csv
from autograder.reports.plain_text import points
from autograder.submission import grade_id
from autograder.text import shown_name

HIDDEN = "while Canvas hides the names, it takes no marks from a file"
CANVAS_HEAD = ("Student", "ID", "Section")
# Of Moodle's worksheet, in English.
IDENTIFIER, NAME, GRADE, MAXIMUM = "Identifier", "Full name", "Grade", "Maximum Grade"
_AFTER_NUMBER = "_assignsubmission_"  # follows the owner and the number in Moodle's file names
_BY_NUMBER = "by which Moodle finds each member of a group; name it with --sheet"
GRADESCOPE_FILES = Path(__file__).parent / "templates" / "gradescope_marks"
MAX_BYTES = 100 * 2**20  # of an autograded notebook
System = Literal["canvas", "moodle", "gradescope"]  # where submissions come from, and marks go to
COLLECTORS: dict[System, Any] = {"canvas": Canvas, "moodle": Moodle, "gradescope": Gradescope}


@dataclass(frozen=True)
class StudentMarks:
    """One student's marks now. `score` is None if there are none; `problem` says why, or what is not final."""

    student: str
    name: str
    score: float | None
    max_score: float
    problem: str = ""


def handed_in(nbgrader: Any, assignment: Assignment, system: System) -> tuple[dict[str, Owner], list[str]]:
    """Each student as the owner of a notebook, and a sentence for all that was not collected.

    Reads what `nbgrader zip_collect` has unpacked, with the same collector, so that marks go back to where a notebook
    came from. Raises `AutograderError` if nothing comes from this system.
    """
    folder = Path(nbgrader.coursedir.root, "downloaded", assignment.name, "extracted")
    known = {"notebook": assignment.notebook.name, "roster": class_list(nbgrader.coursedir)}
    collector = COLLECTORS[system](extracted=str(folder), **known)
    found = dict[str, Owner]()
    for path, owner in collector.sorted_out.taken.items():
        is_ours = collected_as(owner) == assignment.notebook.name
        for student in (owner.student, *(owner.others if owner.group else ())):
            if path.suffix == ".ipynb" and (is_ours or student not in found):
                found[student] = replace(owner, student=student)
    if not found:
        raise AutograderError(
            f"{folder}: nothing that {system.capitalize()} has named; download the submissions there, and collect them "
            f"with nbgrader zip_collect {assignment.name}{''.join(f'; {sentence}' for sentence in collector.left[:1])}"
        )
    hidden = [f"{owner.student}: {HIDDEN}" for owner in found.values() if _is_hidden(owner)]
    return found, [*(f"not collected, so nothing goes back: {sentence}" for sentence in collector.left), *hidden]


def _is_hidden(owner: Owner) -> bool:
    """True if Canvas has hidden the name, and with it the number by which it finds a student."""
    return owner.number.startswith("anon_")


def marks(nbgrader: Any, assignment: Assignment) -> list[StudentMarks]:
    """Everybody's marks in the gradebook, with manual grades, less penalties for late work."""
    coursedir = nbgrader.coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return [_marks(status) for status in grading_statuses(book, coursedir) if status.assignment == assignment.name]


def _marks(status: GradingStatus) -> StudentMarks:
    person, problem = status.student, status.problem
    name = ", ".join(word for word in (person.last_name, person.first_name) if word) or person.id
    if status.submission is None:
        return StudentMarks(person.id, name, None, status.max_score, problem)
    notebooks = status.submission.notebooks
    score = round(sum(total(n.score, n.late_submission_penalty) for n in notebooks), 2)
    problem = problem or "; ".join(_not_final(notebooks))
    return StudentMarks(person.id, name, score, status.max_score, problem)


def _not_final(notebooks: Sequence[Any]) -> Iterator[str]:
    """A sentence for what waits for a person, and one for what a person has to look at again."""
    again = [name for notebook in notebooks for name in to_look_at_again(notebook)]
    waits = sum(grade.needs_manual_grade for n in notebooks for grade in n.grades) - len(again)
    if waits:
        yield f"{waits} of the cells wait for a person; this is the sum without them"
    if again:
        names = ", ".join(name.removeprefix(CHECK) for name in again)
        yield f"a person's points for {names} are for an earlier answer and wait for another look; they are in this sum"


def canvas_csv(found: Sequence[StudentMarks], handed: dict[str, Owner], column: str) -> str:
    """What Canvas imports in its gradebook. Without marks the field is empty, which changes nothing there."""
    rows = [
        (marks.name, handed[marks.student].number, "", "" if marks.score is None else points(marks.score))
        for marks in found
        if marks.student in handed and not _is_hidden(handed[marks.student])
    ]
    return as_csv((*CANVAS_HEAD, column), rows)


def moodle_csv(sheet: Path, found: Sequence[StudentMarks], handed: dict[str, Owner]) -> tuple[str, str]:
    """Moodle's own grading worksheet with the marks filled in, and a warning about it, or "".

    Every other byte stays as Moodle wrote it, so that it accepts the file. Raises `AutograderError` if it is no
    worksheet.
    """
    text, rows = _read(sheet)
    students, warning, at, out = {marks.student: marks for marks in found}, "", 0, io.StringIO()
    by_number = {
        owner.number: students.get(owner.student) for owner in handed.values() if owner.number and not owner.group
    }
    for row in rows:
        marks = by_number.get(_number_in(row))
        if marks is None or marks.score is None or GRADE not in row:
            continue
        out.write(text[at : row[GRADE].start] + points(marks.score))
        at = row[GRADE].end
        maximum = row[MAXIMUM].value if MAXIMUM in row else ""
        if _is_other_number(maximum, marks.max_score):
            warning = f"Moodle's maximum grade is {maximum}, here it is {points(marks.max_score)}; set it in Moodle"
    return out.getvalue() + text[at:], warning


def canvas_members(handed: Mapping[str, Owner]) -> tuple[dict[str, Owner], list[str]]:
    """A group's work under each member's own number, with which Canvas's ids end: the file has only one of them.

    Also returns a sentence for each member whose id has none, and to whom nothing goes back.
    """
    found, unknown = dict(handed), list[str]()
    for student, owner in handed.items():
        number = student.rpartition("_")[2]
        if owner.group and number.isdigit():
            stem = owner.stem.replace(f"_{owner.number}_", f"_{number}_", 1)
            found[student] = replace(owner, number=number, stem=stem, group="")
        elif owner.group:
            del found[student]
            unknown.append(f"{student}: no number at the end, by which Canvas finds a member; write it in {GROUPS}")
    return found, unknown


def check_numbers(handed: Mapping[str, Owner]) -> None:
    """Raise `AutograderError` if two students have one number: the system would give one the other's marks."""
    by_number = defaultdict[str, list[str]](list)
    for student, owner in handed.items():
        by_number[owner.number].append(student)
    for number, students in by_number.items():
        if number and len(students) > 1:
            raise AutograderError(
                f"{' and '.join(map(shown_name, students))} would both go back as number {number}, so nothing is "
                f"written; correct the wrong name in downloaded/, or in {GROUPS}, and collect again"
            )


def each_member(sheet: Path | None, handed: dict[str, Owner]) -> tuple[dict[str, Owner], list[str]]:
    """A group's work under each member's own number, which Moodle's worksheet has beside the full name.

    In the names of files Moodle looks for a student's number, and would take the group's for one.
    Also returns a sentence for each member whose number is not known, and to whom nothing goes back.
    """
    if not any(owner.group for owner in handed.values()):
        return handed, []
    numbers = defaultdict[str, list[str]](list)
    for row in _read(sheet)[1] if sheet else ():
        numbers[row[NAME].value if NAME in row else ""].append(_number_in(row))
    found, unknown = dict(handed), list[str]()
    for student, owner in handed.items():
        if owner.group and len(numbers[student]) == 1:
            (number,), rest = numbers[student], owner.stem[owner.stem.index(_AFTER_NUMBER) :]
            found[student] = replace(owner, number=number, stem=f"{student}_{number}{rest}", group="")
        elif owner.group:
            del found[student]
            unknown.append(f"{student}: {'twice' if numbers[student] else 'not'} in the worksheet, {_BY_NUMBER}")
    return found, unknown


class _Field(NamedTuple):
    """A field of a CSV file, and its place in the text."""

    value: str
    start: int
    end: int


def _read(sheet: Path) -> tuple[str, list[dict[str, _Field]]]:
    """Moodle's worksheet: its text, and each row's fields by column. Raises `AutograderError` if it is none."""
    try:
        text = sheet.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AutograderError(f"{sheet} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    head, *rows = _fields(text)
    names = [field.value for field in head]
    if IDENTIFIER not in names or GRADE not in names:
        raise AutograderError(
            f"{sheet} has no columns {IDENTIFIER} and {GRADE}; in Moodle, in English, choose "
            "`Download grading worksheet` on the page of all submissions"
        )
    return text, [dict(zip(names, row, strict=False)) for row in rows]


def _number_in(row: dict[str, _Field]) -> str:
    """A student's number in a row of the worksheet, or ""."""
    value = row[IDENTIFIER].value if IDENTIFIER in row else ""
    return value[len(value.rstrip(digits)) :]


# A quotation without an end goes on to the end of the text, so that no character is read twice.
_FIELD = re.compile(r'(?:"(?:[^"]++|"")*+(?:"|\Z)|[^",\r\n]++)*+')


def _fields(text: str) -> Iterator[list[_Field]]:
    """The fields of each row of a CSV file; quotes may hold commas and line breaks."""
    at, row = int(text.startswith("\ufeff")), []
    while at <= len(text):
        found = _FIELD.match(text, at)
        assert found is not None
        value = found[0]
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1].replace('""', '"')
        row.append(_Field(value, found.start(), found.end()))
        at = found.end() + 1
        if text[found.end() : at] != ",":
            yield row
            row = []
            at += text[found.end() : found.end() + 2] == "\r\n"
            if at >= len(text):
                return


def _is_other_number(text: str, number: float) -> bool:
    try:
        return float(text) != number
    except ValueError:
        return False


def write_gradescope(nbgrader: Any, assignment: Assignment, handed: Mapping[str, Owner], path: Path) -> None:
    """Write the zip for Gradescope, to be uploaded as the assignment's autograder."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr = 0o755 << 16  # both must be executable
            archive.writestr(info, (GRADESCOPE_FILES / name).read_text(encoding="utf-8"))
        for number, results in _all_results(nbgrader.coursedir, assignment, handed):
            archive.writestr(f"marks/{int(number)}.json", json.dumps(results, indent=1, ensure_ascii=False))


def _all_results(coursedir: Any, assignment: Assignment, handed: Mapping[str, Owner]) -> Iterator[tuple[str, Any]]:
    """The number and the results of each submission that has marks."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for submission in book.assignment_submissions(assignment.name):
            owner = handed.get(submission.student_id)
            if owner is not None:
                folder = autograded_folder(coursedir, owner.student, assignment.name)
                tables = _tables(folder / assignment.notebook.name)
                for notebook in submission.notebooks:
                    yield owner.number, _results(notebook, list(assignment.graded_cells), tables)


def _results(notebook: Any, order: Sequence[str], tables: Mapping[str, str]) -> dict[str, object]:
    """One submission's results.json. `score` is what counts, whatever the sum of its tests."""
    penalty = notebook.late_submission_penalty or 0.0
    comments = comments_of(notebook)
    grades = {grade.name: grade for grade in notebook.grades}
    late = f"{points(penalty)} points less, since it was late." if penalty else ""
    again = to_look_at_again(notebook)
    names = ", ".join(name.removeprefix(CHECK) for name in again)
    is_open = sum(grade.needs_manual_grade for grade in notebook.grades) > len(again)
    waits = "What waits for a person counts 0 so far." if is_open else ""
    looked = f"The points for {names} are for an earlier answer; a person will look at it again." if again else ""
    return {
        "score": total(notebook.score, penalty),
        "output": " ".join(filter(None, (late, waits, looked))),
        "visibility": "after_published",
        "stdout_visibility": "hidden",
        "output_format": "text",
        "test_output_format": "html",
        "test_name_format": "text",
        "tests": [_test(grades[name], comments, tables) for name in order if name in grades],
    }


def _test(grade: Any, comments: Mapping[str, str], tables: Mapping[str, str]) -> dict[str, object]:
    comment = comments[grade.name]
    text = f'<p style="white-space:pre-wrap">{escape(comment)}</p>' if comment else ""
    output = text + tables.get(grade.name, "")
    name = grade.name.removeprefix(CHECK)
    return {"name": name, "score": grade.score, "max_score": grade.max_score, "output": output}


def _tables(path: Path) -> dict[str, str]:
    """The kit's own HTML in each check cell of an autograded notebook, by grade_id; empty if it cannot be read."""
    try:
        cells = parse_json(read_bytes(path, MAX_BYTES, "").decode("utf-8"))["cells"]
        found = {grade_id(cell): cell["outputs"][0]["data"] for cell in cells if grade_id(cell).startswith(CHECK)}
        return {name: "".join(data["text/html"]) for name, data in found.items()}
    except (SubmissionError, ValueError, KeyError, IndexError, TypeError):
        return {}


def write_pages(nbgrader: Any, assignment: Assignment, handed: dict[str, Owner], path: Path) -> list[str]:
    """Write the zip of feedback pages, under the names that the system knows. Returns who has no page."""
    coursedir, missing = nbgrader.coursedir, []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, owner in sorted(handed.items()):
            folder = Path(coursedir.format_path(coursedir.feedback_directory, student, assignment.name))
            page = folder / f"{assignment.notebook.stem}.html"
            if page.is_file():
                archive.write(page, f"{owner.stem}{page.name}")
            else:
                missing.append(student)
    return missing


def without_marks(found: Sequence[StudentMarks], handed: dict[str, Owner]) -> Iterator[str]:
    """A sentence for each student who has handed in there and has no marks."""
    known = {marks.student for marks in found}
    yield from (
        f"{marks.student}: {marks.problem}" for marks in found if marks.score is None and marks.student in handed
    )
    yield from (f"{student}: not in the gradebook yet" for student in handed if student not in known)


def to_know(found: Sequence[StudentMarks], handed: dict[str, Owner]) -> Iterator[str]:
    """A sentence for each student whose marks are not final, or who handed in elsewhere."""
    for marks in found:
        if marks.score is not None and marks.student not in handed:
            yield f"{marks.student} has marks, and is not among the downloaded submissions"
        elif marks.score is not None and marks.problem:
            yield f"{marks.student}: {marks.problem}"
