"""What a suite asks, known beforehand: its tests are run once on the reference, and their calls written down.

A suite asks every submission the same. So a submission is asked all of it in one message, instead of one call after
another; and a test that hears from it, byte for byte, what it heard from the reference has nothing more to judge. Of an
exception that a test asks for, its kind is enough, for the test is tried with other words as well; of numbers, all but
their rounding, where the test passes with those that are rounded otherwise. A test that passes functions or models as
arguments is not planned: its calls are made while it runs.
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from autograder.errors import MachineError
from autograder.sandbox.protocol.calls import (
    Answer,
    Call,
    Failure,
    Gives,
    Kind,
    NoAnswer,
    Reply,
    answer_bytes,
    answer_of,
)
from autograder.sandbox.protocol.frames import WireError
from autograder.testing.callbacks import asked_with, parameter_names
from autograder.testing.local import answering
from autograder.testing.rounding import is_rounded, rounded_otherwise
from autograder.testing.session import Suite, Test
from autograder.testing.student import ParameterNames, Recorded, Student
from autograder.testing.variants import VARIANTS, Drawing, varied

Answering = Callable[[Call], Answer]
SEED = 1  # of how answers are rounded otherwise
ASK_ALIKE = "let the test ask the reference the same, whatever the student's answers are"
Place = tuple[bytes, int]  # a call as it crosses the sandbox's boundary, and how often the test has made it before


@dataclass(frozen=True)
class RecordedCall:
    """One call of a test's, where it stands, and the answer as it came from the reference.

    raises: the kind of exception that it is, if the test passes whatever that says
    rounds: does the test pass however the numbers in its answers are rounded?
    """

    call: Call = field(compare=False)
    place: Place
    answer: bytes
    raises: str = ""
    rounds: bool = False

    def is_heard_in(self, got: bytes | Failure | NoAnswer | None) -> bool:
        """Is it what came back?"""
        if got == self.answer:
            return True
        if self.raises and isinstance(got, bytes) and _raised(got) == self.raises:
            return True
        return self.rounds and is_rounded(got, self.answer)


@dataclass(frozen=True)
class Recording:
    """What each planned test asks and heard, and how each exercise is called (see `questions.AskedWith`).

    broken: tests that the reference fails, each with where in the suite, and what it says
    drawn: the seeds that each test of values draws with; drawings: by which a test's inputs are drawn, if it is not as
        they stand in the suite
    kept: what the reference has drawn and written in calls of its own; it draws once, and whoever judges may write
        nowhere
    """

    heard: Mapping[Test, tuple[RecordedCall, ...]] = field(default_factory=dict)
    asked_with: Mapping[str, frozenset[bool | None]] = field(default_factory=dict)
    broken: tuple[tuple[Test, str, str], ...] = ()
    drawn: Mapping[Test, tuple[int, ...]] = field(default_factory=dict)
    drawings: Mapping[Test, Drawing] = field(default_factory=dict)
    kept: Mapping[bytes, bytes] = field(default_factory=dict)

    @cached_property
    def plans(self) -> Mapping[str, Sequence[RecordedCall]]:
        """All that each exercise's tests ask, each place once, in order."""
        found: dict[str, dict[Place, RecordedCall]] = {test.exercise: {} for test in self.heard}
        for test, heard in self.heard.items():
            found[test.exercise] |= {one.place: one for one in heard}
        return {exercise: tuple(places.values()) for exercise, places in found.items()}

    @cached_property
    def right(self) -> Mapping[bytes, bytes]:
        """What the reference answered to each call, made for the first time."""
        heard = {one.place[0]: one.answer for heard in self.heard.values() for one in heard if one.place[1] == 0}
        return {**self.kept, **heard}

    def answering(self, names: Mapping[str, Any]) -> Answering:
        """What the reference, whose `names` these are, answers to a call; only what is not known is asked once more."""
        live = answering(names)

        def answer(call: Call) -> Answer:
            known = None if any(map(callable, call.given())) else self.right.get(call.as_bytes)
            said = live(call) if known is None else answer_of(known)
            if known is None and call.gives is Gives.FILES and isinstance(said, Failure) and said.error == "OSError":
                raise MachineError(f"the files that `{call.name}` should write are not known beforehand; {ASK_ALIKE}")
            return said

        return answer


