"""What a notebook's cells find beside it when it is graded, and what a report says of other files and cells."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter

import nbformat
import pytest

from autograder.discovery import MAX_NOTEBOOK_BYTES, MAX_NOTEBOOKS
from autograder.submission import MAX_FOLDERS, MAX_PYTHON, MAX_PYTHON_BYTES, grade_id
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    book_of,
    graded,
    released,
    reports_of,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
IMPORTED = f"from helper import centred\n\ndef {EXERCISE}(X):\n    return centred(X)"
HELPER = "def centred(X):\n    return X - X.mean(axis=-1, keepdims=True)\n"
WRONG_HELPER = HELPER.replace("-1", "-2")  # of the same size


def plain(path):
    (path.parent / "helper.py").write_text(HELPER)


def package(path):
    """A helper in a folder, which itself imports from there; and names that others have, too."""
    (path.parent / "lib").mkdir()
    (path.parent / "lib" / "means.py").write_text(HELPER)
    (path.parent / "helper.py").write_text("from lib.means import centred\n")
    for name in ("torch", "numpy", "random", "autograder", "json", "scipy"):
        (path.parent / f"{name}.py").write_text("1 / 0\n")


def link(path):
    outside = path.parents[2] / "elsewhere.py"
    outside.write_text(HELPER)
    (path.parent / "helper.py").symlink_to(outside)


def large(path):
    (path.parent / "helper.py").write_text(HELPER + "#" * MAX_PYTHON_BYTES)


def many(path):
    for number in range(MAX_PYTHON):
        (path.parent / f"a{number}.py").write_text("x = 1\n")
    plain(path)


def many_folders(path):
    for number in range(MAX_FOLDERS):
        (path.parent / f"a{number}").mkdir()
    plain(path)


def odd_names(path):
    plain(path)
    (path.parent / "a b\n.py").write_text("x = 1\n")
    (path.parent / os.fsdecode(b"\xff.py")).write_text("x = 1\n")
    (path.parent / "folder.py").mkdir()
    os.mkfifo(path.parent / "pipe.py")


WORKS = {
    many_folders: f"there are more than {MAX_FOLDERS} folders",
    plain: "",
    package: "",
    odd_names: "folder.py is not a file; pipe.py is not a file; the name of \N{REPLACEMENT CHARACTER}.py is not UTF-8",
}
LEFT_OUT = {
    link: "helper.py cannot be read: it is a link",
    large: "helper.py makes them more than 1 MB",
    many: f"there are more than {MAX_PYTHON} Python files, such as helper.py",
}
CASES = {**WORKS, **LEFT_OUT}
HIDDEN = {"zip": "hw.zip", "checkpoint": ".ipynb_checkpoints/first-checkpoint.ipynb"}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = small_course(tmp_path_factory.mktemp("beside") / "course")
    for case in CASES:
        case(submit(course, case.__name__, {EXERCISE: IMPORTED}))
    return course


@pytest.fixture(scope="module")
def marked(course):
    """Outcomes and notices of a run into the gradebook, and the reports of `grade`."""
    return graded(course, feedback=True), reports_of(course)


def test_untouched_notebook_is_graded_and_what_lies_beside_it_is_named(tmp_path):
    course = small_course(tmp_path / "course")
    work = submit(course, "x").read_bytes()
    shutil.rmtree(course.root / "submitted")
    for student, place in HIDDEN.items():
        path = submit(course, student, {}).parent / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(work)
    path = submit(course, "own").parent / HIDDEN["checkpoint"]  # an earlier state of a notebook with work in it
    path.parent.mkdir()
    path.write_bytes(submit(course, "own").read_bytes())
    outcomes, notices = graded(course, feedback=True)
    assert not [one for one in outcomes if one.reason]
    for student, place in HIDDEN.items():
        said = f"{NOTEBOOK} was graded; it has nothing for {EXERCISE}, but the folder also has {place}"
        assert reports_of(course)[student]["notices"] == [said]
        assert f"{student}, {NAME}: {said}" in notices
        page = (course.root / "feedback" / student / NAME / "first.html").read_text()
        assert "but the folder also has" in page
    assert "notices" not in reports_of(course)["own"]
    assert not [notice for notice in notices if notice.startswith("own")]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_answer_in_a_text_cell_without_its_name_is_named(tmp_path, kind):
    """The cell's name is lost, so nothing turns it back."""
    course = small_course(tmp_path / "course")
    for student, keeps_stub in (("moved", False), ("beside", True)):
        path = submit(course, student)
        notebook = nbformat.read(path, 4)
        at = next(number for number, cell in enumerate(notebook.cells) if grade_id(cell) == EXERCISE)
        text = nbformat.v4.new_markdown_cell(notebook.cells[at].source)
        text.cell_type = kind
        stub = nbformat.read(released(course), 4).cells[at]
        notebook.cells[at : at + 1] = [text, stub] if keeps_stub else [text]
        nbformat.write(notebook, path)
    _, notices = graded(course, feedback=True)
    said = f"only text cells, which do not run, define {EXERCISE} in cell {at + 1}"
    assert [f"{student}, {NAME}: {said}" in notices for student in ("moved", "beside")] == [True, True]
    reports = reports_of(course)
    for student in ("moved", "beside"):
        assert (reports[student]["score"], reports[student]["notices"]) == (0, [said])
        assert said in (course.root / "feedback" / student / NAME / "first.html").read_text()


