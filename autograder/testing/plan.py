"""What a suite asks, known in advance: its tests run once on the reference, and their calls are recorded.

A suite asks every submission the same, so a submission gets all calls in one message. A test is skipped if all its
answers equal the recorded ones, up to rounding. A test that passes functions or models as arguments is not planned:
its calls are made while it runs.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from autograder.testing.callbacks import parameter_names, passes_arrays, passes_functions
from autograder.testing.functions import Answering, Functions, answering
from autograder.testing.suite import Suite, Test
from cellcage.protocol.calls import Answer, Call, Gives, NoAnswer, Reply, answer_bytes, answer_of

CLOSELY = 3  # calls of an exercise that are watched closely
CallPlace = tuple[bytes, int]  # a call as it crosses the sandbox's boundary, and how often the test has made it before


@dataclass(frozen=True)
class PlannedCall:
    """One call of a test's, its place, and the reference's answer as bytes."""

    call: Call = field(compare=False)
    place: CallPlace
    answer: bytes


@dataclass(frozen=True)
class Plan:
    """The calls of each planned test, with the reference's answers, recorded once for all submissions.

    array_functions: the exercises that their tests call with arrays
    broken: tests that the reference fails, each with where in the suite, and the message
    """

    by_test: Mapping[Test, tuple[PlannedCall, ...]] = field(default_factory=dict)
    array_functions: frozenset[str] = frozenset()
    broken: tuple[tuple[Test, str, str], ...] = ()

    @cached_property
    def by_exercise(self) -> Mapping[str, Sequence[PlannedCall]]:
        """All calls of each exercise's tests, each place once, in order."""
        found: dict[str, dict[CallPlace, PlannedCall]] = {}
        for test, calls in self.by_test.items():
            found.setdefault(test.exercise, {}).update({recorded.place: recorded for recorded in calls})
        return {exercise: tuple(places.values()) for exercise, places in found.items()}

    @cached_property
    def watched(self) -> Mapping[str, frozenset[CallPlace]]:
        """The few calls of each exercise during which PyTorch's operators are watched, too.

        They are among the three quarters with the smallest arguments, return a value, and have arguments of different
        kinds, if possible. They are the same in every attempt at every submission, so that no mark depends on luck.
        Student code cannot predict them without knowing the tests.
        """
        return {name: _watched(known) for name, known in self.by_exercise.items()}

    @cached_property
    def right(self) -> Mapping[bytes, bytes]:
        """The reference's answer to each call made for the first time."""
        recorded = (recorded for calls in self.by_test.values() for recorded in calls)
        return {one.place[0]: one.answer for one in recorded if one.place[1] == 0}

    def answering(self, names: Mapping[str, Any]) -> Answering:
        """A function that answers as the reference does: from the plan, else by a call of its `names`."""
        live = answering(names)

        def answer(call: Call) -> Answer:
            known = None if passes_functions(call) else self.right.get(call.as_bytes)
            return live(call) if known is None else answer_of(known)

        return answer


def _watched(known: Sequence[PlannedCall]) -> frozenset[CallPlace]:
    valued = [one for one in known if _returns_value(one)]
    small = sorted(valued, key=lambda one: len(one.place[0]))[: len(valued) - len(valued) // 4]
    small.sort(key=lambda one: blake2b(one.place[0]).digest())
    firsts = {_kind(one.call): one.place for one in reversed(small)}
    return frozenset([*dict.fromkeys([*reversed(firsts.values()), *(one.place for one in small)])][:CLOSELY])


def _kind(call: Call) -> object:
    """How a call is made, and of what kinds its arguments are."""
    names = *call.kwargs, *(call.instance.kwargs if call.instance else ()), *(step.method for step in call.steps)
    return names, tuple((type(value), np.ndim(value)) for value in call.given()), call.seeds is None


def _returns_value(one: PlannedCall) -> bool:
    """Whether a call runs code and, if that is right, gives a value. Not one that is made by itself."""
    runs = not one.call.build and one.call.gives is not Gives.NAME
    return runs and not one.call.is_alone and isinstance(answer_of(one.answer), Reply)


def record(suite: Suite, names: Mapping[str, Any]) -> Plan:
    """Run a suite on its reference's `names`, and record its calls."""
    parameters, answer = functools.partial(parameter_names, names), answering(names)
    by_test: dict[Test, tuple[PlannedCall, ...]] = {}
    with_arrays: set[str] = set()
    broken: list[tuple[Test, str, str]] = []
    answers: defaultdict[str, dict[CallPlace, bytes]] = defaultdict(dict)  # by exercise
    for test in suite.tests:
        known = answers[test.exercise]
        student, reference = (Functions(_once(answer, known), parameters) for _ in range(2))
        outcome = suite.run(test, student, reference)
        with_arrays |= {recorded.call.name for recorded in student.calls if passes_arrays(recorded.call)}
        if outcome.error is not None:
            broken.append((test, outcome.where, f"{type(outcome.error).__name__}: {outcome.error}"))
        elif not any(passes_functions(one.call) or isinstance(one.answer, NoAnswer) for one in student.calls):
            places = zip(student.calls, map(_places(), (one.call for one in student.calls)), strict=True)
            by_test[test] = tuple(PlannedCall(one.call, place, known[place]) for one, place in places)
    return Plan(by_test, frozenset(with_arrays), tuple(broken))


def _once(answer: Answering, known: dict[CallPlace, bytes]) -> Answering:
    """Answer as `answer` does, each place of a call once. known: the answers so far, which this adds to"""
    place_of = _places()

    def answered(call: Call) -> Answer:
        if passes_functions(call):
            return answer(call)
        place = place_of(call)
        if place not in known:
            found = answer(call)
            if isinstance(found, NoAnswer):
                return found
            known[place] = answer_bytes(found)
        return answer_of(known[place])

    return answered


def _places() -> Callable[[Call], CallPlace]:
    """A function that gives the place of each of a test's calls, in order."""
    made: Counter[bytes] = Counter()

    def place_of(call: Call) -> CallPlace:
        made[call.as_bytes] += 1
        return call.as_bytes, made[call.as_bytes] - 1

    return place_of
