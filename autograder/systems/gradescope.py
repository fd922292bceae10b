"""Gradescope: the submitters in its export, autograders that grade there or hand out marks, and its results.json.

Gradescope imports no marks, so `return` gives it an autograder that only hands out each submission's finished marks.
It tells an autograder the submission's number in `submission_metadata.json` and takes `results.json` for it. So a zip
with a `results.json` for each number brings back all that counts in the gradebook: manual grades, comments, penalties
for late work. It holds no suite and runs no student code.
https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import functools
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import yaml
from nbgrader.api import Gradebook

from autograder.course.assignments import Assignment
from autograder.course.source_notebook import CHECK_PREFIX, exercise_name
from autograder.errors import SubmissionError
from autograder.nbgrader.gradebook_rows import autograded_folder, comments_of
from autograder.nbgrader.totals import still_open
from autograder.reading import parse_json, read_bytes
from autograder.report import ExerciseResult, Report
from autograder.reports import rubric
from autograder.reports.rubric import points, total
from autograder.submission import grade_id
from autograder.systems.bundle import add_kit_and_course, filled
from autograder.systems.collecting import METADATA, Handed, Owner, can_be_a_folder
from autograder.systems.system import Return, System
from autograder.systems.unpack import MAX_FILE
from autograder.text import json_text

MAX_BYTES = 100 * 2**20  # of an autograded notebook
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:\d\d)")
_NOBODY = "Gradescope has nobody with an id that can be a folder's name"


class Gradescope(System):
    """`submission_456/first.ipynb` belongs to the student whom `submission_metadata.yml` beside `submission_456` names.

    "Export Submissions" gives both. A student's id is the SID of Gradescope's roster, or else the e-mail address. A
    group's work is collected for its first member, and the others are reported.
    """

    title = "Gradescope"
    apart = "correct the SID in Gradescope's roster, or leave one of them out, export again, and collect again"
    _name = re.compile(r"submission_(?P<number>\d+)")

    def owner(self, path: Path) -> Owner | None:
        """The owner of a file, from the outermost `submission_456` only: a student may hand in metadata, too."""
        for depth, part in enumerate(path.parts[:-1]):
            if found := self._name.fullmatch(part):
                metadata = Path(self.extracted, *path.parts[:depth], METADATA)
                if not metadata.is_file():
                    return None
                students, when = exported_by(metadata).get(part, ((), ""))
                first, *others = students or ("",)
                rest, problem = "/".join(path.parts[depth + 1 :]), "" if first else _NOBODY
                return Owner(first, found["number"], part, found["number"], rest, when, tuple(others), problem)
        return None

    def why_not(self, marks: bool, pages: bool, options: Mapping[str, str]) -> str:
        """Gradescope takes no pages."""
        if pages:
            return "Gradescope takes no pages; what they say of each exercise is in the zip of --marks"
        return super().why_not(marks, pages, options)

    def write_marks(self, found: Return, path: Path) -> list[str]:
        """Write the zip, to be uploaded as the assignment's autograder."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            _add_scripts(archive, "gradescope_marks", found.assignment)
            for number, made in _of_gradebook(found.nbgrader.coursedir, found.assignment, found.handed):
                archive.writestr(f"marks/{int(number)}.json", json.dumps(made, indent=1, ensure_ascii=False))
        return []


def write_bundle(assignment: Assignment, path: Path, visibility: str, needs_sandbox: bool) -> None:
    """Write a zip that grades this assignment there, with the same hidden tests.

    visibility: when students see their results, in Gradescope's words
    needs_sandbox: grade nothing in a container where student code could read the hidden tests
    """
    sandbox = "needed" if needs_sandbox else "wished for"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _add_scripts(archive, "gradescope", assignment, VISIBILITY=visibility, SANDBOX=sandbox)
        add_kit_and_course(archive, assignment)


def _add_scripts(archive: zipfile.ZipFile, templates: str, assignment: Assignment, **values: str) -> None:
    """Add the two scripts that Gradescope runs, which lie at the root of a zip and must be executable."""
    for name in ("setup.sh", "run_autograder"):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr = 0o755 << 16
        archive.writestr(info, filled(f"{templates}/{name}", assignment, **values))


# ---------------------------------------------------------------- submitters in an export


@functools.lru_cache(8)
def exported_by(metadata: Path) -> dict[str, tuple[tuple[str, ...], str]]:
    """For each submission's folder the students who handed it in, and when; the time is empty if it is missing.

    Ruby has written the file. C reads it, because an autograder's output makes it large.
    """
    if metadata.stat().st_size > MAX_FILE:
        return {}
    try:
        data = yaml.load(metadata.read_bytes().decode(errors="replace"), yaml.CBaseLoader)  # noqa: S506 - makes only texts
    except yaml.YAMLError:
        return {}
    return {name: _submitters(entry) for name, entry in data.items()} if isinstance(data, dict) else {}


def _submitters(entry: Any) -> tuple[tuple[str, ...], str]:
    fields = entry if isinstance(entry, dict) else {}
    people = fields.get(":submitters")
    ids = [_id(person) for person in people if isinstance(person, dict)] if isinstance(people, list) else []
    return tuple(filter(None, ids)), _utc(str(fields.get(":created_at")))


