"""How wrong answers are related to the right ones: all of another dtype or shape, right for one layout only.

A difference is found in one call: its type, shape or dtype, its gradients, changed arguments. A relation explains a set
of wrong answers; it is reported if it explains all of them. Its evidence is a sentence, its hint a question, and
neither shows a right number. Relations serve where no known mistake explains the answers, and are the same for all
exercises.

A course adds relations of its own subject in the `relations.py` of its folder, which students have, too:

    RELATIONS = (OfAnswer("unsorted", unsorted, "Which of two neighbours should come first?"),)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from autograder.report import Finding
from autograder.testing.catalogue import OfAnswer
from autograder.testing.comparing import same_value
from autograder.testing.student_errors import reworded
from autograder.testing.tolerances import ANSWERS, COARSE, WHOLE
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Reply, Why
from cellcage.protocol.calls import Kind as FailureKind
from cellcage.values.value import Generated, allclose, arrays, is_tensor, numbers, parts_of

MOST = 20_000  # numbers of an answer that is looked at
NOT_ALONE = "cannot be told by this alone"  # counts if another answer shows the difference
USUAL = 1e3  # larger numbers are not of usual size
IN_PLACE = re.compile("by an in-?place operation|in an in-?place operation")  # from autograd's messages


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
            found.append((a, b))
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
            evidence = found if evidence in ("", NOT_ALONE) else evidence
        return evidence

    return find


def nearly_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """True if they are equal up to rounding."""
    if a.shape != b.shape:
        return False
    by = max(ANSWERS.get(one.dtype, WHOLE) for one in (a, b))
    if a.size:  # the first numbers usually decide it
        first, right = float(a.flat[0]), float(b.flat[0])
        if abs(first - right) > by * (1 + abs(right)) and math.isfinite(right):
            return False
    return allclose(a.astype(float), b.astype(float), by)


@of_each_part
def nan(a: np.ndarray, b: np.ndarray) -> str:
    """All that is wrong is NaN where a number belongs."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    bad = np.isnan(a) & ~np.isnan(b)
    if not bad.any() or not nearly_equal(np.where(bad, b, a), b):
        return ""
    return f"What is wrong is NaN: {'every value' if bad.all() else f'{bad.sum()} of {bad.size} values'} of a result."


@of_each_part
def reshaped(a: np.ndarray, b: np.ndarray) -> str:
    """The numbers are the same, in another shape."""
    if a.shape == b.shape or a.size != b.size or not nearly_equal(a.ravel(), b.ravel()):
        return ""
    if [n for n in a.shape if n != 1] == [n for n in b.shape if n != 1]:
        less = "lost" if a.ndim < b.ndim else "too many" if a.ndim > b.ndim else "elsewhere"
        return f"The numbers are right, but an axis of length 1 is {less}: the shape is {a.shape}."
    return f"The numbers are right, but the shape is {a.shape}: axes are merged or split."


def takes_large_numbers(call: Call) -> bool:
    """True if an array among its arguments has a number of unusual size."""
    built_with = call.instance or call
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    return any(np.abs(a.astype(float)).max(initial=0.0) > USUAL for a in given)


def kind(one: ComparedCall) -> str:
    """The numbers are right, and their type is another, such as a list."""
    pairs = parts(one)
    for actual, right in pairs or ():
        a, b = as_numbers(actual), as_numbers(right)
        if a is None or b is None or not nearly_equal(a, b):
            return ""
    differ = [(a, b) for a, b in (one.values, *(pairs or ())) if type(a) is not type(b)] if one.values else []
    if pairs is None or not differ:
        return ""
    return f"The numbers are right, but they come as {_type_of(differ[0][0])} and not as {_type_of(differ[0][1])}."


def _type_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if is_tensor(value):
        return "a tensor"
    name = value.kind if isinstance(value, Generated) else type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


@of_each_part
def dtype(a: np.ndarray, b: np.ndarray) -> str:
    """The numbers are right, and have another dtype."""
    same = a.dtype != b.dtype and a.shape == b.shape and allclose(a.astype(float), b.astype(float), COARSE)
    return f"The numbers are right, but they are {a.dtype} where {b.dtype} was expected." if same else ""


def _with_right_value(one: ComparedCall) -> tuple[Reply, Reply] | None:
    """The student's reply and the right one, if their values are the same."""
    if not isinstance(one.got, Reply) or not isinstance(one.wanted, Reply):
        return None
    return (one.got, one.wanted) if same_value(one.got.value, one.wanted.value) else None


def inputs_changed(one: ComparedCall) -> str:
    """The value is right, and an argument was changed."""
    if isinstance(one.got, Failure) and isinstance(one.wanted, Reply) and IN_PLACE.search(one.got.text):
        return NOT_ALONE  # it may have been something else than an argument
    replies = _with_right_value(one)
    if replies is None or same_value(*(reply.inputs for reply in replies)):
        return ""
    return "The answer is right, but the call changes an argument."


def _gradients(one: ComparedCall) -> tuple[list[Any], list[Any]]:
    """The student's gradients and the right ones, if the values are right; else none."""
    replies = _with_right_value(one) or ()
    found = [[*(reply.gradients or ()), *reply.parameters.values()] for reply in replies]
    return (found[0], found[1]) if found else ([], [])


def nan_gradients(one: ComparedCall) -> str:
    """The value is right, and gradients are NaN."""
    actual, right = _gradients(one)
    both = [(numbers(a), numbers(b)) for a, b in zip(actual, right, strict=False) if a is not None and b is not None]
    found = sum(bool(np.isnan(a).any() and not np.isnan(b).any()) for a, b in both)
    return f"The values are right, but {found} of {len(right)} gradients are NaN." if found else ""


