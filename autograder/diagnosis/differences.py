"""How the numbers of one wrong answer differ from the right ones: another shape, cut short, rounded.

Each difference is found in one call, and described in one sentence that shows no right number.
`relations` finds what holds for all wrong answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.testing.student import parts_of
from autograder.testing.values.core.comparing import ATOL, allclose, arrays, numbers, same_value
from cellcage.protocol.calls import Answer, Call, Reply

MOST = 20_000  # numbers of an answer that is looked at
ENOUGH = 4  # numbers that are evidence
NOT_ALONE = "cannot be told by this alone"  # counts if another answer shows the difference
UNLIKELY = "does not look like it"  # counts if more than three times as many answers show the difference
FEWEST_DIGITS = 1e-5, 1e-2  # the error of rounded numbers, relative to their size; half precision is in between
LARGEST_HALF = 65_504.0
USUAL = 1e3  # larger numbers are not of usual size
BY_CHANCE, UP_AND_DOWN = 30, 0.3  # of so many errors or more, this share have another sign than the one before


@dataclass(frozen=True)
class ComparedCall:
    """A call, the student's answer, and the right one."""

    call: Call
    got: Answer
    wanted: Answer

    @property
    def values(self) -> tuple[Any, Any] | None:
        """The student's value and the right one; None if one of them is not a value."""
        both = isinstance(self.got, Reply) and isinstance(self.wanted, Reply)
        return (self.got.value, self.wanted.value) if both else None  # type: ignore[union-attr]

    @cached_property
    def differing(self) -> Sequence[tuple[np.ndarray, np.ndarray]]:
        """Wrong parts beside the right ones, as numbers; none if one of them is not numbers."""
        found = []
        for actual, right in parts(self) or ():
            if same_value(actual, right):
                continue
            a, b = as_numbers(actual), as_numbers(right)
            if a is None or b is None or (a.dtype == b.dtype and nearly_equal(a, b)):
                return ()
            # Numbers beside booleans: booleans cannot be subtracted or rounded.
            found.append((a, b.astype(float)) if b.dtype.kind == "b" and a.dtype.kind != "b" else (a, b))
        return found


def parts(one: ComparedCall) -> list[tuple[Any, Any]] | None:
    """The student's answer beside the right one, part by part; None if they have different numbers of parts."""
    if one.values is None:
        return None
    got, wanted = one.values
    if hasattr(wanted, "dtype") or (_is_flat(wanted) and not isinstance(wanted, tuple)):
        return [(got, wanted)]
    actual, right = parts_of(got), parts_of(wanted)
    return list(zip(actual, right, strict=True)) if len(actual) == len(right) else None


def _is_flat(value: Any) -> bool:
    """True for a plain value or a list of them, and not for a tuple of arrays."""
    return not isinstance(value, tuple | list | dict) or not any(hasattr(v, "dtype") for v in parts_of(value))


def as_numbers(value: Any) -> np.ndarray | None:
    """A value as an array of numbers or truth values; None if it is something else, or too large to look at."""
    try:
        found = np.asarray(numbers(value))
    except (ValueError, TypeError, OverflowError, AttributeError):  # a value that only looks like numbers
        return None
    return found if found.dtype.kind in "biuf" and 0 < found.size <= MOST else None


def of_each_part(related: Callable[[np.ndarray, np.ndarray], str]) -> Callable[[ComparedCall], str]:
    """A difference between two arrays, as one of answers: every wrong part must have it."""

    def find(one: ComparedCall) -> str:
        evidence = ""
        for a, b in one.differing:
            with np.errstate(all="ignore"):
                found = related(a, b)
            if not found:
                return ""
            evidence = found if evidence in ("", NOT_ALONE, UNLIKELY) else evidence
        return evidence

    return find


def nearly_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """True if they are equal up to rounding."""
    if a.shape != b.shape:
        return False
    by = max(ATOL.get(one.dtype, 1e-7) for one in (a, b))
    if a.size:  # the first numbers usually decide it
        first, right = float(a.flat[0]), float(b.flat[0])
        if abs(first - right) > by * (1 + abs(right)) and math.isfinite(right):
            return False
    return allclose(a.astype(float), b.astype(float), by)


@of_each_part
def reshaped(a: np.ndarray, b: np.ndarray) -> str:
    """The numbers are the same, in another shape."""
    if a.shape == b.shape or a.size != b.size or not nearly_equal(a.ravel(), b.ravel()):
        return ""
    if [n for n in a.shape if n != 1] == [n for n in b.shape if n != 1]:
        less = "lost" if a.ndim < b.ndim else "too many" if a.ndim > b.ndim else "elsewhere"
        return f"The numbers are right, but an axis of length 1 is {less}: the shape is {a.shape}."
    return f"The numbers are right, but the shape is {a.shape}: axes are merged or split."


@of_each_part
def cut_short(a: np.ndarray, b: np.ndarray) -> str:
    """One axis is shorter or longer, and the numbers that are there are right."""
    differ = [i for i, (n, m) in enumerate(zip(a.shape, b.shape, strict=False)) if n != m]
    if a.ndim != b.ndim or len(differ) != 1:
        return ""
    axis = differ[0]
    n, m = a.shape[axis], b.shape[axis]
    less, more = (a, b) if n < m else (b, a)
    places = slice(0, min(n, m)), slice(max(n, m) - min(n, m), None)
    if less.size < 2 or not any(nearly_equal(less, more[(slice(None),) * axis + (place,)]) for place in places):
        return ""
    how = "cut short" if n < m else "too long"
    return f"The numbers that are there are right, but axis {axis} has length {n}: it is {how}."


def takes_large_numbers(call: Call) -> bool:
    """True if an array among its arguments has a number of unusual size."""
    built_with = call.instance or call
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    return any(np.abs(a.astype(float)).max(initial=0.0) > USUAL for a in given)


def rounded(one: ComparedCall) -> str:
    """Numbers are rounded, or digits were lost in between, which may distort large numbers in any way."""
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
    """Numbers are off by a thousandth or so, up and down at random: a systematic error would change smoothly."""
    size, off = np.abs(b).mean() if b.size else 1.0, (a.astype(float) - b)[np.argsort(b)]
    share = np.abs(off).mean() / size if b.size and size else 0.0
    if not share <= FEWEST_DIGITS[1]:  # true of NaN as well, where the right numbers are infinite
        return ""
    signs = np.sign(off[off != 0])
    if signs.size < BY_CHANCE or share < FEWEST_DIGITS[0]:
        return NOT_ALONE
    if (signs[1:] != signs[:-1]).mean() < UP_AND_DOWN:
        return UNLIKELY
    return f"Your numbers agree with the right ones in the first {int(-np.log10(share))} digits, and lose the rest."
