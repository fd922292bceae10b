"""Reading what `autograder grade --json` wrote, and writing tables that a spreadsheet opens."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.errors import AutograderError
from autograder.report import Cause, ExerciseResult, Report, TestResult
from autograder.text import shown_name

# A spreadsheet takes text that begins so for a formula, and runs it (OWASP, "CSV Injection").
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_marks(paths: Sequence[Path]) -> list[Report]:
    """The reports of all files, in order. Of two on the same student and assignment, the later file's counts.

    Raises `AutograderError` if a file is not what `autograder grade --json` writes, or has two such reports itself.
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
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AutograderError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise AutograderError(f"{path} is not JSON ({error}). Write it with `autograder grade ... --json`") from None
    try:
        return [report_of(entry) for entry in data]
    except (KeyError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise AutograderError(
            f"{path} holds no marks ({reason}). Write it with `autograder grade ... --json`"
        ) from None


def report_of(entry: Mapping[str, Any]) -> Report:
    """The report behind `Report.to_dict`. Raises what a map that is none gives rise to."""
    exercises = tuple(_exercise(exercise) for exercise in entry["exercises"])
    reason = entry.get("reason") or ("no reason given" if entry["status"] == "failed" else None)
    max_score, extra = float(entry["max_score"]), str(entry.get("extra", ""))
    return Report(str(entry["student"]), str(entry["assignment"]), exercises, max_score, reason, extra)


def _exercise(entry: Mapping[str, Any]) -> ExerciseResult:
    return ExerciseResult(
        name=str(entry["name"]),
        tests=tuple(_test(test) for test in entry["tests"]),
        max_score=float(entry["max_score"]),
        started=bool(entry.get("started", True)),
        causes=tuple(_causes(entry)),
        with_reference=tuple(entry.get("with_reference", ())),
        evidence=str(entry.get("evidence", "")),
    )


def _causes(entry: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong; each by itself only if there are several, and in no file of an older version."""
    if "causes" in entry:
        yield from (Cause(str(cause["name"]), str(cause["hint"])) for cause in entry["causes"])
    elif entry["diagnosis"]:
        yield Cause(str(entry["diagnosis"]), str(entry.get("hint", "")))


def _test(entry: Mapping[str, Any]) -> TestResult:
    return TestResult(
        name=str(entry["name"]),
        sentence=str(entry.get("sentence", entry["name"])),
        state=entry.get("state", "passed" if entry["passed"] else "failed"),
        score=float(entry["score"]),
        max_score=float(entry["max_score"]),
        message=str(entry["message"]),
        stopped=bool(entry.get("stopped", False)),
    )


def as_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV text. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def write(path: Path, text: str) -> None:
    """Write a file, or say in one sentence why not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AutograderError(f"{path} cannot be written: {error.strerror}") from None
