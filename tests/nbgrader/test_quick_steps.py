"""Our `SaveMarks` and `CheckMetadata` leave in the gradebook and in the notebook what nbgrader's own steps leave."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.dbutil import _temp_alembic_ini
from nbgrader.nbgraderformat import ValidationError

from autograder.course import Course
from autograder.nbgrader import CheckMetadata
from autograder.nbgrader.pages import Page
from autograder.nbgrader.quick_steps import tables_looked_for_once
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, book_of, graded, small_course, submit

NBGRADERS = """
own = {"SaveMarks": "SaveAutoGrades", "CheckMetadata": "CheckCellMetadata"}
steps = [step.rpartition(".") for step in c.Autograde.autograde_preprocessors]
c.Autograde.autograde_preprocessors = [
    f"nbgrader.preprocessors.{own[name]}" if name in own else f"{place}.{name}" for place, _, name in steps
]
c.Autograde.sanitize_preprocessors = [*c.Autograde.sanitize_preprocessors, "nbgrader.preprocessors.OverwriteCells"]
"""


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """Right, wrong, untouched, and with cells that a student has changed; a question in words besides."""
    course = small_course(tmp_path_factory.mktemp("steps") / "course", students=("ann", "dan"), written=True)
    submit(course, "bob", {EXERCISE: WRONG})
    path = submit(course, "cy", {})
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["metadata"]["nbgrader"]["points"] = 1000
    notebook["cells"] = [cell for cell in notebook["cells"] if "def " not in "".join(cell["source"])]
    path.write_text(json.dumps(notebook))
    return course


def outcome(course):
    """Rows of the gradebook by name, and notebooks without the word that tells which kit it was."""
    graded(course)
    with book_of(course) as book:
        (submissions,) = (one.submissions for one in book.assignments)
        notebooks = [(one.student.id, notebook) for one in submissions for notebook in one.notebooks]
        grades = sorted(
            (student, grade.name, grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for student, notebook in notebooks
            for grade in notebook.grades
        )
        comments = sorted(
            (student, one.name, one.auto_comment) for student, notebook in notebooks for one in notebook.comments
        )
    cells = [
        json.loads((course.root / "autograded" / student / NAME / NOTEBOOK).read_text())["cells"]
        for student, _ in sorted(notebooks)
    ]
    return grades, comments, cells


@pytest.mark.slow
def test_they_leave_what_nbgraders_own_leave(handed_in, tmp_path):
    other = Course(shutil.copytree(handed_in.root, tmp_path / "course"))
    with (other.root / "nbgrader_config.py").open("a") as file:
        file.write(NBGRADERS)
    ours, nbgraders = outcome(handed_in), outcome(other)
    assert ours == nbgraders
    grades, comments, _ = ours
    assert len({score for _, _, score, _, _ in grades}) >= 3
    assert any(comment == "No response." for _, _, comment in comments)


def test_metadata_that_nbgrader_refuses_is_refused(caplog):
    metadata = {"grade_id": "x", "grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
    good, bad = ({"nbgrader": metadata | {"points": points}} for points in (1.0, "many"))
    check = CheckMetadata()
    nb = new_notebook(cells=[new_code_cell(metadata=good)])
    assert check.preprocess(nb, {})[0] is nb
    with pytest.raises(ValidationError):
        check.preprocess(new_notebook(cells=[new_code_cell(metadata=bad)]), {})


def test_a_page_is_what_nbconvert_makes_of_it():
    """Which reads its own page again for pictures without words: three quarters of what a page took."""
    drawn = new_output("display_data", {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"})
    printed = new_output("stream", text="1 < 2 & \x1b[31mred\x1b[0m")
    cells = [
        new_markdown_cell("# Heads\n\n| a | b |\n|---|---|\n| $d_k$ | `x < y` |"),
        new_code_cell("def f(x):\n    return x @ x.T  # a < b", outputs=[drawn, printed]),
    ]
    notebook = new_notebook(cells=cells)
    page, _ = Page(template_name="classic").from_notebook_node(notebook)
    theirs, _ = HTMLExporter.from_notebook_node(Page(template_name="classic"), notebook)
    ours, theirs = (BeautifulSoup(text, "html.parser") for text in (page, theirs))
    assert ours.find("img")["alt"] == "a picture without a description"
    ours.find("img")["alt"] = theirs.find("img")["alt"]
    assert ours == theirs


@pytest.mark.catalogue
@pytest.mark.slow
def test_a_new_gradebook_is_nbgraders_own_though_alembic_is_not_on_the_path(tmp_path):
    """Whoever calls the environment's Python by its path has no `alembic`, and had a traceback and no release."""
    course = small_course(tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    release = [sys.executable, "-m", "nbgrader", "generate_assignment", NAME]
    done = subprocess.run(release, cwd=course.root, env=os.environ | {"PATH": "/usr/bin:/bin"}, capture_output=True)
    assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        (version,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
    with _temp_alembic_ini("sqlite://") as ini:
        said = subprocess.run(["alembic", "-c", ini, "heads"], capture_output=True, text=True).stdout
    assert said.split()[0] == version


def test_a_gradebook_that_is_opened_again_is_as_whole_as_the_first(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    helper = SimpleNamespace(add_student_to_course=lambda *names: None)
    with tables_looked_for_once():
        with Gradebook(url, "course", helper) as first:
            first.add_student("ann")
        with Gradebook(url, "course", helper) as again:
            assert vars(again).keys() == vars(first).keys()
            assert (again.course_id, again.authenticator) == ("course", helper)
            assert [student.id for student in again.students] == ["ann"]
    with Gradebook(url, "other") as other:  # nbgrader's own again, which enters the course
        assert other.check_course("other").id == "other"