def _utc(text: str) -> str:
    """A time as Ruby writes it, `2026-04-26 17:34:00.861687000 Z`, as nbgrader reads it; empty if it is not one."""
    found = _TIME.fullmatch(text)
    try:
        return f"{datetime.fromisoformat(found[1] + found[2]).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if found else ""
    except ValueError:
        return ""


def _id(person: dict[str, object]) -> str:
    """A person's id; empty if none can be a folder's name, since students may enter their own."""
    name = str(person.get(":sid") or person.get(":email") or "").strip()
    return name if can_be_a_folder(name) else ""


# ---------------------------------------------------------------- results.json of the gradebook's marks


def _of_gradebook(coursedir: Any, assignment: Assignment, handed: Handed) -> Iterator[tuple[str, Any]]:
    """The number and the results of each submission that has marks."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for submission in book.assignment_submissions(assignment.name):
            owner = handed.get(submission.student_id)
            if owner is not None:
                folder = autograded_folder(coursedir, owner.student, assignment.name)
                tables = _tables(folder / assignment.notebook.name)
                for notebook in submission.notebooks:
                    yield owner.number, _of_notebook(notebook, list(assignment.graded_cells), tables)


def _of_notebook(notebook: Any, order: Sequence[str], tables: Mapping[str, str]) -> dict[str, object]:
    """One submission's results.json."""
    penalty = notebook.late_submission_penalty or 0.0
    comments = comments_of(notebook)
    grades = {grade.name: grade for grade in notebook.grades}
    late = f"{points(penalty)} points less, since it was late." if penalty else ""
    output = " ".join(filter(None, (late, still_open([notebook]))))
    tests = [_test(grades[name], comments, tables) for name in order if name in grades]
    return _results(total(notebook.score, penalty), output, tests, "after_published", "html")


def _test(grade: Any, comments: Mapping[str, str], tables: Mapping[str, str]) -> dict[str, object]:
    comment = comments[grade.name]
    text = f'<p style="white-space:pre-wrap">{escape(comment)}</p>' if comment else ""
    output = text + tables.get(grade.name, "")
    name = exercise_name(grade.name)
    return {"name": name, "score": grade.score, "max_score": grade.max_score, "output": output}


def _tables(path: Path) -> dict[str, str]:
    """The kit's own HTML in each check cell of an autograded notebook, by grade_id; empty if it cannot be read."""
    try:
        cells = parse_json(read_bytes(path, MAX_BYTES, "").decode("utf-8"))["cells"]
        checks = [cell for cell in cells if grade_id(cell).startswith(CHECK_PREFIX)]
        return {grade_id(cell): "".join(cell["outputs"][0]["data"]["text/html"]) for cell in checks}
    except (SubmissionError, ValueError, KeyError, IndexError, TypeError):
        return {}


# ---------------------------------------------------------------- results.json


def _results(
    score: float, output: str, tests: Sequence[dict[str, object]], visibility: str, test_format: str
) -> dict[str, object]:
    """One submission's results.json. `score` is explicit, so that it replaces the rounded sum of the tests.

    visibility: when students see it: "visible", "after_due_date", "after_published" or "hidden"
    test_format: of the tests' output: "text" or "html"
    """
    return {
        "score": score,
        "output": output,
        "visibility": visibility,
        "stdout_visibility": "hidden",  # the grader's own output is for instructors
        "output_format": "text",
        "test_output_format": test_format,
        "test_name_format": "text",
        "tests": tests,
    }


def _of_report(report: Report, visibility: str, messages: bool) -> dict[str, object]:
    """One submission's results.json.

    messages: include the tests' messages. Without a sandbox, student code could put what it has read into them.
    """
    summary = [f"{notice}." for notice in report.notices]
    summary += [report.reason] if report.reason else map(_summary, report.exercises)
    output = "\n\n".join(text for text in summary if text)
    return _results(report.score, output, list(_tests(report, messages)), visibility, "text")


def _summary(exercise: ExerciseResult) -> str:
    return "\n".join([rubric.summary(exercise), *rubric.notes(exercise), *exercise.where])


def _tests(report: Report, messages: bool) -> Iterator[dict[str, object]]:
    for number, exercise in enumerate(report.exercises, start=1):
        for part, test in enumerate(exercise.tests, start=1):
            yield {
                "score": test.score,
                "max_score": test.max_score,
                "status": "passed" if test.state == "passed" else "failed",
                "name": f"{exercise.name}: {test.sentence}",
                "number": f"{number}.{part}",
                "output": test.message if messages else "",
                "tags": [exercise.name],
            }


def gradescope_files(
    reports: Sequence[Report], folder: Path, visibility: str, messages: bool
) -> Iterator[tuple[Path, str]]:
    """Path and text of every submission's FOLDER/STUDENT/ASSIGNMENT/results.json."""
    for report in reports:
        place = folder / _file_name(report.student) / _file_name(report.assignment) / "results.json"
        yield place, json_text(_of_report(report, visibility, messages))


def _file_name(name: str) -> str:
    """A safe folder name for any text: it cannot lead elsewhere, and different texts give different names."""
    escaped = name.replace("%", "%25").replace("/", "%2f").replace("\0", "%00")
    return re.sub(r"^\.", "%2e", escaped) or "%"
