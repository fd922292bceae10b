"""How wrong answers about attention may relate to right ones; `autograder.explain.relations` has all others.

Students have this file, too. It holds nothing of a solution.
"""

from typing import Any

import numpy as np

from autograder.testing import OfAnswer

LEAST = 0.01  # a floor under weights is lower


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


RELATIONS = (
    OfAnswer(
        "floor-under-the-weights",
        _floor,
        "What is exp of -1000, and is there a line of yours that makes it larger?",
    ),
)
