"""The history of a mark: every change with its reason, and the submission behind it."""

from __future__ import annotations

import shlex
from datetime import datetime

import pytest

from autograder.nbgrader import history
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    WRITTEN,
    WRONG,
    book_of,
    grade_by_hand,
    grade_in_formgrader,
    reweigh,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")


def history_of(course, student="ada"):
    """Reason, score and note of each entry in the history."""
    found = history.entries(course.root, student, NAME)
    return [(one.reason, one.score, one.note) for one in found]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """ada and ben have the same mistake."""
    course = small_course(tmp_path_factory.mktemp("history") / "course", A_POINT_FOR_LATENESS, written=True)
    for student in ("ada", "ben"):
        submit(course, student, {EXERCISE: WRONG, WRITTEN: "Rows differ."})
    said_by(course, *GRADE)
    return course


def test_every_change_of_a_mark_is_recorded_with_its_reason(course):
    output = said_by(course, *GRADE, "--force")  # nothing changes
    assert f"nobody is late: {NAME} has no due date; nbgrader db assignment add" in " ".join(output.split())
    assert history_of(course) == [("first grading", 0.3, "")]
    submit(course, "ada", {EXERCISE: WRONG + "\n# again", WRITTEN: "Rows differ."})
    said_by(course, *GRADE)
    submit(course, "ada", {EXERCISE: WRONG + "\n# late", WRITTEN: "Rows differ."}, when="2027-03-03 12:00:00 UTC")
    said_by(course, *GRADE)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2027, 3, 1, 12))
    said_by(course, *GRADE)
    said_by(course, "extend", "ada", NAME, "--days", "3")
    said_by(course, "extend", "ada", NAME, "--days", "-1", code=2)
    reweigh(course)
    said_by(course, *GRADE, code=1)  # waits to be accepted
    said_by(course, "regrade", NAME, "--student", "ada", "--note", "a test was unfair", "--write")
    assert "nobody has no marks" in said_by(course, "regrade", NAME, "--student", "nobody", code=2)
    said_by(course, *GRADE, "--accept-changes")
    said_by(course, "withdraw", EXERCISE, "--write", "--note", "unclear")
    said_by(course, "regrade", NAME, "--undo")
    assert history_of(course) == [
        ("first grading", 0.3, ""),
        ("another submission", 0.3, ""),
        ("another submission", 0.3, ""),
        ("late", 0, ""),
        ("extension", 0.3, "due 2027-03-04 12:00 UTC"),
        ("regrade", 1.5, "a test was unfair"),
        (f"{EXERCISE} withdrawn", 3, "unclear"),
        ("regrade undone", 1.5, ""),
    ]
    assert [reason for reason, _, _ in history_of(course, "ben")][1] == "the course has changed"
    kept = sorted((course.root / "history" / "ada" / NAME).glob("*.ipynb"))
    assert len(kept) == 3, "earlier submissions are kept"
    assert any("# again" in path.read_text() for path in kept)


def test_line_that_was_cut_off_costs_no_other_line(course):
    """As after a full disk."""
    path = course.root / "history" / "ada" / f"{NAME}.jsonl"
    path.write_bytes(path.read_bytes()[:-12])
    submit(course, "ada")
    said_by(course, *GRADE)
    assert [score for _, score, _ in history_of(course)] == [3]
    submit(course, "ada", {EXERCISE: f"{WRONG})"})
    said_by(course, *GRADE)
    output = said_by(course, "why", "ada", NAME)
    assert "another submission, 0 points" in output
    assert f"{EXERCISE}: 0 of 3, not judged, since its cell raised SyntaxError: unmatched ')'" in output


def test_manual_grade_is_recorded(course, monkeypatch):
    grade_in_formgrader(course, monkeypatch, "ada", f"test-{EXERCISE}", 2.5)
    assert history_of(course)[-1] == ("manual grade", 2.5, "")
    grade_by_hand(course, "ada", WRITTEN, 3.0)
    said_by(course, "why", "ada", NAME)  # also notices grades entered without formgrader
    assert history_of(course)[-1] == ("manual grade", 5.5, "")
    reweigh(course)
    said_by(course, *GRADE, "--accept-changes")
    assert "the course has changed, still 5.5 points" in said_by(course, "why", "ada", NAME)

    with book_of(course) as book:
        book.find_grade(f"test-{EXERCISE}", "first", NAME, "ben").extra_credit = 0.5
        book.db.commit()
    assert said_by(course, "why", "ben", NAME).startswith(f"ben, {NAME}: 2 of 7 points; so far")
    assert history_of(course, "ben")[-1] == ("manual grade", 2, "")
    said_by(course, "grade", "submitted", "--json", "marks.json")
    said_by(course, "report", "marks.json", "--html", "class.html", "--gradebook")
    page = (course.root / "class.html").read_text()
    assert f"2 of 7 in the gradebook; extra credit: {EXERCISE} 0.5" in page


@pytest.mark.catalogue
def test_why_grades_again_unless_the_course_changed(course):
    lines = said_by(course, "why", "ada", NAME).strip().splitlines()
    assert len(lines) <= 10
    assert lines[0] == f"ada, {NAME}: 0.3 of 7 points; so far, since {WRITTEN} is not graded yet"
    assert "first grading, 0.3 points" in lines[1]
    assert any(f"{EXERCISE}: 0.3 of 3" in line for line in lines)
    assert "Graded again just now" in lines[-1] and "the same points" in lines[-1]

    submit(course, "eve", {EXERCISE: WRONG})
    said_by(course, *GRADE)
    assert f"{WRITTEN}: 0 of 4, not answered" in said_by(course, "why", "eve", NAME)

    submit(course, "ada")  # the submission that counts is graded, not the newer file in submitted/
    assert "the same points" in said_by(course, "why", "ada", NAME)
    with book_of(course) as book:  # somebody edited the database
        book.find_grade(f"test-{EXERCISE}", "first", NAME, "ada").auto_score = 2.9
        book.db.commit()
    assert "with other points for" in said_by(course, "why", "ada", NAME, code=1)
    said_by(course, "why", "nobody", NAME, code=2)
    reweigh(course)
    assert "this is the report from then" in said_by(course, "why", "ben", NAME)


def test_forget_deletes_history_and_lists_remaining_data(course):
    reweigh(course)
    said_by(course, "regrade", NAME, "--write")
    output = said_by(course, "forget", "ada")
    assert "the history is deleted" in output
    assert "still there: submitted/ada" in output
    assert "nbgrader db student remove ada --force" in output
    assert not list(course.root.glob("history/ada*"))
    assert not list((course.root / ".regrades").rglob("ada"))
    assert history_of(course, "ben")
    assert "downloaded/ has" not in output
    assert "there is no history of ada" in said_by(course, "why", "ada", NAME, code=2)
    assert not (course.root / "history" / "ada").exists(), "a question writes no history"
    with book_of(course) as book:
        book.add_student("it's $(id); a")
    output = said_by(course, "forget", "it's $(id); a")
    (words,) = (shlex.split(line.partition("rows: ")[2]) for line in output.splitlines() if "nbgrader db" in line)
    assert words[-2:] == ["it's $(id); a", "--force"]
    assert "there is no nobody in this course" in said_by(course, "forget", "nobody", code=2)
    said_by(course, "forget", "../ben", code=2)
    assert history_of(course, "ben")
