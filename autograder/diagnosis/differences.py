"""How one wrong answer stands to the right one: turned, ten times as large, rounded, of another kind.

Each is found in one call, and told in one sentence that shows no right number beyond a factor. What holds for all that
is wrong is for `relations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Failure, Reply
from autograder.suites.alike import ATOL, allclose, numbers, same_value
from autograder.suites.student import parts_of

MOST = 20_000  # numbers of an answer that is looked at
ENOUGH = 4  # numbers that a factor must hold for
IN_PLACE = re.compile("by an in-?place operation|in an in-?place operation")  # autograd's words
NOT_ALONE = "cannot be told by this alone"  # goes with answers that tell it


@dataclass(frozen=True)
class ComparedCall:
    """A call, what came, and what was asked for."""

    call: Call
    got: Answer
    wanted: Answer

    @cached_property
    def differing(self) -> Sequence[tuple[np.ndarray, np.ndarray]]:
        """Parts that are wrong, mine and right, as numbers; none if one cannot be taken as numbers."""
        found = []
        for mine, right in _parts(self) or ():
            if same_value(mine, right):
                continue
            a, b = _numbers(mine), _numbers(right)
            if a is None or b is None or (a.dtype == b.dtype and _close(a, b)):
                return ()
            found.append((a, b))
        return found


def _parts(one: ComparedCall) -> list[tuple[Any, Any]] | None:
    """What came beside what was asked for, part by part; None if there are not equally many."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply):
        return None
    got, wanted = one.got.value, one.wanted.value
    if hasattr(wanted, "dtype") or (_is_flat(wanted) and not isinstance(wanted, tuple)):
        return [(got, wanted)]
    mine, right = parts_of(got), parts_of(wanted)
    return list(zip(mine, right, strict=True)) if len(mine) == len(right) else None


def _is_flat(value: Any) -> bool:
    """Is it a plain value, or a list of them, and no tuple of arrays?"""
    return not isinstance(value, tuple | list | dict) or not any(hasattr(v, "dtype") for v in parts_of(value))


def _numbers(value: Any) -> np.ndarray | None:
    """It as an array of numbers or truth values; None if it is none, or too large to look at."""
    try:
        found = np.asarray(numbers(value))
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.dtype.kind in "biuf" and 0 < found.size <= MOST else None


def _each(related: Callable[[np.ndarray, np.ndarray], str]) -> Callable[[ComparedCall], str]:
    """A relation of two arrays, of an answer: every part is right or in it, and one is."""

    def find(one: ComparedCall) -> str:
        told = ""
        for a, b in one.differing:
            with np.errstate(all="ignore"):
                said = related(a, b)
            if not said:
                return ""
            told = said if told in ("", NOT_ALONE) else told
        return told

    return find


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    """Are they equal to rounding?"""
    if a.shape != b.shape:
        return False
    by = max(ATOL.get(one.dtype, 1e-7) for one in (a, b))
    a, b = a.astype(float), b.astype(float)
    if a.size and abs(a.flat[0] - b.flat[0]) > by * (1 + abs(b.flat[0])) and np.isfinite(b.flat[0]):
        return False
    return allclose(a, b, by, by)


def _kind(one: ComparedCall) -> str:
    """The right numbers, as a list, say."""
    for mine, right in _parts(one) or ():
        a, b = _numbers(mine), _numbers(right)
        if a is None or b is None or not _close(a, b):
            return ""
    got, wanted = getattr(one.got, "value", None), getattr(one.wanted, "value", None)
    pairs = [(got, wanted), *(_parts(one) or ())]
    differ = [(a, b) for a, b in pairs if type(a) is not type(b)]
    if _parts(one) is None or not differ:
        return ""
    return f"The numbers are right, but they come as {_kind_of(differ[0][0])} and not as {_kind_of(differ[0][1])}."


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if hasattr(value, "detach"):
        return "a tensor"
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


@_each
def _dtype(a: np.ndarray, b: np.ndarray) -> str:
    same = a.dtype != b.dtype and a.shape == b.shape and allclose(a.astype(float), b.astype(float), 1e-3, 1e-3)
    return f"The numbers are right, but they are {a.dtype} where {b.dtype} is asked for." if same else ""


