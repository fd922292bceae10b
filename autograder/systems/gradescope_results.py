"""Gradescope's results.json, https://gradescope-autograders.readthedocs.io/en/latest/specs/"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.report import ExerciseResult, Report
from autograder.reports import plain_text


def results(
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


def as_gradescope(report: Report, visibility: str = "visible", messages: bool = True) -> dict[str, object]:
    """One submission's results.json.

    messages: include the tests' messages. Without a sandbox, student code could put what it has read into them.
    """
    summary = [report.reason] if report.reason else map(_summary, report.exercises)
    output = "\n\n".join(text for text in summary if text)
    return results(report.score, output, list(_tests(report, messages)), visibility, "text")


def _summary(exercise: ExerciseResult) -> str:
    where = [str(exercise.location)] if exercise.location else []
    return "\n".join([plain_text.summary(exercise), *plain_text.notes(exercise), *where])


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
    reports: Sequence[Report], folder: Path, visibility: str = "visible", messages: bool = True
) -> Iterator[tuple[Path, str]]:
    """Path and text of every submission's FOLDER/STUDENT/ASSIGNMENT/results.json."""
    for report in reports:
        place = folder / _file_name(report.student) / _file_name(report.assignment) / "results.json"
        yield place, json.dumps(as_gradescope(report, visibility, messages), indent=2, ensure_ascii=False) + "\n"


def _file_name(name: str) -> str:
    """A safe folder name for any text: it cannot lead elsewhere, and different texts give different names."""
    escaped = name.replace("%", "%25").replace("/", "%2f").replace("\0", "%00")
    return re.sub(r"^\.", "%2e", escaped) or "%"
