"""Reads what `autograder grade --json` wrote, and writes files of marks as JSON and as tables for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from autograder.errors import AutograderError
from autograder.report import Report, report_of
from autograder.text import shown_name

CSV_HEAD = ("student", "assignment", "exercise", "score", "max_score", "started", "diagnosis", "problem")
# A spreadsheet runs text that begins with one of these as a formula (OWASP, "CSV Injection").
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_marks(paths: Sequence[Path]) -> list[Report]:
    """The reports of all files, in order. If two files have the same student and assignment, the later file counts.

    Raises `AutograderError` if a file was not written by `autograder grade --json`, or has a submission twice.
    """
    found: dict[tuple[str, str], Report] = {}
    for path in paths:
        of_file: dict[tuple[str, str], Report] = {}
        for report in _read(path):
            if of_file.setdefault((report.assignment, report.student), report) is not report:
                raise AutograderError(
                    f"{path}: two submissions of {report.assignment} have the student '{shown_name(report.student)}'; "
                    "grade folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb"
                )
        found |= of_file
    return list(found.values())


def _read(path: Path) -> list[Report]:
    try:
        return [report_of(entry) for entry in msgspec.json.decode(path.read_bytes(), type=list[dict[str, object]])]
    except OSError as error:
        raise AutograderError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise AutograderError(f"{path} holds no marks ({error}). Write it with `autograder grade ... --json`") from None


def exercises_as_csv(reports: Sequence[Report]) -> str:
    """A row for each exercise. A submission that could not be graded is one row with the reason."""
    return as_csv(CSV_HEAD, (row for report in reports for row in _rows(report)))


def _rows(report: Report) -> Iterator[tuple[object, ...]]:
    if report.reason:
        yield report.student, report.assignment, "", "", report.max_score, "", "", report.reason
    for e in report.exercises:
        found = e.score, e.max_score, "yes" if e.started else "no", e.diagnosis or "", ""
        yield report.student, report.assignment, e.name, *found


def as_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV text. Text that a spreadsheet would run as a formula gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def write(path: Path, text: str) -> None:
    """Write a file and its folders. Raises `AutograderError` if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AutograderError(f"{path} cannot be written: {error.strerror}") from None
