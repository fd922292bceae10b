"""`autograder regrade` on a real gradebook: seen before it is written, manual work kept, undone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.course import Course
from autograder.nbgrader import api
from autograder.submission import grade_id
from tests.conftest import ROOT, copy_course
from tests.helpers.small_course import NAME, command, small_course
from tests.helpers.terminal import autograder

pytestmark = pytest.mark.slow
A1 = "a1_scaled_dot_product"
OVERRIDE = 4.5  # a person's mark for Dmitri's attention_scores
TABLES = {
    "grade": "auto_score, manual_score, extra_credit, needs_manual_grade, notebook_id, cell_id",
    "comment": "auto_comment, manual_comment, notebook_id, cell_id",
    "submitted_notebook": "late_submission_penalty, flagged, id",
    "submitted_assignment": "timestamp, student_id",
    "grade_cells": "id, max_score",
    "source_cell": "name, source, checksum",
}


def rows(course):
    """Everything in the gradebook that marks are made of."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        return {t: sorted(book.execute(f"select {columns} from {t}"), key=repr) for t, columns in TABLES.items()}


def grades(course, student):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        (notebook,) = book.find_submission(A1, student).notebooks
        return {g.name: (g.auto_score, g.manual_score, g.max_score, g.needs_manual_grade) for g in notebook.grades}


def scores(course, student):
    """What the tests gave, by cell."""
    return {name: auto for name, (auto, *_) in grades(course, student).items()}


def comment(course, student):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        return book.find_comment("attention_scores", "scaled_dot_product", A1, student).comment


def grade_by_hand(course, cell, student, score, waits):
    """What formgrader writes when a person enters a score."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        grade = book.find_grade(cell, "scaled_dot_product", A1, student)
        grade.manual_score, grade.needs_manual_grade = score, waits
        book.db.commit()


def total(grades):
    """A student's points: a person's where there are some, else the tests'."""
    return sum(auto or 0 if manual is None else manual for auto, manual, _, _ in grades.values())


def shown_marks(text, students):
    """Before, after and gain of some students in the table that regrade prints."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return {row[0]: row[1:4] for row in rows if row[0] in students}


def set_points(course, exercise, points):
    path = course.assignment(A1).notebook
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if grade_id(cell) == f"test-{exercise}":
            cell.metadata.nbgrader.points = points
    nbformat.write(notebook, path)


@pytest.fixture
def graded(one_class, tmp_path):
    """A copy for one test."""
    return Course(shutil.copytree(one_class.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def one_class(tmp_path_factory):
    """A graded class with a person's work in it; then a test turns out to be unfair, and softmax is worth more."""
    course = copy_course(tmp_path_factory.mktemp("regrade") / "course")
    shutil.copytree(ROOT / "attention_course", course.root / "content")
    assignment, nbgrader = course.assignment(A1), api(course.root)
    assert nbgrader.generate_assignment(A1)["success"]
    released = course.root / "assignments" / A1 / assignment.notebook.name
    right = model_answers(assignment)
    wrong = right | mistake(assignment, "no-scaling", "attention_scores")
    for student, answers in {"ada": right, "chloe": wrong, "dmitri": wrong, "eve": {}}.items():
        hand_in(fill(released, answers), course.root / "submitted", student, assignment)
    assert nbgrader.autograde(A1, "*")["success"]
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        book.find_comment("attention_scores", "scaled_dot_product", A1, "dmitri").manual_comment = "Nearly. 7/10 <b>"
        book.db.commit()
    grade_by_hand(course, "test-attention_scores", "dmitri", OVERRIDE, waits=False)
    grade_by_hand(course, "written-roles", "ada", 3.0, waits=False)
    path = assignment.content / "attention_scores" / "hidden_tests.py"
    suite = path.read_text()
    place = suite.index("    @pytest.mark.weight", suite.index("def test_shape"))
    weight = suite[place : suite.index("\n", place)]
    path.write_text(suite[:place] + suite[place:].replace(weight, "    @pytest.mark.weight(0.1)", 1))
    set_points(course, "softmax", 6)
    return course


