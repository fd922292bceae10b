"""`autograder regrade` on a real gradebook: shows changes first, keeps manual grades, can be undone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.submission import grade_id
from tests.helpers.small_course import (
    BUILT,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    grade_by_hand,
    reweigh,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
TEST = f"test-{EXERCISE}"
OVERRIDE = 2.5  # dmitri's manual grade for the first exercise
TABLES = {
    "grade": "auto_score, manual_score, extra_credit, needs_manual_grade, notebook_id, cell_id",
    "comment": "auto_comment, manual_comment, notebook_id, cell_id",
    "submitted_notebook": "late_submission_penalty, flagged, id",
    "submitted_assignment": "timestamp, student_id",
    "grade_cells": "id, max_score",
    "source_cell": "name, source, checksum",
}


def rows(course):
    """Everything in the gradebook that determines marks."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        return {t: sorted(book.execute(f"select {columns} from {t}"), key=repr) for t, columns in TABLES.items()}


def grades(course, student):
    with book_of(course) as book:
        (notebook,) = book.find_submission(NAME, student).notebooks
        return {g.name: (g.auto_score, g.manual_score, g.max_score, g.needs_manual_grade) for g in notebook.grades}


def scores(course, student):
    """Automatic scores by cell."""
    return {name: auto for name, (auto, *_) in grades(course, student).items()}


@pytest.fixture
def graded(one_class, tmp_path):
    """A copy of the class for one test."""
    return Course(shutil.copytree(one_class.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def one_class(tmp_path_factory):
    """A graded class with manual grades, in which then a test's weight and an exercise's points change."""
    course = small_course(tmp_path_factory.mktemp("regrade") / "course", written=True, second=True)
    right = model_answers(course.assignment(NAME)) | {WRITTEN: "Rows differ."}
    wrong = right | {EXERCISE: WRONG}
    for student, answers in {"ada": right, "chloe": wrong, "dmitri": wrong, "eve": {}}.items():
        submit(course, student, answers)
    said_by(course, "grade", "--gradebook")
    with book_of(course) as book:
        book.find_comment(EXERCISE, "first", NAME, "dmitri").manual_comment = "Nearly. 7/10 <b>"
        book.db.commit()
    grade_by_hand(course, "dmitri", TEST, OVERRIDE)
    grade_by_hand(course, "ada", WRITTEN, 3.0)
    reweigh(course)
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (one for one in notebook.cells if grade_id(one) == f"test-{BUILT}")
    cell.metadata.nbgrader.points = 6
    nbformat.write(notebook, path)
    return course


def test_regrade_is_shown_then_written_then_undone(graded):
    before, report = rows(graded), ("report", "marks.json", "--html", "class.html", "--gradebook")
    said_by(graded, "grade", "submitted/chloe", "--json", "marks.json")  # by the course as it has changed
    output = said_by(graded, *report)
    assert f"marks.json does not have the gradebook's marks by tests: chloe in {NAME}." in output
    page = graded.root / "autograded" / "chloe" / NAME / NOTEBOOK
    graded_before = page.read_bytes()
    old = {student: grades(graded, student) for student in ("ada", "chloe", "dmitri", "eve")}

    output = said_by(graded, "regrade", NAME)
    assert rows(graded) == before, "comparing changed the gradebook"
    assert f"{BUILT} 3 → 6 (worth 3 → 6)" in " ".join(output.split())
    assert "3 gain, 0 lose, 1 keep their marks" in output  # eve handed in an untouched notebook
    assert "The assignment is worth 13 points in place of 10" in output
    assert "9 of 10    12 of 13     +3 " in output  # ada
    assert "Nothing was written" in output

    output = said_by(graded, "regrade", NAME, "--write")
    assert "New feedback pages: autograder grade --gradebook --feedback" in output
    new = {student: grades(graded, student) for student in old}
    assert new["ada"][f"test-{BUILT}"][:3] == (6, None, 6)
    assert old["chloe"][TEST][0] < new["chloe"][TEST][0] < 3
    # manual grades are kept; only those with new automatic marks need another look
    assert new["dmitri"][TEST][1::2] == (OVERRIDE, True)
    assert new["ada"][WRITTEN][1::2] == (3, False)
    assert new["chloe"][WRITTEN] == old["chloe"][WRITTEN]

    assert "marks.json does not" not in said_by(graded, *report)

    # manual grades entered after the regrade survive the undo
    grade_by_hand(graded, "chloe", WRITTEN, 2.0)
    said_by(graded, "regrade", NAME, "--undo")
    output = said_by(graded, *report)
    assert "autograder grade submitted --json marks.json writes the present ones" in " ".join(output.split())
    assert f"other points by tests in the gradebook: {EXERCISE} 0.3" in (graded.root / "class.html").read_text()
    assert grades(graded, "chloe")[WRITTEN][1::2] == (2.0, False)
    grade_by_hand(graded, "chloe", WRITTEN, *old["chloe"][WRITTEN][1::2])
    assert rows(graded) == before
    assert page.read_bytes() == graded_before
    assert "no regrade" in said_by(graded, "regrade", NAME, "--undo", code=2)

    reweigh(graded, "weight(4.5)", "weight(0.1)")
    assert "+2.76 (+3, −0.24)" in said_by(graded, "regrade", NAME), "chloe's gain hides a loss"


def test_submission_that_cannot_be_regraded_keeps_its_marks(graded):
    old = scores(graded, "ada")
    (graded.root / "submitted" / "ada" / NAME / NOTEBOOK).write_text("{")
    output = said_by(graded, "regrade", NAME, "--write")
    assert f"ada keeps the old marks: {NOTEBOOK} is not a Jupyter notebook" in output
    assert scores(graded, "ada") == old


def test_regrade_without_marks_names_the_command(course):
    assert f"nbgrader autograde {NAME}" in said_by(course, "regrade", NAME, code=2)
    (course.root / "gradebook.db").unlink()
    assert "generate_assignment" in said_by(course, "regrade", NAME, code=2)
    said_by(course, "regrade", NAME, "--write", "--undo", code=2)
