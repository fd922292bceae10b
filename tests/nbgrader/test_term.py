"""In the middle of a term: an exercise is withdrawn, code goes out to other programs. Late work has its own file."""

from __future__ import annotations

import shlex
import shutil

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
LATE = "2027-03-01 15:00:00 UTC"


def files_in(course):
    """When each of the course's own files was written last, and what is in it."""
    places = [*(course.root / name for name in ("source", "solutions", "assignments")), course.folder]
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for place in places
        for path in place.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def totals(course):
    """By student what counts, and the most that there is."""
    with book_of(course) as book:
        found = {one.student.id: one.notebooks[0] for one in book.assignment_submissions(NAME)}
        return {name: (one.score, one.max_score) for name, one in found.items()}


# ---------------------------------------------------------------- an exercise is withdrawn


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A course whose second exercise builds on its first; ann right, ben with the first wrong, cleo with nothing.

    A person gave hal 1 point for the wrong first, and ida 5.5 for the right one, with half a point extra.
    """
    course = small_course(tmp_path_factory.mktemp("term") / "course", second=True)
    right = model_answers(course.assignment(NAME))
    wrong = right | {EXERCISE: WRONG}
    for student, answers in {"ann": right, "ben": wrong, "cleo": {}, "hal": wrong, "ida": right}.items():
        submit(course, student, answers)
    said_by(course, *GRADE)
    grade_by_hand(course, "hal", f"test-{EXERCISE}", 1.0)
    grade_by_hand(course, "ida", f"test-{EXERCISE}", 5.5)
    with book_of(course) as book:
        book.find_grade(f"test-{EXERCISE}", "first", NAME, "ida").extra_credit = 0.5
        book.db.commit()
    return course


@pytest.fixture
def course(two, tmp_path):
    return Course(shutil.copytree(two.root, tmp_path / "course"))


def test_the_pages_commands_do_in_order_what_it_says(course):
    """Withdrawn means full marks for all; an early mistake is still paid for once."""
    submit(course, "ada", {EXERCISE: WRONG}, when=LATE)
    said_by(course, *GRADE)
    before, files = totals(course), files_in(course)
    assert before["ben"][0] == pytest.approx(3.3, abs=0.01), "its second exercise counts in full"
    todo = iter(commands("term"))

    def walk(last):
        for line in todo:
            program, *words = shlex.split(line.replace("a1_scaled_dot_product", NAME).replace("softmax", EXERCISE))
            said = {"nbgrader": nbgrader, "autograder": said_by}[program](course, *words)
            if line.startswith(last):
                return said
        raise AssertionError(f"the page has no {last}")

    said = walk("autograder withdraw softmax")
    assert "4 gain, 1 lose, 1 keep" in said
    assert "manual grade 1 does not count" in said
    assert f"autograder withdraw {EXERCISE} --write" in said
    assert (totals(course), files_in(course)) == (before, files), "a dry run writes into no file"
    walk("autograder withdraw softmax --write")
    everybody = {"ada": 3, "ann": 6, "ben": 6, "cleo": 3, "hal": 6, "ida": 6}
    assert {name: one[0] for name, one in totals(course).items()} == everybody
    assert [path.name for path, now in files_in(course).items() if now != files[path]] == ["course.toml"]
    page = (course.root / "autograded" / "ben" / NAME / NOTEBOOK).read_text()
    assert "withdrawn, so everybody gets its 3 points" in page
    submit(course, "dan", {})  # who comes later gets them, too
    said_by(course, *GRADE)
    assert totals(course)["dan"][0] == 3
    walk("autograder withdraw softmax --back --write")
    assert {name: one for name, one in totals(course).items() if name != "dan"} == before
    assert {path: now for path, (_, now) in files_in(course).items()} == {path: old for path, (_, old) in files.items()}
    why = walk("autograder why").splitlines()
    assert len(why) <= 10
    assert "extension: due 2027-03-04 12:00 UTC" in "\n".join(why)
    walk("autograder forget")
    assert not list(todo)


def test_out_of_the_total_it_counts_for_nobody(course, monkeypatch):
    before = totals(course)
    said_by(course, "withdraw", EXERCISE, "--out-of-total", "--write")
    without = {"ann": (3, 3), "ben": (3, 3), "cleo": (0, 3), "hal": (3, 3), "ida": (3, 3)}
    assert totals(course) == without, "what a person gave does not count either"
    assert api(course.root).generate_assignment(NAME)["success"]
    said_by(course, *GRADE)
    grade_in_formgrader(course, monkeypatch, "hal", f"test-{EXERCISE}", 2.0)
    assert totals(course) == without
    shutil.rmtree(course.root / "autograded")  # it has what there was before, and so has the history
    said_by(course, "withdraw", EXERCISE, "--back", "--write")
    assert totals(course) == before | {"hal": (before["hal"][0] + 1, 6)}, "what was given meanwhile counts, too"
