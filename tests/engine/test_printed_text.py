"""Printed text and variables in hidden tests, and `expect.text`."""

from __future__ import annotations

import pytest

from autograder.testing import expect
from autograder.testing.functions import Functions, answering
from autograder.testing.mismatch import Mismatch
from autograder.testing.student_errors import Missing


def student_of(function):
    return Functions(answering({"f": function, "__folder__": ""}), lambda name: [])


SAME = [("a\nb", "a  \nb\n\n"), ("a", "a\r\n"), ("", "\n"), ("  a", "  a")]
OTHER = [
    ("a\nc", "a\nb", "line 2 of what it prints is `c`, which is not right."),
    ("A", "a", "line 1 of what it prints is `A`, which is not right, though only small and capital letters differ."),
    (" a", "a", "line 1 of what it prints is `' a'`, which is not right, though only spaces differ."),
    ("a", "a\nb", "what it prints ends after line 1, but there should be more."),
    ("a\nb", "a", "line 2 of what it prints is `b`, which should not be there."),
    ("", "a", "what it prints is empty."),
    (3, "a", "what it prints is a value of type int, where a text belongs."),
]


@pytest.mark.parametrize(("got", "wanted"), SAME)
def test_trailing_spaces_count_only_if_strict(got, wanted):
    expect.text(got, wanted)
    if got != wanted:
        with pytest.raises(Mismatch):
            expect.text(got, wanted, strict=True)


@pytest.mark.parametrize(("got", "wanted", "message"), OTHER)
def test_first_differing_line_is_reported(got, wanted, message):
    with pytest.raises(Mismatch) as raised:
        expect.text(got, wanted)
    assert str(raised.value) == message


def test_long_output_is_cut():
    assert len(student_of(lambda: print("x" * 10**7)).f.printed()) < 20_000


def test_missing_variable_is_reported():
    with pytest.raises(Missing, match="nothing under the name `other`"):
        student_of(None).value("other")
    assert student_of({"a": (1, 2)}).value("f") == {"a": (1, 2)}
