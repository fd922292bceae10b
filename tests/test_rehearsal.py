"""What is known of a suite beforehand spares work, and never a test's own judgement."""

from __future__ import annotations

import pytest

from autograder.course import Exercise
from autograder.judging.judge import Material, judge
from autograder.suites.here import Here
from autograder.suites.rehearsal import rehearse
from autograder.suites.suite import Suite

SUITE = '''
import pytest
from autograder.suites import expect

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


def other_words(columns, heads):
    raise ValueError("cannot be shared")


def another_kind(columns, heads):
    raise TypeError(f"{columns} columns, {heads} heads")


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "test_split.py"
    path.write_text(SUITE)
    with Suite(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("answer", "passed", "ran"),
    [
        (reference, [True, True], []),
        (other_words, [True, False], ["test_says_which"]),
        (another_kind, [False, False], ["test_refuses", "test_says_which"]),
    ],
)
def test_of_an_exception_the_kind_is_enough_unless_a_test_reads_its_words(suite, monkeypatch, answer, passed, ran):
    names = {"split": reference}
    material = Material(suite, names, rehearse(suite, names))
    run, tests = suite.run, []
    monkeypatch.setattr(suite, "run", lambda test, *more: tests.append(test.name) or run(test, *more))
    (result,) = judge(material, Here({"split": answer}), [Exercise("split", 2.0)])
    assert [test.state == "passed" for test in result.tests] == passed
    assert tests == ran
