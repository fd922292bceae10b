"""What a failed check raises, the words that describe a value in its message, and which answer it is about.

A suite compares answers with right ones, but also with each other: an item alone and in a batch, a text and a longer
one. The answer in the message may then be the right one of the two, so the reference is asked as well. The message
gives the wrong answer; if it cannot be told which one that is, it says that the two do not agree.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from msgspec import structs

from autograder.testing.comparing import same_answer
from autograder.testing.functions import AnsweredCall, Answering
from autograder.testing.student_errors import FailedTest
from autograder.testing.tolerances import ELSEWHERE, OF_A_GAP
from cellcage.protocol.calls import Answer, Call, Reply
from cellcage.values.value import Form, Generated, Other, Record, arrays, in_four_digits, numbers, parts_of
from cellcage.values.value_type import comparable, described, for_caller

NONE = "None (is there a `return`?)"
RESULT = "the result"  # what messages call a whole answer
NOT_RIGHT = "the returned value is not the expected one."
# What did not cross the sandbox's boundary, by its form.
OTHERS = {
    Form.TYPE: "something of type {}",
    Form.ARRAY: "an array of {}",
    Form.TENSOR: "a tensor of {}",
    Form.TOO_LARGE: f"{Form.TOO_LARGE.value}, {{}}",
}


@dataclass(frozen=True)
class ArrayDifference:
    """Two arrays that should be equal, and the first `index` at which they are not.

    what: the name of the first array in a message; count: the number of places that differ
    """

    got: np.ndarray
    wanted: np.ndarray
    index: tuple[int, ...]
    what: str
    count: int

    def text(self, index: tuple[int, ...]) -> str:
        """The message, which gives `index` as the place."""
        differs = "differs" if self.count == 1 else "differ"
        others = f" ({self.count} of {self.got.size} values {differs})" if self.got.size > 1 else ""
        return f"{self.what}{place_of(index)} is {number_of(self.got[self.index])}, which is not right{others}."


class HiddenText(str):
    """A text that no message shows."""


class IfOthersPass(str):
    """A hint, such as on large sizes, that is given only if no other test finds a wrong value, shape or exception."""


class Mismatch(FailedTest, AssertionError):
    """An answer that is not what the exercise asks for.

    got: the value that the message is about; it identifies the call that returned it
    wanted: the expected value or its shape; never shown
    symptom: "kind", "shape", "dtype" or "error" if that is wrong; empty if a value is
    difference: the arrays that were compared; never shown
    """

    def __init__(
        self,
        text: str,
        hint: str = "",
        reason: str = "",
        got: Any = None,
        wanted: Any = None,
        symptom: str = "",
        difference: ArrayDifference | None = None,
    ) -> None:
        super().__init__(text, hint)
        self.reason, self.got, self.wanted, self.symptom, self.difference = reason, got, wanted, symptom, difference


def fail(
    text: str, hint: str = "", reason: str = "", got: Any = None, wanted: Any = None, symptom: str = ""
) -> NoReturn:
    """Fail with `text` and the next step. The other arguments are those of `Mismatch`."""
    raise Mismatch(text, hint, reason, got, wanted, symptom)


def fail_for_kind(got: Any, expectation: str, hint: str = "", what: str = RESULT) -> NoReturn:
    """Fail because `got` is of the wrong kind; `expectation` follows the name of that kind."""
    begin = "returned" if what == RESULT else f"{what} is"
    reason = re.sub(r"\d+", "", kind_of(got))  # one reason for all sizes
    fail(f"{begin} {kind_of(got)}{expectation}.", hint, reason, got, symptom="kind")


def of_part(error: Mismatch, part: str) -> Mismatch:
    """An error about a None that is only a part of the answer, so no `return` is missing. It always asks its hint."""

    def words(text: str) -> str:
        return text.replace(f"returned {NONE}", f"{part} is None", 1).replace(NONE, "None", 1)

    text = f"{words(error.text)} {error.hint}" if error.hint else words(error.text)
    found = Mismatch(text, "", error.reason, symptom=error.symptom)
    found.parts = error.parts and structs.replace(error.parts, happened=words(error.parts.happened))
    return found


def kind_of(got: Any) -> str:
    """What a value is, in words."""
    if got is None:
        return NONE
    if isinstance(got, Other):
        return OTHERS.get(got.form, str(got.form.value)).format(got.type_name)
    if (found := described(got)) is not None:
        return found[0].named(found[1])
    if isinstance(got, np.ndarray):
        return f"an array of shape {got.shape}"
    if isinstance(got, Generated):
        return f"{'an' if got.kind[0] in 'aeiou' else 'a'} {got.kind} of {'more than ' * got.more}{len(got)} values"
    if isinstance(got, tuple | list | set | frozenset | deque | dict):
        name = "dict" if isinstance(got, dict) else type(got).__name__
        return f"a {name} of {len(got)} value{'' if len(got) == 1 else 's'}"
    if isinstance(got, Record):
        return f"something of type {got.type_name}"
    return f"a value of type {type(got).__name__}"


def place_of(index: tuple[int, ...]) -> str:
    """` at [0, 2]`; empty for a plain number."""
    return f" at [{', '.join(map(str, index))}]" if index else ""


def number_of(value: Any) -> str:
    """A number in four digits, with -0 as 0; anything else in an array as Python writes it."""
    if not hasattr(value, "dtype") or value.dtype.kind == "c":
        return in_four_digits(value.item() if hasattr(value, "dtype") else value)
    return f"{value.item() + 0.0:.4g}" if value.dtype.kind == "f" else str(value.item())


# ---------------------------------------------------------------- which answer a message is about


@dataclass(frozen=True)
class _Place:
    """A number in the reply to a call: in which of its values (`part`), and where in it (`index`)."""

    call: Call
    parts: list[Any]
    part: int
    index: tuple[int, ...]

    @property
    def number(self) -> Any:
        return numbers(self.parts[self.part])[self.index]


def call_about(got: Any, calls: Sequence[AnsweredCall]) -> AnsweredCall | None:
    """The call whose value is `got` or has it as a part. If there is none, the last call made, if any."""
    return next((one for one in reversed(calls) if _holds(one.answer, got)), calls[-1] if calls else None)


def has_elsewhere(got: Any, wanted: Any, answer: Answer) -> bool:
    """Whether `wanted`, an array or a shape, is in the same reply as `got`."""
    if wanted is None or not isinstance(answer, Reply) or not _holds(answer, got):
        return False
    others = [item for item in parts_of(answer.value) if hasattr(item, "shape") and not _is_in(item, got)]
    if isinstance(wanted, tuple):
        return any(tuple(item.shape[-len(wanted) :]) == wanted for item in others if wanted)
    return any(item.shape == wanted.shape and np.allclose(numbers(item), wanted, atol=ELSEWHERE) for item in others)


def _holds(answer: Answer, got: Any) -> bool:
    return got is not None and isinstance(answer, Reply) and _is_in(answer.value, got)


def _is_in(value: Any, got: Any) -> bool:
    """Whether `got` is this value, one of its parts, or an array that shares its memory."""
    parts = parts_of(value)
    if any(got is part or for_caller(part) is got for part in (value, *parts)):
        return True
    if comparable(got) is not None:  # attributes of a frame are its columns
        return False
    return hasattr(got, "dtype") and any(np.may_share_memory(numbers(got), array) for array in arrays(parts))


def locate_fault(error: Mismatch, calls: Sequence[AnsweredCall], reference: Answering) -> Mismatch:
    """`error` if the answer in its message is wrong; else an error about the one that is, or about their disagreement.

    calls: the student's calls and answers; reference: gives the right answers
    """
    difference = error.difference
    if difference is None:
        return error
    first, second = (_find(calls, array, difference.index) for array in (difference.got, difference.wanted))
    if first is None:
        shown = call_about(error.got, calls)
        is_right = shown is not None and same_answer(shown.answer, reference(shown.call))
        return _disagreement(error, difference, second) if is_right else error
    if _is_wrong(first, difference, reference):
        if difference.what != RESULT or len(first.parts) > 1 or first.index == difference.index:
            return error
        # The suite compared the answer in another shape: give the place in the answer as it came back.
        return Mismatch(difference.text(first.index), error.hint, error.reason, error.got)
    if second is not None and _is_wrong(second, difference, reference):
        # The test's question is about the first call, so it is left out.
        where = f"{RESULT if len(second.parts) == 1 else f'result[{second.part}]'}{place_of(second.index)}"
        text = f"{where} is {number_of(second.number)}, which is not right. It should agree with another answer"
        return Mismatch(f"{text} of yours, which is right.", "", error.reason, second.parts[second.part])
    return _disagreement(error, difference, second)


def _disagreement(error: Mismatch, difference: ArrayDifference, second: _Place | None) -> Mismatch:
    text = f"{difference.what}{place_of(difference.index)} is {number_of(difference.got[difference.index])}"
    if second is None:
        text += ", unlike other answers of yours. They should agree."
    else:
        text += f"; in another answer of yours it is {number_of(second.number)}. They should agree."
    return Mismatch(text, error.hint, error.reason, error.got)


def _find(calls: Sequence[AnsweredCall], array: np.ndarray, index: tuple[int, ...]) -> _Place | None:
    """The place of a number of `array` in the replies to `calls`; None if the array is a copy."""
    number = array[tuple(slice(i, i + 1) for i in index)]
    for recorded in reversed(calls):
        if not isinstance(recorded.answer, Reply):
            continue
        parts = parts_of(recorded.answer.value)
        for part, value in enumerate(parts):
            whole = numbers(value) if hasattr(value, "dtype") else None
            if whole is not None and np.may_share_memory(whole, number):
                offsets = np.tensordot(whole.strides, np.indices(whole.shape), 1) if whole.ndim else np.zeros(())
                places = np.argwhere(offsets == _address(number) - _address(whole))
                if len(places):
                    return _Place(recorded.call, parts, part, tuple(map(int, places[0])))
    return None


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _is_wrong(place: _Place, difference: ArrayDifference, reference: Answering) -> bool:
    """Whether a number is off by `OF_A_GAP` or more."""
    answer = reference(place.call)
    expected = parts_of(answer.value) if isinstance(answer, Reply) else []
    shape = numbers(place.parts[place.part]).shape
    fitting = [part for part, item in enumerate(expected) if hasattr(item, "dtype") and numbers(item).shape == shape]
    if not fitting:
        return True
    right = numbers(expected[place.part if place.part in fitting else fitting[0]])
    gap = abs(float(difference.got[difference.index]) - float(difference.wanted[difference.index]))
    atol = OF_A_GAP * gap if np.isfinite(gap) else 0
    return not np.isclose(float(place.number), float(right[place.index]), rtol=0, atol=atol, equal_nan=True)
