"""What a rule is, and what it sees of an attempt: how calls are made, the tests that ran, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.report import Finding
from autograder.testing.call_text import ParameterNames
from autograder.testing.comparing import same_answer
from autograder.testing.functions import AnsweredCall, Answering, CallsHere, has_chance
from autograder.testing.plan import CallPlace, Plan, PlannedCall
from autograder.testing.student_errors import NotCounted, NotStarted
from autograder.testing.suite import Outcome, Test
from cellcage.notebook_calls import NotebookCalls, Terms, Unread, read
from cellcage.protocol import frames
from cellcage.protocol.calls import Answer, Call, Failure, Kind, NoAnswer, Reply, Why

# How a failure begins: a map of one pair whose key is this word.
FAILURE = frames.body({"failure": None})[:-1]
ExerciseCalls = NotebookCalls | CallsHere  # in the sandbox, or in this process
PlannedAnswers = Mapping[CallPlace, Unread]


@dataclass(frozen=True)
class Setting:
    """What a rule may use.

    calls: makes calls of the exercise
    right: the reference's answers
    """

    exercise: str
    tests: Sequence[Test]
    plan: Plan
    calls: ExerciseCalls
    right: Answering
    parameter_names: ParameterNames


def equals(test: Test, one: PlannedCall, got: Unread | None) -> bool:
    """Whether an answer equals the recorded one, byte for byte."""
    return got == one.answer


@dataclass(frozen=True)
class Asking:
    """How planned calls are made: some at once, then each of the others by itself.

    closely: those that are watched closely, see `ask_closely`
    is_right: whether an answer counts as the recorded one; a test with only such answers passes without running
    """

    together: Sequence[PlannedCall]
    alone: Sequence[PlannedCall] = ()
    closely: frozenset[CallPlace] = frozenset()
    is_right: Callable[[Test, PlannedCall, Unread | None], bool] = equals


@dataclass
class Seen:
    """What a test has seen of the calls that it made itself, also when it ran once more.

    first_call: the first call with its answer; one that only builds a module counts only if there is no other
    first_reply: the first call that returned a value, with its reply
    """

    first_call: tuple[Call, Unread] | None = None
    first_reply: tuple[Call, Reply] | None = None


Rerun = Callable[[Answering], tuple[Outcome, Sequence[AnsweredCall]]]


@dataclass(frozen=True)
class TestRun:
    """One test: its outcome, and its calls with the student's answers.

    calls, corrected: with the answers as they came, and as they were judged if that is not the same
    made: its calls with the answers that it got
    answers, as_they_came: the answers that it got, and the same before any rule has changed them
    rerun: runs it once more, on other answers. Only a test that ran has this and the answers
    """

    __test__ = False

    outcome: Outcome
    calls: Sequence[AnsweredCall | PlannedCall]
    seen: Seen
    corrected: Sequence[AnsweredCall] = ()
    made: Sequence[AnsweredCall] = ()
    answers: Answering | None = None
    as_they_came: Answering | None = None
    rerun: Rerun | None = None

    @property
    def test(self) -> Test:
        """The test."""
        return self.outcome.test


@dataclass(frozen=True)
class Attempt:
    """The outcome of one attempt at an exercise.

    planned: answers to the calls that the tests were known to make
    asked: names that the student's code asked the reference for
    not_counted: set if the code did what makes all its answers count for nothing
    non_deterministic: the same call was answered in two ways
    substituted: names for which the reference answered
    """

    runs: Sequence[TestRun]
    planned: PlannedAnswers
    asked: frozenset[str] = frozenset()
    not_counted: NotCounted | None = None
    non_deterministic: bool = False
    substituted: tuple[str, ...] = ()

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome of each test. What does not count costs the whole exercise.

        What the other tests saw was not the student's work, either.
        """
        outcomes = [run.outcome for run in self.runs]
        if self.not_counted is None:
            return outcomes
        return [replace(one, error=self.not_counted, call=one.test.exercise, kept=0.0) for one in outcomes]

    @property
    def calls(self) -> list[AnsweredCall | PlannedCall]:
        """The calls of all tests, with the answers as they came."""
        return [call for run in self.runs for call in run.calls]

    @property
    def corrected(self) -> list[AnsweredCall]:
        """Calls with corrected answers, where there was a format error."""
        return [call for run in self.runs for call in run.corrected]

    @property
    def earned(self) -> float:
        """The sum of the tests' weights, as far as they passed."""
        return sum(outcome.test.weight * outcome.share for outcome in self.outcomes)

    @property
    def is_own_stub(self) -> bool:
        """True if every test hit this exercise's own stub, not a dependency's."""
        return all(isinstance(o.error, NotStarted) and o.error.is_own_stub for o in self.outcomes)

    @property
    def started(self) -> bool:
        """True if there was something to judge."""
        return any(outcome.started for outcome in self.outcomes)

    @property
    def full(self) -> bool:
        """True if every test passed."""
        return all(outcome.error is None for outcome in self.outcomes)

    def same_answers(self, other: Attempt) -> bool:
        """True if all calls got the same answers, apart from values that are random."""
        if len(self.calls) != len(other.calls):
            return False
        pairs = [(a.call, read(a.answer), read(b.answer)) for a, b in zip(self.calls, other.calls, strict=True)]
        return all(has_chance(call, first) or same_answer(first, second) for call, first, second in pairs)

    def finds_more(self, other: Attempt) -> bool:
        """True if a call got a value here, and something else there. A test may ask less if the reference answers."""
        theirs = {one.call.as_bytes: read(one.answer) for one in other.calls}
        pairs = [(one.call, read(one.answer), theirs.get(one.call.as_bytes)) for one in self.calls]
        return any(
            not (second is None or is_failure(first) or has_chance(call, first) or same_answer(first, second))
            for call, first, second in pairs
        )

    def with_outcomes(self, outcomes: Mapping[Test, Outcome]) -> Attempt:
        """The attempt with other outcomes of some tests."""
        return replace(self, runs=[replace(run, outcome=outcomes.get(run.test, run.outcome)) for run in self.runs])


