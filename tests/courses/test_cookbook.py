"""The cookbook: each page's code blocks make a course, and its right and wrong answers are graded as the page says."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course import Course
from autograder.nbgrader import api
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.courses.own import IMPORTS, course_of, exercise, graded, told
from tests.helpers.small_course import said_by

PAGES = ("classes", "text-answers", "helper-cells")
NAME = "a1_first"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Language, title and text of each block of a page."""
    return BLOCK.findall((ROOT / "docs" / f"cookbook-{page}.md").read_text())


def answers_of(found):
    """Each answer that a page shows: is it right, its cells, and what is said of it."""
    own, answers = [], []
    for language, title, text in found:
        if title == "own cell":
            own.append(text)
        elif title in ("right", "wrong"):
            answers.append((title == "right", "\n".join([*own, text]), []))
        elif language == "text":
            answers[-1][2].extend(text.strip().splitlines())
    return answers


def cells_of(found):
    cells = IMPORTS
    for _, title, text in found:
        kind, _, name = title.partition(" ")
        if kind == "cell":
            cells += exercise(name, text)
        elif kind in ("given", "written"):
            cells += f"\n#% {kind} {name}\n{text}"
    return cells


@pytest.mark.parametrize("page", ["first-hour", *PAGES])
def test_a_page_is_short_and_linked(page):
    assert len((ROOT / "docs" / f"cookbook-{page}.md").read_text().split()) <= 400
    assert f"cookbook-{page}.md" in (ROOT / "docs" / "your-own-course.md").read_text()
    assert f"cookbook-{page}.md" in (ROOT / "mkdocs.yml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page, sandbox, tmp_path):
    found = blocks(page)
    files = {title: text for _, title, text in found if title.endswith((".py", ".toml"))}
    course = course_of(tmp_path / "economics", NAME, cells_of(found), files)
    (name,) = (one.name for one in course.assignment(NAME).by_suite)
    answers = answers_of(found)
    assert {is_right for is_right, *_ in answers} == {True, False}
    answers.append((True, model_answers(course.assignment(NAME))[name], []))
    for is_right, text, words in answers:
        score, message = told(graded(sandbox, course, NAME, {name: text}))[name]
        assert (score == 2) == is_right, message
        assert is_right or words
        assert not [one for one in words if one not in message], message


@pytest.mark.slow
def test_the_commands_on_written_answers(tmp_path):
    found = blocks("text-answers")
    files = {title: text for _, title, text in found if title.endswith((".py", ".toml"))}
    course = course_of(tmp_path / "economics", NAME, cells_of(found), files)
    shutil.copytree(course.root / "source" / NAME, course.root / "submitted" / "ada" / NAME)
    assert "in order: 1 exercise, 2 points by tests and 4 by hand" in said_by(course, "dev", "check")
    assert api(course.root).generate_assignment(NAME)["success"]
    typed = [line for language, _, text in found if language == "sh" for line in text.splitlines()]
    assert [line.split()[1] for line in typed] == ["grade", "written", "written", "generate_feedback"]
    for line in typed[:2]:
        said_by(course, *line.split()[1:])
    page = (course.root / "written.html").read_text()
    assert "compares what is wanted with what is offered" in page
    assert "so the gap stays" in page


@pytest.mark.slow
def test_the_first_hour(tmp_path):
    """Its commands, typed one after the other, with the cell and the file written between them."""
    found, course = blocks("first-hour"), Course(tmp_path)
    for language, title, text in found:
        if language == "sh":
            for line in text.splitlines():
                if line.startswith("cd "):
                    course = Course(tmp_path / line.removeprefix("cd "))
                    continue
                if line.startswith("autograder grade"):
                    hand_in(course, found)
                said = said_by(course, *line.split()[1:])
        elif title.startswith("cell "):
            write_cell(course, title.removeprefix("cell "), text)
        elif title.endswith(".py"):
            (course.assignment(NAME).content / title).write_text(text)
    _, wrong = answers_of(found)
    assert "right, a1_first: 3 / 6" in said
    assert not [one for one in wrong[2] if one not in said], said


def write_cell(course, name, text):
    path = course.root / "source" / NAME / "first.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if grade_id(cell) == name).source = text.strip()
    nbformat.write(notebook, path)


def hand_in(course, found):
    for is_right, text, _ in answers_of(found):
        notebook = nbformat.read(course.root / "assignments" / NAME / "first.ipynb", as_version=4)
        next(cell for cell in notebook.cells if grade_id(cell) == "gini").source = text
        path = course.root / "submitted" / ("right" if is_right else "wrong") / NAME / "first.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
