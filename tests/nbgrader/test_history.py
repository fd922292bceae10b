"""The history of a mark: every change with its reason, and the submission behind it."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest

from autograder.reports.store import FILE
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    WRITTEN,
    WRONG,
    book_of,
    entries,
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
    """Reason, score and note of each entry."""
    return [(one.reason, one.score, one.note) for one in entries(course, student)]


def transactions(course):
    """How many have written to the store: SQLite counts them in the file's header."""
    return int.from_bytes((course.root / FILE).read_bytes()[24:28], "big")


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
    time, before = course.root / "submitted" / "ada" / NAME / "timestamp.txt", transactions(course)
    for text in ("2027-03-01 10:00 UTC", "2027-03-01 11:00 UTC", ""):
        time.write_text(text) if text else time.unlink()
        said_by(course, *GRADE)
    assert transactions(course) == before + 3, "work, report and entry are written together"
    time.with_name("notes.txt").write_text("Rows.")
    said_by(course, *GRADE)
    submit(course, "ada", {EXERCISE: WRONG + "\n# again", WRITTEN: "Rows differ."})
    said_by(course, *GRADE)
    submit(course, "ada", {EXERCISE: WRONG + "\n# late", WRITTEN: "Rows differ."}, when="2027-03-03 12:00:00 UTC")
    said_by(course, *GRADE)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2027, 3, 1, 12))
    said_by(course, *GRADE, "--force")
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
        ("the time of handing in was added", 0.3, ""),
        ("the time of handing in has moved", 0.3, ""),
        ("the time of handing in has gone", 0.3, ""),
        ("other files beside the notebook", 0.3, ""),
        ("another submission", 0.3, ""),
        ("another submission", 0.3, ""),
        ("late", 0, ""),
        ("extension", 0.3, "due 2027-03-04 12:00 UTC"),
        ("regrade", 1.5, "a test was unfair"),
        (f"{EXERCISE} withdrawn", 3, "unclear"),
        ("regrade undone", 1.5, ""),
    ]
    assert [reason for reason, _, _ in history_of(course, "ben")][1] == "the course has changed"
    with closing(sqlite3.connect(course.root / FILE)) as store:
        kept = [bytes(notebook) for (notebook,) in store.execute("SELECT notebook FROM work WHERE student = 'ada'")]
    assert len(kept) == 3, "earlier submissions are kept"
    assert any(b"# again" in notebook for notebook in kept)


def test_lost_or_damaged_store_costs_no_mark(course):
    """Marks stay, and the next run begins the history again."""
    store, book = course.root / FILE, course.root / "gradebook.db"
    assert (store.stat().st_mode, store.stat().st_uid) == (book.stat().st_mode, book.stat().st_uid)
    grade_by_hand(course, "ben", WRITTEN, 3.0)
    with closing(sqlite3.connect(book)) as database:
        before = database.execute("SELECT auto_score, manual_score, needs_manual_grade FROM grade").fetchall()
    store.write_bytes(b"no database, and long enough to show it" * 30)
    for words in (GRADE, ("why", "ada", NAME), ("forget", "ada")):
        output = " ".join(said_by(course, *words, code=2).split())
        assert f"{store} is damaged" in output and "No mark is lost, since the gradebook has them" in output
    store.unlink()
    reweigh(course)
    assert "2 gain, 0 lose" in said_by(course, "regrade", NAME)
    output = said_by(course, *GRADE, code=1)
    assert "ada 0.3 → 1.5" in output.replace(f", {NAME}: {EXERCISE}", ""), "no mark changes without a word"
    assert f"{NAME}: marks.db did not know the marks of 2 students" in output
    reweigh(course, "weight(4.5)", "weight(0.5)")
    said_by(course, *GRADE)
    with closing(sqlite3.connect(book)) as database:
        assert database.execute("SELECT auto_score, manual_score, needs_manual_grade FROM grade").fetchall() == before
    assert history_of(course) == [("the history begins again", 0.3, "")]
    assert "0 graded, 2 unchanged" in said_by(course, *GRADE)
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
def test_why_compares_with_the_stored_report(course):
    lines = said_by(course, "why", "ada", NAME).strip().splitlines()
    assert len(lines) <= 10
    assert lines[0] == f"ada, {NAME}: 0.3 of 7 points; so far, since {WRITTEN} is not graded yet"
    assert "first grading, 0.3 points" in lines[1]
    assert any(f"{EXERCISE}: 0.3 of 3" in line for line in lines)
    assert "by the same tests" in lines[-1] and "the same points" in lines[-1]

    submit(course, "eve", {EXERCISE: WRONG})
    said_by(course, *GRADE)
    assert f"{WRITTEN}: 0 of 4, not answered" in said_by(course, "why", "eve", NAME)

    submit(course, "ada")  # the submission that counts is graded, not the newer file in submitted/
    assert "the same points" in said_by(course, "why", "ada", NAME)
    with book_of(course) as book:  # somebody edited the database
        book.find_grade(f"test-{EXERCISE}", "first", NAME, "ada").auto_score = 2.9
        book.db.commit()
    assert f"has other points for {EXERCISE} than the report" in said_by(course, "why", "ada", NAME, code=1)
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
    assert b'"student":"ada"' not in (course.root / FILE).read_bytes()
    assert history_of(course, "ben")
    assert "downloaded/ has" not in output
    assert "there is no history of ada" in said_by(course, "why", "ada", NAME, code=2)
    assert not history_of(course), "a question writes no history"
    with book_of(course) as book:
        book.add_student("it's $(id); a")
    output = said_by(course, "forget", "it's $(id); a")
    (words,) = (shlex.split(line.partition("rows: ")[2]) for line in output.splitlines() if "nbgrader db" in line)
    assert words[-2:] == ["it's $(id); a", "--force"]
    assert "there is no nobody in this course" in said_by(course, "forget", "nobody", code=2)
    said_by(course, "forget", "../ben", code=2)
    assert history_of(course, "ben")
