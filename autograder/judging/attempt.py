"""One exercise judged once: its calls are made, its tests run on the answers, and some calls made a second time."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from autograder.judging.evident import OF_MISSING, Evident, slip_in
from autograder.judging.exercise_calls import CallsOutside, read
from autograder.judging.notebook import Notebook
from autograder.judging.picture import draw
from autograder.report import Picture
from autograder.sandbox.protocol.calls import Answer, Call, Failure, Kind, NoAnswer, Reply
from autograder.suites.alike import equal, same
from autograder.suites.example import Example
from autograder.suites.expect import Mismatch
from autograder.suites.here import CallsHere, Here
from autograder.suites.quoted import fit_to_print
from autograder.suites.rehearsal import Heard, Place, Rehearsal
from autograder.suites.student import (
    Calls,
    Missing,
    NotStarted,
    ReadyMade,
    Recorded,
    Stopped,
    Student,
    answers_of,
    as_exception,
    as_written,
    has_chance,
    names_of,
)  # fmt: skip
from autograder.suites.suite import Outcome, Suite, Test

NOTHING_TO_JUDGE = (NotStarted, Missing, Stopped, ReadyMade)
ONCE_MORE = 2  # calls of tests that failed
Names = Notebook | Here  # whose code is judged: behind the wall, or in this process
Asked = CallsOutside | CallsHere  # the calls of one exercise
KEPT = "gave another answer when it was called again with the same arguments. Does it keep something between calls?"


@dataclass(frozen=True)
class Attempt:
    """An exercise's outcomes; all calls; names it asked the reference for.

    meant: calls with what their answers evidently mean, if they have not the form asked for
    unsteady: was a call that gave a wrong answer, or a right one, answered otherwise when it was made once more?
    """

    outcomes: list[Outcome]
    calls: list[Recorded | Heard]
    asked: frozenset[str]
    ready_made: ReadyMade | None = None
    picture: Picture | None = None
    meant: Sequence[Recorded] = ()
    unsteady: bool = False

    @property
    def earned(self) -> float:
        """Weights of the tests that passed."""
        return sum(outcome.test.weight for outcome in self.outcomes if outcome.error is None)

    @property
    def untouched(self) -> bool:
        """Was nothing done? What looks so may be done, and what it builds on an untouched stub."""
        return all(isinstance(o.error, NotStarted) and o.error.its_own for o in self.outcomes)

    @property
    def started(self) -> bool:
        """Was there something to judge?"""
        return not all(outcome.untouched for outcome in self.outcomes)

    @property
    def full(self) -> bool:
        """Did every test pass?"""
        return all(outcome.error is None for outcome in self.outcomes)

    def same_answers(self, other: Attempt) -> bool:
        """Were all calls answered the same?"""
        mine, theirs = ([read(one.answer) for one in each.calls] for each in (self, other))
        return len(mine) == len(theirs) and all(map(same, mine, theirs))


@dataclass(frozen=True)
class Tests:
    """What an exercise is judged by: tests of a suite, the reference (if any), what is known of them beforehand."""

    __test__ = False

    suite: Suite
    tests: Sequence[Test]
    student: Callable[[Callable[[Call], Answer]], Student]  # the fixture, for what answers its calls
    reference: Student | None = None
    rehearsal: Rehearsal = field(default_factory=Rehearsal)
    example: Example | None = None


def attempt(tests: Tests, exercise: Asked) -> Attempt:
    """Judge one exercise as `exercise` answers, with whatever stands behind names there."""
    with contextlib.closing(exercise):
        # Before anything else is asked: what it draws can then show no hidden test's input.
        picture = draw(exercise, tests.example, tests.tests[0].exercise) if tests.example and tests.tests else None
        answers = _Answers(exercise)
        answers.ask_ahead(tests.rehearsal, tests.tests)
        student = tests.student(answers)
        outcomes: list[Outcome] = []
        calls: list[Recorded | Heard] = []
        slip = _Slip(tests, answers)
        for test in tests.tests:
            heard = answers.as_reference(test, tests.rehearsal)
            if heard is not None:
                outcomes.append(Outcome(test, None))
                calls += heard
                continue
            stub = answers.untouched_stub(test, tests.rehearsal)
            if stub is not None:
                call, said = stub
                outcomes.append(Outcome(test, as_exception(call.name, said), as_written(call, names_of(student))))
                calls.append(Recorded(call, said))
                continue
            outcome = _run(tests, test, answers, student)
            calls += student.calls
            outcomes.append(slip.paid_once(outcome, student.calls))
        outcomes = answers.ask_again(outcomes)
        unsteady = any(KEPT in str(outcome.error) for outcome in outcomes) or answers.is_unsteady(outcomes)
        started = any(not outcome.untouched for outcome in outcomes)
    asked = frozenset(exercise.questions.asked)
    drawn = picture if started else None
    return Attempt(outcomes, calls, asked, answers.ready_made, drawn, slip.meant, unsteady)


def _run(tests: Tests, test: Test, answers: _Answers, student: Student) -> Outcome:
    student.calls = Calls()
    answers.begin(test)
    return tests.suite.run(test, student, tests.reference)


class _Slip:
    """A slip that stops every test, such as a swapped tuple: the tests that meet it first pay, the others go on.

    meant: calls and answers as they were meant
    """

    def __init__(self, tests: Tests, answers: _Answers) -> None:
        self.meant: list[Recorded] = []
        self._tests, self._answers = tests, answers
        self._paid, self._total = 0.0, sum(one.weight for one in tests.tests)
        self._lends = False  # has a test of what was given back passed?

    def paid_once(self, outcome: Outcome, calls: Sequence[Recorded]) -> Outcome:
        """The outcome of a test that made `calls`; a better one if it failed for a slip that is paid for."""
        reference = self._tests.reference
        if reference is None or outcome.error is None or isinstance(outcome.error, NOTHING_TO_JUDGE):
            return outcome
        right = answers_of(reference)
        share = slip_in(calls, right)
        if share is None or self._pays(outcome.test, share, at_least_once=True):
            return outcome
        meaning = Evident(self._answers, right)
        reader = self._tests.student(meaning)
        judged = _run(self._tests, outcome.test, self._answers, reader)
        self.meant += reader.calls
        if judged.error is None or not meaning.filled_up:
            self._lends = self._lends or meaning.filled_up
            return judged
        # What fails for what is missing is told in the words that say so.
        if self._pays(outcome.test, OF_MISSING if self._lends else 1):
            return outcome
        lender = self._tests.student(Evident(self._answers, right, lends=True))
        lent = _run(self._tests, outcome.test, self._answers, lender)
        return lent if lent.error is None else outcome

    def _pays(self, test: Test, share: float, at_least_once: bool = False) -> bool:
        """Does this test pay, so that no more than `share` of the points is paid in all?"""
        pays = (at_least_once and self._paid == 0) or self._paid + test.weight <= share * self._total + 1e-9
        self._paid += test.weight if pays else 0
        return pays


class _Answers:
    """Answers to an exercise's calls: those asked ahead, and live ones for the rest."""

    def __init__(self, exercise: Asked) -> None:
        self.ready_made: ReadyMade | None = None
        self._exercise = exercise
        self._got: dict[Place, bytes | Failure | NoAnswer] = {}
        self._made: Counter[bytes] = Counter()
        self._first: dict[Test, tuple[Call, bytes, bytes | Answer]] = {}
        self._replies: dict[Test, tuple[Call, Reply]] = {}  # the first of a test
        self._test: Test | None = None

    def begin(self, test: Test) -> None:
        """From now on calls are of this test."""
        self._test = test
        self._made = Counter()

    def __call__(self, call: Call) -> Answer:
        """The answer to a call of a suite's."""
        if any(map(callable, call.given())):
            return self._heard(call, read(self._alone(call, None)))
        body = call.as_bytes
        place = (body, self._made[body])
        self._made[body] += 1
        got: bytes | Answer | None = self._got.get(place)
        if got is None:
            got = self._alone(call, body)
        if self._test is not None and (self._test not in self._first or self._first[self._test][0].build):
            self._first[self._test] = (call, body, got)
        return self._heard(call, read(got))

    def _heard(self, call: Call, answer: Answer) -> Answer:
        if self._test is not None and isinstance(answer, Reply) and not call.build:
            self._replies.setdefault(self._test, (call, answer))
        return self._noticed(self._fit_to_print(answer))

    def _fit_to_print(self, answer: Answer) -> Answer:
        """With just those words of the student's that a message may quote; all, if it is judged by visible checks."""
        cells, questions = self._exercise.cells, self._exercise.questions
        if cells is None or not questions.known or isinstance(answer, NoAnswer):
            return answer
        return fit_to_print(answer, cells, bool(questions.asked))

    def ask_ahead(self, rehearsal: Rehearsal, tests: Sequence[Test]) -> None:
        """Ask all that the tests are known to ask; what a call without an answer leads to is not asked."""
        plan = rehearsal.plans.get(tests[0].exercise, ()) if tests else ()
        moot = set[Place]()
        for one, answer in zip(plan, self._together([(one.call, one.place[0]) for one in plan]), strict=False):
            self._got[one.place] = answer
        for one in plan[len(self._got) :]:
            if one.place not in moot:
                self._got[one.place] = self._alone(one.call, one.place[0])
                if isinstance(self._got[one.place], NoAnswer):
                    moot |= {o.place for t in tests for o in _behind(rehearsal.heard.get(t, ()), one.place)}

    def _together(self, calls: Sequence[tuple[Call, bytes]]) -> Iterator[bytes | Failure]:
        """Answers to calls that are made all at once, until one does not come.

        They travel together, so whose answer it is that did not come shows only when the next are asked alone.
        """
        for answer in self._exercise.ask(calls):
            if isinstance(answer, NoAnswer):
                return
            yield answer

    def _alone(self, call: Call, body: bytes | None) -> bytes | Failure | NoAnswer:
        return next(self._exercise.ask([(call, body)]))

    def as_reference(self, test: Test, rehearsal: Rehearsal) -> Sequence[Heard] | None:
        """What a test heard from the reference, if it hears the same; else None."""
        heard = rehearsal.heard.get(test)
        if heard is None or not all(one.is_heard_in(self._got.get(one.place)) for one in heard):
            return None
        if heard:
            first = next((one for one in heard if not one.call.build), heard[0])
            self._first.setdefault(test, (first.call, first.place[0], first.answer))
        return heard

    def untouched_stub(self, test: Test, rehearsal: Rehearsal) -> tuple[Call, Failure] | None:
        """What a test meets first, if that is an untouched stub: it has nothing more to ask, so it need not run."""
        heard = rehearsal.heard.get(test)
        got = self._got.get(heard[0].place) if heard else None
        answer = read(got) if got is not None else None
        if heard and isinstance(answer, Failure) and answer.kind is Kind.NOT_STARTED:
            return heard[0].call, answer
        return None

    def ask_again(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Make the first call of each test that passed once more, the last one first: the answers must be the same.

        What a module's parameters are tells nothing, so it is the first call that asks for more.

        A function that keeps something between calls is found out here, or by the tests: all calls of an exercise are
        made in one process.
        """
        passed = {o.test: self._first[o.test] for o in outcomes if o.error is None and o.test in self._first}
        calls = {body: (call, got) for call, body, got in reversed(passed.values())}
        asked = [(call, body) for body, (call, _) in calls.items()]
        again: list[bytes | Failure | NoAnswer] = [*self._together(asked)]
        again += [self._alone(call, body) for call, body in asked[len(again) :]]
        errors: dict[bytes, Exception] = {}
        for (body, (call, first)), second in zip(calls.items(), again, strict=True):
            if second != first and not same(read(first), answer := read(second)) and not has_chance(call, answer):
                lost = isinstance(answer, NoAnswer)
                errors[body] = as_exception(call.name, answer) if lost else Mismatch(KEPT)  # type: ignore[arg-type]
        bodies = {test: body for test, (_, body, _) in passed.items()}
        return [_failed(o, errors[bodies[o.test]]) if bodies.get(o.test) in errors else o for o in outcomes]

    def is_unsteady(self, outcomes: Sequence[Outcome]) -> bool:
        """Make the first calls of some tests that failed once more: is one answered otherwise?"""
        failed = [o.test for o in outcomes if isinstance(o.error, Mismatch) and o.test in self._replies]
        for call, first in [self._replies[test] for test in failed[:ONCE_MORE]]:
            second = read(self._alone(call, None))
            if isinstance(second, Reply) and not has_chance(call, second) and not equal(first.value, second.value):
                return True
        return False

    def _noticed(self, answer: Answer) -> Answer:
        if isinstance(answer, Failure) and answer.kind is Kind.READY_MADE and self.ready_made is None:
            error = as_exception("", answer)
            assert isinstance(error, ReadyMade)
            self.ready_made = error
        return answer


def _failed(outcome: Outcome, error: Exception) -> Outcome:
    return replace(outcome, error=error, call=outcome.test.exercise)


def _behind(heard: Sequence[Heard], place: Place) -> Sequence[Heard]:
    """What a test asks after the call at `place`; nothing if it does not make that call."""
    places = [one.place for one in heard]
    return heard[places.index(place) + 1 :] if place in places else ()
