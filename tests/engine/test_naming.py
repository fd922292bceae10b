"""For each rule of naming, a case that only this rule decides."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import numpy as np
import pytest

from autograder.authoring.generated_files import sync
from autograder.explain.fingerprints import Hypotheses
from autograder.explain.naming import RULES, diagnose
from autograder.testing.catalogue import Catalogue, Mistake
from autograder.testing.functions import AnsweredCall, answering
from cellcage.protocol.calls import Call
from tests.helpers.small_course import EXERCISE, NAME, reports_of, small_course, submit

RANDOM = np.random.default_rng(0)
TABLE, OTHER, BATCH, MORE = (RANDOM.normal(size=shape) for shape in ((3, 4), (2, 5), (2, 3, 4), (3, 2, 5)))
LARGE, EMPTY = 1e5 * RANDOM.normal(size=(3, 4)), np.zeros((0, 4))


def right(x):
    return np.sin(x) + np.cos(x.sum(-1, keepdims=True))


def first(x):
    return np.tanh(x) + np.cos(x.sum(-1, keepdims=True))


def raising(code, where, error=ValueError):
    """The code, which raises an error for some inputs."""

    def f(x):
        if where(x):
            raise error("not here")
        return code(x)

    return f


def by(where, code, other):
    """Code that depends on the input."""
    return lambda x: (code if where(x) else other)(x)


def is_empty(x):
    return x.size == 0


def is_large(x):
    return np.abs(x).max() > 1e3


def is_wide(x):
    return x.shape[-1] == 5


def mistakes(**codes):
    """A catalogue of known mistakes."""
    found = [Mistake(name, "f", f"{name}?", lambda code=code: code, is_known=True) for name, code in codes.items()]
    return Catalogue(found)


# For each rule: the catalogue, the student's code, the inputs, and the name.
CASES = {
    "a mistake, everywhere": (
        mistakes(first=raising(first, is_empty), alike=raising(first, is_empty, TypeError)),
        raising(first, is_empty), (TABLE, OTHER, BATCH, EMPTY), "first",
    ),
    "a mistake, in all values": (
        mistakes(first=first, alike=by(is_large, right, first)),
        raising(first, is_empty), (TABLE, OTHER, BATCH, LARGE, EMPTY), "first",
    ),
    "a relation": (
        mistakes(), lambda x: right(x).tolist(), (TABLE, BATCH), "another-kind",
    ),
    "a mistake, on ordinary input": (
        mistakes(first=first), by(is_large, np.exp2, first), (TABLE, OTHER, BATCH, LARGE), "first",
    ),
    "a mistake, in some calls": (
        mistakes(first=first), by(is_wide, first, right), (TABLE, OTHER, BATCH, MORE), "first",
    ),
}  # fmt: skip


def name_of(catalogue, code, inputs=(TABLE, OTHER), reference=right):
    """The name that the diagnosis gives to code."""
    calls = [AnsweredCall(call, answering({"f": code})(call)) for call in (Call("f", (x,)) for x in inputs)]
    found = diagnose(Hypotheses(catalogue, {"f": reference}, {}, {}), "f", calls, ())
    return found.name if found else None


def test_tables_are_matched_as_tests_compare_them():
    """The order of columns, the name of the index and the dtype of numbers do not matter."""
    import pandas as pd

    def table(b):
        return pd.DataFrame({"a": [1.0, 2.0], "b": b}, index=pd.Index(["x", "y"], name="key"))

    catalogue = mistakes(first=lambda x: table([5, 7]))
    for code, name in (
        (lambda x: table([5, 7])[["b", "a"]].rename_axis(None).astype(int), "first"),
        (lambda x: table([3, 4])[["b", "a"]], None),
        (lambda x: table([5, 8])[["b", "a"]], None),
    ):
        assert name_of(catalogue, code, reference=lambda x: table([3, 4])) == name


def test_numbers_are_matched_up_to_rounding_from_python_or_numpy():
    catalogue = mistakes(first=lambda x: x.sum() / 3, second=lambda x: (1, 2.5))
    for code, name in (
        (lambda x: float(x.sum()) * (1 / 3), "first"),
        (lambda x: np.sum(x) / 3 + 1e-12, "first"),
        (lambda x: (np.int64(1), np.float64(2.5)), "second"),
        (lambda x: np.float32(x.sum() / 3), None),
        (lambda x: x.sum() / 3 + 0.01, None),
    ):
        assert name_of(catalogue, code, reference=lambda x: 4.0) == name


def test_each_rule_has_a_case():
    assert [name for name, _ in RULES] == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_rule_decides_its_case(name):
    *case, expected = CASES[name]
    assert name_of(*case) == expected


def test_known_mistake_is_named_before_a_mutant():
    catalogue = mistakes(made=first, first=first)
    catalogue.variants.append(replace(catalogue.mistakes.pop(0), is_known=False))
    assert name_of(catalogue, first, (TABLE, BATCH)) == "first"


def test_mistake_is_named_beside_float64_for_float32():
    """As with `np.sqrt`: students who scale wrongly often lose the dtype, too."""
    inputs = TABLE, OTHER, BATCH, MORE.astype("float32")
    assert name_of(mistakes(first=first), lambda x: first(x).astype(float), inputs) == "first"


class NotHere(ValueError):
    """Students may raise an exception of their own."""


@pytest.mark.parametrize(
    ("mistake", "code", "name"),
    [
        (first, raising(first, is_empty), None),
        (first, raising(first, is_empty, NotHere), None),
        (first, raising(by(is_large, np.exp2, first), is_empty), None),
        (first, raising(by(is_wide, first, right), is_empty), None),
        (raising(first, is_empty), first, None),
        (raising(first, is_empty), raising(first, is_empty), "first"),
        (raising(first, is_empty), raising(first, is_empty, NotHere), "first"),
        (raising(first, is_empty), raising(raising(first, is_empty), is_large), "first"),
    ],
)
def test_right_exception_speaks_against_a_mistake_that_raises_none(mistake, code, name):
    inputs, reference = (TABLE, OTHER, BATCH, MORE, LARGE, EMPTY), raising(right, is_empty)
    assert name_of(mistakes(first=mistake), code, inputs, reference) == name


def nan_everywhere(x):
    return np.full_like(x, np.nan)


def nan_or_zero(x):
    return np.where(x > 0, np.nan, 0.0)


@pytest.mark.parametrize(
    ("mistake", "code", "name"),
    [
        (nan_everywhere, nan_everywhere, "not-a-number"),
        (nan_or_zero, nan_or_zero, None),
        (np.zeros_like, np.zeros_like, None),
        (by(is_large, nan_everywhere, right), by(is_large, nan_everywhere, right), "first"),
        (first, by(is_large, nan_everywhere, first), "first"),
        (first, by(is_large, nan_everywhere, right), "not-a-number"),
    ],
)
def test_nan_or_zero_alone_is_no_evidence_for_a_mistake(mistake, code, name):
    assert name_of(mistakes(first=mistake), code, (TABLE, OTHER, BATCH, LARGE)) == name


REFUSES = "if X.ndim < 2:\n        raise ValueError('no rows')\n    "
TEST = """
    @pytest.mark.weight(1)
    def test_no_rows(self, student):
        \"\"\"One axis is refused.\"\"\"
        expect.raises(ValueError, lambda: student.row_centred(self.rows(5, 4)), "Which axis has the rows?")
