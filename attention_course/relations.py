"""How wrong answers may stand to right ones in attention alone; `autograder.diagnosis.relations` has all others.

Students have this file, too: it tells what their visible tests have in common, and holds nothing of a solution.
"""

from typing import Any

import numpy as np

from autograder.testing import Call, OfAnswer, OfCalls, arrays_given, nearly_equal, of_each_part

LARGE = 1e3  # scores of ordinary size are below 10
LEAST = 0.01  # a floor under weights is lower


@of_each_part  # type: ignore[untyped-decorator]  # it is loaded when it is asked for
def _nothing_to_see(a: np.ndarray, b: np.ndarray) -> str:
    """Right but for rows of zeros: those of queries that see no key."""
    if a.shape != b.shape or a.dtype.kind != "f" or a.ndim < 2:
        return ""
    empty = (b == 0).all(-1)
    if not empty.any() or empty.all() or not nearly_equal(a[~empty], b[~empty]):
        return ""
    what = "NaN" if np.isnan(a[empty]).any() else "not zero"
    return f"All is right but for queries that may attend to nothing: there yours is {what}."


def _floor(one: Any) -> str:
    """Weights that should be smaller are all one number, and the others are right. The output is made of them."""
    return next((found for a, b in one.differing if (found := _held_up(a, b))), "")


def _held_up(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f" or not all(((x >= 0) & (x <= 1)).all() for x in (a, b)):
        return ""
    held = (a > b) & ~np.isclose(a, b, rtol=1e-3, atol=0)
    least = float(f"{a[held].min(initial=1):.0e}")  # with one digit, as a person writes it
    others_right = np.allclose(a[~held], b[~held], rtol=1e-3, atol=least / 100)
    if least > LEAST or not np.allclose(a[held], least, rtol=1e-5, atol=0) or not others_right:
        return ""
    return f"All is right but for small weights: where one should be below {least:g}, yours is {least:g}."


def _is_in_training(call: Call) -> bool:
    """A module as it is made; most tests put it into `eval()` first."""
    return call.instance is not None and not call.build and all(step.method != "eval" for step in call.steps)


def _is_large(call: Call) -> bool:
    return any(a.dtype.kind == "f" and np.abs(a).max(initial=0) > LARGE for a in arrays_given(call))


RELATIONS = (
    OfCalls(
        "another-answer-in-training",
        _is_in_training,
        "All is right in eval(), and not in train().",
        "Which step asks whether the module is in training, and what does the docstring say of that?",
        with_another=True,
        at_random=("dropout", "Is there a dropout? The docstring says what train() may change."),
    ),
    OfAnswer(
        "nothing-to-see",
        _nothing_to_see,
        "What does your code give to a query from which every key is hidden?",
        with_another=True,
    ),
    OfAnswer(
        "floor-under-the-weights",
        _floor,
        "What is exp of -1000, and is there a line of yours that makes it larger?",
    ),
    OfCalls(
        "large-scores",
        _is_large,
        "All is right but for numbers as large as thousands.",
        "What is np.exp(1000.0)? Print the largest number that goes into exp, and the smallest.",
    ),
)