def test_notebook_of_another_assignment_is_not_graded_under_this_name(tmp_path):
    course = small_course(tmp_path / "course")
    work = submit(course, "right").read_text()
    other = work.replace(EXERCISE, "column_centred")
    source = course.root / "source" / "a2_second" / "second.ipynb"
    source.parent.mkdir()
    source.write_text(course.assignment(NAME).notebook.read_text().replace(EXERCISE, "column_centred"))
    folder = submit(course, "other").parent
    (folder / NOTEBOOK).write_text(other)
    renamed = submit(course, "both").parent
    (renamed / NOTEBOOK).write_text(other)
    (renamed / "mine.ipynb").write_text(work)
    reason = f"{NOTEBOOK} has the cells of a2_second, and none of {NAME}. Was the wrong file handed in?"
    outcomes, _ = graded(course)
    assert {one.student: one.reason for one in outcomes} == {"right": None, "other": reason, "both": None}
    said_by(course, "grade", "submitted", "--json", "marks.json", code=1)
    reports = {one["student"]: one for one in json.loads((course.root / "marks.json").read_text())}
    assert (reports["other"]["status"], reports["other"]["reason"]) == ("failed", reason)
    assert reports["both"]["score"] == reports["right"]["score"] == 3
    alone = tmp_path / "alone" / NOTEBOOK
    alone.parent.mkdir()
    alone.write_text(other)
    assert reason in " ".join(said_by(course, "grade", alone, code=1).split())
    alone.write_text(work.replace(EXERCISE, "unknown_to_the_course"))
    assert f"warning: first, {NAME}: {NOTEBOOK} has no cell of an exercise" in said_by(course, "grade", alone)


def by_tests(course, student):
    with book_of(course) as book:
        return book.find_grade(f"test-{EXERCISE}", "first", NAME, student).auto_score


@pytest.mark.parametrize("case", CASES)
def test_python_files_beside_the_notebook_are_imported_or_named(course, marked, case):
    ((_, notices), reports), student = marked, case.__name__
    points = 3 if case in WORKS else 0
    assert reports[student]["score"] == by_tests(course, student) == points
    words = CASES[case]
    said = " ".join(reports[student].get("notices", ()))
    assert words in said
    assert bool(said) == bool(words)
    assert any(f"{student}, {NAME}" in notice and words in notice for notice in notices) == bool(words)
    page = (course.root / "feedback" / student / NAME / "first.html").read_text()
    assert ("not all Python files beside the notebook" in page) == bool(words)