@_each
def _complement(a: np.ndarray, b: np.ndarray) -> str:
    both = a.dtype == bool and b.dtype == bool and a.shape == b.shape and b.size >= ENOUGH
    turned = both and bool((a == ~b).all())
    return "Every place is the opposite of what is asked for." if turned else ""


@_each
def _turned(a: np.ndarray, b: np.ndarray) -> str:
    order = _axes_of(a, b)
    moved = [i for i, axis in enumerate(order) if axis != i]
    if len(moved) == 2:
        return f"The numbers are right, but axes {moved[0]} and {moved[1]} have changed places."
    return f"The numbers are right, but the axes stand in another order: {order}." if moved else ""


def _axes_of(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """The order of `b`'s axes that gives `a`; none if there is none."""
    if a.ndim != b.ndim or not 2 <= a.ndim <= 5 or sorted(a.shape) != sorted(b.shape) or b.size < ENOUGH:
        return ()
    orders = permutations(range(a.ndim))
    next(orders)  # as they are
    return next((order for order in orders if _close(a, b.transpose(order))), ())


def order_of(one: ComparedCall) -> tuple[tuple[int, int], ...]:
    """Which axes have moved and where to, counted from the end: so it is the same for any number of batch axes."""
    order = next((_axes_of(a, b) for a, b in one.differing), ())
    return tuple((i - len(order), axis - len(order)) for i, axis in enumerate(order) if i != axis)


@_each
def _reshaped(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape == b.shape or a.size != b.size or not _close(a.ravel(), b.ravel()):
        return ""
    if [n for n in a.shape if n != 1] == [n for n in b.shape if n != 1]:
        less = "lost" if a.ndim < b.ndim else "too many" if a.ndim > b.ndim else "elsewhere"
        return f"The numbers are right, but an axis of length 1 is {less}: the shape is {a.shape}."
    return f"The numbers are right, but the shape is {a.shape}: axes are joined or cut."


@_each
def _factor(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype == bool or b.dtype == bool or not b.any():
        return ""
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or ((a == 0) != (b == 0)).any():
        return ""
    ratio = a[b != 0].astype(float) / b[b != 0]
    factor = float(np.median(ratio))
    rounding = 0.0 if a.dtype == b.dtype == np.float64 else 3e-4 * max(1.0, abs(factor))
    if abs(factor - 1) < 1e-3 or not np.allclose(a, factor * b.astype(float), rtol=1e-3, atol=rounding):
        return ""
    if len(np.unique(b[b != 0])) < ENOUGH:
        return NOT_ALONE
    return f"Each of your numbers is {factor:.3g} times what is asked for."


@_each
def _offset(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f" or a.ndim == 0 or a.shape[-1] < 3 or not np.isfinite(a).all():
        return ""
    apart = a.astype(float) - b
    off = np.abs(apart).max(axis=-1) > 1e-6
    if (np.ptp(b[off], axis=-1) == 0).all():  # rows of one number, as of a query that sees nothing: just other numbers
        return ""
    if np.allclose(apart, apart.flat[0], rtol=1e-3, atol=1e-6) and a.size >= ENOUGH:
        return f"Each of your numbers is {apart.flat[0]:.3g} more than what is asked for."
    along = bool(np.allclose(apart, apart[..., :1], rtol=1e-3, atol=1e-6))
    return "In each row, all of your numbers are off by the same amount." if along else ""


@_each
def _rounded(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f" or b.size < ENOUGH or not np.isfinite(a).all():
        return ""
    places = next((n for n in range(6) if _close(a, b.round(n))), None)
    if places is None or not b.round(places).any():
        return ""
    places_of = {0: "whole numbers", 1: "1 place"}
    return f"Your numbers are rounded to {places_of.get(places, f'{places} places')}."


@_each
def _order(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or b.size < 3:
        return ""
    for axis in range(a.ndim):
        n = a.shape[axis]
        if n < 2:
            continue
        if _close(a, np.flip(b, axis)):
            return f"The numbers are right, but backwards along axis {axis}."
        by = next((by for by in range(1, n) if _close(a, np.roll(b, by, axis))), 0)
        if by:
            far, when = min(by, n - by), "late" if by <= n - by else "early"
            places = f"{far} place{'s' if far > 1 else ''}"
            return f"The numbers are right, but along axis {axis} they stand {places} too {when}, in a circle."
        if n >= 3 and b.size > n and _is_shuffled(np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)):
            return f"The numbers are right, but axis {axis} stands in another order."
    return ""


def _is_shuffled(a: np.ndarray, b: np.ndarray) -> bool:
    """Is each item of one an item of the other, each once?"""
    n = len(a)
    if n > 64 or len(np.unique(b.reshape(n, -1).astype(float).round(6), axis=0)) < n:
        return False
    places = [next((j for j in range(n) if _close(a[i], b[j])), -1) for i in range(n)]
    return sorted(places) == list(range(n))


@_each
def _nothing_to_see(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f" or a.ndim < 2:
        return ""
    empty = (b == 0).all(-1)
    if not empty.any() or empty.all() or not _close(a[~empty], b[~empty]):
        return ""
    what = "NaN" if np.isnan(a[empty]).any() else "not zero"
    return f"All is right but for queries that may attend to nothing: there yours is {what}."


@_each
def _cut_at_zero(a: np.ndarray, b: np.ndarray) -> str:
    below = a.shape == b.shape and a.dtype.kind == "f" and bool((b < 0).any()) and bool((b > 0).any())
    return "All is right but for negative numbers: yours are 0." if below and _close(a, np.maximum(b, 0)) else ""


@_each
def _first_for_all(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.ndim < 3 or len(a) < 2 or not _close(a[0], b[0]):
        return ""
    return "The first item of a batch is right, and none after it." if not any(map(_close, a[1:], b[1:])) else ""


@_each
def _cut_short(a: np.ndarray, b: np.ndarray) -> str:
    differ = [i for i, (n, m) in enumerate(zip(a.shape, b.shape, strict=False)) if n != m]
    if a.ndim != b.ndim or len(differ) != 1:
        return ""
    axis = differ[0]
    n, m = a.shape[axis], b.shape[axis]
    less, more = (a, b) if n < m else (b, a)
    places = slice(0, min(n, m)), slice(max(n, m) - min(n, m), None)
    if less.size < 2 or not any(_close(less, more[(slice(None),) * axis + (place,)]) for place in places):
        return ""
    return f"What is there is right, but axis {axis} has length {n}: it is {'cut short' if n < m else 'too long'}."


def _handed_back(one: ComparedCall) -> str:
    got = getattr(one.got, "value", None)
    given = [value for value in one.call.args if hasattr(value, "dtype") and _numbers(value) is not None]
    parts = [part for part in parts_of(got) if hasattr(part, "dtype")]
    back = any(same_value(part, value) for part in parts for value in given if numbers(value).size >= ENOUGH)
    right = [part for part in parts_of(getattr(one.wanted, "value", None)) if hasattr(part, "dtype")]
    own = any(same_value(part, value) for part in right for value in given)
    return "What comes back is an argument as it went in." if back and not own else ""


def _parts_swapped(one: ComparedCall) -> str:
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply) or not isinstance(one.wanted.value, tuple):
        return ""
    mine, right = parts_of(one.got.value), list(one.wanted.value)
    same = len(mine) == len(right) and all(any(same_value(part, item) for item in right) for part in mine)
    return (
        "The values are right, but they come back in another order."
        if same and not all(map(same_value, mine, right))
        else ""
    )


def _parts_missing(one: ComparedCall) -> str:
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply) or _is_flat(one.wanted.value):
        return ""
    mine, right = parts_of(one.got.value), parts_of(one.wanted.value)
    if not 0 < len(mine) < len(right) or not all(any(same_value(part, item) for item in right) for part in mine):
        return ""
    return f"What comes back is right, but it is {len(mine)} of the {len(right)} things that the docstring names."


def _same_value(one: ComparedCall) -> bool:
    both = isinstance(one.got, Reply) and isinstance(one.wanted, Reply)
    return both and same_value(one.got.value, one.wanted.value)  # type: ignore[union-attr]


def _another_error(one: ComparedCall) -> str:
    if not isinstance(one.got, Failure) or not isinstance(one.wanted, Failure) or one.got.error == one.wanted.error:
        return ""
    return f"Your code raises {one.got.error} where {one.wanted.error} is asked for."


def _no_error(one: ComparedCall) -> str:
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Failure):
        return ""
    return f"Your code gives something back where {one.wanted.error} is asked for."


def _inputs_changed(one: ComparedCall) -> str:
    if isinstance(one.got, Failure) and isinstance(one.wanted, Reply) and IN_PLACE.search(one.got.text):
        return NOT_ALONE  # it may have been no argument
    if not _same_value(one) or same_value(one.got.inputs, one.wanted.inputs):  # type: ignore[union-attr]
        return ""
    return "The answer is right, but after the call an argument is no longer what it was."


def _both_gradients(one: ComparedCall) -> tuple[list[Any], list[Any]]:
    """The student's and the right ones, if the values are right; else none."""
    if not _same_value(one):
        return [], []
    assert isinstance(one.got, Reply) and isinstance(one.wanted, Reply)
    mine, right = ([*(a.gradients or ()), *a.parameters.values()] for a in (one.got, one.wanted))
    return mine, right


def _nan_gradients(one: ComparedCall) -> str:
    mine, right = _both_gradients(one)
    both = [(numbers(a), numbers(b)) for a, b in zip(mine, right, strict=False) if a is not None and b is not None]
    found = sum(bool(np.isnan(a).any() and not np.isnan(b).any()) for a, b in both)
    return f"The values are right, but {found} of {len(right)} gradients are NaN." if found else ""


def _gradients(one: ComparedCall) -> str:
    mine, right = _both_gradients(one)
    if not right or same_value(mine, right) or _nan_gradients(one):
        return ""
    kinds = [
        "none" if a is None else "zero" if not numbers(a).any() else "wrong"
        for a, b in zip(mine, right, strict=False)
        if b is not None and not same_value(a, b)
    ]
    if len(mine) != len(right) or not kinds:
        return "The values are right, but no gradient comes back."
    if len(kinds) == len([b for b in right if b is not None]) and len(set(kinds)) == 1 and kinds[0] != "wrong":
        said = {"none": "there is no gradient", "zero": "every gradient is zero"}[kinds[0]]
        return f"The values are right, but {said}."
    return f"The values are right, but {len(kinds)} of {len(right)} gradients are not."


def of_form(one: ComparedCall) -> str:
    """What is wrong with an answer whose numbers are right: its kind, its dtype, what it left behind. Else empty."""
    found = (find(one) for find in (_kind, _dtype, _inputs_changed, _nan_gradients, _gradients))
    return next((said for said in found if said), "")


TURNED = "axes-in-another-order"
OF_ONE: dict[str, tuple[Callable[[ComparedCall], str], str]] = {
    "tuple-swapped": (_parts_swapped, "In which order does the docstring name what comes back?"),
    "another-kind": (_kind, "What is the type of what you give back, and which one does the docstring promise?"),
    "another-dtype": (_dtype, "Print the dtype after each line. Where does it part from the one that is asked for?"),
    "complement": (_complement, "Which of the two does True stand for here?"),
    TURNED: (_turned, "Which axis does the docstring name first, and which is first in yours?"),
    "another-shape": (_reshaped, "Write down the shape after each step: where does it part from the docstring's?"),
    "a-constant-factor": (
        _factor,
        "Print each number that you multiply or divide by. Is it the one that the formula has?",
    ),
    "shifted-by-a-constant": (_offset, "What do you add or take off at the end, and does the docstring ask for it?"),
    "rounded": (_rounded, "On which line are numbers rounded, and does the docstring ask for it?"),
    "another-order": (_order, "Number the items by hand: which one stands first in yours?"),
    "nothing-to-see": (_nothing_to_see, "What does a softmax divide by if every key is hidden?"),
    "negative-numbers-lost": (_cut_at_zero, "Which step lets no negative number through, and is it in the formula?"),
    "first-of-the-batch-only": (_first_for_all, "In a batch of two texts, what is the second one's answer made from?"),
    "another-length": (_cut_short, "Which of your lines says how long this axis is, and what does the docstring say?"),
    "parts-missing": (_parts_missing, "How many things does the docstring promise?"),
    "argument-handed-back": (_handed_back, "Which step changes what came in, and does your code reach it?"),
    "another-error": (_another_error, "Which exception does the docstring name?"),
    "error-missing": (_no_error, "For which arguments is there no right answer, and who is told?"),
    "inputs-changed": (_inputs_changed, "Print the arguments before and after the call. Which line writes into one?"),
    "nan-in-the-gradient": (
        _nan_gradients,
        "Where could a 0 / 0 or an inf - inf hide, even if its result is replaced later?",
    ),
    "gradient-missing": (_gradients, "Which step on the way gives a tensor that autograd knows nothing of?"),
}
