"""`dev adopt` on an existing nbgrader course, and suites beside assert cells in one notebook."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from autograder.authoring.generated_files import sync
from autograder.authoring.skeletons import add_exercise, begin_course
from autograder.course.assignments import Course
from autograder.errors import CourseError
from autograder.submission import grade_id
from tests.courses.algorithms import SORTING
from tests.courses.classic import classic_course, notebook_of, submit
from tests.helpers.small_course import EXERCISE, NAME, said_by

BROKEN = """
#% solution half
def half(n):
    ### BEGIN SOLUTION
    from helper import THREE
    return n / THREE + float(open("data/numbers.csv").read())
    ### END SOLUTION

#% tests by-half 1
assert half(2) == 1, "What is half of two?"
"""


def contents(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_adopt_reports_on_a_course_and_changes_nothing(tmp_path):
    course = classic_course(tmp_path / "course", sorting=SORTING, halves=BROKEN)
    shutil.copytree(course.root / "source" / "halves", course.root / "source" / "twice")
    shutil.copy(course.root / "source" / "twice" / "halves.ipynb", course.root / "source" / "twice" / "other.ipynb")
    (course.root / "source" / "halves" / "data").mkdir()
    (course.root / "source" / "halves" / "data" / "numbers.csv").write_text("1")
    (course.root / "source" / "halves" / "helper.py").write_text("THREE = 3")
    before = contents(course.root)
    said = said_by(Course(tmp_path), "dev", "adopt", "course")
    for words in (
        "works   cells of tests: 5, with hidden ones: 1, points: 12",
        "graded by a person: by-hand, why, plan",
        "the source notebook has all 12 points",
        "could be judged by a suite, one at a time, with partial credit: middle, binary_search",
        "tests of plain asserts run beside the student's code, so students can read or cheat them on purpose",
        "files beside the notebook are there when it is graded: data/numbers.csv, helper.py",
        "'by-half' does not give the source notebook its points: What is half of two?",
        "twice: an assignment has one notebook, this folder has 2 (halves, other)",
        "Give each a folder of its own, such as twice_halves, twice_other",
    ):
        assert words in said, said
    assert contents(course.root) == before


SLIPS = """
#% code
%time 1
import pandaz as pd
import numpy as np
prices = pd.Series([1.0, 3.0])

#% solution price
### BEGIN SOLUTION
price = prices.mean()
### END SOLUTION

#% tests by-price 1
assert price == 2

#% solution triple
def triple(n):
    ### BEGIN SOLUTION
    return 3 * n
    ### END SOLUTION

#% tests by-triple 2
assert triple(1) == 3
### BEGIN HIDDEN TESTS
assert tripel(2) == 6
### END HIDDEN TESTS

#% tests by-pair 2
assert (triple(1) == 4, "Three times what?")

#% tests by-part 4
1
"""


def in_one_line(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_slips_in_a_classic_notebook_are_named_with_their_cause(tmp_path):
    """A package that the set-up cell misses, a typo in a hidden line, an empty assert, a part of the points."""
    course = classic_course(tmp_path / "course", slips=SLIPS)
    setup = "raised ModuleNotFoundError: No module named 'pandaz'. In line 2: `import pandaz as pd`."
    adopted = in_one_line(said_by(course, "dev", "adopt", "."))
    for words in (
        f"`prices` is not there because another cell, which would set it, {setup}",
        "NameError: name 'tripel' is not defined (in `assert tripel(2) == 6`)",
        "cell 'by-pair': line 1, `assert (triple(1) == 4, 'Three times what?')`, always holds. Write",
        "'by-part' does not give the source notebook its points: It gives 1 of 4 points.",
    ):
        assert words in adopted, adopted
    submit(course, "slips", "ada")
    graded = in_one_line(said_by(course, "grade", "submitted", code=1))
    assert "not graded" in graded and setup.rstrip(".") in graded, graded


@pytest.mark.slow
def test_cells_with_one_id_are_named_before_anything_is_graded(tmp_path):
    course = classic_course(tmp_path / "course", sorting=SORTING)
    path = course.root / "source" / "sorting" / "sorting.ipynb"
    notebook = nbformat.read(path, as_version=4)
    copied = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    notebook.cells.append(nbformat.from_dict({**copied, "id": "copied"}))
    nbformat.write(notebook, path)
    submit(course, "sorting", "ada")
    what = f"cell '{grade_id(copied)}': 2 cells have this id. Give each its own in the Create Assignment panel"
    for words, code in ((["dev", "adopt", "."], 0), (["dev", "check"], 1), (["grade", "submitted"], 1)):
        said = in_one_line(said_by(course, *words, code=code))
        assert what in said and "no valid verdict" not in said, said


# ---------------------------------------------------------------- suites and assert cells in one notebook


@pytest.fixture(scope="module")
def new_course(tmp_path_factory):
    root = tmp_path_factory.mktemp("own") / "course"
    list(begin_course(root, NAME, EXERCISE))
    return root


@pytest.fixture
def course(new_course, tmp_path):
    return Course(shutil.copytree(new_course, tmp_path / "course"))


DOUBLE = """
#% solution double
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

