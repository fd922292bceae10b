"""`autograder export`: marks in the formats of other programs.

- CSV, with a row for each exercise. nbgrader's own export has totals only.
- JUnit XML, as pytest writes it and Jenkins, GitLab and GitHub read it (junit-10.xsd of Jenkins' xUnit plugin): a test
  suite is one submission; a test that could not be judged is skipped, a submission that could not be graded an error.
- Gradescope's results.json, https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50's result.json, in the schema `classroom50/result/v1`, "The result.json contract" of
  https://github.com/foundation50/classroom50/wiki/Advanced-Autograding. Scores are integers, so points are scaled. The
  student and the submission come from environment variables set by its runner.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import AutograderError
from autograder.report import ExerciseResult, Report, TestResult
from autograder.reports import plain_text
from autograder.reports.marks_file import as_csv
from autograder.reports.roster import NOTHING
from autograder.text import printable

CSV_HEAD = ("student", "assignment", "exercise", "score", "max_score", "started", "diagnosis", "problem")
# Characters that XML 1.0 (section 2.2) forbids even escaped; a student's message may contain them.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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


def as_junit(reports: Sequence[Report]) -> str:
    """One JUnit XML document, with the points in each suite's properties."""
    root = ElementTree.Element("testsuites")
    for report in reports:
        root.append(_suite(report))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report) -> ElementTree.Element:
    tests = [test for exercise in report.exercises for test in exercise.tests]
    states = [test.state for test in tests]
    counts = {
        "tests": len(tests) or 1,
        "failures": states.count("failed"),
        "errors": int(report.status == "failed" and report.reason != NOTHING),
        "skipped": states.count("not known") + (report.reason == NOTHING),
    }
    name = _xml(f"{report.student}: {report.assignment}")
    suite = ElementTree.Element("testsuite", {"name": name} | {key: str(value) for key, value in counts.items()})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in _properties(report):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _xml(value)})
    for exercise in report.exercises:
        for test in exercise.tests:
            suite.append(_case(report.assignment, exercise, test))
    if report.reason:
        case = ElementTree.SubElement(suite, "testcase", {"classname": _xml(report.assignment), "name": "grading"})
        kind = "skipped" if report.reason == NOTHING else "error"
        ElementTree.SubElement(case, kind, {"message": _xml(report.reason)})
    return suite


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "student", report.student
    yield "assignment", report.assignment
    yield "score", plain_text.points(report.score)
    yield "max_score", plain_text.points(report.max_score)
    for exercise in report.exercises:
        yield f"{exercise.name}.score", plain_text.points(exercise.score)
        yield f"{exercise.name}.max_score", plain_text.points(exercise.max_score)
        if exercise.diagnosis:
            yield f"{exercise.name}.diagnosis", exercise.diagnosis


def _case(assignment: str, exercise: ExerciseResult, test: TestResult) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": _xml(f"{assignment}.{exercise.name}"), "name": test.name})
    if test.state != "passed":
        kind = "failure" if test.state == "failed" else "skipped"
        reason = ElementTree.SubElement(case, kind, {"message": _xml(test.message)})
        reason.text = _xml(f"{test.sentence}\n{test.message}")
    return case


def _xml(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


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