def test_changed_helper_is_another_submission(course, marked):
    path = course.root / "submitted" / "plain" / NAME / "helper.py"
    path.write_text(WRONG_HELPER)
    outcomes, _ = graded(course)
    assert [one.student for one in outcomes if not one.unchanged] == ["plain"]
    assert 0 < by_tests(course, "plain") < 3
    assert "the same points" in said_by(course, "why", "plain", NAME)
    path.write_text(HELPER)
    graded(course)
    assert by_tests(course, "plain") == 3
    path.write_text("1 / 0\n")  # `why` judges what was graded, not what lies there now
    assert "the same points" in said_by(course, "why", "plain", NAME)
    path.write_text(HELPER)
    assert "0 gain, 0 lose" in said_by(course, "regrade", NAME)


def test_notebook_named_by_itself_finds_files_beside_it_unless_others_are_there(course, tmp_path):
    path = tmp_path / "own" / NOTEBOOK
    path.parent.mkdir()
    path.write_bytes((course.root / "submitted" / "plain" / NAME / NOTEBOOK).read_bytes())
    plain(path)

    def score():
        said_by(course, "grade", path, "--json", tmp_path / "marks.json")
        return json.loads((tmp_path / "marks.json").read_text())[0]["score"]

    assert score() == 3
    (path.parent / "lib").mkdir()
    (path.parent / "helper.py").rename(path.parent / "lib" / "helper.py")
    assert score() == 0, "the folder may be anybody's"
    plain(path)
    (path.parent / "another.ipynb").write_bytes(path.read_bytes())
    assert score() == 0


@pytest.fixture
def opened(monkeypatch):
    """How often each file was opened by its path. nbgrader's copy of a folder opens names in it."""
    found, opens = Counter(), os.open

    def counted(path, *args, **named):
        found[str(path)] += 1
        return opens(path, *args, **named)

    monkeypatch.setattr(os, "open", counted)
    return found


def test_files_beside_the_notebook_are_read_once_in_a_run(tmp_path, opened):
    course = small_course(tmp_path / "course", written=True)
    path = submit(course, "x", {EXERCISE: IMPORTED})
    copies = [path.with_name(name) for name in ("a copy.ipynb", "first-Copy1.ipynb", "first-Copy2.ipynb")]
    shutil.copy(released(course), copies[0])
    for number, copy in enumerate(copies[1:]):
        copy.write_text(path.read_text().replace("import centred", f"import centred  # {number}"))
    shutil.copy(path, path.with_name("same.ipynb"))
    plain(path)
    beside = {str(file): 1 for file in path.parent.iterdir() if file != path}
    assert len(beside) == 5
    for run in (graded, graded, reports_of):
        opened.clear()
        run(course)
        assert {file: opened[file] for file in beside} == beside
    assert by_tests(course, "x") == 3


def test_notebooks_beyond_the_limits_are_named_and_an_answer_may_be_in_them(tmp_path):
    course = small_course(tmp_path / "course", written=True)
    for student in ("many", "large"):
        work, path = submit(course, student, {WRITTEN: "In a copy."}).read_text(), submit(course, student)
        (path.parent / "z.ipynb").write_text(work)
    for number in range(2):
        with (path.parent / f"a{number}.ipynb").open("wb") as file:
            file.truncate(MAX_NOTEBOOK_BYTES // 2)
    for number in range(MAX_NOTEBOOKS):
        (course.root / "submitted" / "many" / NAME / f"a{number:02}.ipynb").write_text(work)
    _, notices = graded(course, feedback=True)
    reports = reports_of(course)
    for student in ("many", "large"):
        (said,) = (one for one in reports[student]["notices"] if one.startswith(f"beside {NOTEBOOK} only"))
        assert said.endswith("; the rest (1): z.ipynb")
        assert f"{student}, {NAME}: {said}" in notices
        assert "the rest (1): z.ipynb" in (course.root / "feedback" / student / NAME / "first.html").read_text()
        with book_of(course) as book:
            assert book.find_grade(WRITTEN, "first", NAME, student).needs_manual_grade
