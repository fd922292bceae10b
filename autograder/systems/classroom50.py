"""Classroom 50: a script that runs the visible tests there, and its result.json, schema `classroom50/result/v1`.

Anybody can read what is in the script's folder. "The result.json contract" is in
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding. Scores are integers, so points are scaled. The
student and the submission come from environment variables set by its runner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from autograder.course.assignments import Assignment
from autograder.errors import AutograderError
from autograder.report import ExerciseResult, Report
from autograder.reports.marks_file import write
from autograder.systems.bundle import filled
from autograder.text import json_text, printable

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


def write_bundle(assignment: Assignment, folder: Path, requirements: Sequence[str]) -> Path:
    """Write `autograder.py` into a folder. requirements: what pip installs; the wheels beside it if empty."""
    points = ",".join(f"{exercise.name}={exercise.points:g}" for exercise in assignment.exercises)
    path = folder / "autograder.py"
    write(path, filled("classroom50.txt", assignment, REQUIREMENTS=" ".join(requirements), POINTS=points))
    return path


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
    return json_text(result)


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
        found = {name.strip(): float(points) for name, points in pairs}
        if all(0 <= points < inf for points in found.values()):
            return found
        raise ValueError
    except ValueError:
        raise AutograderError(f"--points {text}: write it as median=4,mode=5") from None
