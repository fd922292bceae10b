"""What a suite asks, known in advance: its tests run once on the reference, and their calls are recorded.

A suite asks every submission the same. So a submission gets all calls in one message, and not one after the other. A
test whose answers equal the recorded ones, byte for byte, can be skipped. Two differences are allowed if it has been
tried that the test passes with them: an exception of the same kind with another text, and numbers that are rounded
otherwise. A test that passes functions or models as arguments is not planned: its calls are made while it runs.
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import structs

from autograder.testing.callbacks import parameter_names, passes_arrays, passes_functions
from autograder.testing.local import answering
from autograder.testing.rounding import is_rounded, rounded_otherwise
from autograder.testing.session import Suite, Test
from autograder.testing.student import Recorded, Student
from autograder.testing.variants import VARIANTS, Drawing, varied
from cellcage.protocol.calls import Call, Failure, Kind, NoAnswer, Reply, answer_bytes, answer_of
from cellcage.protocol.frames import WireError

Answering = Callable[[Call], Reply | Failure]
SEED = 1  # of how answers are rounded otherwise
Place = tuple[bytes, int]  # a call as it crosses the sandbox's boundary, and how often the test has made it before


@dataclass(frozen=True)
class RecordedCall:
    """One call of a test's, its place, and the reference's answer as bytes.

    raises: the kind of the exception in the answer, if the test passes whatever its text is
    rounds: whether the test passes however the numbers in its answers are rounded
    """

    call: Call = field(compare=False)
    place: Place
    answer: bytes
    raises: str = ""
    rounds: bool = False

    def matches(self, got: bytes | Failure | NoAnswer | None) -> bool:
        """Whether a submission's answer is as good as the recorded one."""
        if got == self.answer:
            return True
        if self.raises and isinstance(got, bytes) and _exception_in(got) == self.raises:
            return True
        return self.rounds and is_rounded(got, self.answer)


@dataclass(frozen=True)
class Recording:
    """The calls of each planned test, with the reference's answers.

    array_functions: the exercises that their tests call with arrays
    broken: tests that the reference fails, each with where in the suite, and the message
    drawn: the seeds that each test of values draws with
    drawings: the seeds of tests whose inputs are not as they stand in the suite
    """

    calls: Mapping[Test, tuple[RecordedCall, ...]] = field(default_factory=dict)
    array_functions: frozenset[str] = frozenset()
    broken: tuple[tuple[Test, str, str], ...] = ()
    drawn: Mapping[Test, tuple[int, ...]] = field(default_factory=dict)
    drawings: Mapping[Test, Drawing] = field(default_factory=dict)

    @cached_property
    def plans(self) -> Mapping[str, Sequence[RecordedCall]]:
        """All calls of each exercise's tests, each place once, in order."""
        found: dict[str, dict[Place, RecordedCall]] = {}
        for test, calls in self.calls.items():
            found.setdefault(test.exercise, {}).update({recorded.place: recorded for recorded in calls})
        return {exercise: tuple(places.values()) for exercise, places in found.items()}

    @cached_property
    def right(self) -> Mapping[bytes, bytes]:
        """The reference's answer to each call made for the first time."""
        recorded = (recorded for calls in self.calls.values() for recorded in calls)
        return {one.place[0]: one.answer for one in recorded if one.place[1] == 0}

    def answering(self, names: Mapping[str, Any]) -> Answering:
        """A function that answers as the reference does: from the recording, else by a call of its `names`."""
        live = answering(names)

        def answer(call: Call) -> Reply | Failure:
            known = None if passes_functions(call) else self.right.get(call.as_bytes)
            return live(call) if known is None else answer_of(known)

        return answer


