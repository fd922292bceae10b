"""Format errors: one mistake of form that fails every test is deducted once, and costs no more than its own share.

A format error shows in an answer, and the answer is corrected if it is clear how. The first test with a format error
fails. Further tests fail until the share in `FormatError` is used up. All others are judged by the corrected answers.

- `FORM`: the parts of a tuple in another order. The arrays of the answer are matched by shape to those of the
  reference's answer, in the reference's order. A missing array becomes an array of NaN. We do not correct an answer
  with too many values, because we cannot tell which of them the student means. (A list or a dict in place of a tuple is
  a container slip, see `containers`.)
- `VIEW`: a `.view` of numbers that are not contiguous in memory. It continues as `.reshape`, as PyTorch's own message
  advises.
- `DROPOUT`: a dropout is on and should be off. The call is made once more without it.
- `MISSING`: a part is not returned. Tests that need it fail up to its share. For the other tests the reference supplies
  it, after one test of the returned parts has passed. It does not if the first and main part is missing, or if more
  parts are missing than were returned. A supplied part earns nothing by itself: a test that would pass whatever the
  student returned fails as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from msgspec import structs

from autograder.judge.rules.rule import Attempt, Rerun, Rule, Setting, TestRun
from autograder.testing.functions import AnsweredCall, Answering
from autograder.testing.mismatch import Mismatch
from autograder.testing.student_errors import Missing, NotCounted, NotStarted, Stopped
from autograder.testing.suite import Outcome
from cellcage.protocol.calls import Answer, Call, Failure, Gives, Reply
from cellcage.values.value import is_tensor, parts_of

Places = list[int | None]  # for each expected array, the index of the returned one
PYTORCH_ON_VIEWS = "view size is not compatible"
NOTHING_TO_JUDGE = (NotStarted, Missing, Stopped, NotCounted)


@dataclass(frozen=True)
class FormatError:
    """What a kind of format error may cost in all: a share of the exercise's points. The first test always fails.

    message: what the student reads about a failed test; if it is empty, the test's own message
    """

    share: float
    message: str = ""


FORM = FormatError(0.0)  # the first test only: the values may all be right
VIEW = FormatError(0.25)  # the numbers are wrong until the axes are understood
DROPOUT = FormatError(  # no number is right as it stands
    0.25,
    "a dropout is on and drops numbers at random. It must be off when this is graded.",
)
MISSING = FormatError(0.3)  # work that was not done


class Fill(Enum):
    """What replaces a missing part, and what replaces the returned parts."""

    NAN = "NaN for the missing part"
    REFERENCE = "the reference's value for the missing part"
    REFERENCE_ALONE = "the reference's value, and in place of the returned parts a value that no test accepts"


class Form(Rule):
    """What format errors have cost so far in the tests of one exercise. See the base class."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._total = sum(test.weight for test in setting.tests)
        self._lost = 0.0  # weights of tests that failed for a format error
        self._some_part_is_right = False  # a test has passed with NaN for a missing part

    def after_tests(self, attempt: Attempt) -> Attempt:
        """Judge tests with a format error by corrected answers, as far as that is due."""
        return replace(attempt, runs=[self._judged(run) for run in attempt.runs])

    def _judged(self, run: TestRun) -> TestRun:
        outcome, answers, rerun, weight = run.outcome, run.answers, run.rerun, run.test.weight
        if outcome.error is None or isinstance(outcome.error, NOTHING_TO_JUDGE) or answers is None or rerun is None:
            return run
        found = next((found for one in run.made if (found := _format_error(one, self.setting.right))), None)
        if found is None:
            return run
        if self._lost == 0 or self._has_room(weight, found.share):
            self._lost += weight
            return replace(run, outcome=replace(outcome, error=Mismatch(found.message))) if found.message else run
        corrected = _Corrected(answers, self.setting.right, Fill.NAN)
        corrected_outcome, calls = rerun(corrected)
        if corrected_outcome.error is None or not corrected.is_filled:
            self._some_part_is_right = self._some_part_is_right or corrected.is_filled
            return replace(run, outcome=corrected_outcome, corrected=calls)
        # The student reads that a part is missing, and nothing about the NaN in its place.
        has_room = self._has_room(weight, MISSING.share if self._some_part_is_right else 1)
        if not has_room and self._passes_by_returned_parts(answers, rerun):
            return replace(run, outcome=Outcome(run.test, None), corrected=calls)
        self._lost += weight
        return replace(run, corrected=calls)

    def _has_room(self, weight: float, share: float) -> bool:
        """Whether one more test of this weight may fail without exceeding `share` of the points."""
        return self._lost + weight <= share * self._total + 1e-9

    def _passes_by_returned_parts(self, answers: Answering, rerun: Rerun) -> bool:
        """Whether the test passes with the missing part supplied, but not with any other returned parts."""
        supplied, _ = rerun(_Corrected(answers, self.setting.right, Fill.REFERENCE))
        alone, _ = rerun(_Corrected(answers, self.setting.right, Fill.REFERENCE_ALONE))
        return supplied.error is None and alone.error is not None


