"""Habits from classic nbgrader notebooks work: await, databases, plots, and a helper module beside the notebook."""

from __future__ import annotations

import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.authoring import course_check
from autograder.nbgrader.pages import Page
from autograder.nbgrader.preprocessor import _cell_outputs
from autograder.submission import NotebookFile, code_cells
from autograder.task import Task
from tests.courses.own import IMPORTS, course_of, exercise, graded, points_and_messages

NAME = "ps1"
CELLS = (
    IMPORTS
    + """
#% code
import sqlite3

from helper import twice

#% solution squares
def squares(n):
    ### BEGIN SOLUTION
    return [k * k for k in range(1, n + 1)]
    ### END SOLUTION

#% tests squares-right 2
# Check that squares gives the right list
assert squares(3) == [1, 4, 9], "Which one is last?"

#% solution later
async def later(n):
    ### BEGIN SOLUTION
    return n + 1
    ### END SOLUTION

#% tests later-right 1
assert await later(2) == 3
await later(1)

#% solution names
def names(path):
    ### BEGIN SOLUTION
    with sqlite3.connect(path) as book:
        book.execute("CREATE TABLE people (name TEXT)")
        book.execute("INSERT INTO people VALUES ('Ada')")
        book.commit()
        return [name for name, in book.execute("SELECT name FROM people")]
    ### END SOLUTION

#% tests names-right 1
assert names("school.db") == ["Ada"]

#% manual by-hand 2
import matplotlib.pyplot as plt

plt.plot([1, 2], [3, 4])

#% code
import pandas as pd

pd.DataFrame({"a": ["<script>alert(1)</script>", "b"]})
"""
)
FOUR = '''\
def fourfold(n):
    """Twice of twice."""
    ### BEGIN SOLUTION
    return twice(twice(n))
    ### END SOLUTION
'''
TESTS = """
import pytest

from autograder.testing import cases


@pytest.mark.exercise("fourfold")
class TestFourfold:
    test_some = cases("Four times.", [(3, 12), (0, 0)], "How often is it doubled?")
"""
MISTAKES = """
from helper import twice

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("once", hint="How often is it doubled?")
def fourfold(n):
    return twice(n)
"""
HELPER = "def twice(n):\n    return 2 * n\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    files = {"fourfold/hidden_tests.py": TESTS, "fourfold/mistakes.py": MISTAKES}
    cells = CELLS + exercise("fourfold", FOUR)
    return course_of(tmp_path_factory.mktemp("habits") / "school", NAME, cells, files, {"helper.py": HELPER.encode()})


@pytest.mark.slow
def test_await_database_and_helper_work_in_the_sandbox(course, sandbox):
    """And the first comment of a test cell is the sentence of its test."""
    answers = {
        "squares": "def squares(n):\n    return [k * k for k in range(n)]",
        "later": "import asyncio\nasync def later(n):\n    await asyncio.sleep(0.01)\n    return n + 1",
        "names": CELLS.partition("#% solution names\n")[2].partition("#% tests")[0],
        "fourfold": "def fourfold(n):\n    return twice(n)",
    }
    report = graded(sandbox, course, NAME, answers)
    marks = points_and_messages(report)
    assert {name: score for name, (score, _) in marks.items()} == {
        "squares-right": 0, "later-right": 1, "names-right": 1, "fourfold": 0,
    }, marks  # fmt: skip
    (first, *_) = report.exercises
    assert first.tests[0].sentence == "Check that squares gives the right list"
    assert report.exercises[-1].diagnosis == "once"


@pytest.mark.slow
def test_page_shows_plots_and_cleaned_tables(course, sandbox):
    """Without a page, nothing is drawn."""
    assignment = course.assignment(NAME)
    notebook = NotebookFile.of(nbformat.read(assignment.notebook, as_version=4).cells)
    cells = code_cells(notebook, assignment.source.locked_cells)
    task = Task("ada", NAME, assignment.version, for_page=True).of(cells)
    worker = sandbox.worker(course)
    by_text = {cell.source: one for cell, one in zip(cells, worker.mark(task).cells, strict=True)}
    plot, table = (
        [output for text, one in by_text.items() if word in text for output in _cell_outputs(one)]
        for word in ("plt.plot", "pd.DataFrame")
    )
    (picture,) = [output.data["image/png"] for output in plot if "data" in output]
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    (shown,) = table
    assert "<table" in shown.data["text/html"] and "<script" not in shown.data["text/html"]
    page, _ = Page().from_notebook_node(new_notebook(cells=[new_code_cell("", outputs=[*plot, *table])]))
    assert f'src="data:image/png;base64,{picture[:40]}' in page and "<td" in page
    assert not [one for one in worker.mark(replace(task, for_page=False)).cells if one.rich]


@pytest.mark.slow
def test_solution_and_known_mistakes_import_the_helper(course):
    """The release may contain it, because the notebook imports it."""
    assignment = course.assignment(NAME)

    async def reference():
        return assignment.reference()

    with ThreadPoolExecutor(1) as beside:  # with a running event loop, as in a kernel
        assert beside.submit(asyncio.run, reference()).result().fourfold(2) == 8
    assert not [one for one in course_check.known_mistakes(assignment) if one.blocks]
    release = nbformat.read(assignment.released, as_version=4)
    source = nbformat.read(assignment.notebook, as_version=4)
    assert [*course_check.notebook_checks.no_secret(assignment, source, release)] == []
    assert not (assignment.notebook.parent / "__pycache__").exists()
