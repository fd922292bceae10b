"""Changing the course never changes marks silently: the changes are reported, and need to be accepted."""

from __future__ import annotations

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.nbgrader import api
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
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
GRADE = ("grade", "--gradebook", "--quiet")


def scores(course):
    with book_of(course) as book:
        return {one.student.id: one.notebooks[0].score for one in book.assignment_submissions(NAME)}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """ada is right; ben and cleo are wrong, and cleo has a manual mark."""
    course = small_course(tmp_path_factory.mktemp("changes") / "course", written=True)
    right = model_answers(course.assignment(NAME))
    for student, answers in {"ada": right, "ben": {EXERCISE: WRONG}, "cleo": {EXERCISE: WRONG}}.items():
        submit(course, student, answers | {WRITTEN: f"{student} says that each row has its own mean."})
    said_by(course, *GRADE)
    grade_by_hand(course, "cleo", f"test-{EXERCISE}", 2.5)
    return course


def test_changed_mark_waits_until_accepted_and_can_be_undone(course):
    old = scores(course)
    reweigh(course)
    for words in (GRADE, GRADE, (*GRADE, "--force")):  # repeatedly, as with cron
        output = said_by(course, *words, code=1)
        assert f"ben, {NAME}: {EXERCISE} 0.3 → 1.5" in output
        assert "1 left as they were" in output
        assert f"`autograder regrade {NAME}` shows the changes" in output
        assert scores(course) == old
    assert not api(course.root).autograde(NAME, "ben", force=True)["success"]  # formgrader's button
    assert scores(course) == old

    output = said_by(course, *GRADE, "--accept-changes")
    assert f"ben, {NAME}: {EXERCISE} 0.3 → 1.5" in output
    assert f"`autograder regrade {NAME} --undo` undoes that" in output
    assert scores(course) == old | {"ben": pytest.approx(old["ben"] + 1.2, abs=0.01)}
    said_by(course, *GRADE)  # accepted once

    said_by(course, "regrade", NAME, "--undo")
    assert scores(course) == old
    assert "ben" in said_by(course, *GRADE, code=1)


def test_new_work_is_graded_with_the_current_course(course):
    reweigh(course)
    submit(course, "dan", {EXERCISE: WRONG})
    submit(course, "ben", {EXERCISE: WRONG + "  # again", WRITTEN: "ben says that each row has its own mean."})
    output = said_by(course, *GRADE)
    assert ("ben" in output, "dan" in output) == (False, False)
    assert scores(course)["dan"] == pytest.approx(1.5, abs=0.01)
