"""Students whose names look alike stay separate in marks, exports and pages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from autograder.errors import AutograderError
from autograder.nbgrader import api
from autograder.report import Report
from autograder.reports.marks_file import read_marks
from autograder.testing.suite import Suite
from tests.helpers.small_course import EXERCISE, NAME, WRONG, book_of, graded, nbgrader, said_by, small_course, submit

# Pairs that look the same: a no-break space, a joiner, a bidirectional mark, two encodings of an accent, a trailing
# space, a capital letter. Or the second, as a pattern of files' names, matches the first.
PAIRS = (
    ("A B", "A\u00a0B"),
    ("CD", "C\u200dD"),
    ("EF", "E\u202eF"),
    ("Zo\u00eb", "Zoe\u0308"),
    ("G", "G "),
    ("h", "H"),
    ("a", "[ab]"),
    ("Jane", "*"),
    ("Jane Doe [ext]", "Jane [D]o?"),
)
NAMES = [name for pair in PAIRS for name in pair]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """In each pair the first is right and the second wrong."""
    course = small_course(tmp_path_factory.mktemp("names") / "course")
    for right, wrong in PAIRS:
        submit(course, right)
        submit(course, wrong, {EXERCISE: WRONG})
    return course


@pytest.fixture(scope="module")
def marks(course):
    said_by(course, "grade", "submitted", "--json", "marks.json", "--quiet")
    return course.root / "marks.json"


def assert_own_marks(marks):
    assert marks.keys() == set(NAMES)
    assert {marks[right] for right, _ in PAIRS} == {3}
    assert max(marks[wrong] for _, wrong in PAIRS) < 3


def assert_own_pages(course):
    """Each page has its own student's points: they tell the two of a pair apart."""
    for right, wrong in PAIRS:
        pages = [(course.root / "feedback" / name / NAME / "first.html").read_text() for name in (right, wrong)]
        assert ["Score: 3.0 / 3.0" in page for page in pages] == [True, False], (right, wrong)


@pytest.mark.slow
def test_exports_have_a_row_for_each_student(course, marks, tmp_path):
    assert_own_marks({r.student: r.score for r in read_marks([marks])})
    files = ("--csv", tmp_path / "m.csv", "--gradescope", tmp_path / "g")
    output = said_by(course, "export", marks, *files)
    assert "A B and A\\xa0B look alike; they are 2 students, with a row each" in output
    assert "G and G\\x20 look alike" in output
    rows = csv.DictReader((tmp_path / "m.csv").read_text().split("\n"))
    assert_own_marks({row["student"]: float(row["score"]) for row in rows})
    results = (tmp_path / "g").glob("*/*/results.json")
    assert_own_marks({path.parents[1].name: json.loads(path.read_text())["score"] for path in results})


@pytest.mark.slow
def test_gradebook_and_pages_have_each_student(course, marks):
    outcomes, _ = graded(course, feedback=True)
    assert {one.student: one.reason or one.no_feedback for one in outcomes} == dict.fromkeys(NAMES)
    assert_own_pages(course)
    with book_of(course) as book:
        assert_own_marks({one.student.id: one.score for one in book.assignment_submissions(NAME)})
    nbgrader(course, "generate_feedback", NAME)
    assert_own_pages(course)
    (course.root / "feedback" / "a" / NAME / "first.html").unlink()
    nbgrader(course, "generate_feedback", NAME, "--student", "[ab]")
    assert not (course.root / "feedback" / "a" / NAME / "first.html").exists()
    graded(course, feedback=True)
    said_by(course, "report", marks, "--html", "class.html", "--feedback", "feedback")
    page = (course.root / "class.html").read_text()
    assert '<a href="feedback/A%20B/a1_first/first.html">' in page
    assert '<a href="feedback/A%C2%A0B/a1_first/first.html">' in page
    assert "A\\xa0B" in page


def test_two_submissions_of_one_student_in_a_file_are_refused(tmp_path):
    """Two notebooks `first.ipynb` outside students' folders: the second would replace the first."""
    reports = [Report("first", NAME, (), 3.0, why) for why in ("empty", "no notebook")]
    (tmp_path / "marks.json").write_text(json.dumps([one.to_dict() for one in reports]))
    with pytest.raises(
        AutograderError, match=r"marks.json: two submissions of a1_first have the student 'first'; grade"
    ):
        read_marks([tmp_path / "marks.json"])


@pytest.mark.catalogue
def test_course_in_a_folder_with_brackets_works(tmp_path, monkeypatch):
    """pytest takes `[1]` for a test's parameters, and nbgrader takes it for a pattern."""
    course = small_course(tmp_path / "Term [1]" / "c [a-z]::d", students=("ada", "[ab]"))
    monkeypatch.chdir(tmp_path)
    assert Suite(course.assignment(NAME).suites).tests
    assert Path.cwd() == tmp_path
    assert "2 graded" in said_by(course, "grade", "--gradebook", "--feedback", "--quiet")
    nbgrader(course, "generate_assignment", NAME, "--force")
    nbgrader(course, "autograde", NAME, "--force")
    nbgrader(course, "generate_feedback", NAME, "--force")
    assert len(list(course.root.glob("feedback/*/*/*.html"))) == 2
    shown = api(course.root)
    assert (shown.get_source_assignments(), shown.get_submitted_students("*")) == ({NAME}, {"ada", "[ab]"})
    assert "in order" in said_by(course, "dev", "check")
    assert "Grading is safe" in said_by(course, "doctor")
