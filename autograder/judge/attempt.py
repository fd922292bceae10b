"""One exercise judged once: its calls are made, its tests run on the answers, and some calls made a second time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.course import Exercise
from autograder.judge.answers import (
    ExerciseCalls,
    First,
    Planned,
    TestsAnswers,
    answers_otherwise,
    as_reference,
    ask_again,
    ask_planned,
    first_of,
    untouched_stub,
)
from autograder.judge.exercise_calls import read
from autograder.judge.format_errors import MISSING, Fill, FormatError, format_error, put_right
from autograder.judge.material import Material
from autograder.judge.notebook import Notebook
from autograder.judge.picture import draw
from autograder.report import Picture
from autograder.sandbox.protocol.calls import Answer, Call, Reply
from autograder.testing.callbacks import Questions
from autograder.testing.comparing import same_answer
from autograder.testing.example import Example
from autograder.testing.expect import Mismatch
from autograder.testing.local import Here
from autograder.testing.recording import RecordedCall, Recording
from autograder.testing.session import Outcome, Suite, Test
from autograder.testing.student import (
    Forbidden,
    Missing,
    NotStarted,
    ParameterNames,
    Recorded,
    Stopped,
    Student,
    answers_of,
    as_exception,
    as_written,
    has_chance,
    names_of,
)

NOTHING_TO_JUDGE = (NotStarted, Missing, Stopped, Forbidden)
ONCE_MORE = 2  # calls of tests that failed
Names = Notebook | Here  # whose code is judged: in the sandbox, or in this process


@dataclass(frozen=True)
class Attempt:
    """An exercise's outcomes; all calls; names it asked the reference for.

    meant: calls with their answers put right, if they have a format error
    non-deterministic: was a call that gave a wrong answer, or a right one, answered otherwise when it was made once
    more?
    """

    outcomes: list[Outcome]
    calls: list[Recorded | RecordedCall]
    asked: frozenset[str]
    forbidden: Forbidden | None = None
    picture: Picture | None = None
    meant: Sequence[Recorded] = ()
    non_deterministic: bool = False

    @property
    def earned(self) -> float:
        """Weights of the tests that passed."""
        return sum(outcome.test.weight for outcome in self.outcomes if outcome.error is None)

    @property
    def untouched(self) -> bool:
        """Was nothing done? What looks so may be done, and what it builds on an untouched stub."""
        return all(isinstance(o.error, NotStarted) and o.error.is_own_stub for o in self.outcomes)

    @property
    def started(self) -> bool:
        """Was there something to judge?"""
        return not all(outcome.untouched for outcome in self.outcomes)

    @property
    def full(self) -> bool:
        """Did every test pass?"""
        return all(outcome.error is None for outcome in self.outcomes)

    def same_answers(self, other: Attempt) -> bool:
        """Were all calls answered the same, but for what is chance?"""
        if len(self.calls) != len(other.calls):
            return False
        pairs = (
            (mine.call, read(mine.answer), read(theirs.answer))
            for mine, theirs in zip(self.calls, other.calls, strict=True)
        )
        return all(has_chance(call, mine) or same_answer(mine, theirs) for call, mine, theirs in pairs)


@dataclass(frozen=True)
class Tests:
    """What an exercise is judged by: tests of a suite, the reference (if any), what is known of them beforehand.

    student: the fixture, for what answers its calls
    example: what to draw, if that is not drawn yet
    """

    __test__ = False

    suite: Suite
    tests: Sequence[Test]
    student: Callable[[Callable[[Call], Answer]], Student]
    reference: Student | None
    recording: Recording
    example: Example | None


@dataclass(frozen=True)
class Judged:
    """A test with its outcome and calls.

    meant: its calls with their answers put right, if they have a format error
    first, reply, ready_made: see `TestsAnswers`
    """

    outcome: Outcome
    calls: Sequence[Recorded | RecordedCall]
    meant: Sequence[Recorded] = ()
    first: First | None = None
    reply: tuple[Call, Reply] | None = None
    forbidden: Forbidden | None = None


def attempt(
    material: Material,
    names: Names,
    which: Exercise,
    words: ParameterNames,
    substituted: tuple[str, ...] = (),
    picture: Picture | None = None,
) -> Attempt:
    """Judge one exercise as `names` answer, with the reference behind the names in `substituted`.

    picture: what its own code gives on the visible example, if `material` has no example to draw
    """
    tests = _tests_of(material, which.name, words)
    questions = Questions(material.reference, substituted, tests.recording.array_functions)
    with contextlib.closing(names.begin(questions)) as exercise:
        # Before anything else is asked: what it draws can then show no hidden test's input.
        if tests.example and tests.tests:
            picture = draw(exercise, tests.example, which.name)
        planned = ask_planned(exercise, tests.recording, tests.tests)
        judged = list(_judge_tests(tests, exercise, planned))
        passed = {one.outcome.test: one.first for one in judged if one.outcome.error is None and one.first}
        errors = ask_again(exercise, passed)
        outcomes = [_with_error(one.outcome, errors.get(one.outcome.test)) for one in judged]
        non_deterministic = any(isinstance(error, Mismatch) for error in errors.values()) or _is_unsteady(
            judged, exercise
        )
    found = Attempt(
        outcomes,
        [call for one in judged for call in one.calls],
        frozenset(exercise.questions.asked),
        next((one.forbidden for one in judged if one.forbidden), None),
        picture,
        [call for one in judged for call in one.meant],
        non_deterministic,
    )
    return found if found.started else replace(found, picture=None)


def _tests_of(material: Material, exercise: str, words: ParameterNames) -> Tests:
    recording, reference = material.recording, material.reference
    return Tests(
        material.suite,
        [test for test in material.suite.tests if test.exercise == exercise],
        lambda answers: Student(answers, words),
        Student(recording.answering(reference), words) if reference else None,
        recording,
        material.examples.get(exercise),
    )


def _with_error(outcome: Outcome, error: Exception | None) -> Outcome:
    return replace(outcome, error=error, call=outcome.test.exercise) if error else outcome


def _is_unsteady(judged: Sequence[Judged], exercise: ExerciseCalls) -> bool:
    """Is the first call of one of some tests that failed answered otherwise if it is made once more?"""
    wrong = [one.reply for one in judged if isinstance(one.outcome.error, Mismatch) and one.reply]
    return any(answers_otherwise(exercise, *reply) for reply in wrong[:ONCE_MORE])


def _judge_tests(tests: Tests, exercise: ExerciseCalls, planned: Planned) -> Iterator[Judged]:
    """Each test judged, in order, with what format errors have cost in those before it."""
    so_far = Deducted(sum(one.weight for one in tests.tests))
    for test in tests.tests:
        heard = tests.recording.calls.get(test)
        answers = TestsAnswers(exercise, planned)
        if heard is not None and as_reference(planned, heard):
            yield Judged(Outcome(test, None), heard, first=first_of(planned, heard))
        elif heard and (stub := untouched_stub(planned, heard)):
            call = heard[0].call
            words = as_written(call, names_of(tests.student(answers)))
            yield Judged(Outcome(test, as_exception(call.name, stub), words), [Recorded(call, stub)])
        else:
            student = tests.student(answers)
            run = Run(_outcome(tests, test, student), student.calls)
            outcome, meant, so_far = _deducted_once(tests, run, answers, so_far)
            yield Judged(outcome, run.calls, meant, answers.first, answers.reply, answers.forbidden)


# ---------------------------------------------------------------- format errors


@dataclass(frozen=True)
class Run:
    """A test run once: what came of it, its calls, and whether a part was missing and filled in (see `put_right`)."""

    outcome: Outcome
    calls: Sequence[Recorded]
    filled: bool = False


@dataclass(frozen=True)
class Deducted:
    """What format errors have cost up to now, in weights of tests, of `total`.

    lends: has a test passed for which a missing part was filled in with nothing? Then what did come is worth something
    """

    total: float
    lost: float = 0.0
    lends: bool = False

    def has_room(self, weight: float, share: float) -> bool:
        """May a test of that weight fail for a format error, so that no more than `share` is lost for it?"""
        return self.lost + weight <= share * self.total + 1e-9

    def and_of(self, test: Test) -> Deducted:
        """The same if this test fails, too."""
        return replace(self, lost=self.lost + test.weight)


def _deducted_once(
    tests: Tests, run: Run, answers: TestsAnswers, so_far: Deducted
) -> tuple[Outcome, Sequence[Recorded], Deducted]:
    """The outcome of a test that failed for a format error, its calls as they are meant, and what is lost by now."""
    if tests.reference is None or run.outcome.error is None or isinstance(run.outcome.error, NOTHING_TO_JUDGE):
        return run.outcome, (), so_far
    found = format_error(run.calls, answers_of(tests.reference))
    if found is None:
        return run.outcome, (), so_far
    test = run.outcome.test
    if _costs_this_test(found, test, so_far):
        error = Mismatch(found.sentence) if found.sentence else run.outcome.error
        return replace(run.outcome, error=error), (), so_far.and_of(test)
    meant = _run_put_right(tests, test, answers, Fill.UNKNOWN)
    if meant.outcome.error is None or not meant.filled:
        return meant.outcome, meant.calls, replace(so_far, lends=so_far.lends or meant.filled)
    # What fails for a missing part is told in the words that say so, and not of the NaN in its place.
    if so_far.has_room(test.weight, MISSING.share if so_far.lends else 1):
        return run.outcome, meant.calls, so_far.and_of(test)
    if _earns_by_what_came(tests, test, answers):
        return Outcome(test, None), meant.calls, so_far
    return run.outcome, meant.calls, so_far.and_of(test)


def _earns_by_what_came(tests: Tests, test: Test, answers: TestsAnswers) -> bool:
    """Does a test pass with the missing part lent, and not whatever came beside it?"""
    lent, alone = (_run_put_right(tests, test, answers, fill) for fill in (Fill.LENT, Fill.LENT_ALONE))
    return lent.outcome.error is None and alone.outcome.error is not None


def _costs_this_test(found: FormatError, test: Test, so_far: Deducted) -> bool:
    """The first test that meets a format error fails for it, and more of them as far as its share goes."""
    return so_far.lost == 0 or so_far.has_room(test.weight, found.share)


def _outcome(tests: Tests, test: Test, student: Student) -> Outcome:
    return tests.suite.run(test, student, tests.reference, tests.recording.drawings.get(test))


def _run_put_right(tests: Tests, test: Test, answers: TestsAnswers, fill: Fill) -> Run:
    """Run a test on answers that are put right."""
    assert tests.reference is not None
    right = answers_of(tests.reference)
    filled: list[bool] = []

    def answer(call: Call) -> Answer:
        found = put_right(call, answers, right, fill)
        filled.append(found.filled)
        return found.answer

    answers.begin()
    student = tests.student(answer)
    outcome = _outcome(tests, test, student)
    return Run(outcome, student.calls, any(filled))
