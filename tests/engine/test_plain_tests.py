"""A suite may be ordinary pytest, with plain asserts, and its author is told where it is wrong."""

from __future__ import annotations

import json
import os
import shutil
import sys

import nbformat
import pytest

from autograder.authoring import notebook_checks
from autograder.authoring.skeletons import add_exercise, begin_course
from autograder.course.assignments import Course, Exercise
from autograder.course.content import Visible
from autograder.errors import CourseError
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.submission import grade_id
from autograder.testing.hidden_tests import Suite
from autograder.testing.local import Here, answering
from autograder.testing.student import Student
from tests.helpers.small_course import EXERCISE, NAME, said_by

PLAIN = '''
import numpy as np
import pytest


@pytest.mark.exercise("double")
class TestDouble:
    def test_hint(self, student):
        """Twice as much."""
        SECRET = 42.5
        assert student.double(21.25) == SECRET, "What is two times that?"

    def test_bare(self, student):
        """Twice as much, too."""
        assert student.double(3.0) == 6.0

    def test_numpy(self, student):
        """Twice an array."""
        np.testing.assert_allclose(student.double(np.array([1.25])), np.array([2.5]))

    def test_fail(self, student):
        """Never less."""
        if student.double(1.0) < 2:
            pytest.fail("Is it more?")

    def test_broken(self, student):
        """Something that has a length."""
        len(student.double(1.0))
'''


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "a1" / "hidden_tests.py"
    path.parent.mkdir()
    path.write_text(PLAIN)
    suite = Suite([path])
    names = Here({"double": lambda x: x})
    (result,) = judge(Material(suite), names, [Exercise("double", 10.0)])
    return {test.name: test for test in result.tests}


def test_a_plain_assert_is_a_failed_test_with_its_hint_and_tells_no_expected_value(judged):
    assert judged["test_hint"].message == (
        "double(21.25): the returned value is not the expected one. What is two times that?"
    )
    assert judged["test_bare"].message == "double(3.0): the returned value is not the expected one."
    assert judged["test_fail"].message == "double(1.0): the returned value is not the expected one. Is it more?"
    assert {test.state for test in judged.values()} == {"failed"}
    for test in judged.values():
        assert not any(secret in test.message for secret in ("42.5", "6.0", "2.5]", "assert")), test.message


def test_what_a_test_cannot_judge_names_its_line(judged):
    line = 1 + PLAIN.splitlines().index("        len(student.double(1.0))")
    assert f"(TypeError, hidden_tests.py, line {line}). Please tell your instructor." in judged["test_broken"].message


SHARING = """
import pytest
from ..shared_hidden_tests import STEP

@pytest.mark.exercise("{name}")
class TestIt:
    def test_step(self, student):
        \"\"\"One step on.\"\"\"
        assert student.{name}(1) == 1 + STEP, "How far?"

    def test_two(self, student):
        \"\"\"Two steps on.\"\"\"
        assert student.{name}(student.{name}(1)) == 1 + 2 * STEP, "How far?"
"""