def gradients(one: ComparedCall) -> str:
    """The value is right, and gradients are wrong or missing."""
    actual, right = _gradients(one)
    if not right or same_value(actual, right) or nan_gradients(one):
        return ""
    kinds = [
        "none" if a is None else "zero" if not numbers(a).any() else "wrong"
        for a, b in zip(actual, right, strict=False)
        if b is not None and not same_value(a, b)
    ]
    if len(actual) != len(right) or not kinds:
        return "The values are right, but no gradient comes back."
    if len(kinds) == len([b for b in right if b is not None]) and len(set(kinds)) == 1 and kinds[0] != "wrong":
        text = {"none": "there is no gradient", "zero": "every gradient is zero"}[kinds[0]]
        return f"The values are right, but {text}."
    return f"The values are right, but {len(kinds)} of {len(right)} gradients are not."


def of_form(one: ComparedCall) -> str:
    """What is wrong with an answer whose numbers are right: type, dtype, arguments or gradients; else empty."""
    found = (find(one) for find in (kind, dtype, inputs_changed, nan_gradients, gradients))
    return next(filter(None, found), "")


# A relation, and the wrong answers (by their places) in which it shows.
Explained = tuple[Finding, frozenset[int]]


def among(relation: OfAnswer, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Explained]:
    """The relation with the wrong answers in which it shows; nothing if there are none."""
    found = {i: evidence for i in sorted(wrong) if (evidence := relation.find(compared[i]))}
    clear = [evidence for evidence in found.values() if evidence != NOT_ALONE]
    if clear:
        yield Finding("relation", relation.name, clear[0], relation.hint), frozenset(found)


NAN = "not-a-number"
ONE_LAYOUT = "For how many axes is your code written? Could its axis numbers count from the end?"
DO_NOT_BROADCAST = (
    "Print the shapes of the two that do not broadcast. Counted from the end, which axis meets which? "
    "Is an axis lost, or does one stand elsewhere than you thought?"
)

# The strongest evidence first: the first relation that explains all wrong answers is reported.
OF_ANSWERS = (
    OfAnswer("another-kind", kind,
             "What type do you return, and which one does the docstring promise?"),
    OfAnswer("another-dtype", dtype,
             "Print the dtype after each line. After which line is it no longer the expected one?"),
    OfAnswer("another-shape", reshaped,
             "Write down the shape after each step: where does it differ from the docstring's?"),
    OfAnswer(NAN, nan,
             "Print each step: where is the first NaN? What are 0 times infinity, infinity minus infinity, and 0 / 0?"),
    OfAnswer("inputs-changed", inputs_changed,
             "Print the arguments before and after the call. Which line writes into one?"),
    OfAnswer("gradient-missing", gradients,
             "For which numbers does no gradient come back? Which step, or which option of a layer, lets go of it?"),
)  # fmt: skip


def relation_among(
    compared: Sequence[ComparedCall], wrong: frozenset[int], of_course: Sequence[OfAnswer]
) -> Finding | None:
    """The first relation that explains all `wrong` answers; None if there is none.

    A call that ran out of memory or time has no wrong value, so it is left out.
    of_course: the course's own relations, see `autograder.course.content.course_relations`
    """
    kept = [i for i, one in enumerate(compared) if not _ran_out(one.got)]
    compared, wrong = [compared[i] for i in kept], frozenset(n for n, i in enumerate(kept) if i in wrong)
    if not wrong:
        return None
    found = chain(*(among(one, compared, wrong) for one in (*of_course, *OF_ANSWERS)), _one_layout(compared, wrong))
    return next((relation for relation, explains in found if explains == wrong), None)


def of_shown(pairs: Sequence[tuple[Any, Any]], of_course: Sequence[OfAnswer]) -> Finding | None:
    """A relation between answers to visible tests and what they expect, which is written with four digits."""
    # In float32 two numbers count as equal within a thousandth.
    compared = [ComparedCall(Call(""), *(Reply(_coarse(value)) for value in pair)) for pair in pairs]
    return relation_among(compared, frozenset(range(len(compared))), of_course)


def _ran_out(answer: Answer) -> bool:
    if isinstance(answer, NoAnswer):
        return answer.why is not Why.UNREADABLE
    return isinstance(answer, Failure) and answer.kind is FailureKind.MEMORY


def _coarse(value: Any) -> Any:
    array = numbers(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def _axes_of_input(call: Call) -> int:
    """How many axes the first array has; of keyword arguments, the array with most, without those of truth values."""
    given = arrays([*call.args, *call.kwargs.values()])
    given = given[:1] if call.args else [a for a in given if a.dtype.kind != "b"]
    return max((a.ndim for a in given), default=0)


def _one_layout(compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Explained]:
    """Answers are right for one number of axes only."""
    axes = [_axes_of_input(one.call) for one in compared]
    good = {axes[i] for i, one in enumerate(compared) if i not in wrong and isinstance(one.wanted, Reply)}
    missed = frozenset(i for i in wrong if axes[i] not in good)
    if len(good) == 1 and 0 not in good and missed:
        (only,) = good
        answers = [compared[i].got for i in missed]
        how = "raises" if all(isinstance(answer, Failure) for answer in answers) else "is wrong"
        axes_of = "1 axis" if only == 1 else f"{only} axes"
        about_shapes, about_axes = ("shapes-do-not-broadcast", DO_NOT_BROADCAST), ("one-batch-layout", ONE_LAYOUT)
        name, hint = about_shapes if any(map(_does_not_broadcast, answers)) else about_axes
        evidence = f"With a first array of {axes_of} everything is right; with more or fewer axes your code {how}."
        yield Finding("relation", name, evidence, hint), missed


def _does_not_broadcast(answer: Answer) -> bool:
    return isinstance(answer, Failure) and "do not broadcast" in reworded(answer.text)
