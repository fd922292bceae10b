"""Find the wrong one of two answers of a student that should agree.

A suite compares answers with right ones, but also with each other: an item alone and in a batch, a text and a longer
one. The answer in the message may then be the right one of the two, so the reference is asked as well. The message
gives the wrong answer; if it cannot be told which one that is, it says that the two do not agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.testing.comparing import same_answer
from autograder.testing.functions import AnsweredCalls, Answering
from autograder.testing.mismatch import ArrayDifference, Mismatch, number_of, place_of
from autograder.testing.tolerances import OF_A_GAP
from cellcage.protocol.calls import Call, Reply
from cellcage.values.value import numbers, parts_of


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


def locate_fault(error: Mismatch, calls: AnsweredCalls, reference: Answering) -> Mismatch:
    """`error` if the answer in its message is wrong; else an error about the one that is, or about their disagreement.

    calls: the student's calls and answers; reference: gives the right answers
    """
    difference = error.difference
    if difference is None:
        return error
    first, second = (_find(calls, array, difference.index) for array in (difference.got, difference.wanted))
    if first is None:
        shown = calls.that_gave(error.got)
        answers = [recorded.answer for recorded in calls if recorded.call is shown]
        is_right = shown is not None and bool(answers) and same_answer(answers[-1], reference(shown))
        return _disagreement(error, difference, second) if is_right else error
    if _is_wrong(first, difference, reference):
        if difference.what != "the result" or len(first.parts) > 1 or first.index == difference.index:
            return error
        # The suite compared the answer in another shape: give the place in the answer as it came back.
        return Mismatch(difference.text(first.index), error.hint, error.reason, error.got)
    if second is not None and _is_wrong(second, difference, reference):
        # The test's question is about the first call, so it is left out.
        where = f"{'the result' if len(second.parts) == 1 else f'result[{second.part}]'}{place_of(second.index)}"
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


def _find(calls: AnsweredCalls, array: np.ndarray, index: tuple[int, ...]) -> _Place | None:
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
