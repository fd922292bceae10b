"""`autograder export`: marks in the formats of other programs.

- CSV, with a row for each exercise. nbgrader's own export has totals only.
- Gradescope's results.json, https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50's result.json, in the schema `classroom50/result/v1`, "The result.json contract" of
  https://github.com/foundation50/classroom50/wiki/Advanced-Autograding. Scores are integers, so points are scaled. The
  student and the submission come from environment variables set by its runner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import AutograderError
from autograder.report import ExerciseResult, Report
from autograder.reports import plain_text
from autograder.reports.marks_file import as_csv
from autograder.text import printable

CSV_HEAD = ("student", "assignment", "exercise", "score", "max_score", "started", "diagnosis", "problem")
SCHEMA = "classroom50/result/v1"
# The runner's environment variable for each key of the result.
KEYS = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
FACTORS = (1, 2, 10, 100)  # the first that makes all points whole numbers; else the last, with rounding


def exercises_as_csv(reports: Sequence[Report]) -> str:
    """A row for each exercise. A submission that could not be graded is one row with the reason."""
    return as_csv(CSV_HEAD, (row for report in reports for row in _rows(report)))


def _rows(report: Report) -> Iterator[tuple[object, ...]]:
    if report.reason:
        yield report.student, report.assignment, "", "", report.max_score, "", "", report.reason
    for e in report.exercises:
        started = "yes" if e.started else "no"
        yield report.student, report.assignment, e.name, e.score, e.max_score, started, e.diagnosis or "", ""


def as_gradescope(report: Report, visibility: str = "visible", messages: bool = True) -> dict[str, object]:
    """One submission's results.json. `score` is explicit, so that it replaces the rounded sum of the tests.

    visibility: when students see it: "visible", "after_due_date", "after_published" or "hidden"
    messages: include the tests' messages. Without a sandbox, student code could put what it has read into them.
    """
    summary = [report.reason] if report.reason else [*map(_summary, report.exercises), report.extra]
    return {
        "score": report.score,
        "output": "\n\n".join(text for text in summary if text),
        "visibility": visibility,
        "stdout_visibility": "hidden",  # the grader's own output is for instructors
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "tests": list(_gradescope_tests(report, messages)),
    }


def _summary(exercise: ExerciseResult) -> str:
    return "\n".join([plain_text.summary(exercise), *plain_text.notes(exercise)])


def _gradescope_tests(report: Report, messages: bool) -> Iterator[dict[str, object]]:
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


def as_classroom50(report: Report | None, points: Mapping[str, float], environment: Mapping[str, str]) -> str:
    """The result as JSON text. An exercise that is not in the report gets no points.

    points: of each exercise; empty for those of the report
    """
    results = {one.name: one for one in report.exercises} if report else {}
    points = points or {name: one.max_score for name, one in results.items()}
    tests = [row for name, total in points.items() for row in _classroom50(name, total, results.get(name))]
    factor = next((f for f in FACTORS if all(_is_whole(total * f) for _, _, total, _ in tests)), FACTORS[-1])
    tests = [(name, passed, round(total * factor), message) for name, passed, total, message in tests]
    submission = {key: environment.get(variable, "") for key, variable in KEYS.items()}
    submission["review"] = submission["review"] or submission["commit"]
    result = {"schema": SCHEMA} | submission | {
        "datetime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": sum(total for _, passed, total, _ in tests if passed),
        "max-score": sum(total for _, _, total, _ in tests),
        "tests": [
            {"test-name": name, "passed": passed, "score": passed * total, "max-score": total, "output": message}
            for name, passed, total, message in tests
        ],
    }  # fmt: skip
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def _classroom50(name: str, total: float, result: ExerciseResult | None) -> Iterator[tuple[str, bool, float, str]]:
    """Each test as (name, passed, points, message)."""
    if result is None or not result.tests:
        yield name, False, total, "not started"
        return
    scale = total / (result.max_score or 1.0)
    for test in result.tests:
        yield f"{name}: {test.sentence}", test.state == "passed", test.max_score * scale, printable(test.message)


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-6


def read_points(text: str) -> dict[str, float]:
    """Points by exercise, from `median=4,mode=5`. Raises `AutograderError`."""
    try:
        pairs = [pair.split("=") for pair in filter(None, text.split(","))]
        return {name.strip(): float(points) for name, points in pairs}
    except ValueError:
        raise AutograderError(f"--points {text}: write it as median=4,mode=5") from None
