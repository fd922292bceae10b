"""`autograder dev name-mistake`: from a real submission to a draft in the catalogue."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import fill, model_answers
from autograder.authoring.skeletons import name_mistake
from autograder.course import Course
from autograder.errors import CourseError, SubmissionError
from autograder.testing.catalogue import read_catalogue
from tests.conftest import ROOT

WRONG = "def softmax(x, axis=-1):\n    e = np.exp(x)\n\n    return e / e.max(axis, keepdims=True)"


@pytest.fixture
def course(tmp_path):
    """A course with one assignment, whose catalogue may be written to."""
    for folder in ("source", "solutions", "assignments", "attention_course"):
        shutil.copytree(ROOT / folder / "a1_scaled_dot_product", tmp_path / folder / "a1_scaled_dot_product")
    shutil.copytree(ROOT / "attention_course/hidden", tmp_path / "attention_course/hidden")
    for file in ("nbgrader_config.py", "attention_course/course.toml"):
        shutil.copy(ROOT / file, tmp_path / file)
    return Course(tmp_path)


@pytest.fixture
def notebook(course, tmp_path):
    (a1,) = course.assignments().values()
    path = tmp_path / "submitted.ipynb"
    nbformat.write(fill(a1.notebook, model_answers(a1) | {"softmax": WRONG}), path)
    return path


def test_a_draft_holds_the_code_behind_comment_signs(course, notebook):
    (a1,) = course.assignments().values()
    before = len(read_catalogue(a1.mistakes).mistakes)
    path = name_mistake(course, notebook, "softmax", "divided-by-the-maximum", "What does each row add up to?")
    assert len(read_catalogue(a1.mistakes).mistakes) == before  # nothing of the student's runs
    text, _, draft = path.read_text().rpartition("# A draft.")
    code = "\n".join(line.removeprefix("# ").removeprefix("#") for line in draft.splitlines()[1:])
    path.write_text(f"{text}\n{code}\n")
    entered = read_catalogue(a1.mistakes).of("softmax")[-1]
    assert (entered.name, entered.exercise) == ("divided-by-the-maximum", "softmax")
    assert entered.hint == "What does each row add up to?"


@pytest.mark.parametrize(
    ("exercise", "name", "hint", "kind", "words"),
    [
        ("softmax", "two words", "Why?", CourseError, "no name for a mistake"),
        ("softmax", "name", "", CourseError, "a question"),
        ("nothing", "name", "Why?", CourseError, "nothing"),
    ],
)
def test_what_is_wrong_is_said(course, notebook, exercise, name, hint, kind, words):
    with pytest.raises(kind, match=words):
        name_mistake(course, notebook, exercise, name, hint)


def test_a_notebook_without_the_cell(course, tmp_path):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "empty.ipynb")
    with pytest.raises(SubmissionError, match="no cell of softmax"):
        name_mistake(course, tmp_path / "empty.ipynb", "softmax", "name", "Why?")
