"""What counts as graded is the same for `grade`, export and `return`, and no old page goes back beside new marks."""

from __future__ import annotations

import csv
import re
import shutil
import zipfile
from datetime import datetime

import nbformat
import pytest

from autograder.authoring.sample_class import fill, model_answers
from autograder.course.assignments import Course
from tests.helpers.downloads import collect, download
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    grade_in_formgrader,
    nbgrader,
    released,
    reweigh,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
ADA, BEN = "doeada_101", "leeben_102"
GRADE = ("grade", "--gradebook", "--quiet")
RETURN = ("return", NAME, "--to", "canvas", "--marks", "back.csv", "--feedback", "pages.zip")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """ada is right and ben, who is late, is not; both are collected from Canvas and graded, and have no pages."""
    course = small_course(tmp_path_factory.mktemp("present") / "course", A_POINT_FOR_LATENESS, written=True)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2027, 3, 1, 12))
    right = model_answers(course.assignment(NAME)) | {WRITTEN: "Rows differ."}
    work = {"doeada_101": right, "leeben_LATE_102": right | {EXERCISE: WRONG}}
    files = {f"{who}_9_{NOTEBOOK}": nbformat.writes(fill(released(course), answers)) for who, answers in work.items()}
    download(course, files)
    collect(course, "Canvas")
    (course.root / "class.csv").write_text("Student,ID,SIS Login ID,Section\nAda,101,ada,S\nBen,102,ben,S\n")
    said_by(course, "roster", "class.csv")
    said_by(course, *GRADE)
    return course


def problems(course):
    """By student the problem that the export names."""
    nbgrader(course, "export", "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=rows.csv")
    rows = csv.DictReader((course.root / "rows.csv").read_text().splitlines())
    return {row["student"]: row["problem"] for row in rows}


def test_work_stays_graded_when_it_is_collected_again_touched_or_moved(course, tmp_path):
    collect(course, "Canvas")
    moved = Course(shutil.copytree(course.root, tmp_path / "moved", copy_function=shutil.copy))
    for path in moved.root.glob("submitted/*/*/*.ipynb"):
        path.touch()
    for place in (course, moved):
        assert set(problems(place).values()) == {""}
        assert "earlier work" not in said_by(place, *RETURN[:-2])
        assert "0 graded, 2 unchanged" in said_by(place, *GRADE)
    reweigh(moved)
    assert "1 left as they were" in said_by(moved, *GRADE, code=1)
    assert set(problems(moved).values()) == {""}, "the course has changed, the work has not"
    submit(moved, ADA, {EXERCISE: WRONG})
    assert problems(moved)[ADA].startswith("these are marks of earlier work: handed in, but not graded yet")
    assert f"{ADA}: these are marks of earlier work" in said_by(moved, *RETURN[:-2])


def totals_that_go_back(course):
    """By student the total in Canvas's table, and the one on the page."""
    said_by(course, *RETURN)
    rows = [row for row in csv.DictReader((course.root / "back.csv").read_text().splitlines()) if row["ID"].isdigit()]
    marks = {row["ID"]: float(next(value for key, value in row.items() if key.startswith(NAME))) for row in rows}
    with zipfile.ZipFile(course.root / "pages.zip") as archive:
        pages = {re.search(r"_?(10\d)_", name)[1]: archive.read(name).decode() for name in archive.namelist()}
    shown = {number: float(re.search(r"\(Score(?: so far)?: ([\d.]+) /", page)[1]) for number, page in pages.items()}
    return marks, shown


def test_pages_that_go_back_show_the_marks_beside_them(course, monkeypatch):
    found = []

    def check():
        marks, shown = totals_that_go_back(course)
        assert marks.keys() == {"101", "102"} and shown == marks
        found.append(marks["102"])

    check()
    grade_in_formgrader(course, monkeypatch, BEN, WRITTEN, 4.0)
    check()
    said_by(course, "extend", BEN, NAME, "--days", "3")
    check()
    reweigh(course)
    said_by(course, "regrade", NAME, "--write")
    check()
    assert "feedback pages" not in said_by(course, *RETURN), "pages that are up to date are not made again"
    said_by(course, "extend", BEN, NAME, "--days", "0")
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2027, 3, 4, 12))
    check()
    assert found == [0, 3.3, 4.3, 5.5, 5.5]