#% tests by-double 2
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(-1) == -2
### END HIDDEN TESTS
"""


def add_cells(course, text):
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    notebook.cells += notebook_of(text).cells
    for number, cell in enumerate(notebook.cells):
        cell.id = f"n-{number}"
    nbformat.write(notebook, path)


@pytest.mark.slow
@pytest.mark.catalogue
def test_suites_and_assert_cells_grade_one_notebook(course):
    """`dev new --minimal` writes one file of tests; `dev sync` writes its visible cases into another."""
    written = list(add_exercise(course, NAME, "median", "minimal"))
    assert [path.name for path in written] == ["first.ipynb", "hidden_tests.py"]
    assert len(written[1].read_text().splitlines()) <= 20
    add_cells(course, DOUBLE)
    assert {path.name for path in sync(course)} == {"first.py", "visible_tests.py", "first.ipynb"}
    assert list(sync(course)) == []
    assignment = Course(course.root).assignment(NAME)
    assert [e.name for e in assignment.exercises] == [EXERCISE, "median", "by-double"]
    assert [e.name for e in assignment.by_suite] == [EXERCISE, "median"]

    said = said_by(course, "dev", "check")
    assert "in order: 3 exercises, 8 points by tests" in said
    assert "'median': 0 known mistakes. Enter 2 more." in said  # advice

    release = nbformat.read(course.root / "assignments" / NAME / "first.ipynb", as_version=4)
    for cell in release.cells:
        if grade_id(cell) == "median":
            cell.source = "def median(numbers):\n    return sorted(numbers)[len(numbers) // 2]"
        if grade_id(cell) == "double":
            cell.source = "def double(x):\n    return abs(2 * x)"
    path = course.root / "submitted" / "ada" / NAME / "first.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(release, path)
    said = said_by(course, "grade", "submitted")
    assert f"ada, {NAME}: 0.75 / 8" in said
    assert "median(numbers=[1, 2, 4, 8]): the result is 4, which is not right." in said
    assert "median(numbers=[]): raised IndexError" in said
    assert "A hidden test does not hold." in said


# ---------------------------------------------------------------- mistakes of the author

PICTURE = (
    'args = [[[1.0, 3.0], [0.0, 6.0]]]\nwanted = [[-1.0, 1.0], [-3.0, 3.0]]\nrows = ["a", "b"]\ncolumns = ["c", "d"]'
)


def spoil(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.slow
def test_check_finds_wrong_picture_and_unknown_mark(course):
    folder = course.assignment(NAME).content / EXERCISE
    (folder / "picture.toml").write_text(PICTURE.replace("-3.0", "-2.0"))
    spoil(folder / "hidden_tests.py", "mark.weight(0.5)", "mark.wieght(0.5)")
    found = said_by(course, "dev", "check", code=1)
    assert f"'{EXERCISE}': its wanted numbers are not what the solution gives" in found
    assert "'test_shape': there is no mark 'wieght'" in found
    assert "Traceback" not in found


@pytest.mark.slow
@pytest.mark.catalogue
def test_broken_exercise_can_be_withdrawn(course):
    """An unreadable picture is not drawn; an exercise whose solution fails blocks grading until it is withdrawn."""
    folder = course.assignment(NAME).content / EXERCISE
    (folder / "picture.toml").write_text("PICTUR = 3")
    list(add_exercise(course, NAME, "median", "minimal"))
    list(sync(course))
    shutil.copytree(course.root / "source" / NAME, course.root / "submitted" / "ada" / NAME)
    spoil(folder / "hidden_tests.py", "expect.close(", "expect.close(1 + ")
    said = said_by(course, "grade", "submitted", code=1)
    assert "autograder withdraw row_centred` goes on without it" in said.replace("\n", ""), said
    assert "Nobody's a1_first is graded yet" in said_by(course, "withdraw", EXERCISE)
    said_by(course, "withdraw", EXERCISE, "--write")
    assert f"ada, {NAME}: 6 / 6" in said_by(course, "grade", "submitted")


def test_autotest_lines_are_refused(tmp_path):
    (tmp_path / "source" / "one").mkdir(parents=True)
    text = "#% tests auto 1\n### AUTOTEST f(3)\n"
    nbformat.write(notebook_of(text), tmp_path / "source" / "one" / "one.ipynb")
    with pytest.raises(CourseError, match="cell 'auto': nbgrader writes tests in place of AUTOTEST lines"):
        _ = Course(tmp_path).assignment("one").exercises