def test_exercises_share_a_file_and_are_judged_in_any_order_and_named_in_any_way(tmp_path):
    """Also as a module of Python's own; and what has been saved since is read anew."""
    paths = [tmp_path / "a1" / name / "hidden_tests.py" for name in ("statistics", "suite", "json")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(SHARING.format(name=path.parent.name))
    for step in (1, 20):
        (tmp_path / "a1" / "shared_hidden_tests.py").write_text(f"STEP = {step}\n")
        names = dict.fromkeys(("statistics", "suite", "json"), lambda x, step=step: x + step)
        suite = Suite(paths)
        assert suite.exercises() == list(names)
        for number in (0, 2, 4, 1, 3, 5, 0):
            test = suite.tests[number]
            assert suite.run(test, Student(answering(names), lambda name: ("x",)), None).error is None, test
        assert suite.path_of[suite.tests[2]] == paths[1]
    assert json.dumps(1) == "1" and sys.modules["json"] is json


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    root = tmp_path_factory.mktemp("plain") / "course"
    list(begin_course(root, NAME, EXERCISE))
    return root


@pytest.fixture
def assignment(fresh, tmp_path):
    return Course(shutil.copytree(fresh, tmp_path / "course")).assignment(NAME)


def findings(assignment, check):
    return "\n".join(map(str, check(assignment, nbformat.read(assignment.notebook, as_version=4))))


def edit(assignment, change):
    notebook = nbformat.read(assignment.notebook, as_version=4)
    change(notebook)
    nbformat.write(notebook, assignment.notebook)


@pytest.mark.slow
def test_a_suite_that_its_own_solution_fails_is_found_with_its_line(assignment):
    text = assignment.suites[0].read_text().replace("(4, 6))\n", "(4, 7))\n")
    assignment.suites[0].write_text(text)
    line = 1 + next(number for number, one in enumerate(text.splitlines()) if "(4, 7))" in one)
    said = said_by(Course(assignment.root), "dev", "check", code=1)
    assert f"cell '{EXERCISE}, test_shape': the solution fails this hidden test (" in said
    assert f"within hidden_tests.py, line {line})" in said


def test_what_nbgrader_stumbles_over_is_found_before_it_does(assignment):
    def spoil(notebook):
        named = {grade_id(cell): cell for cell in notebook.cells}
        named[EXERCISE].source = named[EXERCISE].source.replace("### END SOLUTION", "")
        notebook.cells.append(nbformat.from_dict({**named[f"test-{EXERCISE}"], "id": "copy"}))

    assert findings(assignment, notebook_checks.can_be_released) == ""
    edit(assignment, spoil)
    found = findings(assignment, notebook_checks.can_be_released)
    assert f"cell '{EXERCISE}': ### BEGIN SOLUTION and ### END SOLUTION do not come in pairs" in found
    assert f"cell 'test-{EXERCISE}': 2 cells have this id. Give each its own" in found


def test_headings_that_are_counted_twice_are_found_and_dev_new_counts_on(assignment):
    def add(notebook):
        notebook.cells.append(nbformat.v4.new_markdown_cell("## 2. In your own words\n\n```\n# no heading\n```"))

    edit(assignment, add)
    list(add_exercise(Course(assignment.root), NAME, "second_one"))
    assert findings(assignment, notebook_checks.headings) == ""
    text = assignment.notebook.read_text()
    assert "## 2. `second_one`" in text
    assert "## 3. In your own words" in text
    edit(assignment, add)
    found = findings(assignment, notebook_checks.headings)
    assert "the heading '## 2. In your own words' has the number, or the words, of '## 2. `second_one`'" in found


def test_somebodys_own_options_for_pytest_do_not_disturb_a_suite(monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-v --durations=3 --no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    suite = Suite(Visible().checks("a1_scaled_dot_product"))
    assert "softmax" in suite.exercises()
    assert os.environ["PYTEST_ADDOPTS"] == "-v --durations=3 --no-such-option"
    assert os.environ["PYTEST_PLUGINS"] == "no_such_plugin"


ASKING = '''
import pytest

@pytest.fixture{options}
def kept():
    return 1

@pytest.mark.exercise("double")
class TestDouble:
    def test_values(self, student{asks}):
        """Twice."""
'''


@pytest.mark.parametrize(
    ("options", "asks", "name"),
    [
        ("", ", tmp_path", "tmp_path"),
        ("", ", kept", "kept"),
        ("", ", request", "request"),
        ("(autouse=True)", "", "kept"),
    ],
)
def test_another_fixture_is_rejected_by_its_name_with_file_and_test(tmp_path, options, asks, name):
    path = tmp_path / "a1" / "double" / "hidden_tests.py"
    path.parent.mkdir(parents=True)
    path.write_text(ASKING.format(options=options, asks=asks))
    with pytest.raises(CourseError) as error:
        Suite([path])
    said = f"{path}: test_values: hidden tests take `student` and `reference`; this one asks for `{name}`"
    assert str(error.value) == said


PARAMETERS = '''
import pytest

@pytest.mark.exercise("double")
class TestDouble:
    met = []

    @pytest.mark.parametrize("x", [1, 2])
    @pytest.mark.parametrize(("times", "wanted"), [(2, "even"), (3, "odd")], ids=["even", "odd"])
    @pytest.mark.weight(0.5)
    def test_values(self, student, x, times, wanted):
        """Twice."""
        assert student.double(x) == times * x, f"Is it {wanted}?"
        self.met.append(x)
        self.met = []

    @staticmethod
    def test_zero(reference, student):
        """Nothing."""
        assert student.double(0) == reference.double(0)


@pytest.mark.exercise("double")
def test_by_itself(student):
    """Nothing again."""
    assert student.double(0) == 0
'''


def test_parameters_make_tests_and_loading_them_prints_nothing(tmp_path, capfd):
    path = tmp_path / "a1" / "double" / "hidden_tests.py"
    path.parent.mkdir(parents=True)
    path.write_text(PARAMETERS)
    suite, answer = Suite([path]), answering({"double": lambda x: 2 * x})
    assert capfd.readouterr() == ("", "")
    student = Student(answer, lambda name: ("x",))
    outcomes = {test.name: suite.run(test, student, Student(answer, lambda name: ("x",))) for test in suite.tests}
    assert {name: (one.test.weight, one.message()) for name, one in outcomes.items()} == {
        "test_values[even-1]": (0.5, ""),
        "test_values[even-2]": (0.5, ""),
        "test_values[odd-1]": (0.5, "double(x=1): the returned value is not the expected one. Is it odd?"),
        "test_values[odd-2]": (0.5, "double(x=2): the returned value is not the expected one. Is it odd?"),
        "test_zero": (1.0, ""),
        "test_by_itself": (1.0, ""),
    }
