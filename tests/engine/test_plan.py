"""The recorded plan saves work, but never skips a test whose answers differ by more than rounding."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.assignments import Exercise
from autograder.explain.explaining import judge
from autograder.explain.material import Material
from autograder.judge.rules import GRADING
from autograder.testing.functions import Here
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
    material = Material(suite, names, record(suite, names), GRADING)
    run, tests = suite.run, []
    monkeypatch.setattr(suite, "run", lambda test, *more: tests.append(test.name) or run(test, *more))
    (result,) = judge(material, Here({"split": answer}), [Exercise("split", 2.0)])
    assert [test.state == "passed" for test in result.tests] == passed
    assert tests == ran


EXACT = '''
import numpy as np
import pytest

@pytest.mark.exercise("shares")
class TestShares:
    def test_to_the_last_digit(self, student, reference):
        """Each number as a share of all, and nothing for nothing."""
        X = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.0])
        assert np.array_equal(student.shares(X), reference.shares(X)), "A share of what?"
'''


def shares(X):
    return X / X.sum()


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        (lambda X: X / sum(map(float, X[::-1])), True),  # another order of additions
        (lambda X: np.flip(np.flip(shares(X)).copy()), True),  # another layout in memory
        (lambda X: shares(X) + 1e-17, False),  # no longer nothing
        (lambda X: shares(X) * (1 + 1e-9), False),
        (lambda X: shares(X.astype(np.float32)).astype(float), False),
    ],
)
def test_last_digits_cost_nothing(tmp_path, answer, passes):
    (tmp_path / "test_shares.py").write_text(EXACT)
    names, suite = {"shares": shares}, Suite([tmp_path / "test_shares.py"])
    (result,) = judge(
        Material(suite, names, record(suite, names), GRADING), Here({"shares": answer}), [Exercise("shares", 1.0)]
    )
    assert (result.score == 1.0) == passes
