"""Errors in a course's files: each message names the file and the fault."""

from __future__ import annotations

import json
import shutil

import pytest

from autograder.authoring.known_mistakes import not_shown
from autograder.course import assignments, content
from autograder.course.assignments import Course, course_at
from autograder.errors import CourseError
from autograder.explain.picture import example_in
from autograder.testing.suite import Suite

HEAD = "import pytest\n\n\n"
CELL = {"cell_type": "code", "source": "", "outputs": [], "execution_count": None}


def graded(name, points):
    return CELL | {"id": "a", "metadata": {"nbgrader": {"grade": True, "grade_id": name, "points": points}}}


def write(path, cells, version=4, **metadata):
    path.write_text(json.dumps({"nbformat": version, "nbformat_minor": 5, "metadata": metadata, "cells": cells}))


@pytest.fixture
def assignment(tmp_path):
    """A minimal course: one assignment with one exercise."""
    (tmp_path / "nbgrader_config.py").write_text("")
    for name in ("source", "solutions", "content"):
        (tmp_path / name / "b1").mkdir(parents=True)
    (tmp_path / "content" / "course.toml").touch()
    write(tmp_path / "source" / "b1" / "b.ipynb", [graded("test-mean", 2)])
    (tmp_path / "solutions" / "b1" / "b.py").write_text("def mean(x):\n    return sum(x) / len(x)\n")
    return Course(tmp_path).assignment("b1")


def test_minimal_course_loads(assignment):
    course = course_at(assignment.root)
    assert [(e.name, e.points) for e in assignment.exercises] == [("mean", 2.0)]
    assert assignment.reference().mean([1, 3]) == 2
    assert course.of_exercise("mean") == course.of_notebook("b.ipynb") == assignment
    assert course.of_notebook("c.ipynb") is None


@pytest.mark.parametrize(
    ("cells", "version", "message"),
    [
        ([graded("mean", 2)], 4, "cell 'mean': a graded code cell is named test-<exercise>"),
        ([graded("test-mean", None)], 4, "cell 'test-mean': no points"),
        ([], 3, "not of format 4; open it in JupyterLab and save it"),
        ([{"source": ""}], 4, "not a notebook (Object missing required field `cell_type` - at `$.cells[0]`)"),
    ],
)
def test_invalid_notebook_is_reported(assignment, cells, version, message):
    write(assignment.notebook, cells, version)
    with pytest.raises(CourseError, match=r"b\.ipynb: ") as error:
        _ = assignment.exercises
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limits": [1]}, "limits: expected object, got array"),
        ({"limits": {"memory": "1 GB"}}, "limits.memory: expected float, got str"),
        ({"limit": {}}, "there is no 'limit'; it may have limits"),
    ],
)
def test_invalid_notebook_settings_are_reported(assignment, settings, message):
    write(assignment.notebook, [], autograder=settings)
    with pytest.raises(CourseError) as error:
        _ = assignment.limits
    assert f"b.ipynb: the metadata's autograder: {message}" in str(error.value)


def readers(assignment):
    """For each TOML file of a course, a function that reads it."""
    exercise = assignment.content / "mean"
    return {
        "course.toml": lambda: content.sandbox_setting(assignment.course.folder),
        "../withdrawn.toml": lambda: assignment.withdrawn,
        "b1/rubric.toml": lambda: assignment.written,
        "b1/not_shown.toml": lambda: not_shown(assignment),
        "b1/mean/hint.toml": lambda: content.Visible(assignment.course.folder).hint_for("mean"),
        "b1/mean/picture.toml": lambda: example_in(exercise / "picture.toml"),
        "b1/shared_picture.toml": lambda: example_in(exercise / "picture.toml"),
        "b1/mean/ready_made.toml": lambda: content.ready_made(exercise),
    }


PICTURE = 'args = ["X"]\nwanted = [[1.0]]\nrows = ["a"]\ncolumns = ["b"]\n'


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("course.toml", "names = {", "it is not TOML (Invalid"),
        ("b1/mean/ready_made.toml", "functions = [1]", "functions[0]: expected str, got int"),
        ("course.toml", "[readymade]", "there is no 'readymade'; it may have names, "),
        ("course.toml", "[names]\nnp = 'numpy'\nmath = 3", "names.math: expected str, got int"),
        ("../withdrawn.toml", "[b1]\nmean = 'gone'", "b1.mean: invalid enum value 'gone'"),
        ("b1/rubric.toml", "why = [[1, 'names it'], ['one', 'says why']]", "why[1][0]: expected float, got str"),
        ("b1/not_shown.toml", "stops = 'A size.'", "stops: expected object, got str"),
        ("b1/not_shown.toml", "[mean]\na = 'A size.'\nstops = 8", "mean.stops: expected str, got int"),
        ("b1/mean/hint.toml", "nudge = 'What?'", "object missing required field closer"),
        ("b1/mean/picture.toml", "colour = 'red'", "there is no 'colour'; it may have args, "),
        ("b1/mean/picture.toml", PICTURE, "args[0]: no value is called 'X', here or in shared_picture.toml"),
        (
            "b1/mean/picture.toml",
            PICTURE + "values.X = [[1.0], [2.0, 3.0]]",
            "args[0]: expected numbers in rows of one",
        ),
        ("b1/shared_picture.toml", "Y = []\nX = 3.0", "X: expected array, got float"),
    ],
)
def test_invalid_toml_file_is_reported(assignment, file, text, message):
    (assignment.content / "mean").mkdir()
    (assignment.content / "mean" / "visible_tests.py").touch()
    (assignment.content / "mean" / "picture.toml").write_text(PICTURE)
    path = (assignment.course.folder / file).resolve()
    path.write_text(text)
    with pytest.raises(CourseError) as error:
        readers(assignment)[file]()
    assert str(error.value).startswith(f"{path}: {message}")