class Rule:
    """One reason for which an answer is worth more or less than its test says. Each attempt makes its own rules.

    A rule has three hooks. They are called for all rules in their order: `before_calls` for the planned calls of the
    exercise, `after_call` for each answer that a test gets, and `after_tests` once all tests have run.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @staticmethod
    def in_text(cells: Sequence[str], terms: Terms) -> Sequence[Finding]:
        """What a person should look at in a notebook's cells, for an exercise that earned something. Costs nothing."""
        return ()

    def before_calls(self, asking: Asking) -> Asking:
        """How planned calls are made."""
        return asking

    def after_call(self, test: Test, call: Call, answer: Answer, ask: Answering) -> Answer:
        """The answer that the test gets. ask: answers another call, as it comes"""
        return answer

    def after_tests(self, attempt: Attempt) -> Attempt:
        """The attempt, after this rule has judged it."""
        return attempt


def ask_one(calls: ExerciseCalls, call: Call) -> Unread:
    """The answer to one call."""
    return next(calls.ask([(call, None)]))


def ask_closely(calls: ExerciseCalls, call: Call) -> Unread:
    """The answer to one call that is watched closely, which can break honest code. If it fails, it is made again."""
    got = next(calls.ask([(call, None)], (0,)))
    return ask_one(calls, call) if is_failure(got) and not is_noticed(got) else got


def ask_together(calls: ExerciseCalls, asked: Sequence[Call], closely: Collection[int] = ()) -> Iterator[Unread]:
    """Answers to calls that are sent at once, up to the first one that used up its time.

    If the process ended, the call during which it did is left out. It may answer when it is made by itself.

    closely: see `NotebookCalls.ask`
    """
    for answer in calls.ask([(call, call.as_bytes) for call in asked], closely):
        if isinstance(answer, NoAnswer) and answer.why not in (Why.TOO_SLOW, Why.WAITED):
            return
        yield answer


def is_failure(got: Unread | Answer) -> bool:
    """True if a call got no value, or no answer. Bytes are not decoded."""
    return got.startswith(FAILURE) if isinstance(got, bytes) else isinstance(got, Failure | NoAnswer)


def is_noticed(got: Unread | Answer) -> bool:
    """True if the watch has noticed something during the call."""
    answer = read(got) if is_failure(got) else None
    return isinstance(answer, Failure) and answer.kind is Kind.NOTICED


def is_too_slow(got: Unread | Answer) -> bool:
    """True if a call used up its time without an answer."""
    return isinstance(got, NoAnswer) and got.why in (Why.TOO_SLOW, Why.WAITED)
