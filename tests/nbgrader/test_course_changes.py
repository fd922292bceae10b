"""Changing the course never changes marks silently: the changes are reported, and need to be accepted."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.nbgrader import api
from tests.helpers.selection import one_in
from tests.helpers.small_course import (
    ANSWER,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    entries,
    grade_by_hand,
    nbgrader,
    reports_of,
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


# ---------------------------------------------------------------- an edit after the release


COPY = "first-Copy1.ipynb"
GIVEN = "# Numbers to try.\nX = [[1.0, 3.0]]"


def begun(folder):
    """A released course. Sinead's work is in the copy, and Eve and the rest left the question empty."""
    course = small_course(folder, written=True)
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, 4)
    given = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3, "grade_id": "given"}
    notebook.cells.insert(2, new_code_cell(GIVEN, metadata={"nbgrader": given}))
    notebook.cells.insert(3, new_markdown_cell("Read this twice - it pays."))
    notebook.cells.insert(4, new_code_cell("# Here is some room to try your function out.\n"))
    notebook.cells.insert(5, new_markdown_cell("Take this out again."))
    notebook.cells.insert(6, new_markdown_cell("Say why.", metadata={"nbgrader": given | {"grade_id": "question"}}))
    notebook.cells[-1].source = f"Write here.\n\n### BEGIN SOLUTION\n{ANSWER}\n### END SOLUTION"
    nbformat.write(notebook, path)
    said_by(course, "dev", "sync")
    nbgrader(course, "generate_assignment", NAME)
    answers = {EXERCISE: model_answers(course.assignment(NAME))[EXERCISE]}
    submit(course, "sinead", answers | {WRITTEN: "Each row has its own mean."}, COPY)
    submit(course, "sinead", {})
    submit(course, "eve", {})
    submit(course, "ada", answers)
    nameless = submit(course, "nameless", answers)
    notebook = nbformat.read(nameless, 4)
    for cell in notebook.cells:  # as an editor without nbgrader saves it
        cell.metadata = {}
    nbformat.write(notebook, nameless)
    words = submit(course, "words", answers)
    notebook = nbformat.read(words, 4)
    notebook.cells[3].source += "\n\nIt is the row's own mean."
    nbformat.write(notebook, words)
    return course


EDITS = {
    "Read this twice - it pays.": "Read this slowly.",
    "# Here is some room to try your function out.": "# Here is room for your own tries, as many as you like.",
    "# Numbers to try.": "# Some numbers to try out.",
    "Say why.": "Tell us why.",
    "Each row of X less its own mean.": "Each row of X, less the mean of that row.",  # the stub's docstring
    "Write here.": "Write your answer here.",  # in the cell of the answer
    "Take this out again.": None,
}  # fmt: skip


def edit(course, by):
    """Edit what was released, and release it by these commands. A cell comes, and one goes."""
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, 4)
    notebook.cells = [cell for cell in notebook.cells if EDITS.get(cell.source, "") is not None]
    for cell in notebook.cells:
        for before, after in EDITS.items():
            cell.source = cell.source.replace(before, after or "")
    notebook.cells.insert(3, new_markdown_cell("A remark that came later."))
    nbformat.write(notebook, path)
    if "sync" in by:
        said_by(course, "dev", "sync")
    if "generate" in by:
        nbgrader(course, "generate_assignment", NAME)


def state(course):
    """By student and cell the score, and whether a person is waited for; the points of each report; the pages."""
    with book_of(course) as book:
        found = {
            (one.student.id, grade.name): (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for one in book.assignment_submissions(NAME)
            for grade in one.notebooks[0].grades
        }
    pages = {path.parents[1].name: "so far" in path.read_text() for path in course.root.glob("feedback/*/*/*.html")}
    return found, {student: one["score"] for student, one in reports_of(course).items()}, pages


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory):
    """Work on the first release; nothing is graded."""
    return begun(tmp_path_factory.mktemp("edits") / "course")


@pytest.fixture(scope="module")
def before(handed_out, tmp_path_factory):
    """The same, graded with that release."""
    course = Course(shutil.copytree(handed_out.root, tmp_path_factory.mktemp("graded") / "course"))
    said = said_by(course, *GRADE, "--feedback")
    return course, state(course), said


def notices(output):
    return {line for line in output.splitlines() if line.startswith("warning: ")}


def test_work_on_the_first_release(before):
    _, (marks, points, _), said = before
    assert points == {"sinead": 3, "eve": 0, "ada": 3, "nameless": 3, "words": 3}
    waiting = {student for (student, _), (_, _, waits) in marks.items() if waits}
    assert waiting == {"sinead", "words"}  # a person reads an answer, and words that may be one
    assert f"sinead, {NAME}: {COPY} was graded; {NOTEBOOK} beside it has no work in it" in said


@pytest.mark.parametrize(
    ("start", "by"), one_in(3, [("graded", "sync, generate"), ("handed out", "generate"), ("handed out", "sync")])
)
def test_edit_after_the_release_changes_no_mark(handed_out, before, tmp_path, start, by):
    graded, right, said = before
    course = Course(shutil.copytree((graded if start == "graded" else handed_out).root, tmp_path / "course"))
    edit(course, by)
    output = said_by(course, *GRADE, "--feedback")
    assert notices(output) == notices(said)
    assert state(course) == right
    if start == "graded":
        said_by(course, *GRADE, "--force", "--feedback")
        assert "→" not in said_by(course, "regrade", NAME), "an exercise would have another mark"
        assert nbgrader(course, "autograde", NAME, "--force").count("It waits for a person") == 1
        assert state(course) == right


@pytest.mark.catalogue
def test_edit_that_nobody_remembers_keeps_the_marks(before, tmp_path):
    """Such as one by hand in both folders: then another file would be graded, and that is for a person to decide."""
    course = Course(shutil.copytree(before[0].root, tmp_path / "course"))
    right = state(course)[0]
    for path in course.root.glob(f"*/{NAME}/{NOTEBOOK}"):
        path.write_text(path.read_text().replace("Read this twice - it pays.", "Read this slowly."))
    for words in (GRADE, (*GRADE, "--force"), GRADE):
        output = said_by(course, *words, code=1)
        assert (
            f"sinead, {NAME}: {COPY} was graded last time, and {NOTEBOOK} would be now, though no file has changed. "
            f"Remove the one that should not count from submitted/sinead/{NAME}, and grade again"
        ) in " ".join(output.split())
        assert "1 left as they were, 0 could not be graded" in output
        assert state(course)[0] == right
    nbgrader(course, "autograde", NAME, code=1)
    assert state(course)[0] == right

    aside = Course(shutil.copytree(course.root, tmp_path / "aside"))
    said_by(aside, *GRADE, "--accept-changes")
    assert state(aside)[0]["sinead", f"test-{EXERCISE}"] == (0, None, False)
    assert entries(aside, "sinead")[-1].reason == "another file of the same folder, the course has changed"
    (course.root / "submitted" / "sinead" / NAME / NOTEBOOK).unlink()
    said_by(course, *GRADE)
    assert state(course)[0] == right
    submit(course, "sinead", {EXERCISE: WRONG})  # a new hand-in beside the copy counts, as ever
    said_by(course, *GRADE)
    assert state(course)[0]["sinead", f"test-{EXERCISE}"] == (0.3, None, False)
