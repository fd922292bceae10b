"""The commands of docs/term.md, and withdrawn exercises."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.nbgrader import api
from tests.helpers.pages import commands
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    grade_by_hand,
    grade_in_formgrader,
    nbgrader,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")


def files_in(course):
    """The contents of the course's own files."""
    places = (*(course.root / name for name in ("source", "solutions", "assignments")), course.folder)
    paths = [path for place in places for path in place.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path: path.read_bytes() for path in paths}


def totals(course):
    """By student: score and maximum score."""
    with book_of(course) as book:
        found = {one.student.id: one.notebooks[0] for one in book.assignment_submissions(NAME)}
        return {name: (one.score, one.max_score) for name, one in found.items()}


def packed(course, *words):
    """Runs tar in the course's folder."""
    return subprocess.run(["tar", *words], cwd=course.root, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A graded course whose second exercise builds on its first, with manual grades for the first.

    hal has 1 point for a wrong answer, ida 5.5 for a right one, and cleo has no answer. ida and cleo have half a
    point of extra credit.
    """
    course = small_course(tmp_path_factory.mktemp("term") / "course", second=True)
    right = model_answers(course.assignment(NAME))
    wrong = right | {EXERCISE: WRONG}
    for student, answers in {"cleo": {}, "hal": wrong, "ida": right}.items():
        submit(course, student, answers)
    said_by(course, *GRADE)
    grade_by_hand(course, "hal", f"test-{EXERCISE}", 1.0)
    grade_by_hand(course, "ida", f"test-{EXERCISE}", 5.5)
    with book_of(course) as book:
        for student in ("cleo", "ida"):
            book.find_grade(f"test-{EXERCISE}", "first", NAME, student).extra_credit = 0.5
        book.db.commit()
    return course


@pytest.mark.catalogue
def test_commands_of_the_term_page(course):
    """A withdrawn exercise gives everybody full marks; an early mistake still costs points only once."""
    submit(course, "ada", {EXERCISE: WRONG}, when="2027-03-01 15:00:00 UTC")
    said_by(course, *GRADE)
    before, sources = totals(course), files_in(course)
    todo = iter(commands("term"))

    def run_until(last):
        for line in todo:
            program, *words = shlex.split(line.replace("a1_scaled_dot_product", NAME).replace("softmax", EXERCISE))
            output = {"nbgrader": nbgrader, "autograder": said_by, "tar": packed}[program](course, *words)
            if line.startswith(last):
                return output
        raise AssertionError(f"no command on the page begins with {last}")

    output = run_until("autograder withdraw softmax")
    assert "3 gain, 1 lose, 0 keep" in output
    assert "manual grade 1 does not count" in output
    assert f"autograder withdraw {EXERCISE} --write" in output
    assert (totals(course), files_in(course)) == (before, sources), "the dry run changed something"
    run_until("autograder withdraw softmax --write")
    page = (course.root / "autograded" / "hal" / NAME / NOTEBOOK).read_text()
    assert "withdrawn, so everybody gets its 3 points" in page
    run_until("autograder withdraw softmax --back --write")
    assert totals(course) == before
    assert "extension: due 2027-03-04 12:00 UTC" in run_until("autograder why")
    run_until("tar")
    elsewhere = course.root.parent / "elsewhere"
    elsewhere.mkdir()
    packed(Course(elsewhere), "-xzf", "../course.tgz")
    assert "0 graded, 4 unchanged since they were graded, 0 could not" in said_by(Course(elsewhere), *GRADE)
    assert totals(Course(elsewhere)) == totals(course)
    run_until("autograder forget")
    assert not list(todo)


@pytest.mark.catalogue
def test_exercise_out_of_the_total_counts_for_nobody(course, monkeypatch):
    before = totals(course)
    said_by(course, "withdraw", EXERCISE, "--out-of-total", "--write")
    without = {"cleo": (0, 3), "hal": (3, 3), "ida": (3, 3)}
    assert totals(course) == without  # manual grades do not count either
    assert api(course.root).generate_assignment(NAME)["success"]
    said_by(course, *GRADE)
    for score in (2.0, None, 2.0):  # entered, removed, entered again
        grade_in_formgrader(course, monkeypatch, "hal", f"test-{EXERCISE}", score)
        assert totals(course) == without
    said_by(course, "withdraw", EXERCISE, "--write")
    for score in (None, 2.0):
        grade_in_formgrader(course, monkeypatch, "hal", f"test-{EXERCISE}", score)
        assert totals(course) == {"cleo": (3, 6), "hal": (6, 6), "ida": (6, 6)}
    shutil.rmtree(course.root / "autograded")  # the gradebook and the history still have the earlier marks
    said_by(course, "withdraw", EXERCISE, "--back", "--write")
    assert totals(course) == before | {"hal": (before["hal"][0] + 1, 6)}  # the newest manual grade counts
