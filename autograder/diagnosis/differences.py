"""How the numbers of one wrong answer differ from the right ones: transposed, ten times as large, rounded.

Each difference is found in one call, and described in one sentence that shows no right number beyond a factor.
`relations` finds what holds for all wrong answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from autograder.diagnosis.hypotheses import takes_large_numbers
from autograder.testing.student import parts_of
from autograder.testing.values.core.comparing import ATOL, allclose, numbers, same_value
from cellcage.protocol.calls import Answer, Call, Reply
from cellcage.values.tables.table import Table

MOST = 20_000  # numbers of an answer that is looked at
NOISE = 1e-12  # relative to the largest number of an array
ENOUGH = 4  # numbers for which a factor must hold
NOT_ALONE = "cannot be told by this alone"  # counts if another answer shows the difference
UNLIKELY = "does not look like it"  # counts if more than three times as many answers show the difference
FEWEST_DIGITS = 1e-5, 1e-2  # the error of rounded numbers, relative to their size; half precision is in between
LARGEST_HALF = 65_504.0
MOST_ITEMS = 64  # along an axis; among more, two are often alike
MOST_SHOWN = 4  # items that a sentence names
BY_CHANCE, UP_AND_DOWN = 30, 0.3  # of so many errors or more, this share have another sign than the one before


@dataclass(frozen=True)
class ComparedCall:
    """A call, the student's answer, and the right one."""

    call: Call
    got: Answer
    wanted: Answer

    @property
    def values(self) -> tuple[Any, Any] | None:
        """The student's value and the right one; None if one of them is no value."""
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
    """The student's answer beside the right one, part by part; None if they have not equally many parts."""
    if one.values is None:
        return None
    got, wanted = one.values
    if isinstance(wanted, Table):
        if not isinstance(got, Table) or (got.kind, got.names, len(got)) != (wanted.kind, wanted.names, len(wanted)):
            return None
        return [(actual.given, right.given) for actual, right in zip(got.parts, wanted.parts, strict=True)]
    if hasattr(wanted, "dtype") or (is_flat(wanted) and not isinstance(wanted, tuple)):
        return [(got, wanted)]
    actual, right = parts_of(got), parts_of(wanted)
    return list(zip(actual, right, strict=True)) if len(actual) == len(right) else None


def is_flat(value: Any) -> bool:
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
    if a.size:  # the first numbers alone decide it most of the time
        first, right = float(a.flat[0]), float(b.flat[0])
        if abs(first - right) > by * (1 + abs(right)) and math.isfinite(right):
            return False
    return allclose(a.astype(float), b.astype(float), by)


@of_each_part
def complement(a: np.ndarray, b: np.ndarray) -> str:
    """True and False are exchanged."""
    both = a.dtype == bool and b.dtype == bool and a.shape == b.shape and b.size >= ENOUGH
    return "Every place is the opposite of what is asked for." if both and bool((a == ~b).all()) else ""


@of_each_part
def turned(a: np.ndarray, b: np.ndarray) -> str:
    """Axes are exchanged."""
    axes = _axes_of(a, b)
    moved = [i for i, axis in enumerate(axes) if axis != i]
    if len(moved) == 2:
        return f"The numbers are right, but axes {moved[0]} and {moved[1]} have changed places."
    return f"The numbers are right, but the axes stand in another order: {axes}." if moved else ""


