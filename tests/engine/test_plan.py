"""The recorded plan saves work, but never skips a test whose answers differ."""

from __future__ import annotations

import pytest

from autograder.course.assignments import Exercise
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.testing.local import Here
from autograder.testing.plan import record
from autograder.testing.suite import Suite

SUITE = '''
import pytest
from autograder.testing import expect

@pytest.mark.exercise("split")
class TestSplit:
    def test_refuses(self, student):
        """Six columns cannot be shared among four heads."""
        expect.raises(ValueError, lambda: student.split(6, 4), "What is left over?")

    def test_says_which(self, student):
        """The message names the number of heads."""
        try:
            student.split(6, 4)
        except ValueError as error:
            assert "4 heads" in str(error), "Which number would the reader want to see?"
        else:
            pytest.fail("What is left over?")
'''


def reference(columns, heads):
    raise ValueError(f"{columns} columns, {heads} heads")


def other_message(columns, heads):
    raise ValueError("cannot be shared")


def another_type(columns, heads):
    raise TypeError(f"{columns} columns, {heads} heads")


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "test_split.py"
    path.write_text(SUITE)
    return Suite([path])


@pytest.mark.parametrize(
    ("answer", "passed", "ran"),
    [
        (reference, [True, True], []),
        (other_message, [True, False], ["test_refuses", "test_says_which"]),
        (another_type, [False, False], ["test_refuses", "test_says_which"]),
    ],
)
def test_test_is_skipped_only_if_all_answers_equal_the_recorded_ones(suite, monkeypatch, answer, passed, ran):
    names = {"split": reference}
    material = Material(suite, names, record(suite, names))
    run, tests = suite.run, []
    monkeypatch.setattr(suite, "run", lambda test, *more: tests.append(test.name) or run(test, *more))
    (result,) = judge(material, Here({"split": answer}), [Exercise("split", 2.0)])
    assert [test.state == "passed" for test in result.tests] == passed
    assert tests == ran
