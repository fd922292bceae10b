"""A run updates marks and pages that changed since the last run, and leaves nobody out."""

from __future__ import annotations

import json
import subprocess

import nbformat
import pytest

from autograder.nbgrader import autograde
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    command,
    graded,
    nbgrader,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Three graded students with right work and feedback pages."""
    course = small_course(tmp_path_factory.mktemp("stale") / "course", A_POINT_FOR_LATENESS, ("ann", "bob", "cy"))
    for student in ("ann", "bob", "cy"):
        submit(course, student, when="2026-03-01 14:00:00 UTC")
    graded(course, feedback=True)
    return course


def page(course, student):
    return course.root / "feedback" / student / NAME / "first.html"


def change_in_gradebook(course, student, **values):
    """Enters a score or a comment, as formgrader does."""
    with book_of(course) as book:
        if "comment" in values:
            book.find_comment(EXERCISE, "first", NAME, student).manual_comment = values["comment"]
        if "score" in values:
            book.find_grade(f"test-{EXERCISE}", "first", NAME, student).manual_score = values["score"]
        book.db.commit()


def test_only_changed_feedback_pages_are_rewritten(course):
    change_in_gradebook(course, "ann", score=4.5)
    change_in_gradebook(course, "bob", comment="Lovely, see me about the seminar")
    before = {name: page(course, name).stat().st_mtime_ns for name in ("ann", "bob", "cy")}
    outcomes, _ = graded(course, feedback=True)
    assert not [one for one in outcomes if one.reason or one.no_feedback]
    assert "4.5" in page(course, "ann").read_text()
    assert "Lovely, see me about the seminar" in page(course, "bob").read_text()
    assert page(course, "cy").stat().st_mtime_ns == before["cy"]
    # nbgrader's own command rewrites existing pages.
    change_in_gradebook(course, "cy", comment="Come to office hours")
    nbgrader(course, "generate_feedback", NAME, "--student=cy")
    assert "Come to office hours" in page(course, "cy").read_text()


def test_notebook_renamed_by_a_browser_is_graded(course):
    for student in ("dee", "eli"):
        submit(course, student, name="first (1).ipynb")
    submit(course, "eli", {EXERCISE: WRONG}, name="copy of first.ipynb")
    unrelated = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    nbformat.write(unrelated, course.root / "submitted" / "dee" / NAME / "scratch.ipynb")
    outcomes, _ = graded(course, feedback=True)
    assert {one.student: one.reason for one in outcomes} == {
        "dee": None,
        "eli": f"no {NOTEBOOK}, and more than one notebook with its cells: copy of first.ipynb, first (1).ipynb. "
        "Leave one of them",
    }
    with book_of(course) as book:
        full = book.find_submission(NAME, "ann").score
        assert book.find_submission(NAME, "dee").score == full > 0
    assert page(course, "dee").is_file()
    assert not graded(course)[0][1:]  # only the failed submission is tried again
    code, output = command(course, "grade", "submitted/dee", "--json", "marks.json")
    assert code == 0, output
    assert json.loads((course.root / "marks.json").read_text())[0]["score"] == full
    _, output = command(course, "regrade", NAME)
    assert "0 gain, 0 lose, 4 keep" in output, output


def test_work_that_changes_while_it_is_graded_gets_no_mark_for_what_it_was(course, monkeypatch):
    submit(course, "fay", {EXERCISE: WRONG})
    grade = autograde.grade

    def handed_in_again(*how, **more):
        for marked in grade(*how, **more):
            submit(course, "fay")
            yield marked

    monkeypatch.setattr(autograde, "grade", handed_in_again)
    outcomes, _ = graded(course)
    assert {one.student: one.reason for one in outcomes} == {
        "fay": f"{NOTEBOOK} changed while it was graded; grade again"
    }
    monkeypatch.undo()
    graded(course)
    with book_of(course) as book:
        assert book.find_submission(NAME, "fay").score == book.find_submission(NAME, "ann").score > 0


def test_nobody_is_graded_if_the_solution_fails_the_tests(course):
    (suite,) = course.assignment(NAME).suites
    suite.write_text(suite.read_text().replace("(4, 6))\n", "(4, 7))\n"))
    submit(course, "dee")
    (course.root / "submitted" / "ann" / NAME / NOTEBOOK).write_text("{")
    kept = (course.root / "autograded" / "bob" / NAME / NOTEBOOK).read_bytes()
    outcomes, _ = graded(course)
    reasons = {one.student: one.reason for one in outcomes}
    assert f"the solution itself fails {EXERCISE}, test_shape" in reasons["bob"] == reasons["dee"]
    assert (course.root / "autograded" / "bob" / NAME / NOTEBOOK).read_bytes() == kept
    for words in (("grade", "submitted/bob"), ("regrade", NAME)):
        code, output = command(course, *words)
        assert (code, f"autograder dev check {NAME}" in output) == (1, True)


def test_nbgrader_autograde_warns_without_sandbox_and_repeats_errors(course):
    (course.root / "submitted" / "bob" / NAME / NOTEBOOK).write_text("{")
    command = ["nbgrader", "autograde", NAME, "--force", "--Mark.sandbox=process"]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert not [line for line in lines if "checksum" in line]
    reason = f"{NOTEBOOK} is not a Jupyter notebook"
    assert "1 of 3 submissions could not be graded:" in done.stderr
    assert f"bob: {reason}" in lines[-1], lines[-6:]
    (warning,) = [line for line in lines if "WARNING" in line and "late" not in line.lower()]
    assert "without a sandbox, since that was asked for" in warning
