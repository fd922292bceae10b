"""Which texts of student code a report shows, before and after the code has called the reference."""

from __future__ import annotations

import json
import time

import nbformat
import pytest

from autograder.authoring.sample_class import hand_in
from autograder.course.assignments import Exercise
from autograder.explain.material import Material
from autograder.judge.attempt import attempt
from autograder.judge.redaction import HiddenText, hidden, without_words
from autograder.judge.rules import GRADING
from autograder.testing import expect
from autograder.testing.functions import Here
from autograder.testing.plan import record
from autograder.testing.suite import Suite
from cellcage.protocol.calls import Failure, Kind, Line, Reply
from cellcage.values.value import Other, Record
from tests.helpers.in_process import COURSE
from tests.helpers.releases import filled
from tests.helpers.terminal import autograder

CELLS = [
    "import numpy as np\n\ndef softmax(x):\n    return helper(x)\n",
    "def helper(x):\n    return x.missing  # no\n",
    "def stop(axis, x):\n    raise ValueError(f'no axis {axis} in {x}')\n",
]
LINES = (Line("softmax", 4, "return helper(x)"), Line("helper", 2, "return x.missing  # no"))
RAISED = Failure(Kind.RAISED, "no axis 12 in 0.123456", "ValueError", LINES)


def test_after_the_reference_exceptions_keep_only_type_and_lines():
    assert without_words(RAISED, CELLS) == Failure(Kind.RAISED, "", "ValueError", LINES)
    assert without_words(Failure(Kind.RAISED, "", "Secret"), CELLS).error == "Exception"
    assert "secret" not in without_words(Failure(Kind.NO_PARAMETER, "secret 5", "secret"), CELLS).text


def test_after_the_reference_names_of_types_are_left_out_wherever_they_are():
    value = {"a": [([[[[Record("secret", {"x": Other("secret")})]]]],)] * 200}
    assert "secret" not in repr(without_words(Reply(value), CELLS))


@pytest.mark.parametrize(
    "line",
    [
        Line("softmax", 4, "return 0.123456"),  # in no cell
        Line("secret_123", 4, "return helper(x)"),  # no such function
        Line("helper", 1, "return x.missing  # no"),
    ],
)
def test_after_the_reference_lines_outside_cells_are_left_out(line):
    assert without_words(Failure(Kind.RAISED, "", "ValueError", (line,)), CELLS).lines == ()


def test_hidden_text_is_compared_but_not_shown():
    value = hidden("one\ntwo")
    assert isinstance(value, HiddenText)
    expect.text(value, "one\ntwo")
    with pytest.raises(AssertionError, match="line 2 of what it prints is not right"):
        expect.text(value, "one\nthree")


SUITE = """
import pytest
from autograder.testing import expect

@pytest.mark.exercise("mean")
class TestMean:
    def test_values(self, student, reference):
        \"\"\"The mean.\"\"\"
        expect.close(student.mean([3.5, 4.0]), reference.mean([3.5, 4.0]))
"""


class Cells(Here):
    """Names in this process, with cells that define them."""

    def begin(self, terms):
        calls = super().begin(terms)
        calls.cells = ["def mean(x):\n    raise ValueError('no')"]
        return calls


@pytest.mark.parametrize("calls", [False, True])
def test_exception_text_is_hidden_after_calling_the_reference(tmp_path, calls):
    def mean(x):
        raise ValueError(f"\x1b[2J sum is {answers['total'](x) if calls else 0}")

    path = tmp_path / "test_mean.py"
    path.write_text(SUITE)
    names = {"mean": lambda x: sum(x) / len(x), "total": sum}
    suite = Suite([path])
    material = Material(suite, names, record(suite, names), GRADING)
    answers = {"mean": mean, "total": None}
    attempted = attempt(material, Cells(answers), Exercise("mean", 1.0), lambda name: ("x",), ("total",))
    (outcome,) = attempted.outcomes
    text = "" if calls else ": \N{REPLACEMENT CHARACTER}[2J sum is 0"
    assert outcome.message() == f"mean(x=[3.5, 4.0]): raised ValueError{text}."


@pytest.mark.catalogue
@pytest.mark.slow
def test_ten_million_empty_lines_are_graded_in_seconds(tmp_path):
    """A notebook of the maximum size, in which every call ends in a traceback."""
    assignment = COURSE.assignment("a1_scaled_dot_product")
    endless = {one.name: f"def {one.name}(*a, **k):\n    return {one.name}(*a, **k)" for one in assignment.exercises}
    notebook = filled(assignment, endless)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("x = 1" + "\n" * 9_900_000))
    path = hand_in(notebook, tmp_path, "mallory", assignment)
    path.write_text(nbformat.v4.writes(notebook, split_lines=False))  # a list of lines would be five times as large
    started = time.monotonic()
    done = autograder("grade", path, "--course", assignment.root, "--json", "-")
    (report,) = json.loads(done.stdout)
    assert (report["status"], report["score"]) == ("graded", 0), done.stderr
    assert "In softmax, line 2: `return softmax(*a, **k)`." in done.stdout
    assert time.monotonic() - started < 120  # 5 seconds on an idle machine; it once took six minutes
