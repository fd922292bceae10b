"""Marks back to Gradescope, which imports none: an autograder that only hands out each submission's finished marks.

Gradescope gives an autograder the submission's number in `submission_metadata.json` and takes `results.json` for it.
So a zip with a `results.json` for each number brings back all that counts in the gradebook: manual grades, comments,
penalties for late work. It holds no suite and runs no student code.
https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import CHECK, Assignment
from autograder.errors import SubmissionError
from autograder.nbgrader.system_collector import Owner
from autograder.reading import parse_json, read_bytes
from autograder.reports.plain_text import points
from autograder.submission import grade_id

TEMPLATES = Path(__file__).parent / "templates" / "gradescope_marks"
MAX_BYTES = 100 * 2**20  # of an autograded notebook


def write_autograder(nbgrader: Any, assignment: Assignment, handed: Mapping[str, Owner], path: Path) -> None:
    """Write the zip, to be uploaded as the assignment's autograder."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr = 0o755 << 16  # both must be executable
            archive.writestr(info, (TEMPLATES / name).read_text(encoding="utf-8"))
        for number, results in _all_results(nbgrader.coursedir, assignment, handed):
            archive.writestr(f"marks/{int(number)}.json", json.dumps(results, indent=1, ensure_ascii=False))


def _all_results(coursedir: Any, assignment: Assignment, handed: Mapping[str, Owner]) -> Iterator[tuple[str, Any]]:
    """The number and the results of each submission that has marks."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for submission in book.assignment_submissions(assignment.name):
            owner = handed.get(submission.student_id)
            if owner is not None:
                folder = coursedir.format_path(coursedir.autograded_directory, owner.student, assignment.name)
                tables = _tables(Path(folder, assignment.notebook.name))
                for notebook in submission.notebooks:
                    yield owner.number, _results(notebook, list(assignment.graded_cells), tables)


def _results(notebook: Any, order: Sequence[str], tables: Mapping[str, str]) -> dict[str, object]:
    """One submission's results.json. `score` is what counts, whatever the sum of its tests."""
    penalty = notebook.late_submission_penalty or 0.0
    comments = {comment.name: comment.comment or "" for comment in notebook.comments}
    grades = {grade.name: grade for grade in notebook.grades}
    late = f"{points(penalty)} points less, since it was late." if penalty else ""
    waits = "What waits for a person counts 0 so far." if any(g.needs_manual_grade for g in notebook.grades) else ""
    return {
        "score": round(notebook.score - penalty, 2),
        "output": " ".join(filter(None, (late, waits))),
        "visibility": "after_published",
        "stdout_visibility": "hidden",
        "output_format": "text",
        "test_output_format": "html",
        "test_name_format": "text",
        "tests": [_test(grades[name], comments, tables) for name in order if name in grades],
    }


def _test(grade: Any, comments: Mapping[str, str], tables: Mapping[str, str]) -> dict[str, object]:
    name = grade.name.removeprefix(CHECK)
    comment = comments.get(grade.name) or comments.get(name, "")
    text = f'<p style="white-space:pre-wrap">{escape(comment)}</p>' if comment else ""
    output = text + tables.get(grade.name, "")
    return {"name": name, "score": grade.score, "max_score": grade.max_score, "output": output}


def _tables(path: Path) -> dict[str, str]:
    """The kit's own HTML in each check cell of an autograded notebook, by grade_id; empty if it cannot be read."""
    try:
        cells = parse_json(read_bytes(path, MAX_BYTES, "").decode("utf-8"))["cells"]
        found = {grade_id(cell): cell["outputs"][0]["data"] for cell in cells if grade_id(cell).startswith(CHECK)}
        return {name: "".join(data["text/html"]) for name, data in found.items()}
    except (SubmissionError, ValueError, KeyError, IndexError, TypeError):
        return {}
