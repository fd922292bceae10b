"""What Classroom 50 reads of a submission: `result.json`, of the schema `classroom50/result/v1`.

https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, "The result.json contract". Scores are integers,
so points are scaled. Who has handed in what stands in the environment that its runner sets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from autograder.errors import AutograderError
from autograder.report import ExerciseResult, Report
from autograder.text import printable

SCHEMA = "classroom50/result/v1"
# Keys of the result by the runner's variables.
KEYS = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
FACTORS = (1, 2, 10, 100)  # the first by which all points become whole numbers; else the last, and they are rounded


def as_classroom50(report: Report | None, points: Mapping[str, float], environment: Mapping[str, str]) -> str:
    """The result's text. An exercise that is not in the report loses all its points.

    points: of each exercise; those of the report if there are none
    """
    results = {one.name: one for one in report.exercises} if report else {}
    points = points or {name: one.max_score for name, one in results.items()}
    tests = [row for name, worth in points.items() for row in _rows(name, worth, results.get(name))]
    factor = next((f for f in FACTORS if all(_is_whole(worth * f) for _, _, worth, _ in tests)), FACTORS[-1])
    rows = [
        {"test-name": name, "passed": passed, "score": round(worth * factor) if passed else 0,
         "max-score": round(worth * factor), "output": message}
        for name, passed, worth, message in tests
    ]  # fmt: skip
    told = {key: environment.get(variable, "") for key, variable in KEYS.items()}
    told["review"] = told["review"] or told["commit"]
    result = {"schema": SCHEMA} | told | {
        "datetime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": sum(int(str(row["score"])) for row in rows),
        "max-score": sum(int(str(row["max-score"])) for row in rows),
        "tests": rows,
    }  # fmt: skip
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def _rows(name: str, worth: float, result: ExerciseResult | None) -> Iterator[tuple[str, bool, float, str]]:
    """Each test: its name, did it pass, its points, what it says."""
    if result is None or not result.tests:
        yield name, False, worth, "not started"
        return
    share = worth / (result.max_score or 1.0)
    for test in result.tests:
        yield f"{name}: {test.sentence}", test.state == "passed", test.max_score * share, printable(test.message)


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-6


def read_points(text: str) -> dict[str, float]:
    """Points by exercise of `median=4,mode=5`. Raises `AutograderError`."""
    try:
        pairs = [one.split("=") for one in filter(None, text.split(","))]
        return {name.strip(): float(worth) for name, worth in pairs}
    except ValueError:
        raise AutograderError(f"--points {text}: write it as median=4,mode=5") from None
