"""Hidden tests may be ordinary pytest tests with plain asserts. Their faults are reported with file and line."""

from __future__ import annotations

import io
import os
import random
import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from autograder.course.assignments import Exercise
from autograder.course.content import Visible
from autograder.errors import CourseError
from autograder.explain.explaining import judge
from autograder.explain.material import Material
from autograder.testing.functions import Functions, Here, answering
from autograder.testing.suite import Suite

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


def suite_of(folder, text):
    (folder / "hidden_tests.py").write_text(text)
    return Suite([folder / "hidden_tests.py"])


@pytest.fixture
def judged(tmp_path):
    material = Material(suite_of(tmp_path, PLAIN))
    (result,) = judge(material, Here({"double": lambda x: x}), [Exercise("double", 10.0)])
    return {test.name: test for test in result.tests}


def test_plain_assert_shows_its_hint_but_no_expected_value(judged):
    assert judged["test_hint"].message == (
        "double(21.25): the returned value is not the expected one. What is two times that?"
    )
    assert judged["test_bare"].message == "double(3.0): the returned value is not the expected one."
    assert judged["test_fail"].message == "double(1.0): the returned value is not the expected one. Is it more?"
    assert {test.state for test in judged.values()} == {"failed"}
    for test in judged.values():
        assert not any(secret in test.message for secret in ("42.5", "6.0", "2.5]", "assert")), test.message


def test_exception_in_a_hidden_test_is_reported_with_its_line(judged):
    line = 1 + PLAIN.splitlines().index("        len(student.double(1.0))")
    assert f"(TypeError, hidden_tests.py, line {line}). Please tell your instructor." in judged["test_broken"].message


def test_pytest_options_of_the_user_are_ignored(monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-v --durations=3 --no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    suite = Suite(Visible().checks("a1_scaled_dot_product"))
    assert "softmax" in suite.exercises()
    assert os.environ["PYTEST_ADDOPTS"] == "-v --durations=3 --no-such-option"
    assert os.environ["PYTEST_PLUGINS"] == "no_such_plugin"


OTHER_FIXTURE = '''
import pytest

@pytest.fixture{options}
def kept():
    return 1

@pytest.mark.exercise("double")
class TestDouble:
    def test_values(self, student{parameter}):
        """Twice."""
'''


@pytest.mark.parametrize(
    ("options", "parameter", "name"),
    [
        ("", ", tmp_path", "tmp_path"),
        ("", ", request", "request"),
        ("(autouse=True)", "", "kept"),
    ],
)
def test_other_fixtures_are_rejected_with_file_and_test(tmp_path, options, parameter, name):
    with pytest.raises(CourseError) as error:
        suite_of(tmp_path, OTHER_FIXTURE.format(options=options, parameter=parameter))
    message = f"test_values: hidden tests take `student` and `reference`; this one asks for `{name}`"
    assert str(error.value) == f"{tmp_path / 'hidden_tests.py'}: {message}"


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


def test_parametrized_tests_load_silently_and_run(tmp_path, capfd):
    suite, answer = suite_of(tmp_path, PARAMETERS), answering({"double": lambda x: 2 * x})
    assert capfd.readouterr() == ("", "")
    student = Functions(answer, lambda name: ("x",))
    outcomes = {test.name: suite.run(test, student, Functions(answer, lambda name: ("x",))) for test in suite.tests}
    assert {name: (one.test.weight, one.message()) for name, one in outcomes.items()} == {
        "test_values[even-1]": (0.5, ""),
        "test_values[even-2]": (0.5, ""),
        "test_values[odd-1]": (0.5, "double(x=1): the returned value is not the expected one. Is it odd?"),
        "test_values[odd-2]": (0.5, "double(x=2): the returned value is not the expected one. Is it odd?"),
        "test_zero": (1.0, ""),
        "test_by_itself": (1.0, ""),
    }


@dataclass
class Point:
    x: float

    def doubled(self):
        return 2 * self.x


class Tank:
    def __init__(self):
        self.level = 3

    def fill(self):
        self.level += 1


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (np.random.default_rng(1), "a Generator, which cannot be passed to the student's code; pass a seed"),
        (random.Random(1), "a Random, which cannot be passed to the student's code; pass a seed"),
        ([1, torch.Generator()], "a Generator, which cannot be passed to the student's code; pass a seed"),
        (io.StringIO("a"), "a StringIO, which cannot be passed to the student's code; pass the text in it"),
        ({"tank": Tank()}, "a Tank, which cannot be passed to the student's code; pass the numbers and texts"),
        ([len], "a builtin_function_or_method, which cannot be passed to the student's code; pass each function as an"),
        ((n for n in range(3)), "a generator, which cannot be passed to the student's code; pass a list"),
        (np.array(["2027-01-01"], dtype="datetime64[D]"), "an array of datetime64[D], which cannot be passed"),
    ],
)  # fmt: skip
def test_argument_that_does_not_cross_is_refused_by_name(argument, words):
    student = Functions(answering({"f": lambda *_, **__: 1}), lambda name: [])
    calls = (
        lambda: student.f(argument),
        lambda: student.f(1, given=argument),
        lambda: student.f.use([("g", argument)]),
    )
    for call in calls:
        with pytest.raises(TypeError, match=re.escape(f"f gets {words}")):
            call()
    assert not student.calls


def test_data_and_functions_cross():
    student = Functions(answering({"f": lambda value: value(2) if callable(value) else value.x}), lambda name: [])
    assert student.f(Point(3)) == student.f(SimpleNamespace(x=3)) == student.f(lambda x: x + 1) == 3