def record(suite: Suite, names: Mapping[str, Any]) -> Recording:
    """Run a suite on its reference's `names`, and record its calls."""
    parameters, answer = functools.partial(parameter_names, names), answering(names)
    cached = _cached(answer)

    def passes_with(change: Callable[[Call, Reply | Failure], Reply | Failure]) -> bool:
        """Whether the test passes if the student's answers are those of the reference, changed."""
        student = Student(lambda call: change(call, cached(call)), parameters)
        return suite.run(test, student, Student(cached, parameters)).error is None

    calls_of: dict[Test, tuple[RecordedCall, ...]] = {}
    with_arrays: set[str] = set()
    broken: list[tuple[Test, str, str]] = []
    drawn: dict[Test, tuple[int, ...]] = {}
    for test in suite.tests:
        student, reference, drawing = Student(answer, parameters), Student(answer, parameters), Drawing()
        outcome = suite.run(test, student, reference, drawing)
        if reference.calls:
            drawn[test] = tuple(drawing.seeds)
        with_arrays |= {recorded.call.name for recorded in student.calls if passes_arrays(recorded.call)}
        if outcome.error is not None:
            broken.append((test, outcome.where, f"{type(outcome.error).__name__}: {outcome.error}"))
        elif not any(passes_functions(recorded.call) for recorded in student.calls):
            fails = any(isinstance(recorded.answer, Failure) for recorded in student.calls)
            any_text, rounds = fails and passes_with(_another_text), passes_with(_rounded)
            calls_of[test] = tuple(_recorded(student.calls, any_text, rounds))
    return Recording(calls_of, frozenset(with_arrays), tuple(broken), drawn)


def _another_text(_: Call, answer: Reply | Failure) -> Reply | Failure:
    return structs.replace(answer, text="other words", lines=()) if isinstance(answer, Failure) else answer


def _rounded(call: Call, answer: Reply | Failure) -> Reply | Failure:
    """Rounded in a way that is always the same for one call."""
    return answer_of(rounded_otherwise(answer_bytes(answer), zlib.crc32(call.as_bytes, SEED)))


def variants(suite: Suite, names: Mapping[str, Any], recording: Recording, secret: str) -> tuple[Recording, ...]:
    """The recording in each variant: with one case changed in each planned test of values."""
    answer, parameters = _cached(recording.answering(names)), functools.partial(parameter_names, names)
    found = [(dict(recording.calls), dict[Test, Drawing]()) for _ in range(VARIANTS)]
    for test, seeds in recording.drawn.items():
        calls = recording.calls.get(test, ())
        right = {recorded.answer for recorded in calls}
        left = list(seeds) if calls else []
        for number, (calls_of, drawings) in enumerate(found):
            while left:
                drawing = Drawing({left[-1]: varied(left[-1], number, secret)})
                student, reference = Student(answer, parameters), Student(answer, parameters)
                outcome = suite.run(test, student, reference, drawing)
                new = (_answer_in(one) for one in student.calls if one.call.as_bytes not in recording.right)
                if outcome.error is None and not right.issuperset(new):
                    rounds = all(recorded.rounds for recorded in calls)
                    calls_of[test], drawings[test] = tuple(_recorded(student.calls, False, rounds)), drawing
                    break
                left.pop()  # the test fails with other numbers, or no answer depends on them
    return tuple(replace(recording, calls=calls_of, drawings=drawings) for calls_of, drawings in found)


def _cached(answer: Answering) -> Answering:
    """The same, but each call that passes no functions is answered once."""
    known: dict[bytes, bytes] = {}

    def again(call: Call) -> Reply | Failure:
        if passes_functions(call):
            return answer(call)
        if call.as_bytes not in known:
            known[call.as_bytes] = answer_bytes(answer(call))
        return answer_of(known[call.as_bytes])

    return again


def _answer_in(recorded: Recorded) -> bytes:
    """The answer as bytes. There is one: the reference answers in this process."""
    assert not isinstance(recorded.answer, NoAnswer)
    return answer_bytes(recorded.answer)


def _exception_in(body: bytes) -> str:
    """The kind of the exception in an answer; empty if it is none."""
    with contextlib.suppress(WireError):
        answer = answer_of(body)
        if isinstance(answer, Failure) and answer.kind is Kind.RAISED:
            return answer.error
    return ""


def _recorded(calls: Iterable[Recorded], any_text: bool, rounds: bool) -> Iterator[RecordedCall]:
    made: Counter[bytes] = Counter()
    for recorded in calls:
        body, answer = recorded.call.as_bytes, _answer_in(recorded)
        yield RecordedCall(recorded.call, (body, made[body]), answer, _exception_in(answer) if any_text else "", rounds)
        made[body] += 1
