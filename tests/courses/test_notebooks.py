"""Exercises that ask for a variable or for printed text."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from autograder.cli.check_notebook import check_results, read
from autograder.course.assignments import Course
from autograder.course.content import Visible
from autograder.student.check import examine
from autograder.submission import grade_id
from tests.courses.notebooks import DATA, HEAD, NAME, NOTEBOOK, RIGHT, SUITES, VISIBLE, WRONG
from tests.courses.own import IMPORTS, course_of, graded


def notes_course(root, cells, suites, visible=()):
    """A course with these suites, in the minimal form."""
    files = {f"{one}/hidden_tests.py": HEAD + text for one, text in suites.items()}
    files |= {f"{one}/visible_tests.py": HEAD + text for one, text in dict(visible).items()}
    return course_of(root, NAME, IMPORTS + cells, files, DATA)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return notes_course(tmp_path_factory.mktemp("notes") / "course", NOTEBOOK, SUITES, VISIBLE)


FULL = dict.fromkeys(SUITES, (2.0, ""))


@pytest.mark.slow
def test_wrong_variable_or_print_loses_only_its_exercise(course, sandbox):
    def marked(**answers):
        report = graded(sandbox, course, NAME, RIGHT | answers)
        assert not report.reason, report.reason
        return {one.name: (one.score, one.tests[0].message) for one in report.exercises}

    assert marked() == FULL
    for name, answer, said in WRONG:
        found = marked(**{name: answer})
        score, message = found.pop(name)
        assert (score, message[: len(said)]) == (0, said)
        assert found == {one: full for one, full in FULL.items() if one != name}


# ---------------------------------------------------------------- visible tests

SHOWN = {
    "mean_price": ("mean_price = 4.5", "came out as `False`"),
    "table": (
        "def table(prices):\n    print(prices)",
        "is `{'fig': 0.5}`, wanted `fig: 0.50`.",
    ),
}


def released(course, **answers):
    """The release with answers, saved next to its data."""
    path = course.root / "assignments" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    nbformat.write(notebook, path)
    return path


def test_check_shows_variable_and_printed_text(course, monkeypatch):
    folder = course.root / "assignments" / NAME
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.csv")} == DATA.keys()
    monkeypatch.chdir(folder)
    before, visible = sorted(folder.rglob("*")), Visible(course.folder)
    right, wrong = dict[str, object](), dict[str, object]()
    for name in SUITES:
        exec(RIGHT[name], right)
        exec(SHOWN[name][0], wrong)
    for name, (_, said) in SHOWN.items():
        assert examine(name, right, visible).passed
        found = examine(name, wrong, visible)
        assert said in found.result.tests[0].message
        assert "hint(" not in repr(found)  # this course has no hints
    assert "nothing under the name `mean_price`" in examine("mean_price", {}, visible).result.tests[0].message
    assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
def test_check_of_saved_notebook_finds_data_files(course, tmp_path, sandbox):
    copy = Course(shutil.copytree(course.root, tmp_path / "course"))
    right = list(check_results(read(released(copy, **RIGHT), copy), sandbox.students))
    assert [verdict.result.name for verdict in right if verdict.passed] == list(SUITES)
    answers = {name: answer for name, (answer, _) in SHOWN.items()}
    for verdict in check_results(read(released(copy, **answers), copy), sandbox.students):
        assert SHOWN[verdict.result.name][1] in verdict.result.tests[0].message