def record(suite: Suite, names: Mapping[str, Any]) -> Recording:
    """Run a suite on its reference's `names`."""
    words = functools.partial(parameter_names, names)
    answer = answering(names)
    once = _once(answer)

    heard: dict[Test, tuple[RecordedCall, ...]] = {}
    kinds: dict[str, set[bool | None]] = {}
    broken: list[tuple[Test, str, str]] = []
    drawn: dict[Test, tuple[int, ...]] = {}
    kept: dict[bytes, bytes] = {}
    for test in suite.tests:
        student, reference, drawing = Student(answer, words), Student(answer, words), Drawing()
        outcome = suite.run(test, student, reference, drawing)
        kept |= _kept(reference.calls)
        if reference.calls:
            drawn[test] = tuple(drawing.seeds)
        for one in student.calls:
            kinds.setdefault(one.call.name, set()).add(asked_with(one.call))
        if outcome.error is not None:
            broken.append((test, outcome.where, f"{type(outcome.error).__name__}: {outcome.error}"))
        elif not any(map(_is_live, student.calls)):
            raises = any(isinstance(one.answer, Failure) for one in student.calls)
            any_words = raises and _passes(suite, test, (_in_other_words(once), once), words)
            rounds = _passes(suite, test, (_rounded(once), once), words)
            heard[test] = tuple(_heard(student.calls, any_words, rounds))
    asked = {name: frozenset(found) for name, found in kinds.items()}
    return Recording(heard, asked, tuple(broken), drawn, kept=kept)


def _passes(suite: Suite, test: Test, answers: tuple[Answering, Answering], words: ParameterNames) -> bool:
    """Does a test pass, with these answers for the student's and the reference's?"""
    student, reference = (Student(answer, words) for answer in answers)
    return suite.run(test, student, reference).error is None


def _in_other_words(answer: Answering) -> Answering:
    def other(call: Call) -> Answer:
        said = answer(call)
        return replace(said, text="other words", lines=()) if isinstance(said, Failure) else said

    return other


def _rounded(answer: Answering) -> Answering:
    """Each answer rounded in a way of its own, and always the same for one call."""

    def other(call: Call) -> Answer:
        said = answer(call)
        if isinstance(said, NoAnswer):
            return said
        return answer_of(rounded_otherwise(answer_bytes(said), zlib.crc32(call.as_bytes, SEED)))

    return other


def variants(suite: Suite, names: Mapping[str, Any], recording: Recording, secret: str) -> tuple[Recording, ...]:
    """The recording with one case of each planned test of values changed, in each way that there is."""
    answer, words = _once(recording.answering(names)), functools.partial(parameter_names, names)
    found = [(dict(recording.heard), dict[Test, Drawing]()) for _ in range(VARIANTS)]
    kept = dict(recording.kept)
    for test, seeds in recording.drawn.items():
        right = {one.answer for one in recording.heard.get(test, ())}
        left = list(seeds) if right else []
        for number, (heard, drawings) in enumerate(found):
            while left:
                drawing = Drawing({left[-1]: varied(left[-1], number, secret)})
                student, reference = Student(answer, words), Student(answer, words)
                outcome = suite.run(test, student, reference, drawing)
                kept |= _kept(reference.calls)
                if outcome.error is None and not right.issuperset(_replies(student.calls, beside=recording.right)):
                    rounds = all(one.rounds for one in recording.heard[test])
                    heard[test], drawings[test] = tuple(_heard(student.calls, False, rounds)), drawing
                    break
                left.pop()  # these numbers are not free, or nothing that is asked hangs on them
    return tuple(replace(recording, heard=heard, drawings=drawings, kept=kept) for heard, drawings in found)


def _once(answer: Answering) -> Answering:
    """The same, each plain call answered once."""
    known: dict[bytes, bytes] = {}

    def again(call: Call) -> Answer:
        if any(map(callable, call.given())):
            return answer(call)
        if call.as_bytes not in known:
            said = answer(call)
            if isinstance(said, NoAnswer):
                return said
            known[call.as_bytes] = answer_bytes(said)
        return answer_of(known[call.as_bytes])

    return again


def _replies(calls: Iterable[Recorded], beside: Container[bytes]) -> Iterator[bytes]:
    """The answers to those calls that are not made of everybody."""
    asked = [one for one in calls if not isinstance(one.answer, NoAnswer) and one.call.as_bytes not in beside]
    return (answer_bytes(one.answer) for one in asked if not isinstance(one.answer, NoAnswer))


def _is_live(one: Recorded) -> bool:
    return isinstance(one.answer, NoAnswer) or any(map(callable, one.call.given()))


def _kept(calls: Iterable[Recorded]) -> dict[bytes, bytes]:
    """What came of calls by chance, and of those that write files, by what the call is as bytes."""
    asked = [one for one in calls if (one.call.chance or one.call.gives is Gives.FILES) and not _is_live(one)]
    return {one.call.as_bytes: answer_bytes(one.answer) for one in asked if isinstance(one.answer, Reply | Failure)}


def _raised(body: bytes) -> str:
    """The kind of exception in an answer; empty if it is none."""
    with contextlib.suppress(WireError):
        answer = answer_of(body)
        if isinstance(answer, Failure) and answer.kind is Kind.RAISED:
            return answer.error
    return ""


def _heard(calls: Iterable[Recorded], any_words: bool, rounds: bool) -> Iterator[RecordedCall]:
    made: Counter[bytes] = Counter()
    for one in calls:
        assert not isinstance(one.answer, NoAnswer)
        body = one.call.as_bytes
        answer = answer_bytes(one.answer)
        yield RecordedCall(one.call, (body, made[body]), answer, _raised(answer) if any_words else "", rounds)
        made[body] += 1
