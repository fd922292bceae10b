"""Late work, extensions, several attempts and group work: nbgrader's own features, with our plugin grading."""

from __future__ import annotations

import csv
import shutil
import stat
import subprocess
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.course import CONFIG
from autograder.nbgrader import api
from tests.conftest import copy_course
from tests.helpers.classes import marks
from tests.helpers.small_course import command

pytestmark = pytest.mark.slow
A1 = "a1_scaled_dot_product"
DUE = datetime(2026, 3, 1, 12, 0)
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


def autograde(course, student="*"):
    """As the command does it, in this process, which has imported everything already."""
    done = api(course.root).autograde(A1, student, force=False)
    assert done["success"], done


def submit(course, student, answers, when):
    assignment = course.assignment(A1)
    notebook = fill(course.root / "assignments" / A1 / assignment.notebook.name, answers)
    path = hand_in(notebook, course.root / "submitted", student, assignment)
    (path.parent / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC")
    return path


def book_of(course):
    return Gradebook(f"sqlite:///{course.root}/gradebook.db")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Released, with a due date; one on time, one late, one late with an extension, one very late."""
    course = copy_course(tmp_path_factory.mktemp("late") / "course")
    with (course.root / CONFIG).open("a") as config:
        config.write(PENALTY)
    assert api(course.root).generate_assignment(A1)["success"]
    with book_of(course) as book:
        book.update_or_create_assignment(A1, duedate=DUE)
    right = model_answers(course.assignment(A1))
    for student, hours in {"on-time": -1, "late": 2.5, "extended": 2.5, "very-late": 1000}.items():
        submit(course, student, right, DUE + timedelta(hours=hours))
    with book_of(course) as book:
        book.add_student("extended")
        book.add_submission(A1, "extended")
        book.grant_extension(A1, "extended", hours=4)
    autograde(course)
    return course


def test_late_work_loses_what_the_courses_penalty_says(course):
    with book_of(course) as book:
        found = {s.student.id: s for s in book.assignment_submissions(A1)}
        assert {name: one.score for name, one in found.items()} == dict.fromkeys(found, 20.0)
        assert found["late"].total_seconds_late == 2.5 * 3600
        (late,) = found["late"].notebooks
        assert late.late_submission_penalty == 3
        assert not found["on-time"].notebooks[0].late_submission_penalty
        assert not found["extended"].notebooks[0].late_submission_penalty
        assert found["very-late"].notebooks[0].late_submission_penalty == 20  # never below 0
        assert found["late"].timestamp == DUE + timedelta(hours=2.5)


def test_penalties_are_in_the_export_and_survive_a_regrade(course):
    words = ("--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=exercises.csv")
    subprocess.run(["nbgrader", "export", *words], cwd=course.root, capture_output=True, check=True)
    rows = list(csv.DictReader((course.root / "exercises.csv").read_text().splitlines()))
    (row,) = [row for row in rows if (row["student"], row["exercise"]) == ("late", "softmax")]
    assert (float(row["score"]), float(row["max_score"]), row["manual_score"]) == (4, 4, "")
    assert (float(row["late_submission_penalty"]), row["timestamp"]) == (3, "2026-03-01 14:30:00")
    code, said = command(course, "regrade", A1, "--write")
    assert (code, "0 gain, 0 lose, 4 keep" in said) == (0, True), said
    with book_of(course) as book:
        assert book.find_submission(A1, "late").notebooks[0].late_submission_penalty == 3
        assert not book.find_submission(A1, "extended").notebooks[0].late_submission_penalty


def test_a_second_attempt_replaces_the_first_and_keeps_what_a_person_wrote(course):
    assignment = course.assignment(A1)
    wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
    submit(course, "tries", wrong, DUE - timedelta(hours=5))
    autograde(course, "tries")
    with book_of(course) as book:
        assert marks(book, assignment, "tries")["attention_scores"] < 5
        grade = book.find_grade("written-roles", "scaled_dot_product", A1, "tries")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        book.db.commit()
    submit(course, "tries", model_answers(assignment), DUE - timedelta(hours=4))
    autograde(course, "tries")  # without --force: the timestamp is newer
    with book_of(course) as book:
        assert marks(book, assignment, "tries")["attention_scores"] == 5
        grade = book.find_grade("written-roles", "scaled_dot_product", A1, "tries")
        assert (grade.manual_score, grade.needs_manual_grade) == (2.0, True)  # the answer may be another one now
        assert book.find_submission(A1, "tries").timestamp == DUE - timedelta(hours=4)
    autograde(course, "tries")  # nothing new: nothing happens
    with book_of(course) as book:
        assert book.find_submission(A1, "tries").timestamp == DUE - timedelta(hours=4)


def test_one_hand_in_of_a_group_counts_for_each_of_its_members(course):
    path = submit(course, "group-ada", model_answers(course.assignment(A1)), DUE)
    for member in ("group-ben", "group-chloe"):
        shutil.copytree(path.parent, course.root / "submitted" / member / A1)
    autograde(course)
    with book_of(course) as book:
        for member in ("group-ada", "group-ben", "group-chloe"):
            assert book.find_submission(A1, member).score == 20
            assert book.find_submission(A1, member).timestamp == DUE


def test_a_shared_course_stays_writable_for_the_other_instructors(course):
    graded = course.root / "autograded" / "on-time" / A1
    for path in (graded, graded / "scaled_dot_product.ipynb"):
        assert path.stat().st_mode & stat.S_IWGRP, path
