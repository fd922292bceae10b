"""What a report shows of a student's own words, before and after the code has called the reference."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import nbformat
import pytest

from autograder.authoring.sample_class import hand_in
from autograder.course.assignments import Exercise
from autograder.judge.attempt import attempt
from autograder.judge.material import Material
from autograder.testing import expect
from autograder.testing.hidden_tests import Suite
from autograder.testing.local import Here
from autograder.testing.plan import record
from autograder.testing.redaction import HiddenText, hidden, without_words
from cellcage.protocol.calls import Failure, Kind, Line
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.releases import filled

CELLS = [
    "import numpy as np\n\ndef softmax(x):\n    return helper(x)\n",
    "def helper(x):\n    return x.missing  # no\n",
    "def stop(axis, x):\n    raise ValueError(f'no axis {axis} in {x}')\n",
]
LINES = (Line("softmax", 4, "return helper(x)"), Line("helper", 2, "return x.missing  # no"))
RAISED = Failure(Kind.RAISED, "no axis 12 in 0.123456", "ValueError", LINES)


def test_after_the_reference_an_exception_keeps_its_type_and_its_lines():
    assert without_words(RAISED, CELLS) == Failure(Kind.RAISED, "", "ValueError", LINES)
    assert without_words(Failure(Kind.RAISED, "", "Secret"), CELLS).error == "Exception"
    assert "secret" not in without_words(Failure(Kind.NO_PARAMETER, "secret 5", "secret"), CELLS).text


@pytest.mark.parametrize(
    "line",
    [
        Line("softmax", 4, "return 0.123456"),  # in no cell
        Line("secret_123", 4, "return helper(x)"),  # no such function
        Line("helper", 1, "return x.missing  # no"),
    ],
)
def test_after_the_reference_lines_in_no_cell_are_left_out(line):
    assert without_words(Failure(Kind.RAISED, "", "ValueError", (line,)), CELLS).lines == ()


def test_a_hidden_text_is_compared_and_not_shown():
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
    """Names in this process whose code stands in cells."""

    def begin(self, questions, name="", ready_made=()):
        calls = super().begin(questions, name, ready_made)
        calls.cells = ["def mean(x):\n    raise ValueError('no')"]
        return calls


@pytest.mark.parametrize("calls", [False, True])
def test_an_exceptions_text_is_shown_until_the_code_has_called_the_reference(tmp_path, calls):
    def mean(x):
        raise ValueError(f"\x1b[2J sum is {answers['total'](x) if calls else 0}")

    path = tmp_path / "test_mean.py"
    path.write_text(SUITE)
    names = {"mean": lambda x: sum(x) / len(x), "total": sum}
    suite = Suite([path])
    material = Material(suite, names, record(suite, names))
    answers = {"mean": mean, "total": None}
    attempted = attempt(material, Cells(answers), Exercise("mean", 1.0), lambda name: ("x",), ("total",))
    (outcome,) = attempted.outcomes
    text = "" if calls else ": \N{REPLACEMENT CHARACTER}[2J sum is 0"
    assert outcome.message() == f"mean(x=[3.5, 4.0]): raised ValueError{text}."


@pytest.mark.catalogue
@pytest.mark.slow
def test_ten_million_empty_lines_are_graded_in_seconds(tmp_path):
    """The largest notebook that is read, whose every call ends in a traceback."""
    assignment = COURSE.assignment("a1_scaled_dot_product")
    endless = {one.name: f"def {one.name}(*a, **k):\n    return {one.name}(*a, **k)" for one in assignment.exercises}
    notebook = filled(assignment, endless)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("x = 1" + "\n" * 9_900_000))
    path = hand_in(notebook, tmp_path, "mallory", assignment)
    path.write_text(nbformat.v4.writes(notebook, split_lines=False))  # a list of lines would take five times as much
    started = time.monotonic()
    command = [sys.executable, "-m", "autograder", "grade", str(path), "--course", str(ROOT), "--json", "-"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    (report,) = json.loads(done.stdout)
    assert (report["status"], report["score"]) == ("graded", 0), done.stderr
    assert "In softmax, line 2: `return softmax(*a, **k)`." in done.stdout
    assert time.monotonic() - started < 60  # it takes 5 seconds, most of them Python's own; and took six minutes
