"""One slip that stops every test, and what the code evidently means: it costs its own share, and no more.

The form of an answer, such as a swapped tuple, a dict, a list, a value too many: the test that first meets it pays. The
others go on with the answer's arrays, found by their shapes, in the order in which the reference gives its own; what is
missing is an array of NaN. Tests that need what is missing pay up to three tenths of the points. For the others it is
lent by the reference, once a test of what did come has passed, unless it is the first and main thing.

A `.view` of numbers that do not lie in order in memory: tests that meet it pay, up to a quarter of the points. The
others go on as if it were `.reshape`, which is what PyTorch's own words advise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Failure, Reply
from autograder.suites.student import Recorded, parts_of

VIEW = "view size is not compatible"  # PyTorch's words
OF_VIEW = 0.25  # of an exercise's points that a .view may cost
OF_MISSING = 0.3  # and a part that is not given back
Places = list[int | None]  # for each of the arrays asked for, which of those that came it is


class Evident:
    """Answers in the form of the right ones. Used in place of what answers a suite's calls."""

    def __init__(self, answer: Callable[[Call], Answer], right: Callable[[Call], Answer], lends: bool = False) -> None:
        self._answer, self._right, self._lends = answer, right, lends
        self.filled_up = False  # was something missing?

    def __call__(self, call: Call) -> Answer:
        """The answer to a call, in the form of the right one if it can be told."""
        answer = self._answer(call)
        if _is_view(answer):
            call = replace(call, lenient=True)
            answer = self._answer(call)
        right = self._right(call) if isinstance(answer, Reply) else None
        if not isinstance(answer, Reply) or not isinstance(right, Reply):
            return answer
        places = arrangement(answer.value, right.value)
        if places is None:
            return answer
        self.filled_up = self.filled_up or None in places
        if call.seeds is not None:
            again = self._answer(replace(call, seeds=_seeds(call.seeds, places, len(_arrays(answer.value)))))
            answer = again if isinstance(again, Reply) else answer
        lent = self._lends and places[0] is not None
        return replace(answer, value=_arranged(answer.value, right.value, places, lent))


def slip_in(calls: Sequence[Recorded], right: Callable[[Call], Answer]) -> float | None:
    """Is there a slip of this kind in a failed test's calls? The share of the points it may cost; 0: one test's."""
    for one in calls:
        if _is_view(one.answer):
            return OF_VIEW
        if isinstance(one.answer, Reply) and not one.call.build:
            wanted = right(one.call)
            is_slip = isinstance(wanted, Reply) and arrangement(one.answer.value, wanted.value) is not None
            if is_slip:
                return 0.0
    return None


def _is_view(answer: Answer) -> bool:
    return isinstance(answer, Failure) and VIEW in answer.text


def arrangement(got: Any, wanted: Any) -> Places | None:
    """Where the arrays of `wanted` are in `got`; None if it has the form asked for, or its meaning cannot be told."""
    came, asked = _arrays(got), _arrays(wanted)
    if not came or not asked or len(asked) < len(parts_of(wanted)):
        return None
    left = list(range(len(came)))
    places: Places = []
    for item in asked:
        place = next((i for i in left if tuple(came[i].shape) == tuple(item.shape)), None)
        places.append(place)
        if place is not None:
            left.remove(place)
    many = type(got) is type(wanted) and len(parts_of(got)) == len(asked)
    in_form = many if _is_many(wanted) else not _is_many(got)
    if in_form and (None in places or places == sorted(places)):  # type: ignore[type-var]
        return None  # in this form already, or with wrong shapes, which are for tests to judge
    if all(place is None for place in places) and len(came) < len(asked):
        return None
    return [place if place is not None or not left else left.pop(0) for place in places]


def _is_many(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def _arrays(value: Any) -> list[Any]:
    return [item for item in parts_of(value) if hasattr(item, "shape")]


def _arranged(got: Any, wanted: Any, places: Places, lent: bool) -> Any:
    """`got` in the form of `wanted`, and what is missing lent by it, or not."""
    came, asked = _arrays(got), _arrays(wanted)
    fill = [item if lent else _missing(came[0], item) for item in asked]
    found = [fill[i] if place is None else came[place] for i, place in enumerate(places)]
    return tuple(found) if _is_many(wanted) else found[0]


def _missing(kind: Any, wanted: Any) -> Any:
    """Numbers that are not known, of the kind of what came."""
    nothing = np.full(tuple(wanted.shape), np.nan)
    return kind.new_tensor(nothing) if hasattr(kind, "detach") else nothing


def _seeds(seeds: Sequence[Any], places: Places, count: int) -> list[Any]:
    """Each output's seed, in the order in which the outputs came."""
    found: list[Any] = [None] * count
    for place, seed in zip(places, seeds, strict=False):
        if place is not None:
            found[place] = seed
    return found
