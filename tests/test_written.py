"""Written questions: what the grader sees beside an answer, and what a student sees before anybody has graded it."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from autograder.authors.new_course import begin_course
from autograder.course import Course
from autograder.errors import CourseError
from autograder.nbgrader import api
from autograder.nbgrader.pages import Page, with_waiting
from tests.small_course import EXERCISE, NAME, NOTEBOOK, book_of, graded, submit

ANSWER = "Since each row has a mean of its own, and $x$ less it sums to 0."
RUBRIC = 'written-why = [[1, "names the mean of a row"], [3, "says why it is the row his own"]]'


def add_question(course, rubric=RUBRIC):
    (course.assignment(NAME).content / "rubric.toml").write_text(rubric)
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    data = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3, "points": 4}
    metadata = {"nbgrader": data | {"grade_id": "written-why"}}
    notebook.cells.append(nbformat.v4.new_markdown_cell(ANSWER, id="why", metadata=metadata))
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """One student, whose exercise is right and whose written answer nobody has read yet."""
    root = tmp_path_factory.mktemp("written") / "course"
    list(begin_course(root, NAME, EXERCISE))
    course = Course(root)
    add_question(course)
    assert api(root).generate_assignment(NAME)["success"]
    path = submit(course, "ann")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = "Because of <b>means</b>."
    nbformat.write(notebook, path)
    graded(course, feedback=True)
    return course


def feedback(course):
    return " ".join((course.root / "feedback" / "ann" / NAME / "first.html").read_text().split())


@pytest.mark.slow
def test_what_nobody_has_graded_has_no_zero_and_the_sum_is_not_the_last_word(course):
    page = feedback(course)
    assert "In your own words</a> (not graded yet, of 4.0)" in page
    assert "Not graded yet, of 4.0" in page
    assert "(Score so far: 3.0 / 7.0)" in page
    assert "Score: 0.0 / 4.0" not in page
    with book_of(course) as book:
        grade = book.find_grade("written-why", "first", NAME, "ann")
        grade.manual_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
    graded(course, feedback=True)
    page = feedback(course)
    assert "(Score: 3.0 / 7.0)" in page
    assert "In your own words</a> (Score: 0.0 / 4.0)" in page
    assert "not graded yet" not in page.lower()


@pytest.mark.slow
def test_graders_see_rubric_and_model_answer_and_students_do_not(course):
    path = course.root / "autograded" / "ann" / NAME / NOTEBOOK
    page = Page(root=str(course.root)).from_filename(str(path), {"assignment_id": NAME})[0]
    assert "For graders, a model answer." in page
    assert "Since each row has a mean of its own" in page
    assert "says why it is the row" in page
    assert page.index("For graders") < page.index("Because of")
    assert "<b>means</b>" not in page
    assert "For graders" not in feedback(course)
    assert "Since each row" not in feedback(course)
    released = (course.root / "assignments" / NAME / NOTEBOOK).read_text()
    assert "names the mean" not in released
    assert "Since each row" not in released


def test_words_of_a_student_are_no_heading_of_a_cell():
    page = '<h4>first (Score: 1.0 / 5.0)</h4><p>&lt;a name="w"&gt; Score: 0.0 / 4.0</p><a name="w"></a>Score: 0.0 / 4.0'
    found = with_waiting(page, ["w"])
    assert found.count("Score: 0.0 / 4.0") == 1
    assert found.endswith("Not graded yet, of 4.0")


@pytest.mark.slow
def test_a_rubric_of_another_form_is_said_with_its_file(course, tmp_path):
    course = Course(shutil.copytree(course.root, tmp_path / "course"))
    (course.assignment(NAME).content / "rubric.toml").write_text('written-why = ["four points for style"]')
    with pytest.raises(CourseError, match=r"rubric.toml: a line has the form written-why = \[\[points"):
        _ = course.assignment(NAME).written
