"""Late work, extensions, several attempts and group work: nbgrader's own features, with our plugin grading."""

from __future__ import annotations

import csv
import stat
from datetime import datetime, timedelta

import pytest

from autograder.nbgrader import api
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    command,
    nbgrader,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
DUE = datetime(2026, 3, 1, 12, 0)
TEST = f"test-{EXERCISE}"
MEMBERS = ("group-ada", "group-ben", "group-chloe")
# A penalty of the course's own, as nbgrader's documentation shows: one point an hour, begun hours count.
PENALTY = """
import math
from nbgrader.plugins import LateSubmissionPlugin


class PointAnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return math.ceil(total_seconds_late / 3600)


c.AssignLatePenalties.plugin_class = PointAnHour
c.CourseDirectory.groupshared = True
"""


def at(hours):
    """So many hours after the work is due."""
    return f"{DUE + timedelta(hours=hours):%Y-%m-%d %H:%M:%S} UTC"


def autograde(course, student="*"):
    done = api(course.root).autograde(NAME, student, force=False)
    assert done["success"], done


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Due; one on time, one late, one late with an extension, one very late, and a group of three with one work."""
    course = small_course(tmp_path_factory.mktemp("late") / "course", PENALTY, written=True)
    for student, hours in {"on-time": -1, "late": 1.5, "extended": 1.5, "very-late": 1000}.items():
        submit(course, student, when=at(hours))
    for member in MEMBERS:
        submit(course, member, when=at(0))
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=DUE)
        book.add_student("extended")
        book.add_submission(NAME, "extended")
        book.grant_extension(NAME, "extended", hours=4)
    autograde(course)
    return course


def test_late_work_loses_what_the_courses_penalty_says_and_a_groups_counts_for_each(course):
    with book_of(course) as book:
        found = {one.student.id: one for one in book.assignment_submissions(NAME)}
        assert {name: one.score for name, one in found.items()} == dict.fromkeys(found, 3)
        penalties = {name: one.notebooks[0].late_submission_penalty or 0 for name, one in found.items()}
        # never below 0
        assert penalties == dict.fromkeys(found, 0) | {"late": 2, "very-late": 3}
        assert found["late"].total_seconds_late == 1.5 * 3600
        assert found["late"].timestamp == DUE + timedelta(hours=1.5)
        assert {found[member].timestamp for member in MEMBERS} == {DUE}


def test_penalties_are_in_the_export_and_survive_a_regrade(course):
    words = ("--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=exercises.csv")
    assert nbgrader(course, "export", *words)[0] == 0
    rows = list(csv.DictReader((course.root / "exercises.csv").read_text().splitlines()))
    (row,) = [row for row in rows if (row["student"], row["exercise"]) == ("late", EXERCISE)]
    assert (float(row["score"]), float(row["max_score"]), row["manual_score"]) == (3, 3, "")
    assert (float(row["late_submission_penalty"]), row["timestamp"]) == (2, "2026-03-01 13:30:00")
    code, said = command(course, "regrade", NAME, "--write")
    assert (code, "0 gain, 0 lose, 7 keep" in said) == (0, True), said
    with book_of(course) as book:
        assert book.find_submission(NAME, "late").notebooks[0].late_submission_penalty == 2
        assert not book.find_submission(NAME, "extended").notebooks[0].late_submission_penalty


def test_a_second_attempt_replaces_the_first_and_keeps_what_a_person_wrote(course):
    submit(course, "tries", {EXERCISE: WRONG, WRITTEN: "It is its own."}, when=at(-5))
    autograde(course, "tries")
    with book_of(course) as book:
        assert book.find_grade(TEST, "first", NAME, "tries").auto_score < 3
        grade = book.find_grade(WRITTEN, "first", NAME, "tries")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        book.db.commit()
    submit(course, "tries", when=at(-4))
    for _ in range(2):  # without --force, for the timestamp is newer; then nothing is new, and nothing happens
        autograde(course, "tries")
        with book_of(course) as book:
            assert book.find_grade(TEST, "first", NAME, "tries").auto_score == 3
            grade = book.find_grade(WRITTEN, "first", NAME, "tries")
            assert (grade.manual_score, grade.needs_manual_grade) == (2.0, True)  # the answer may be another one now
            assert book.find_submission(NAME, "tries").timestamp == DUE - timedelta(hours=4)


def test_a_shared_course_stays_writable_for_the_other_instructors(course):
    graded = course.root / "autograded" / "on-time" / NAME
    for path in (graded, graded / NOTEBOOK):
        assert path.stat().st_mode & stat.S_IWGRP, path
