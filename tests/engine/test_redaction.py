"""What a report quotes of a student's own words."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import nbformat
import pytest

from autograder.authoring.sample_class import hand_in
from autograder.testing.expect import kind_of
from autograder.testing.redaction import MAX_QUOTED, coarse, redacted
from cellcage.protocol.calls import Failure, Kind, Line, Reply
from cellcage.values.core.objects import Form, Other
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.123456", "0.12"),
        ("-0.00123456", "-0.0012"),
        ("1.23456e-07", "1.2e-07"),
        ("123456.789", "120000"),
        ("64 columns, 7 heads", "64 columns, 7 heads"),
        ("10.0 and .5, 640.", "10 and .5, 640."),
        ("shapes (3,4) and (128,)", "shapes (3,4) and (120,)"),
        ("0.0", "0.0"),
        ("no number", "no number"),
    ],
)
def test_numbers_are_cut_to_two_digits(text, shown):
    assert coarse(text) == shown


def test_an_honest_error_is_quoted():
    said = redacted(RAISED, CELLS, asked=False)
    assert said == Failure(Kind.RAISED, "no axis 12 in 0.12", "ValueError", LINES)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no axis helper in (3, 4)", "no axis helper in (3, 4)"),
        ("no axis qwertyuiop in 5", "no axis … in 5"),
        ("no axis 1 in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]", "no axis 1 in …"),
        ("no axis ((((,,,( in 5", "no axis … in 5"),
        ("qwertyuiop" * 40, ""),
        ("operands could not be broadcast together with shapes (3,4) (5,) ", "operands could not be broadcast together "
         "with shapes (3,4) (5,)"),
        ("'Tensor' object has no attribute 'missing'", "'Tensor' object has no attribute 'missing'"),
        ("'Tensor' object has no attribute 'qwertyuiop'", "'Tensor' object has no attribute …"),
        ("softmax() got an unexpected keyword argument 'mask'", "softmax() got an unexpected keyword argument 'mask'"),
    ],
)  # fmt: skip
def test_a_text_is_quoted_as_far_as_it_stands_in_the_code_or_is_a_librarys(text, shown):
    said = redacted(Failure(Kind.RAISED, text, "ValueError"), CELLS, asked=False, names={"mask"})
    assert said.text == shown


def test_nothing_of_its_text_once_the_reference_has_answered():
    assert redacted(RAISED, CELLS, asked=True) == Failure(Kind.RAISED, "", "ValueError", LINES)


@pytest.mark.parametrize(
    "line",
    [
        Line("softmax", 4, "return 0.123456"),  # in no cell
        Line("secret_123", 4, "return helper(x)"),  # no such function
        Line("helper", 123456, "return x.missing  # no"),
        Line("helper", 1, "return x.missing  # no"),
        Line("helper", -2, "return x.missing  # no"),
        Line("helper", 2, ""),
    ],
)
def test_lines_that_stand_in_no_cell_are_left_out(line):
    forged = Failure(Kind.RAISED, "", "ValueError", (line,))
    assert redacted(forged, CELLS, asked=False).lines == ()


def test_names_of_exceptions_are_from_a_short_list():
    assert redacted(Failure(Kind.RAISED, "", "Secret"), CELLS, asked=False).error == "Exception"


@pytest.mark.parametrize("asked", [False, True])
def test_an_untouched_stub_stays_one(asked):
    """How many lines it went through tells a stub from what is built on one."""
    stub = Failure(Kind.NOT_STARTED, "", "NotImplementedError", (Line("x", 1, "in no cell"),))
    assert redacted(stub, CELLS, asked) == stub


@pytest.mark.parametrize(
    ("form", "name", "shown"),
    [
        ("array", "complex128", "an array of complex128"),
        ("array", "secret 5", "something of type object"),
        ("tensor", "torch.bfloat16", "a tensor of torch.bfloat16"),
        ("tensor", "torch.float32 (sparse_csr)", "a tensor of torch.float32 (sparse_csr)"),
        ("array", "17 MB", "an array of 17 MB"),
        ("something too large", "a DataFrame of 9 x 30000", "something too large, a DataFrame of 9 x 30000"),
        ("something too large", "secret 5", "something of type object"),
        ("something nested too deeply", "", "something nested too deeply"),
        ("something nested too deeply", "secret 5", "something of type object"),
        ("type", "generator", "something of type generator"),
        ("type", "DataFrame", "something of type DataFrame"),
        ("type", "helper", "something of type helper"),  # it stands in the code
        ("type", "secret_123456", "something of type object"),
        ("type", "secret 5", "something of type object"),
    ],
)
def test_names_of_types(form, name, shown):
    (inner,) = redacted(Reply((Other(name, Form(form)),)), CELLS, asked=False).value
    assert kind_of(inner) == shown


def test_names_of_types_once_the_reference_has_answered():
    assert redacted(Reply(Other("Secret")), CELLS, asked=True).value.type_name == "object"


@pytest.mark.parametrize("filling", ["\n", "#\n", "def \n", "def x ", '"""def' + " " * 1000])
def test_a_cell_of_any_length_costs_no_other_cell_its_quotes(filling):
    """What is looked at is bounded, from the shortest cell on; and it is looked at once, not for each answer."""
    cells = [filling * (20 * MAX_QUOTED // len(filling)), *CELLS]
    started = time.monotonic()
    for _ in range(200):  # answers of an assignment, three lines each
        assert redacted(RAISED, cells, asked=False).lines == LINES
        assert redacted(Failure(Kind.RAISED, "", "", (Line("<module>", 1, "x"),)), cells, asked=False).lines == ()
    assert time.monotonic() - started < 5  # seconds; it takes a hundredth of one, and took some hundred


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