def test_it_is_shown_then_written_then_undone(graded):
    before = rows(graded)
    folder = graded.root / "autograded" / "chloe" / A1
    pages = {path.name: path.read_bytes() for path in folder.iterdir()}
    old = {student: grades(graded, student) for student in ("ada", "chloe", "dmitri", "eve")}

    code, said = command(graded, "regrade", A1)
    assert code == 0, said
    assert rows(graded) == before, "comparing writes nothing"
    assert "softmax 4 → 6 (worth 4 → 6)" in " ".join(said.split())
    assert "3 gain, 0 lose, 1 keep their marks" in said  # an untouched notebook gains nothing
    assert "Nothing was written" in said
    shown = shown_marks(said, ("ada", "chloe", "dmitri"))

    code, said = command(graded, "regrade", A1, "--write")
    assert code == 0, said
    new = {student: grades(graded, student) for student in old}
    for student, (_, after, gain) in shown.items():
        assert float(after) == pytest.approx(total(new[student]), abs=0.01)
        assert float(gain) == pytest.approx(total(new[student]) - total(old[student]), abs=0.01)
    assert new["ada"]["test-softmax"][:3] == (6, None, 6)
    assert old["chloe"]["test-attention_scores"][0] < new["chloe"]["test-attention_scores"][0] < 5
    # what a person did is kept; only what has new marks below it waits for another look
    assert new["dmitri"]["test-attention_scores"][1] == OVERRIDE
    assert new["dmitri"]["test-attention_scores"][3]
    assert new["ada"]["written-roles"][1] == 3
    assert not new["ada"]["written-roles"][3]
    assert new["chloe"]["written-roles"] == old["chloe"]["written-roles"]
    assert comment(graded, "dmitri") == "Nearly. 7/10 <b>"

    # a person goes on grading; then it is undone, and that work stays
    grade_by_hand(graded, "written-roles", "chloe", 2.0, waits=False)
    code, said = command(graded, "regrade", A1, "--undo")
    assert code == 0, said
    assert grades(graded, "chloe")["written-roles"][1::2] == (2.0, False)
    grade_by_hand(graded, "written-roles", "chloe", *old["chloe"]["written-roles"][1::2])
    assert rows(graded) == before
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == pages

    code, said = command(graded, "regrade", A1, "--undo")
    assert code == 2
    assert "no regrade" in said


def test_who_has_left_hinders_nobody_and_who_is_forgotten_keeps_what_there_is(graded):
    assert command(graded, "regrade", A1, "--write")[0] == 0
    new = {student: scores(graded, student) for student in ("ada", "chloe")}
    assert command(graded, "forget", "ada")[0] == 0
    assert not [path for path in (graded.root / ".regrades").rglob("*.json") if "ada" in path.read_text()]
    with Gradebook(f"sqlite:///{graded.root}/gradebook.db") as book:
        book.remove_student("eve")

    code, said = command(graded, "regrade", A1, "--undo")
    assert code == 0, said
    assert "marks of 2 students" in said
    assert scores(graded, "ada") == new["ada"]
    assert (graded.root / "autograded" / "ada" / A1 / "scaled_dot_product.ipynb").is_file()
    assert scores(graded, "chloe") != new["chloe"]


def test_who_fails_when_marks_are_written_has_the_old_ones(graded):
    """Such as by a plugin for late work, which looks at the marks and so comes after them."""
    plugin = "raise NameError('penalty')"
    (graded.root / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Late(BasePlugin):\n"
        f"    def late_submission_penalty(self, *given):\n        {plugin}\n"
    )
    config = graded.root / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.AssignLatePenalties.plugin_class = 'late.Late'\n")
    with Gradebook(f"sqlite:///{graded.root}/gradebook.db") as book:
        book.update_or_create_assignment(A1, duedate="2020-01-01 12:00:00 UTC")
        book.find_submission(A1, "chloe").timestamp = book.find_assignment(A1).duedate + timedelta(days=1)
        book.db.commit()
    (graded.root / "submitted" / "chloe" / A1 / "timestamp.txt").write_text("2020-01-02 12:00:00 UTC")
    old = scores(graded, "chloe")
    code, said = command(graded, "regrade", A1, "--write")
    assert "could not grade chloe; the marks there are the old ones" in " ".join(said.split()), said
    assert code == 0
    assert scores(graded, "chloe") == old


@pytest.mark.catalogue
def test_a_submission_that_cannot_be_graded_anew_keeps_its_marks(graded):
    path = graded.root / "submitted" / "ada" / A1 / "scaled_dot_product.ipynb"
    kept = path.read_text()
    path.write_text("{")
    done = autograder("regrade", A1, cwd=graded.root)  # once as people call it
    path.write_text(kept)
    assert done.returncode == 0
    assert "ada keeps the old marks: scaled_dot_product.ipynb is not a Jupyter notebook" in done.stdout


def test_without_anything_to_regrade_it_says_what_to_run(tmp_path):
    course = small_course(tmp_path / "course")
    code, said = command(course, "regrade", NAME)
    assert (code, f"nbgrader autograde {NAME}" in said) == (2, True)
    (course.root / "gradebook.db").unlink()
    code, said = command(course, "regrade", NAME)
    assert (code, "generate_assignment" in said) == (2, True)
    assert command(course, "regrade", NAME, "--write", "--undo")[0] == 2
