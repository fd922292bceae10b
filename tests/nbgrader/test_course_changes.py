"""Marks never move silently: what a change of the course would do to them is named, and waits to be accepted."""

from __future__ import annotations

import shutil

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.nbgrader import api
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    WRITTEN,
    WRONG,
    book_of,
    grade_by_hand,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")


def scores(course):
    with book_of(course) as book:
        return {one.student.id: one.notebooks[0].score for one in book.assignment_submissions(NAME)}


def reweighted(course):
    """The test that ben and cleo pass is worth more."""
    path = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    path.write_text(path.read_text().replace("weight(0.5)", "weight(4.5)"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """ada is right, ben wrong, cleo wrong with a person's mark."""
    course = small_course(tmp_path_factory.mktemp("changes") / "course", written=True)
    right = model_answers(course.assignment(NAME))
    for student, answers in {"ada": right, "ben": {EXERCISE: WRONG}, "cleo": {EXERCISE: WRONG}}.items():
        submit(course, student, answers | {WRITTEN: f"{student} says that each row has its own mean."})
    said_by(course, *GRADE)
    grade_by_hand(course, "cleo", f"test-{EXERCISE}", 2.5)
    return course


@pytest.fixture
def course(graded, tmp_path):
    return Course(shutil.copytree(graded.root, tmp_path / "course"))


def test_a_mark_that_would_move_is_named_and_left_until_it_is_accepted_and_can_be_undone(course):
    old = scores(course)
    reweighted(course)
    for words in (GRADE, GRADE, (*GRADE, "--force")):  # as often as cron runs it
        said = said_by(course, *words, code=1)
        assert f"ben, {NAME}: {EXERCISE} 0.3 → 1.5" in said
        assert "1 left as they were" in said
        assert f"`autograder regrade {NAME}` shows the changes" in said
        assert scores(course) == old
    assert not api(course.root).autograde(NAME, "ben", force=True)["success"]  # formgrader's button
    assert scores(course) == old

    said = said_by(course, *GRADE, "--accept-changes")
    assert f"ben, {NAME}: {EXERCISE} 0.3 → 1.5" in said
    assert f"`autograder regrade {NAME} --undo` undoes that" in said
    assert scores(course) == old | {"ben": pytest.approx(old["ben"] + 1.2, abs=0.01)}
    said_by(course, *GRADE)  # accepted once, and never asked again

    said_by(course, "regrade", NAME, "--undo")
    assert scores(course) == old
    assert "ben" in said_by(course, *GRADE, code=1)


def test_new_work_is_graded_by_the_course_of_today_beside_marks_that_wait(course):
    reweighted(course)
    submit(course, "dan", {EXERCISE: WRONG})
    submit(course, "ben", {EXERCISE: WRONG + "  # again", WRITTEN: "ben says that each row has its own mean."})
    said = said_by(course, *GRADE)
    assert ("ben" in said, "dan" in said) == (False, False)
    assert scores(course)["dan"] == pytest.approx(1.5, abs=0.01)
