"""Printed text and variables as a suite meets them, and two texts compared."""

from __future__ import annotations

import pytest

from autograder.testing import expect
from autograder.testing.expect import Mismatch
from autograder.testing.local import answering
from autograder.testing.student import Student
from autograder.testing.student_errors import Missing


def student_of(function):
    return Student(answering({"f": function, "__folder__": ""}), lambda name: [])


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
def test_blanks_that_nobody_sees_do_not_count_unless_asked(got, wanted):
    expect.text(got, wanted)
    if got != wanted:
        with pytest.raises(Mismatch):
            expect.text(got, wanted, strict=True)


@pytest.mark.parametrize(("got", "wanted", "said"), OTHER)
def test_the_first_line_that_differs_is_told(got, wanted, said):
    with pytest.raises(Mismatch) as raised:
        expect.text(got, wanted)
    assert str(raised.value) == said


def test_endless_text_is_cut():
    assert len(student_of(lambda: print("x" * 10**7)).f.printed()) < 20_000


def test_a_name_that_is_not_there_is_told():
    with pytest.raises(Missing, match="nothing under the name `other`"):
        student_of(None).value("other")
    assert student_of({"a": (1, 2)}).value("f") == {"a": (1, 2)}
