"""What a suite asks, known beforehand; and what came of it, where the same answers have been heard before.

A suite asks every submission the same, and a test's outcome follows from the answers alone. So the questions are
learnt once, from the reference, and a submission is asked all of them in one message instead of one after another. And
outcomes are kept by answers: where a submission answers a test's questions with the same bytes as an earlier one, or as
the reference, the test has nothing new to judge.

    rehearse(suite, module) -> Foresight        .plan: the questions      .walk(test, answers): outcome or None

A test is run, not remembered, where it passes functions or modules as arguments, where it asks otherwise than the time
before, and where an answer is new.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from autograder.judging.expect import Mismatch
from autograder.judging.questions import AskedWith, asked_with, parameter_names
from autograder.judging.student import Recorded, Stopped, Student, StudentError, here
from autograder.judging.suite import Outcome, Suite, Test
from autograder.sandbox.outside.client import read_reply
from autograder.sandbox.protocol import wire

MAX_STEPS = 200_000  # some hundred bytes each; a class of a thousand has some thousand
Place = tuple[bytes, int]  # a question as it crosses the wall, and how often the test has asked it before


@dataclass(frozen=True)
class Question:
    """One question of a plan, as the suite puts it and where it stands, and the exercise that it is about."""

    exercise: str
    place: Place
    request: dict[str, Any] = field(compare=False)


@dataclass(frozen=True)
class Heard:
    """One question of a test's, as the suite put it and as it crosses the wall, and the reply as it came."""

    request: dict[str, Any]
    key: bytes
    reply: bytes

    def recorded(self) -> Recorded:
        """The same with the reply read."""
        return Recorded(self.request, read_reply(self.reply))


@dataclass
class _Step:
    """A place in a test: what is asked next, or the outcome."""

    request: dict[str, Any] | None = None
    key: bytes = b""
    outcome: Outcome | None = None
    next: dict[bytes, _Step] = field(default_factory=dict)


class Foresight:
    """What is known of one suite. See `rehearse`."""

    def __init__(self) -> None:
        self.plan: list[Question] = []
        self.asked_with: AskedWith = {}
        self._first: dict[Test, _Step] = {}
        self._erratic: set[Test] = set()
        self._steps = 0

    @staticmethod
    def key(request: dict[str, Any]) -> bytes | None:
        """A request as it crosses the wall; None where something in it is no data."""
        if holds_handle(request):
            return None
        return wire.body({name: wire.encode(value) for name, value in request.items()})

    def walk(self, test: Test, answers: Mapping[Place, bytes]) -> tuple[Outcome, list[Heard]] | None:
        """The outcome that `answers` lead to and what was heard on the way; None where that is not known."""
        step = self._first.get(test)
        asked: Counter[bytes] = Counter()
        heard = []
        while step is not None and step.outcome is None:
            reply = answers.get((step.key, asked[step.key]))
            if reply is None or step.request is None:
                return None
            asked[step.key] += 1
            heard.append(Heard(step.request, step.key, reply))
            step = step.next.get(_digest(reply))
        return None if step is None or step.outcome is None else (step.outcome, heard)

    def learn(self, test: Test, heard: list[Heard], outcome: Outcome) -> None:
        """Keep the outcome of a test that heard this; a test that asks otherwise than before is forgotten for good."""
        final = outcome.error is None or isinstance(outcome.error, Mismatch | StudentError)
        if test in self._erratic or isinstance(outcome.error, Stopped) or not final or self._steps > MAX_STEPS:
            return
        step = self._first.setdefault(test, _Step())
        for one in heard:
            if step.outcome is not None or (step.request is not None and step.key != one.key):
                self._forget(test)
                return
            step.request, step.key = one.request, one.key
            self._steps += _digest(one.reply) not in step.next
            step = step.next.setdefault(_digest(one.reply), _Step())
        if step.request is not None:
            self._forget(test)
            return
        step.outcome = outcome

    def _forget(self, test: Test) -> None:
        self._erratic.add(test)
        self._first.pop(test, None)


def rehearse(suite: Suite, module: ModuleType) -> Foresight:
    """Run a suite on its reference, and learn what it asks and what comes of the right answers."""
    foresight = Foresight()
    names = vars(module)
    reference = Student(here(names), functools.partial(parameter_names, names))
    planned: set[Place] = set()
    for test in suite.tests:
        heard = _heard_by(suite, test, names, reference, foresight)
        asked: Counter[bytes] = Counter()
        for one in heard:
            place = (one.key, asked[one.key])
            asked[one.key] += 1
            if place not in planned:
                planned.add(place)
                foresight.plan.append(Question(test.exercise, place, one.request))
    return foresight


def _heard_by(
    suite: Suite, test: Test, names: Mapping[str, Any], reference: Student, foresight: Foresight
) -> list[Heard]:
    """What a test asks the reference, and hears; nothing where it is none to be foreseen."""
    student = Student(here(dict(names)), functools.partial(parameter_names, names))
    outcome = suite.run(test, student, reference)
    for call in student.calls:
        foresight.asked_with.setdefault(call.request["name"], set()).add(asked_with(call.request))
    heard = [_as_heard(call) for call in student.calls]
    known = [one for one in heard if one is not None]
    if len(known) < len(heard):
        return []
    foresight.learn(test, known, outcome)
    return known


def _as_heard(call: Recorded) -> Heard | None:
    if call.reply is None or holds_callable(call.request):
        return None
    key = Foresight.key(call.request)
    reply = wire.body({name: wire.encode(value) for name, value in call.reply.items()})
    return None if key is None else Heard(call.request, key, reply)


def holds_handle(request: dict[str, Any]) -> bool:
    """Does a request pass something that stays on our side?"""
    return any(isinstance(value, wire.Handle) for value in _given(request))


def holds_callable(request: dict[str, Any]) -> bool:
    """Does a request pass something that can be called?"""
    return any(map(callable, _given(request)))


def _given(request: dict[str, Any]) -> list[Any]:
    forward = request.get("forward") or {"args": [], "kwargs": {}}
    return [*request["args"], *request["kwargs"].values(), *forward["args"], *forward["kwargs"].values()]


def _digest(reply: bytes) -> bytes:
    return hashlib.blake2b(reply, digest_size=16).digest()
