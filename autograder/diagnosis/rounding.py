"""Are the numbers of a wrong answer the right ones with fewer digits? In half precision, say."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis.differences import ENOUGH, NOT_ALONE, UNLIKELY, ComparedCall, nearly_equal, of_each_part
from autograder.diagnosis.hypotheses import takes_large_numbers

FEWEST_DIGITS = 1e-5, 1e-2  # how far numbers in half precision are off, or rounded ones
LARGEST_HALF = 65_504.0
BY_CHANCE, UP_AND_DOWN = 30, 0.3  # of so many numbers, the share that is off to another side than the one before


def rounded(one: ComparedCall) -> str:
    """They are rounded, or digits were lost on the way. What that makes of large numbers may be anything."""
    return _rounded(one) or (NOT_ALONE if takes_large_numbers(one.call) else "")


@of_each_part
def _rounded(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    kept = np.isfinite(a) | (np.abs(b) < LARGEST_HALF)
    a, b = a[kept], b[kept]
    if not np.isfinite(a).all():
        return ""
    places = next((n for n in range(6) if nearly_equal(a, b.round(n))), None)
    if a.size < ENOUGH or places is None or len(np.unique(b.round(places))) < 3:  # few values are right by chance
        return _few_digits(a, b)
    places_of = {0: "whole numbers", 1: "1 place"}
    return f"Your numbers are rounded to {places_of.get(places, f'{places} places')}."


def _few_digits(a: np.ndarray, b: np.ndarray) -> str:
    """Off by a thousandth or so, up and down by chance: what is systematic goes along with the numbers."""
    size, off = np.abs(b).mean() if b.size else 1.0, (a.astype(float) - b)[np.argsort(b)]
    share = np.abs(off).mean() / size if b.size and size else 0.0
    if not share <= FEWEST_DIGITS[1]:  # also if it is no number, where the right ones are endless
        return ""
    signs = np.sign(off[off != 0])
    if signs.size < BY_CHANCE or share < FEWEST_DIGITS[0]:
        return NOT_ALONE
    if (signs[1:] != signs[:-1]).mean() < UP_AND_DOWN:
        return UNLIKELY
    return f"Your numbers have the right ones' first {int(-np.log10(share))} digits, and lose the rest."
