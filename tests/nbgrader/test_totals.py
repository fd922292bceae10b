"""Totals are the same everywhere, and never change silently."""

from __future__ import annotations

import shutil

import pytest

from autograder.authoring.sample_class import model_answers
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    WRITTEN,
    WRONG,
    book_of,
    entries,
    grade_by_hand,
    nbgrader,
    said_by,
    set_points,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")
TEST = f"test-{EXERCISE}"
ADA, BEN = "doeada_101", "leeben_102"  # Canvas's ids
ANSWER = "Rows differ, so each has a mean of its own."
TWO_POINTS = """
from nbgrader.plugins import LateSubmissionPlugin


class TwoPoints(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 2


c.AssignLatePenalties.plugin_class = TwoPoints
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """ada is late and wrong, with 0.3 points by tests; ben is right, with 3. Both written answers have 3 points."""
    course = small_course(tmp_path_factory.mktemp("totals") / "course", TWO_POINTS, written=True)
    right = model_answers(course.assignment(NAME)) | {WRITTEN: ANSWER}
    extracted = course.root / "downloaded" / NAME / "extracted"
    extracted.mkdir(parents=True)
    for student, code, when in ((ADA, WRONG, "2027-03-02 12:00 UTC"), (BEN, right[EXERCISE], "2027-02-28 12:00 UTC")):
        path = submit(course, student, right | {EXERCISE: code}, when=when)
        shutil.copy(path, extracted / f"{student}_9{student[-3:]}_{path.name}")
    nbgrader(course, "db", "assignment", "add", NAME, "--duedate=2027-03-01 12:00:00 UTC")
    said_by(course, *GRADE)
    for student in (ADA, BEN):
        grade_by_hand(course, student, WRITTEN, 3.0)
    return course


def rows(course):
    """By student and cell: automatic score, manual score, maximum score."""
    with book_of(course) as book:
        return {
            (one.student.id, grade.name): (grade.auto_score, grade.manual_score, grade.max_score)
            for one in book.assignment_submissions(NAME)
            for grade in one.notebooks[0].grades
        }


def cells_to_grade(course, student):
    with book_of(course) as book:
        grades = book.find_submission(NAME, student).notebooks[0].grades
        return {grade.name for grade in grades if grade.needs_manual_grade}


# ---------------------------------------------------------------- manual grades and newer submissions


def test_manual_grade_needs_another_look_if_the_answer_changed(course):
    right = model_answers(course.assignment(NAME))
    grade_by_hand(course, ADA, TEST, 2.5)
    submit(course, ADA, right | {WRITTEN: "Something else."}, when="2027-03-02 13:00 UTC")
    submit(course, BEN, {EXERCISE: right[EXERCISE] + "\n# tidied", WRITTEN: ANSWER}, when="2027-02-28 13:00 UTC")
    output = " ".join(said_by(course, *GRADE, "--feedback").split())
    assert f"{ADA}, {NAME}: {EXERCISE} has changed since a person gave 2.5 points" in output
    assert f"{ADA}, {NAME}: {WRITTEN} has changed since a person gave 3 points" in output
    assert BEN not in output, "ben's answer is unchanged"
    assert (cells_to_grade(course, ADA), cells_to_grade(course, BEN)) == ({TEST, WRITTEN}, set())

    page = " ".join((course.root / "feedback" / ADA / NAME / "first.html").read_text().split())
    assert "(Score so far: 3.5 / 7.0)" in page
    assert page.count("waits for another look") == 4, "twice in the contents and twice in headings"
    assert "Score so far" not in (course.root / "feedback" / BEN / NAME / "first.html").read_text()
    assert "3.5 of 7 points, 2 of them lost for being late; so far" in said_by(course, "why", ADA, NAME)
    output = said_by(course, "return", NAME, "--to", "canvas", "--marks", "marks.csv")
    assert f"{ADA}: so far, since a person's points for {EXERCISE}, {WRITTEN} are for an earlier answer" in output
    assert "without them" not in output
    assert BEN not in output

    for cell, score in ((TEST, 2.5), (WRITTEN, 3.0)):  # the instructor confirms them
        grade_by_hand(course, ADA, cell, score)
    said_by(course, *GRADE, "--feedback")
    page = " ".join((course.root / "feedback" / ADA / NAME / "first.html").read_text().split())
    assert "(Score: 3.5 / 7.0)" in page
    assert "another look" not in page


# ---------------------------------------------------------------- restored and new gradebooks


def test_marks_missing_in_the_gradebook_are_entered_again(course):
    old = (course.root / "gradebook.db").read_bytes()
    submit(course, ADA, {WRITTEN: ANSWER}, when="2027-03-02 13:00 UTC")
    said_by(course, *GRADE)
    newer = rows(course)
    assert newer[ADA, TEST][0] == 0

    (course.root / "gradebook.db").write_bytes(old)
    assert "the gradebook was changed, 1.3 points" in said_by(course, "why", ADA, NAME)
    output = said_by(course, *GRADE)
    assert "1 graded, 1 unchanged" in output
    assert rows(course) == newer

    (course.root / "gradebook.db").unlink()
    nbgrader(course, "generate_assignment", NAME)
    assert "2 graded" in said_by(course, *GRADE)
    assert {key: auto for key, (auto, *_) in rows(course).items()} == {key: auto for key, (auto, *_) in newer.items()}
    assert entries(course, ADA)[-1].reason == "the gradebook did not have these marks"
    assert "0 graded, 2 unchanged" in said_by(course, *GRADE)


# ---------------------------------------------------------------- changed points


def test_right_answer_keeps_full_marks_if_points_change(course):
    set_points(course, 6)
    log = nbgrader(course, "generate_assignment", NAME)
    assert f"{EXERCISE} is worth 6 in source/ and 3 in the gradebook, which has marks; see `autograder regrade" in log
    assert rows(course)[BEN, TEST] == (3, None, 3)
    assert f"autograder regrade {NAME}" in said_by(course, *GRADE)
    assert rows(course)[BEN, TEST] == (3, None, 3)
    said_by(course, "regrade", NAME, "--write")
    assert rows(course)[BEN, TEST] == (6, None, 6)