class _Corrected:
    """Answers in the reference's form, where it is clear how. `is_filled`: a missing part of one was filled in."""

    def __init__(self, answers: Answering, right: Answering, fill: Fill) -> None:
        self._answers, self._right, self._fill = answers, right, fill
        self.is_filled = False

    def __call__(self, call: Call) -> Answer:
        answer = self._answers(call)
        if _is_view(answer) or (isinstance(answer, Reply) and answer.dropped):
            call = structs.replace(call, lenient=True)
            answer = self._answers(call)
        expected = self._right(call) if isinstance(answer, Reply) and call.gives is Gives.VALUE else None
        if not isinstance(answer, Reply) or not isinstance(expected, Reply):
            return answer
        places = _arrangement(answer.value, expected.value)
        if places is None:
            return answer
        if call.seeds is not None:
            again = self._answers(structs.replace(call, seeds=_seeds(call.seeds, places, len(_arrays(answer.value)))))
            answer = again if isinstance(again, Reply) else answer
        missing = places.count(None)
        may_supply = places[0] is not None and missing <= len(places) - missing
        value = _arranged(answer.value, expected.value, places, self._fill if may_supply else Fill.NAN)
        self.is_filled = self.is_filled or missing > 0
        return structs.replace(answer, value=value)


def _format_error(one: AnsweredCall, right: Answering) -> FormatError | None:
    if _is_view(one.answer):
        return VIEW
    if not isinstance(one.answer, Reply) or one.call.build or one.call.gives is not Gives.VALUE:
        return None
    if one.answer.dropped:
        return DROPOUT
    expected = right(one.call)
    in_another_form = isinstance(expected, Reply) and _arrangement(one.answer.value, expected.value) is not None
    return FORM if in_another_form else None


def _is_view(answer: Answer) -> bool:
    return isinstance(answer, Failure) and PYTORCH_ON_VIEWS in answer.text


def _arrangement(actual: Any, expected: Any) -> Places | None:
    """Where the arrays of `expected` are in `actual`; None if the form is right already, or the meaning is unclear."""
    returned, wanted = _arrays(actual), _arrays(expected)
    if not returned or not len(parts_of(actual)) <= len(wanted) == len(parts_of(expected)):
        return None
    places, left = _by_shape(returned, wanted)
    if _has_form_of(actual, expected, len(wanted)) and (None in places or places == sorted(places)):  # type: ignore[type-var]
        return None  # the form is right, or shapes are wrong, which the tests judge
    if all(place is None for place in places) and len(returned) < len(wanted):
        return None
    return [place if place is not None or not left else left.pop(0) for place in places]


def _by_shape(returned: Sequence[Any], wanted: Sequence[Any]) -> tuple[Places, list[int]]:
    """For each expected array the first returned one of its shape; and the returned arrays that are left over."""
    left = list(range(len(returned)))
    places: Places = []
    for item in wanted:
        place = next((i for i in left if tuple(returned[i].shape) == tuple(item.shape)), None)
        places.append(place)
        if place is not None:
            left.remove(place)
    return places, left


def _has_form_of(actual: Any, expected: Any, count: int) -> bool:
    """Whether both are containers of one type with `count` values, or both are no containers."""
    if not _is_container(expected):
        return not _is_container(actual)
    return type(actual) is type(expected) and len(parts_of(actual)) == count


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def _arrays(value: Any) -> list[Any]:
    return [item for item in parts_of(value) if hasattr(item, "shape")]


def _arranged(actual: Any, expected: Any, places: Places, fill: Fill) -> Any:
    """The arrays of `actual` in the form of `expected`, with missing ones filled in."""
    returned, wanted = _arrays(actual), _arrays(expected)
    if fill is Fill.REFERENCE_ALONE and None in places:
        returned = [_unacceptable(item) for item in returned]
    filled = [_nan_like(returned[0], item) if fill is Fill.NAN else item for item in wanted]
    found = [filled[i] if place is None else returned[place] for i, place in enumerate(places)]
    return tuple(found) if _is_container(expected) else found[0]


def _nan_like(returned: Any, expected: Any) -> Any:
    """NaN in the expected shape: a tensor if a returned value is one, else an array."""
    nan = np.full(tuple(expected.shape), np.nan)
    return returned.new_tensor(nan) if is_tensor(returned) else nan


def _unacceptable(returned: Any) -> Any:
    """A value of a wrong shape, dtype and content: every test that looks at it fails."""
    return returned.new_tensor(np.nan).half() if is_tensor(returned) else np.array(np.nan, dtype=np.float16)


def _seeds(seeds: Sequence[Any], places: Places, count: int) -> list[Any]:
    """The outputs' seeds, in the order in which the student returned the outputs."""
    found: list[Any] = [None] * count
    for place, seed in zip(places, seeds, strict=False):
        if place is not None:
            found[place] = seed
    return found