def _axes_of(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """The order of `b`'s axes that gives `a`; empty if there is none."""
    if a.ndim != b.ndim or not 2 <= a.ndim <= 5 or sorted(a.shape) != sorted(b.shape) or b.size < ENOUGH:
        return ()
    orders = permutations(range(a.ndim))
    next(orders)  # the order as it is
    return next((axes for axes in orders if nearly_equal(a, b.transpose(axes))), ())


def order_of(one: ComparedCall) -> tuple[tuple[int, int], ...]:
    """Which axes have moved and where to, counted from the end, so that the number of batch axes does not matter."""
    axes = next((_axes_of(a, b) for a, b in one.differing), ())
    return tuple((i - len(axes), axis - len(axes)) for i, axis in enumerate(axes) if i != axis)


@of_each_part
def reshaped(a: np.ndarray, b: np.ndarray) -> str:
    """The numbers are the same, in another shape."""
    if a.shape == b.shape or a.size != b.size or not nearly_equal(a.ravel(), b.ravel()):
        return ""
    if [n for n in a.shape if n != 1] == [n for n in b.shape if n != 1]:
        less = "lost" if a.ndim < b.ndim else "too many" if a.ndim > b.ndim else "elsewhere"
        return f"The numbers are right, but an axis of length 1 is {less}: the shape is {a.shape}."
    return f"The numbers are right, but the shape is {a.shape}: axes are joined or cut."


@of_each_part
def factor(a: np.ndarray, b: np.ndarray) -> str:
    """All numbers are larger by one factor."""
    if a.shape != b.shape or a.dtype == bool or b.dtype == bool or not b.any():
        return ""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return ""
    a, b = _without_noise(a), _without_noise(b)
    if not b.any() or ((a == 0) != (b == 0)).any():
        return ""
    ratio = a[b != 0].astype(float) / b[b != 0]
    times = float(np.median(ratio))
    rounding = 0.0 if a.dtype == b.dtype == np.float64 else 3e-4 * max(1.0, abs(times))
    if abs(times - 1) < 1e-3 or not np.allclose(a, times * b.astype(float), rtol=1e-3, atol=rounding):
        return ""
    if len(np.unique(b[b != 0])) < ENOUGH:
        return NOT_ALONE
    return f"Each of your numbers is {times:.3g} times what is asked for."


def _without_noise(a: np.ndarray) -> np.ndarray:
    """With zeros for rounding errors, such as 6e-18."""
    return np.where(np.abs(a) <= NOISE * np.abs(a).max(initial=0), 0, a)


@of_each_part
def offset(a: np.ndarray, b: np.ndarray) -> str:
    """All numbers are larger by one amount, or all numbers of a row are."""
    if a.shape != b.shape or a.dtype.kind != "f" or a.ndim == 0 or a.shape[-1] < 3 or not np.isfinite(a).all():
        return ""
    apart = a.astype(float) - b
    off = np.abs(apart).max(axis=-1) > 1e-6
    if (np.ptp(b[off], axis=-1) == 0).all():  # rows of one number repeated: just other numbers
        return ""
    if np.allclose(apart, apart.flat[0], rtol=1e-3, atol=1e-6) and a.size >= ENOUGH:
        return f"Each of your numbers is {apart.flat[0]:.3g} more than what is asked for."
    along = bool(np.allclose(apart, apart[..., :1], rtol=1e-3, atol=1e-6))
    return "In each row, all of your numbers are off by the same amount." if along else ""


@of_each_part
def order(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis items are in another order."""
    if a.shape != b.shape or b.size < 3:
        return ""
    for axis in range(a.ndim):
        n = a.shape[axis]
        if n < 2:
            continue
        if nearly_equal(a, np.flip(b, axis)):
            return f"The numbers are right, but backwards along axis {axis}."
        by = next((by for by in range(1, n) if nearly_equal(a, np.roll(b, by, axis))), 0)
        if by:
            far, when = min(by, n - by), "late" if by <= n - by else "early"
            places = f"{far} place{'s' if far > 1 else ''}"
            return f"The numbers are right, but along axis {axis} they stand {places} too {when}, in a circle."
        found = places_of_items(np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)) if n >= 3 and b.size > n else []
        if sorted(found) == [*range(n)]:
            return f"The numbers are right, but axis {axis} stands in another order."
    return ""


def places_of_items(a: np.ndarray, b: np.ndarray) -> list[int]:
    """For each item of `a`, along the first axis, the place of the equal item of `b`.

    Empty if an item of `a` equals none, or if two items of `b` are equal.
    """
    if len(b) > MOST_ITEMS:
        return []
    found = list[int]()
    for one in a:  # up to the first that equals none: most answers are no such thing
        place = next((j for j, item in enumerate(b) if nearly_equal(one, item)), None)
        if place is None:
            return []
        found.append(place)
    different = np.unique(b.reshape(len(b), -1).astype(float).round(6), axis=0)
    return found if len(different) == len(b) else []


@of_each_part
def all_zero(a: np.ndarray, b: np.ndarray) -> str:
    """All numbers are 0."""
    if a.shape != b.shape or a.dtype.kind != "f" or a.any():
        return ""
    tells = b.size >= ENOUGH and (b != 0).mean() > 0.5
    return "All of your numbers are 0, and most of the right ones are not." if tells else NOT_ALONE


@of_each_part
def emptied(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items are 0, and the others are right."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    wrong = ~np.isclose(a, b, rtol=1e-4, atol=1e-6)
    if not wrong.any() or a[wrong].any():  # a smaller error is another one
        return ""
    for axis in range(a.ndim if b.size >= ENOUGH * a.ndim else 0):
        one_item = np.moveaxis(wrong | (b == 0), axis, 0).reshape(a.shape[axis], -1).all(axis=1)
        if not one_item.all() and not np.moveaxis(wrong, axis, 0)[~one_item].any():
            return f"Along axis {axis}, what belongs at {_listed([*np.flatnonzero(one_item)])} is 0; all else is right."
    return NOT_ALONE


@of_each_part
def repeated(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items are in the place of others."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    for axis, length in enumerate(a.shape):
        if not 2 <= length <= MOST_ITEMS or b.size < ENOUGH * length:
            continue
        places = places_of_items(np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0))
        missing = sorted(set(range(length)) - set(places))
        if places and missing:
            return f"Along axis {axis}, what belongs at {_listed(missing)} is nowhere; others stand there once more."
    return ""


def _listed(places: list[int]) -> str:
    shown = ", ".join(map(str, places[:MOST_SHOWN]))
    return f"{shown} and so on" if len(places) > MOST_SHOWN else shown


@of_each_part
def cut_at_zero(a: np.ndarray, b: np.ndarray) -> str:
    """Negative numbers are 0."""
    below = a.shape == b.shape and a.dtype.kind == "f" and bool((b < 0).any()) and bool((b > 0).any())
    return "All is right but for negative numbers: yours are 0." if below and nearly_equal(a, np.maximum(b, 0)) else ""


@of_each_part
def first_for_all(a: np.ndarray, b: np.ndarray) -> str:
    """Along the first axis, only the first item is right."""
    if a.shape != b.shape or a.ndim < 3 or len(a) < 2 or not nearly_equal(a[0], b[0]):
        return ""
    found = "Along the first axis, the first item is right, and none after it."
    return "" if any(map(nearly_equal, a[1:], b[1:])) else found


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
    return f"What is there is right, but axis {axis} has length {n}: it is {'cut short' if n < m else 'too long'}."


def rounded(one: ComparedCall) -> str:
    """Numbers are rounded, or digits were lost in between, which may make anything of large numbers."""
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
    return f"Your numbers have the right ones' first {int(-np.log10(share))} digits, and lose the rest."
