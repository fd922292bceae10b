"""What a course may import from the engine: tests, known mistakes, helpers. Everything else is private.

Tests are ordinary pytest. `student` and `reference` are fixtures: objects whose attributes look like functions and call
the student's code or the solution's.

    @pytest.mark.exercise("row_means")
    class TestRowMeans:
        @pytest.mark.weight(1.5)
        def test_large_numbers(self, student):
            \"""Numbers of 1e308 still give finite means.\"""
            expect.finite(student.row_means(np.full((2, 3), 1e308)), "What could be divided first?")

A visible test checks inside `shown`, which reports what came out and what was wanted. A known mistake is entered in a
`Catalogue`.

    expect, visible, cases, catalogue, functions   what authors call
    suite, plan                                    tests, collected and run; their calls, recorded on the reference
    callbacks                                      what student code may ask while a call runs
    mismatch, student_errors, call_text            why a test failed, in words for the student
    comparing, containers, tolerances              when two answers are equal
"""

from autograder.png import GREY, HIGH, WIDE, Raster, blend, with_fallback
from autograder.testing import expect
from autograder.testing.call_text import note
from autograder.testing.cases import cases
from autograder.testing.catalogue import Catalogue, OfAnswer
from autograder.testing.functions import Function, Gradients
from autograder.testing.student_errors import HeldTooMuch, Raised
from autograder.testing.visible import arrives, close, equal, keeps, shown

__all__ = [
    "GREY", "HIGH", "WIDE", "Catalogue", "Function", "Gradients", "HeldTooMuch",
    "OfAnswer", "Raised", "Raster", "arrives", "blend", "cases", "close",
    "equal", "expect", "keeps", "note", "shown", "with_fallback",
]  # fmt: skip
