"""What a report quotes of a student's own words."""

from __future__ import annotations

import pytest

from autograder.sandbox.protocol.calls import Failure, Kind, Line, Reply
from autograder.sandbox.protocol.values import Other
from autograder.suites.quoted import coarse, fit_to_print

CELLS = [
    "import numpy as np\n\ndef softmax(x):\n    return helper(x)\n",
    "def helper(x):\n    return x.missing  # no\n",
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
    said = fit_to_print(RAISED, CELLS, asked=False)
    assert said == Failure(Kind.RAISED, "no axis 12 in 0.12", "ValueError", LINES)


def test_nothing_of_its_text_once_the_reference_has_answered():
    assert fit_to_print(RAISED, CELLS, asked=True) == Failure(Kind.RAISED, "", "ValueError", LINES)


@pytest.mark.parametrize(
    "line",
    [
        Line("softmax", 4, "return 0.123456"),  # in no cell
        Line("secret_123", 4, "return helper(x)"),  # no such function
        Line("helper", 123456, "return x.missing  # no"),
        Line("helper", -2, "return x.missing  # no"),
        Line("helper", 2, ""),
    ],
)
def test_lines_that_stand_in_no_cell_are_left_out(line):
    forged = Failure(Kind.RAISED, "", "ValueError", (line,))
    assert fit_to_print(forged, CELLS, asked=False).lines == ()


def test_names_of_exceptions_are_from_a_short_list():
    assert fit_to_print(Failure(Kind.RAISED, "", "Secret"), CELLS, asked=False).error == "Exception"


@pytest.mark.parametrize("asked", [False, True])
def test_an_untouched_stub_stays_one(asked):
    """How many lines it went through tells a stub from what is built on one."""
    stub = Failure(Kind.NOT_STARTED, "", "NotImplementedError", (Line("x", 1, "in no cell"),))
    assert fit_to_print(stub, CELLS, asked) == stub


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("array of complex128", "array of complex128"),
        ("tensor of torch.bfloat16", "tensor of torch.bfloat16"),
        ("sparse_csr tensor of torch.float32", "sparse_csr tensor of torch.float32"),
        ("array of 17 MB", "array of 17 MB"),
        ("generator", "generator"),
        ("DataFrame", "DataFrame"),
        ("secret_123456", "secret_120000"),
        ("secret 5", "object"),
    ],
)
def test_names_of_types(name, shown):
    (inner,) = fit_to_print(Reply((Other(name),)), CELLS, asked=False).value
    assert inner.type_name == shown


def test_names_of_types_once_the_reference_has_answered():
    assert fit_to_print(Reply(Other("Secret")), CELLS, asked=True).value.type_name == "object"
