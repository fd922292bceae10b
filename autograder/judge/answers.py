"""Answers to an exercise's calls: all that are planned asked at once, the rest while its tests run, and some again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.judge.exercise_calls import CallsOutside, is_measured, read
from autograder.sandbox.protocol.calls import Answer, Call, Failure, Gives, Instance, Kind, NoAnswer, Reply
from autograder.sandbox.sandboxed.perform import KINDS
from autograder.testing.comparing import same_answer, same_value
from autograder.testing.expect import Mismatch
from autograder.testing.local import CallsHere
from autograder.testing.recording import Place, RecordedCall, Recording
from autograder.testing.redaction import redacted, with_quote
from autograder.testing.session import Test
from autograder.testing.student import Forbidden, as_exception, has_chance

ExerciseCalls = CallsOutside | CallsHere  # the calls of one exercise
Unread = bytes | Failure | NoAnswer
Planned = Mapping[Place, Unread]  # answers to planned calls
MOST_SAID = 3  # exceptions of an exercise that are quoted: each can carry a few bytes of what was passed in
KEPT = "gave another answer when it was called again with the same arguments. Does it keep something between calls?"


def ask_planned(exercise: ExerciseCalls, recording: Recording, tests: Sequence[Test]) -> Planned:
    """Ask all that the tests are known to ask; what a call without an answer leads to is not asked."""
    plan = recording.plans.get(tests[0].exercise, ()) if tests else ()
    # Last, when all that the code imports late is there, and alone.
    plan = sorted(plan, key=lambda one: is_measured(one.call))
    together = _together(exercise, [(one.call, one.place[0]) for one in plan if not is_measured(one.call)])
    got: dict[Place, Unread] = {one.place: answer for one, answer in zip(plan, together, strict=False)}
    moot = set[Place]()
    for one in plan[len(got) :]:
        if one.place not in moot:
            got[one.place] = answer = _alone(exercise, one.call, one.place[0])
            if isinstance(answer, NoAnswer):
                moot |= {o.place for t in tests for o in _after(recording.calls.get(t, ()), one.place)}
    return got


def _together(exercise: ExerciseCalls, calls: Sequence[tuple[Call, bytes]]) -> Iterator[bytes | Failure]:
    """Answers to calls that are made all at once, until one does not come.

    They travel together, so whose answer it is that did not come shows only when the next are asked alone.
    """
    for answer in exercise.ask(calls):
        if isinstance(answer, NoAnswer):
            return
        yield answer


def _alone(exercise: ExerciseCalls, call: Call, body: bytes | None) -> Unread:
    return next(exercise.ask([(call, body)]))


def _after(heard: Sequence[RecordedCall], place: Place) -> Sequence[RecordedCall]:
    """What a test asks after the call at `place`; nothing if it does not make that call."""
    places = [one.place for one in heard]
    return heard[places.index(place) + 1 :] if place in places else ()


def as_reference(planned: Planned, heard: Sequence[RecordedCall] | None) -> bool:
    """Does a test hear just what it heard from the reference? Then it need not run."""
    return heard is not None and all(one.matches(planned.get(one.place)) for one in heard)


def untouched_stub(planned: Planned, heard: Sequence[RecordedCall] | None) -> Failure | None:
    """What a test meets first, if that is an untouched stub: it has nothing more to ask, so it need not run."""
    got = planned.get(heard[0].place) if heard else None
    answer = read(got) if got is not None else None
    return answer if isinstance(answer, Failure) and answer.kind is Kind.NOT_STARTED else None


@dataclass(frozen=True)
class First:
    """The first call of a test, as it is and as bytes, and its answer, unread."""

    call: Call
    body: bytes
    answer: bytes | Answer


def first_of(planned: Planned, heard: Sequence[RecordedCall]) -> First | None:
    """The first of calls that were heard as from the reference; one that only builds, only if there is no other."""
    one = next((one for one in heard if not one.call.build), heard[0] if heard else None)
    return None if one is None else First(one.call, one.place[0], planned[one.place])


class TestsAnswers:
    """Answers to the calls of one test: planned ones, and live ones for the rest.

    first: its first call, for which see `ask_again`; reply: the first call with a value, and that
    ready_made: noticed in an answer, if it was
    """

    __test__ = False

    def __init__(self, exercise: ExerciseCalls, planned: Planned) -> None:
        self.first: First | None = None
        self.reply: tuple[Call, Reply] | None = None
        self.forbidden: Forbidden | None = None
        self._exercise, self._planned = exercise, planned
        self._made: Counter[bytes] = Counter()

    def begin(self) -> None:
        """The test begins to run, maybe once more."""
        self._made.clear()

    def __call__(self, call: Call) -> Answer:
        """The answer to a call of the suite's."""
        answer = read(self._unread(call))
        if isinstance(answer, Reply) and not call.build and self.reply is None:
            self.reply = call, answer
        answer = self._redacted(call, answer)
        if isinstance(answer, Failure) and answer.kind is Kind.FORBIDDEN and self.forbidden is None:
            error = as_exception("", answer)
            assert isinstance(error, Forbidden)
            self.forbidden = error
        return answer

    def _unread(self, call: Call) -> Unread:
        if any(map(callable, call.given())):
            return _alone(self._exercise, call, None)
        body = call.as_bytes
        place = (body, self._made[body])
        self._made[body] += 1
        got = self._planned.get(place)
        if got is None:
            got = _alone(self._exercise, call, body)
        if self.first is None or self.first.call.build:
            self.first = First(call, body, got)
        return got

    def _redacted(self, call: Call, answer: Answer) -> Answer:
        """With just those words of the student's that a message may quote; all, if it is judged by visible tests."""
        cells, questions = self._exercise.cells, self._exercise.questions
        if cells is None or not questions.known or isinstance(answer, NoAnswer):
            return answer
        names = {part for name in _names_in(call) for part in name.split(".")}
        found = redacted(answer, cells, bool(questions.asked), names, questions.known)
        if not isinstance(found, Failure):
            if call.gives not in (Gives.PRINTED, Gives.FILES):
                return found
            few = self._says_few(str(found.value))
            return replace(found, value=with_quote(found.value, cells, bool(questions.asked) or not few, names))
        if not self._says_few((found.error, found.text, found.lines)):
            error = found.error if found.error in KINDS else "Exception"  # whose name may be chosen, too
            return replace(found, text="", lines=(), error=error)
        return found

    def _says_few(self, said: object) -> bool:
        """Is it among the first things of an exercise that a report may quote?"""
        if said not in self._exercise.said and len(self._exercise.said) >= MOST_SAID:
            return False
        self._exercise.said.add(said)
        return True