"""


@pytest.mark.slow
def test_tests_ask_their_own_questions_unless_a_mistake_explains_all(tmp_path):
    course = small_course(tmp_path / "course")
    assignment = course.assignment(NAME)
    notebook = nbformat.read(assignment.notebook, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("    return X", f"    {REFUSES}return X")
    nbformat.write(notebook, assignment.notebook)
    tests = assignment.content / EXERCISE / "hidden_tests.py"
    tests.write_text(tests.read_text() + TEST)
    list(sync(course))
    made = "return X - X.mean(axis=-2, keepdims=True)"  # a known mistake, which raises another error for one axis
    one_axis, two_axes = "Over which axis is the mean", "Does your axis count from the end"
    expected = {
        "all": (f"{REFUSES}{made}", "mean-of-columns", ()),
        "some": (f"{REFUSES.replace('<', '!=')}{made}", "mean-of-columns", (one_axis,)),
        "other": (f"{REFUSES}return X - X.mean()", None, (one_axis, two_axes)),  # this known mistake refuses nothing
    }
    for student, (code, *_) in expected.items():
        submit(course, student, {EXERCISE: f"def {EXERCISE}(X):\n    {code}"})
    for student, report in reports_of(course).items():
        found, (_, name, questions) = report["exercises"][0], expected[student]
        said = " ".join(test["message"] for test in found["tests"])
        assert found["diagnosis"] == name
        assert [question in said for question in (one_axis, two_axes)] == [
            question in questions for question in (one_axis, two_axes)
        ]
