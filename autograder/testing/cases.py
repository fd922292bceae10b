"""A test made of examples: a table of arguments and of what they should give. `cases` makes it.

@pytest.mark.exercise("median")
class TestMedian:
    test_odd = cases("The middle one.", [([3, 1, 2], 2), (([5],), 5)], visible=True)
    test_even = cases("The mean of two.", [([1, 2, 3, 4],)], "Which two?", weight=2)
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.testing import expect
from autograder.testing.call_text import as_text
from autograder.testing.comparing import same_value
from autograder.testing.functions import Functions
from autograder.testing.mismatch import NOT_RIGHT, fail, kind_of
from autograder.testing.student_errors import Raised
from autograder.testing.tolerances import WITHIN
from autograder.testing.visible import shown
from cellcage.protocol.calls import Failure
from cellcage.values.value import Generated, Other, allclose, float_of, in_four_digits, same
from cellcage.values.value_type import comparable

Case = tuple[Any, ...]


def cases(
    sentence: str,
    table: Sequence[Case],
    hint: str = "",
    *,
    weight: float = 1.0,
    visible: bool = False,
    about_time: bool = False,
) -> Callable[..., None]:
    """A test of all cases, each `(arguments, wanted)`, or `(arguments,)` for what the reference gives.

    sentence: what a student reads
    arguments: a tuple; anything else is one argument
    wanted: a value, or a type of exceptions
    visible: whether students get the table, too; `autograder dev sync` then writes it into `visible_tests.py`
    about_time: whether students whose code is too slow read `hint`
    Raises `TypeError` if a row is anything else.
    """

    for row in table:
        if not isinstance(row, tuple) or len(row) not in (1, 2):
            form = "it should be (arguments, wanted) or (arguments,), and several arguments are a tuple of their own"
            raise TypeError(f"the case {row!r:.80} of {sentence!r}: {form}. Is a comma or a parenthesis missing?")

    def test(self: Any, student: Functions, reference: Functions | None) -> None:
        (exercise,) = next(mark.args for mark in type(self).pytestmark if mark.name == "exercise")
        for given, *wanted in table:
            arguments = given if isinstance(given, tuple) else (given,)
            if not wanted and reference is None:
                raise TypeError("a visible test says what is wanted")
            right = wanted[0] if wanted else getattr(reference, exercise)(*copy.deepcopy(arguments))
            if reference is None:
                question = hint or "What should come out, worked through by hand?"
                named = {f"argument_{number}": value for number, value in enumerate(arguments, 1)}
                with shown(question, **named):
                    _judge(student, exercise, arguments, right, "", tells=True)
            else:
                _judge(student, exercise, arguments, right, hint, tells=False)

    test.__doc__ = sentence
    test.table, test.hint, test.visible, test.weight = table, hint, visible, weight  # type: ignore[attr-defined]
    test.about_time = hint if about_time else ""  # type: ignore[attr-defined]
    return test


def _judge(student: Functions, exercise: str, arguments: tuple[Any, ...], right: Any, hint: str, tells: bool) -> None:
    """Check one case. tells: whether the message gives the expected value."""
    is_error = isinstance(right, type) and issubclass(right, Exception)
    try:
        got = getattr(student, exercise)(*copy.deepcopy(arguments))
    except Raised:
        answer = student.calls[-1].answer
        if is_error and isinstance(answer, Failure) and right.__name__ in (answer.error, *answer.types):
            return
        raise
    if is_error:
        fail(f"returned {kind_of(got)}; it should raise {right.__name__}.", hint, got=got)
    if comparable(right) is not None:
        expect.same(got, right, hint, tells=tells)
        return
    if alike(got, right):
        return
    if _kind(got) != _kind(right):
        expected = f", wanted `{right!r}`" if tells else ", which is not asked for"
        fail(f"returned {kind_of(got)}{expected}.", hint, got=got, symptom="kind")
    if tells:
        fail(f"came out as `{as_text(got)}`, wanted `{as_text(right)}`.", hint, got=got)
    fail(_what_is_wrong(got, right), hint, got=got)


def _what_is_wrong(got: Any, right: Any) -> str:
    """The place where an answer is wrong, without what is right there."""
    if isinstance(got, list | tuple | deque | Generated) and len(got) != len(right):
        return f"the result has {len(got)} items, which is not right."
    if isinstance(got, dict) and got.keys() != right.keys():
        return "the result does not have the expected keys."
    place, part = expect.first_place(got, right, alike)
    number = _number(part)
    return f"the result{place} {number}is not right." if place or number else NOT_RIGHT


def _number(value: Any) -> str:
    """A number as part of a sentence; empty for anything else."""
    if not isinstance(value, complex) and _kind(value) != "number":
        return ""
    return f"is {in_four_digits(np.asarray(value).item())}, which "


def alike(got: Any, right: Any) -> bool:
    """Whether two values are equal, numbers up to rounding. 2 equals 2.0, and NaN equals NaN; True equals no number."""
    return same(got, right, _decided)


def _decided(got: Any, right: Any) -> bool | None:
    if isinstance(got, Other):
        return False
    found, wanted = comparable(got), comparable(right)
    if found is not None and wanted is not None and found[0] is wanted[0]:
        return found[0].difference(found[1], wanted[1], WITHIN) is None
    if _kind(got) != _kind(right):
        return False
    if isinstance(right, list | tuple | deque | Generated | dict):
        return None
    return _alike_numbers(got, right) if _kind(right) in ("number", "array") else same_value(got, right)


def _alike_numbers(got: Any, right: Any) -> bool:
    found, wanted = np.asarray(got), np.asarray(right)
    if "f" not in found.dtype.kind + wanted.dtype.kind:
        return bool(np.array_equal(found, wanted))
    if "O" in found.dtype.kind + wanted.dtype.kind:  # an integer of any size
        found, wanted = np.asarray(float_of(got)), np.asarray(float_of(right))
    if found.shape != wanted.shape:
        return False
    return allclose(found.astype(float), wanted.astype(float), WITHIN)


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int | float | np.number):
        return "number"
    return "array" if isinstance(value, np.ndarray) else type(value).__name__
