"""What a course uses of the engine: hidden and visible tests, known mistakes, helpers. All else is private to it.

Tests are ordinary pytest. `student` and `reference` are fixtures: objects whose attributes look like functions and lead
to a student's code or to the solution's.

    @pytest.mark.exercise("softmax")
    class TestSoftmax:
        @pytest.mark.weight(1.5)
        def test_large_scores(self, student):
            \"""Scores of 10,000 still give finite weights.\"""
            expect.finite(student.softmax(np.array([1e4, 0.0])), "What could be subtracted before np.exp?")

A visible test says what came out and what was wanted, inside `shown`; a known mistake is entered in a `Catalogue`.
"""

import importlib
from typing import Any

from autograder.png import GREY, HIGH, WIDE, Raster, blend, with_fallback
from autograder.source_notebook import ModelPlan
from autograder.submission import MODEL, ModelFile
from autograder.suites import expect
from autograder.suites.made_by import note
from autograder.suites.shown import arrives, close, equal, keeps, shown
from autograder.suites.student import Function, Gradients, HeldTooMuch, Raised
from autograder.text import one_line

__all__ = [
    "GREY", "HIGH", "MODEL", "WIDE", "Catalogue", "Function", "Gradients", "HeldTooMuch", "ModelFile", "ModelPlan",
    "Raised", "Raster", "arrives", "blend", "close", "equal", "expect", "keeps", "note", "one_line", "shown",
    "with_fallback",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Catalogue":  # its package imports this one
        return importlib.import_module("autograder.diagnosis.catalogue").Catalogue
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