def _names_in(call: Call) -> list[str]:
    """The names that a call itself has: of arguments, and of a module's parameters."""
    made = call.instance or Instance()
    return [*call.kwargs, *made.kwargs, *made.parameters, *(step.method for step in call.steps)]


def ask_again(exercise: ExerciseCalls, firsts: Mapping[Test, First]) -> dict[Test, Exception]:
    """Make the first call of each test that passed once more, the last one first: the answers must be the same.

    What a module's parameters are tells nothing, so it is the first call that asks for more. A function that keeps
    something between calls is found out here, or by the tests: all calls of an exercise are made in one process. What
    draws by chance need not give the same.
    """
    calls = {first.body: first for first in reversed(list(firsts.values())) if first.call.chance is None}
    asked = [(first.call, body) for body, first in calls.items()]
    again: list[Unread] = [*_together(exercise, asked)]
    again += [_alone(exercise, call, body) for call, body in asked[len(again) :]]
    errors = {
        body: error
        for (body, first), second in zip(calls.items(), again, strict=True)
        if (error := _difference(first, second)) is not None
        and (not _dropped(first) or (error := _difference(*_without_dropout(exercise, first))) is not None)
    }
    return {test: errors[first.body] for test, first in firsts.items() if first.body in errors}


def _dropped(first: First) -> bool:
    answer = read(first.answer)
    return isinstance(answer, Reply) and answer.dropped


def _without_dropout(exercise: ExerciseCalls, first: First) -> tuple[First, Unread]:
    """The call made twice more, without what a dropout drops: that is told of another test."""
    call = replace(first.call, lenient=True)
    answers = [_alone(exercise, call, call.as_bytes) for _ in range(2)]
    return First(call, call.as_bytes, answers[0]), answers[1]


def _difference(first: First, second: Unread) -> Exception | None:
    """What is wrong with a second answer to a call; None if it says the same as the first, or may differ by chance."""
    if second == first.answer:
        return None
    answer = read(second)
    if same_answer(read(first.answer), answer) or has_chance(first.call, answer):
        return None
    return as_exception(first.call.name, answer) if isinstance(answer, NoAnswer) else Mismatch(KEPT)


def answers_otherwise(exercise: ExerciseCalls, call: Call, first: Reply) -> bool:
    """Is a call that gave a wrong value answered with another one when it is made once more?"""
    if call.chance is not None:
        return False
    second = read(_alone(exercise, call, None))
    return isinstance(second, Reply) and not has_chance(call, second) and not same_value(first.value, second.value)
