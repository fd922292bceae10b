"""Format errors: one slip that stops every test is deducted once, and costs no more than its own share.

A format error is found in what the code answers, and the answer is put right where it can be told how. The test that
first meets it fails. Further tests fail up to the share that `FormatError` says. All others are judged by the answers
put right.

- `FORM`, a tuple in another order, a dict, a list, a value too many: the arrays that came are matched to those asked
  for by their shapes, in the order in which the reference gives its own. What is missing becomes an array of NaN.
- `VIEW`, a `.view` of numbers that do not lie in order in memory: it goes on as `.reshape`, as PyTorch's own words
  advise.
- `DROPOUT`, a dropout that is on where the right answer has none: the call is made once more without it.
- `MISSING`, a part that is not given back: tests that need it fail up to its share. For the others the reference lends
  it, once a test of what did come has passed, unless it is the first and main thing, or more is missing than came. A
  part that is lent earns nothing of its own: a test that would pass whatever did come fails as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Failure, Gives, Reply
from autograder.testing.student import Recorded, parts_of

Answering = Callable[[Call], Answer]
Places = list[int | None]  # for each of the arrays asked for, which of those that came it is
PYTORCH_ON_VIEWS = "view size is not compatible"


@dataclass(frozen=True)
class FormatError:
    """A kind of format error: its name, and the share of an exercise's points that it may cost beyond one test.

    sentence: what is told of a test that it costs; if it is empty, what the test says
    """

    name: str
    share: float
    sentence: str = ""


FORM = FormatError("another form", 0.0)  # one test's points: the values may all be right
VIEW = FormatError("a view of numbers out of order", 0.25)  # the numbers are wrong until the axes are understood
DROPOUT = FormatError(  # no number is right as it stands
    "a dropout that is on",
    0.25,
    "there is a dropout, and it is on: numbers are dropped at random. When this is graded, none may be on.",
)
MISSING = FormatError("a missing part", 0.3)  # work that was not done


def format_error(calls: Sequence[Recorded], right: Answering) -> FormatError | None:
    """The first format error in the calls of a test; `right` are the reference's answers."""
    return next((found for one in calls if (found := _of_answer(one, right))), None)


def _of_answer(one: Recorded, right: Answering) -> FormatError | None:
    if _is_view(one.answer):
        return VIEW
    if not isinstance(one.answer, Reply) or one.call.build or one.call.gives is not Gives.VALUE:
        return None
    if one.answer.dropped:
        return DROPOUT
    wanted = right(one.call)
    in_another_form = isinstance(wanted, Reply) and arrangement(one.answer.value, wanted.value) is not None
    return FORM if in_another_form else None


@dataclass(frozen=True)
class PutRight:
    """An answer in the form of the right one. filled: was a part of it missing?"""

    answer: Answer
    filled: bool = False


class Fill(Enum):
    """What stands where a part is missing, and what stands in place of the parts that came."""

    UNKNOWN = "NaN for what is missing"
    LENT = "what the reference gives for what is missing"
    LENT_ALONE = "the same, and nothing that any test takes for right in place of what came"


def put_right(call: Call, answering: Answering, right: Answering, fill: Fill) -> PutRight:
    """The answer to a call, in the form of the right one if that can be told."""
    answer = answering(call)
    if _is_view(answer) or (isinstance(answer, Reply) and answer.dropped):
        call = replace(call, lenient=True)
        answer = answering(call)
    wanted = right(call) if isinstance(answer, Reply) and call.gives is Gives.VALUE else None
    if not isinstance(answer, Reply) or not isinstance(wanted, Reply):
        return PutRight(answer)
    places = arrangement(answer.value, wanted.value)
    if places is None:
        return PutRight(answer)
    if call.seeds is not None:
        again = answering(replace(call, seeds=_seeds(call.seeds, places, len(_arrays(answer.value)))))
        answer = again if isinstance(again, Reply) else answer
    missing = places.count(None)
    lends = places[0] is not None and missing <= len(places) - missing
    value = _arranged(answer.value, wanted.value, places, fill if lends else Fill.UNKNOWN)
    return PutRight(replace(answer, value=value), missing > 0)


def _is_view(answer: Answer) -> bool:
    return isinstance(answer, Failure) and PYTORCH_ON_VIEWS in answer.text


def arrangement(got: Any, wanted: Any) -> Places | None:
    """Where the arrays of `wanted` are in `got`; None if it has the form asked for, or its meaning cannot be told."""
    came, asked = _arrays(got), _arrays(wanted)
    if not came or not asked or len(asked) < len(parts_of(wanted)):
        return None
    places, left = _by_shape(came, asked)
    if _has_form_of(got, wanted, len(asked)) and (None in places or places == sorted(places)):  # type: ignore[type-var]
        return None  # in this form already, or with wrong shapes, which are for tests to judge
    if all(place is None for place in places) and len(came) < len(asked):
        return None
    return [place if place is not None or not left else left.pop(0) for place in places]


def _by_shape(came: Sequence[Any], asked: Sequence[Any]) -> tuple[Places, list[int]]:
    """For each array that is asked for, the first of its shape that came; and those that came and were not taken."""
    left = list(range(len(came)))
    places: Places = []
    for item in asked:
        place = next((i for i in left if tuple(came[i].shape) == tuple(item.shape)), None)
        places.append(place)
        if place is not None:
            left.remove(place)
    return places, left


def _has_form_of(got: Any, wanted: Any, count: int) -> bool:
    """Is it a container of the same type with as many values, or like what is asked for no container?"""
    if not _is_container(wanted):
        return not _is_container(got)
    return type(got) is type(wanted) and len(parts_of(got)) == count


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def _arrays(value: Any) -> list[Any]:
    return [item for item in parts_of(value) if hasattr(item, "shape")]


def _arranged(got: Any, wanted: Any, places: Places, fill: Fill) -> Any:
    """`got` in the form of `wanted`, and what is missing lent by it, or not."""
    came, asked = _arrays(got), _arrays(wanted)
    if fill is Fill.LENT_ALONE and None in places:
        came = [_nothing(item) for item in came]
    filled = [_unknown(came[0], item) if fill is Fill.UNKNOWN else item for item in asked]
    found = [filled[i] if place is None else came[place] for i, place in enumerate(places)]
    return tuple(found) if _is_container(wanted) else found[0]


def _unknown(kind: Any, wanted: Any) -> Any:
    """Numbers that are not known, of the kind of what came."""
    nothing = np.full(tuple(wanted.shape), np.nan)
    return kind.new_tensor(nothing) if hasattr(kind, "detach") else nothing


def _nothing(came: Any) -> Any:
    """Of a wrong shape, dtype and value, in place of what came: a test that looks at it fails."""
    return came.new_tensor(np.nan).half() if hasattr(came, "detach") else np.array(np.nan, dtype=np.float16)


def _seeds(seeds: Sequence[Any], places: Places, count: int) -> list[Any]:
    """Each output's seed, in the order in which the outputs came."""
    found: list[Any] = [None] * count
    for place, seed in zip(places, seeds, strict=False):
        if place is not None:
            found[place] = seed
    return found
