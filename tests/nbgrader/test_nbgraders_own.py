"""What we replace in nbgrader leaves what nbgrader's own leaves."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.dbutil import _temp_alembic_ini

from autograder.nbgrader.pages import Page
from tests.helpers.small_course import NAME, small_course


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
