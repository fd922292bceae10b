"""What a suite asks, known beforehand: its tests are run once on the reference, and their calls written down.

A suite asks every submission the same. So a submission is asked all of it in one message, instead of one call after
another; and a test that hears from it, byte for byte, what it heard from the reference has nothing more to judge.
A test that passes functions or models as arguments is not foreseen: its calls are made while it runs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.here import answering
from autograder.judging.questions import asked_with, parameter_names
from autograder.judging.student import Recorded, Student
from autograder.judging.suite import Suite, Test
from autograder.sandbox.protocol.calls import Call, NoAnswer, answer_bytes, call_bytes

Place = tuple[bytes, int]  # a call as it crosses the wall, and how often the test has made it before


@dataclass(frozen=True)
class Heard:
    """One call of a test's, where it stands, and the answer as it came from the reference."""

    call: Call = field(compare=False)
    place: Place
    answer: bytes


@dataclass(frozen=True)
class Rehearsal:
    """What each foreseen test asks and heard, and how each exercise is called (see `questions.AskedWith`).

    broken: tests that the reference fails, each with where in the suite, and what it says
    """

    heard: Mapping[Test, tuple[Heard, ...]]
    asked_with: Mapping[str, frozenset[bool | None]]
    broken: tuple[tuple[Test, str, str], ...] = ()

    def plan(self, tests: Iterable[Test]) -> list[Heard]:
        """All that these tests ask, each place once, in order."""
        return list({one.place: one for test in tests for one in self.heard.get(test, ())}.values())

    def foreseen(self, tests: Sequence[Test]) -> dict[str, list[Call]]:
        """The calls of these tests by exercise."""
        names = dict.fromkeys(test.exercise for test in tests)
        return {name: [one.call for one in self.plan(t for t in tests if t.exercise == name)] for name in names}


def rehearse(suite: Suite, names: Mapping[str, Any]) -> Rehearsal:
    """Run a suite on its reference's `names`."""
    words = functools.partial(parameter_names, names)
    answer = answering(names)
    heard: dict[Test, tuple[Heard, ...]] = {}
    kinds: dict[str, set[bool | None]] = {}
    broken: list[tuple[Test, str, str]] = []
    for test in suite.tests:
        student = Student(answer, words)
        outcome = suite.run(test, student, Student(answer, words))
        for one in student.calls:
            kinds.setdefault(one.call.name, set()).add(asked_with(one.call))
        if outcome.error is not None:
            broken.append((test, outcome.where, f"{type(outcome.error).__name__}: {outcome.error}"))
        elif not any(map(_is_live, student.calls)):
            heard[test] = tuple(_heard(student.calls))
    return Rehearsal(heard, {name: frozenset(found) for name, found in kinds.items()}, tuple(broken))


def _is_live(one: Recorded) -> bool:
    return isinstance(one.answer, NoAnswer) or any(map(callable, one.call.given()))


def _heard(calls: Iterable[Recorded]) -> Iterator[Heard]:
    made: Counter[bytes] = Counter()
    for one in calls:
        assert not isinstance(one.answer, NoAnswer)
        body = call_bytes(one.call)
        yield Heard(one.call, (body, made[body]), answer_bytes(one.answer))
        made[body] += 1
