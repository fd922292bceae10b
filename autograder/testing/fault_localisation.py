"""Of two answers of one student that should agree, and do not: which one is wrong?

A suite compares answers with right ones, but also with each other: an item alone and in a batch, a text and a longer
one. Then the answer that a message would show may be the right one of the two. So the reference is asked, too. The
message speaks of the answer that is wrong, and if that cannot be told, it says that the two do not agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Reply
from autograder.testing.comparing import numbers, same_answer
from autograder.testing.expect import Apart, Mismatch, number_of, place_of
from autograder.testing.student import Calls, Recorded, parts_of

Right = Callable[[Call], Answer]


@dataclass(frozen=True)
class _Found:
    """A number in an answer: which call, which of its values (`part`), and where in it (`index`)."""

    one: Recorded
    part: int
    index: tuple[int, ...]

    @property
    def parts(self) -> list[Any]:
        assert isinstance(self.one.answer, Reply)
        return parts_of(self.one.answer.value)

    @property
    def number(self) -> Any:
        return numbers(self.parts[self.part])[self.index]

    @property
    def where(self) -> str:
        """`the result at [0, 2]`; `result[1] at [0, 2]` if there are several values."""
        return f"{'the result' if len(self.parts) == 1 else f'result[{self.part}]'}{place_of(self.index)}"


def truly(error: Mismatch, calls: Calls, right: Right) -> Mismatch:
    """`error` if what it shows is wrong; else one that shows what is, or says that two answers do not agree."""
    apart = error.apart
    if apart is None:
        return error
    mine, other = (_find(calls, array, apart.index) for array in (apart.got, apart.wanted))
    if mine is None:
        shown = calls.that_gave(error.got)
        answers = [one.answer for one in calls if one.call is shown]
        is_right = shown is not None and bool(answers) and same_answer(answers[-1], right(shown))
        return _disagree(error, apart, other) if is_right else error
    if _is_wrong(mine, apart, right):
        return _placed(error, apart, mine)
    if other is not None and _is_wrong(other, apart, right):
        # The test's question is about the other call.
        text = f"{other.where} is {number_of(other.number)}, which is not right. It should agree with another answer"
        return Mismatch(f"{text} of yours, which is right.", "", error.cause, other.parts[other.part])
    return _disagree(error, apart, other)


def _placed(error: Mismatch, apart: Apart, mine: _Found) -> Mismatch:
    """`error` with the place in what came back, if a suite looks at it in another shape."""
    if apart.what != "the result" or len(mine.parts) > 1 or mine.index == apart.index:
        return error
    return Mismatch(apart.text(mine.index), error.hint, error.cause, error.got)


def _disagree(error: Mismatch, apart: Apart, other: _Found | None) -> Mismatch:
    mine = f"{apart.what}{place_of(apart.index)} is {number_of(apart.got[apart.index])}"
    its = (
        f"; in another answer of yours it is {number_of(other.number)}" if other else ", unlike other answers of yours"
    )
    return Mismatch(f"{mine}{its}. They should agree.", error.hint, error.cause, error.got)


def _find(calls: Calls, array: np.ndarray, index: tuple[int, ...]) -> _Found | None:
    """Where a number of `array` is in the answers to `calls`, if it is looked at there and not copied."""
    one = array[tuple(slice(i, i + 1) for i in index)]
    for recorded in reversed(calls):
        if not isinstance(recorded.answer, Reply):
            continue
        for part, value in enumerate(parts_of(recorded.answer.value)):
            whole = numbers(value) if hasattr(value, "dtype") else None
            if whole is not None and np.may_share_memory(whole, one):
                steps = np.tensordot(whole.strides, np.indices(whole.shape), 1) if whole.ndim else np.zeros(())
                places = np.argwhere(steps == _address(one) - _address(whole))
                if len(places):
                    return _Found(recorded, part, tuple(map(int, places[0])))
    return None


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _is_wrong(found: _Found, apart: Apart, right: Right) -> bool:
    """Is it off by a good part of what the two are apart? One of two that should agree is."""
    answer = right(found.one.call)
    asked = parts_of(answer.value) if isinstance(answer, Reply) else []
    shape = numbers(found.parts[found.part]).shape
    fitting = [item for item in asked if hasattr(item, "dtype") and numbers(item).shape == shape]
    if not fitting:
        return True
    best = asked[found.part] if found.part < len(asked) and any(asked[found.part] is f for f in fitting) else fitting[0]
    number, wanted = float(found.number), float(numbers(best)[found.index])
    gap = abs(float(apart.got[apart.index]) - float(apart.wanted[apart.index]))
    return not np.isclose(number, wanted, rtol=0, atol=gap / 4 if np.isfinite(gap) else 0, equal_nan=True)
