"""Each rule of naming decides a case of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.diagnosis.hypotheses import Hypotheses
from autograder.diagnosis.naming import RULES, diagnose
from autograder.testing.catalogue import Catalogue, Mistake
from autograder.testing.local import answering
from autograder.testing.student import Recorded
from cellcage.protocol.calls import Call

RANDOM = np.random.default_rng(0)
TABLE, OTHER, BATCH, MORE = (RANDOM.normal(size=shape) for shape in ((3, 4), (2, 5), (2, 3, 4), (3, 2, 5)))
LARGE, EMPTY = 1e5 * RANDOM.normal(size=(3, 4)), np.zeros((0, 4))


def right(x):
    return np.sin(x) + np.cos(x.sum(-1, keepdims=True))


def first(x):
    return np.tanh(x) + np.cos(x.sum(-1, keepdims=True))


def second(x):
    return np.sin(x) + np.tanh(x.sum(-1, keepdims=True))


def raising(code, where, error=ValueError):
    """The code, but for inputs that it cannot take."""

    def f(x):
        if where(x):
            raise error("not here")
        return code(x)

    return f


def by(where, code, other):
    """One code or another, as the input is."""
    return lambda x: (code if where(x) else other)(x)


def is_empty(x):
    return x.size == 0


def is_large(x):
    return np.abs(x).max() > 1e3


def is_wide(x):
    return x.shape[-1] == 5


def is_batch(x):
    return x.ndim == 3


def mistakes(**codes):
    """A catalogue of them, all known."""
    found = [Mistake(name, "f", f"{name}?", lambda code=code: code, is_known=True) for name, code in codes.items()]
    return Catalogue(found)


# For each rule: what is in the catalogue, what the student wrote, the calls, and what the student reads.
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


def told(catalogue, code, inputs):
    calls = [Recorded(call, answering({"f": code})(call)) for call in (Call("f", (x,)) for x in inputs)]
    found = diagnose(Hypotheses(catalogue, {"f": right}, {}), "f", calls)
    return found.cause.name if found else None


def test_a_table_is_looked_up_in_the_form_that_tests_compare():
    """Whatever the order of its columns, the name of its index, and the dtype of its numbers are."""
    import pandas as pd

    def table(b):
        return pd.DataFrame({"a": [1.0, 2.0], "b": b}, index=pd.Index(["x", "y"], name="key"))

    wrong = mistakes(first=lambda x: table([5, 7]))
    catalogue = Hypotheses(wrong, {"f": lambda x: table([3, 4])}, {})

    def told_by(code):
        calls = [Recorded(call, answering({"f": code})(call)) for call in (Call("f", (x,)) for x in (TABLE, OTHER))]
        return diagnose(catalogue, "f", calls)

    assert told_by(lambda x: table([5, 7])[["b", "a"]].rename_axis(None).astype(int)).cause.name == "first"
    assert told_by(lambda x: table([3, 4])[["b", "a"]]) is None
    assert told_by(lambda x: table([5, 8])[["b", "a"]]) is None


def test_a_number_is_looked_up_up_to_rounding_whether_it_is_pythons_or_numpys():
    catalogue = Hypotheses(mistakes(first=lambda x: x.sum() / 3, second=lambda x: (1, 2.5)), {"f": lambda x: 4.0}, {})

    def told_by(code):
        calls = [Recorded(call, answering({"f": code})(call)) for call in (Call("f", (x,)) for x in (TABLE, OTHER))]
        found = diagnose(catalogue, "f", calls)
        return found.cause.name if found else None

    assert told_by(lambda x: float(x.sum()) * (1 / 3)) == "first"
    assert told_by(lambda x: np.sum(x) / 3 + 1e-12) == "first"
    assert told_by(lambda x: (np.int64(1), np.float64(2.5))) == "second"
    assert told_by(lambda x: np.float32(x.sum() / 3)) is None
    assert told_by(lambda x: x.sum() / 3 + 0.01) is None


def test_each_rule_has_a_case():
    assert [name for name, _ in RULES] == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_rule_decides(name):
    *case, expected = CASES[name]
    assert told(*case) == expected


def test_a_known_mistake_is_told_before_one_that_a_recipe_made():
    catalogue = mistakes(made=first, first=first)
    catalogue.variants.append(replace(catalogue.mistakes.pop(0), is_known=False))
    assert told(catalogue, first, (TABLE, BATCH)) == "first"
