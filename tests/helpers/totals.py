"""All places where a course shows a student's total, each as a function that returns totals by student."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from autograder.course.assignments import Course
from tests.helpers.small_course import NAME, nbgrader, said_by

Totals = dict[str, float]
Way = Callable[[Course, Sequence[str]], Totals]


def _table(course: Course, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((course.root / name).read_text().splitlines()))


def on_the_page(course: Course, students: Sequence[str]) -> Totals:
    found = {}
    for student in students:
        nbgrader(course, "generate_feedback", NAME, f"--student={student}")
        page = (course.root / "feedback" / student / NAME / "first.html").read_text()
        found[student] = float(re.search(r"<h1[^>]*>[^<]*\(Score(?: so far)?: ([-\d.]+) /", page)[1])
    return found


def by_why(course: Course, students: Sequence[str]) -> Totals:
    texts = {student: said_by(course, "why", student, NAME) for student in students}
    return {student: float(re.match(rf"{student}, {NAME}: (\S+) of", text)[1]) for student, text in texts.items()}


def in_nbgraders_export(course: Course, students: Sequence[str]) -> Totals:
    nbgrader(course, "export", "--to=totals.csv")
    rows = _table(course, "totals.csv")
    for row in rows:
        assert abs(float(row["raw_score"]) - float(row["late_submission_penalty"]) - float(row["score"])) < 1e-6
    return {row["student_id"]: float(row["score"]) for row in rows if row["student_id"] in students}


def in_our_export(course: Course, students: Sequence[str]) -> Totals:
    nbgrader(course, "export", "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=rows.csv")
    rows = {student: [row for row in _table(course, "rows.csv") if row["student"] == student] for student in students}
    return {
        student: sum(float(row["score"] or 0) - float(row["late_submission_penalty"]) for row in mine)
        for student, mine in rows.items()
    }


def in_canvas(course: Course, students: Sequence[str]) -> Totals:
    said_by(course, "return", NAME, "--to", "canvas", "--marks", "marks.csv")
    found = {row["ID"]: float(row[NAME]) for row in _table(course, "marks.csv") if row["ID"].isdigit()}
    return {student: found[student.rpartition("_")[2]] for student in students}


def in_the_report(course: Course, students: Sequence[str]) -> Totals:
    """Only of students with manual marks or a late penalty; for the others the report shows the tests' marks."""
    if not (course.root / "marks.json").exists():
        said_by(course, "grade", "submitted", "--json", "marks.json")
    said_by(course, "report", "marks.json", "--html", "class.html", "--gradebook")
    page = (course.root / "class.html").read_text()
    found = re.findall(r"(\w+)(?:</a>)?</t[hd]>\s*<td>([-\d.]+) of [\d.]+ in the gradebook", page)
    return {student: float(score) for student, score in found if student in students}


WAYS: tuple[Way, ...] = (on_the_page, by_why, in_nbgraders_export, in_our_export, in_canvas, in_the_report)