def test_valid_toml_files_are_read(assignment):
    (assignment.content / "mean").mkdir()
    (assignment.content / "rubric.toml").write_text("why = [[1, 'names it']]")
    (assignment.content / "mean" / "picture.toml").write_text(PICTURE)
    (assignment.content / "shared_picture.toml").write_text("X = [[1, 2], [3, 4]]")
    assert content.sandbox_setting(assignment.course.folder)["names"] == {}
    assert assignment.rubrics == {"why": ((1.0, "names it"),)}
    example = example_in(assignment.content / "mean" / "picture.toml")
    assert example.args[0].tolist() == [[1, 2], [3, 4]]
    assert example.shape == (1, 1)


def test_missing_courses_and_extra_notebooks_are_reported(assignment, tmp_path):
    with pytest.raises(CourseError, match=r"no course here: .* holds no nbgrader_config\.py beside a source/ folder"):
        course_at(tmp_path / "source")
    with pytest.raises(CourseError, match="no exercise 'median' in "):
        Course(tmp_path).of_exercise("median")
    with pytest.raises(CourseError, match=r"no assignment 'b2' in .*; there are b1"):
        Course(tmp_path).assignment("b2")
    shutil.copy(assignment.notebook, assignment.notebook.with_name(".~c.ipynb"))  # as JupyterLab does while it saves
    assert Course(tmp_path).assignment("b1").notebook == assignment.notebook
    shutil.copy(assignment.notebook, assignment.notebook.with_name("c.ipynb"))
    with pytest.raises(CourseError, match="an assignment has one notebook, this folder has 2"):
        Course(tmp_path).assignment("b1")
    assert Course(tmp_path).assignments == {}
    assert Course(tmp_path).names == ["b1"]


def test_missing_or_failing_solution_is_reported(assignment):
    assignment.solution.write_text("def half(n):\n    return n / 0\n\n\nhalf(1)\n")
    with pytest.raises(
        CourseError, match=r"b\.py: the solution does not run at `half\(1\)` \(ZeroDivisionError: division"
    ):
        assignment.reference()
    assignment.solution.unlink()
    with pytest.raises(CourseError, match=r"b\.py: no solution; `autograder dev sync` writes it from the source"):
        assignment.reference()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('class TestMean:\n    def test_a(self, student):\n        """One."""\n', 'no @pytest.mark.exercise("...")'),
        (
            '@pytest.mark.exercise("mean")\nclass TestMean:\n    def test_a(self, student):\n        pass\n',
            "no docstring",
        ),
        ("1 / 0\n", "it cannot be loaded: ZeroDivisionError: division by zero (hidden_tests.py, line 4)"),
        ('@pytest.mark.exercise("mean")\nclass TestMean:\n    pass\n', "pytest found no test in it"),
    ],
)
def test_unusable_hidden_tests_are_reported(assignment, text, message):
    with pytest.raises(CourseError, match=r"hidden_tests\.py: no such suite"):
        Suite(assignment.suites)
    assignment.suites[0].parent.mkdir()
    assignment.suites[0].write_text(HEAD + text)
    with pytest.raises(CourseError, match=r"b1(/mean/hidden_tests\.py)?: ") as error:
        Suite(assignment.suites)
    assert message in str(error.value)


def test_files_are_read_once_and_the_next_course_sees_edits(assignment, monkeypatch):
    read, parse = [], assignments.notebook_at
    monkeypatch.setattr(assignments, "notebook_at", lambda path: read.append(path.name) or parse(path))
    before = [assignment.exercises, assignment.graded_cells, assignment.limits, assignment.withdrawn]
    assert read == ["b.ipynb"]
    write(assignment.notebook, [graded("test-mean", 3)], autograder={"limits": {"cell_seconds": 5}})
    (assignment.root / "withdrawn.toml").write_text("[b1]\nmean = 'full points'\n")
    assert [assignment.exercises, assignment.graded_cells, assignment.limits, assignment.withdrawn] == before
    later = Course(assignment.root).assignment("b1")
    assert [(e.points, e.withdrawn) for e in later.exercises] == [(3.0, True)]
    assert later.limits == {"cell_seconds": 5.0}
    assert later.version != assignment.version
