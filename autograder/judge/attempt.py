"""One exercise judged once: its calls are made, its tests run on the answers, and some calls are made a second time.

A call that is made a second time must give the same answer. A function that keeps something between calls is found by
that, or by the tests, since all calls of an exercise are made in one process.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.judge.changed_arguments import changed_argument
from autograder.judge.container_slips import InRightContainers, Slip, with_cost
from autograder.judge.exercise_calls import (
    ExerciseCalls,
    ask_closely,
    ask_one,
    ask_together,
    is_failure,
    is_ready_made,
)
from autograder.judge.format_errors import Deductions, Rerun
from autograder.judge.material import Material
from autograder.judge.notebook import JudgedNotebook
from autograder.testing.call_text import ParameterNames, as_written
from autograder.testing.callbacks import Questions
from autograder.testing.expect import CHANGED_ARGUMENT, Mismatch
from autograder.testing.functions import READY_MADE, AnsweredCall, Answering, Functions, as_exception, has_chance
from autograder.testing.local import Here
from autograder.testing.plan import CallPlace, Plan, PlannedCall
from autograder.testing.redaction import hidden, without_words
from autograder.testing.student_errors import NotStarted, ReadyMade
from autograder.testing.suite import Outcome, Test
from autograder.testing.values.core.comparing import differs_by_rounding, same_answer, same_value
from cellcage.notebook_calls import Unread, is_measured, read
from cellcage.protocol.calls import Answer, Call, Failure, Gives, Kind, NoAnswer, Reply, answer_of

MAX_REPEATED = 2  # calls of failed tests that are made once more
CHANGED = "gave another answer when it was called again with the same arguments. Does it keep something between calls?"
JudgedNames = JudgedNotebook | Here  # whose code is judged: in the sandbox, or in this process


class Beginning(Protocol):
    """What an attempt needs from the judged code."""

    def begin(self, questions: Questions, name: str = "", ready_made: Sequence[str] = ()) -> ExerciseCalls:
        """Begin the calls of an exercise."""


PlannedAnswers = Mapping[CallPlace, Unread]


@dataclass(frozen=True)
class Attempt:
    """The outcome of one attempt at an exercise.

    asked: names that the student's code asked the reference for
    ready_made: set if the code called a function that it must not call; then it earns nothing
    corrected: calls with corrected answers, where there was a format error
    non_deterministic: the same call was answered in two ways
    substituted: names for which the reference answered
    """

    outcomes: list[Outcome]
    calls: list[AnsweredCall | PlannedCall]
    asked: frozenset[str]
    ready_made: ReadyMade | None = None
    corrected: Sequence[AnsweredCall] = ()
    non_deterministic: bool = False
    substituted: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        """The sum of the tests' weights, as far as they passed."""
        if self.ready_made:
            return 0.0
        return sum(outcome.test.weight * outcome.share for outcome in self.outcomes)

    @property
    def untouched(self) -> bool:
        """True if every test hit this exercise's own stub, not a dependency's."""
        return all(isinstance(o.error, NotStarted) and o.error.is_own_stub for o in self.outcomes)

    @property
    def started(self) -> bool:
        """True if there was something to judge."""
        return not all(outcome.untouched for outcome in self.outcomes)

    @property
    def full(self) -> bool:
        """True if every test passed."""
        return self.ready_made is None and all(outcome.error is None for outcome in self.outcomes)

    def same_answers(self, other: Attempt) -> bool:
        """True if all calls got the same answers, apart from values that are random."""
        if len(self.calls) != len(other.calls):
            return False
        pairs = [(a.call, read(a.answer), read(b.answer)) for a, b in zip(self.calls, other.calls, strict=True)]
        return all(has_chance(call, first) or same_answer(first, second) for call, first, second in pairs)


def attempt(
    material: Material,
    names: Beginning,
    which: Exercise,
    parameter_names: ParameterNames,
    substituted: tuple[str, ...] = (),
    tests: Sequence[Test] = (),
) -> Attempt:
    """Judge one exercise by the answers of `names`, with the reference in place of the names in `substituted`.

    tests: only these of its tests; all of them if there are none
    """
    tests = tests or [test for test in material.suite.tests if test.exercise == which.name]
    questions = Questions(material.reference, substituted, material.plan.array_functions)
    listed = material.ready_made.get(which.name, ())
    with contextlib.closing(names.begin(questions, which.name, listed)) as exercise:
        planned = _ask_planned(exercise, material.plan, tests)
        runs = _judge_tests(material, tests, parameter_names, exercise, planned)
        if material.is_hidden:
            _deduct_changed_argument(runs, material.plan.answering(material.reference), parameter_names)
        passed = [run for run in runs if run.outcome.share]
        errors = _repeat_first_calls(exercise, {run.outcome.test: run.first_call for run in passed if run.first_call})
        wrong = [run.first_reply for run in runs if isinstance(run.outcome.error, Mismatch) and run.first_reply]
        non_deterministic = any(isinstance(error, Mismatch) for error in errors.values()) or any(
            _changes_when_repeated(exercise, *reply) for reply in wrong[:MAX_REPEATED]
        )
    return Attempt(
        [_with_error(run.outcome, errors.get(run.outcome.test)) for run in runs],
        [call for run in runs for call in run.calls],
        frozenset(questions.asked),
        _ready_made([*planned.values(), *(call.answer for run in runs for call in run.calls)], listed),
        [call for run in runs for call in run.corrected],
        non_deterministic,
        substituted,
    )


def _deduct_changed_argument(runs: Sequence[_TestRun], right: Answering, parameter_names: ParameterNames) -> None:
    """If no test has failed for a changed argument, the cheapest one fails of those whose calls change one."""
    if any(getattr(run.outcome.error, "reason", "") == CHANGED_ARGUMENT for run in runs):
        return
    found = [(run, changed_argument(run.calls, right)) for run in runs if run.outcome.share]
    changing = [(run, *change) for run, change in found if change is not None]
    if changing:
        run, call, error = min(changing, key=lambda one: one[0].outcome.test.weight)
        run.outcome = replace(run.outcome, error=error, call=as_written(call, parameter_names), kept=0.0)


def _with_error(outcome: Outcome, error: Exception | None) -> Outcome:
    return replace(outcome, error=error, call=outcome.test.exercise, kept=0.0) if error else outcome


class _TestRun:
    """One test: the answers to its calls, and its outcome. A call that was not planned is made when the test makes it.

    corrected: its calls with corrected answers if there was a format error
    first_call: the first call with its answer; one that only builds a module counts only if there is no other
    first_reply: the first call that returned a value, with its reply
    slip: the first container slip in its answers; None if there is none
    times_made: how often the test has made each planned call
    """

    def __init__(self, test: Test, exercise: ExerciseCalls, planned: PlannedAnswers) -> None:
        self.outcome = Outcome(test, None)
        self.calls: Sequence[AnsweredCall | PlannedCall] = ()
        self.corrected: Sequence[AnsweredCall] = ()
        self.first_call: tuple[Call, Unread] | None = None
        self.first_reply: tuple[Call, Reply] | None = None
        self.slip: Slip | None = None
        self._exercise, self._planned = exercise, planned
        self.times_made: Counter[bytes] = Counter()
        self._with_functions = 0

    def answer(self, call: Call) -> Answer:
        """The answer to a call, without the code's own words once it has called the reference."""
        answer = read(self._unread(call))
        if isinstance(answer, Reply) and not call.build and self.first_reply is None:
            self.first_reply = call, answer
        if self._exercise.questions.asked:
            answer = self._without_words(call, answer)
        return answer

    def _unread(self, call: Call) -> Unread:
        if any(map(callable, call.given())):  # no call of this test is planned; one of them is watched closely
            self._with_functions += 1
            return (ask_closely if self._with_functions == 1 else ask_one)(self._exercise, call)
        got = self._planned.get((call.as_bytes, self.times_made[call.as_bytes]))
        self.times_made[call.as_bytes] += 1
        if got is None:
            got = ask_one(self._exercise, call)
        if self.first_call is None or self.first_call[0].build:
            self.first_call = call, got
        return got

    def _without_words(self, call: Call, answer: Answer) -> Answer:
        cells = self._exercise.cells
        if cells is None or isinstance(answer, NoAnswer):  # in the students' own kernel nothing is hidden
            return answer
        found = without_words(answer, cells)
        if isinstance(found, Reply) and call.gives is Gives.PRINTED:
            return structs.replace(found, value=hidden(found.value))
        return found


def _judge_tests(
    material: Material,
    tests: Sequence[Test],
    parameter_names: ParameterNames,
    exercise: ExerciseCalls,
    planned: PlannedAnswers,
) -> list[_TestRun]:
    """Judge each test in order. A format error is deducted where it shows first, a container slip after all tests."""
    plan, runs = material.plan, list[_TestRun]()
    right = plan.answering(material.reference)
    reference = Functions(right, parameter_names) if material.is_hidden else None
    deductions = Deductions(right, sum(test.weight for test in tests))

    def execute(run: _TestRun, answering: Answering) -> tuple[Outcome, list[AnsweredCall]]:
        run.times_made.clear()
        test, student = run.outcome.test, Functions(answering, parameter_names)
        return material.suite.run(test, student, reference), student.calls

    @cache
    def is_right(one: PlannedCall, exactly: bool) -> bool:
        got = planned.get(one.place)
        if got == one.answer or exactly or not isinstance(got, bytes) or len(got) != len(one.answer):
            return got == one.answer
        return differs_by_rounding(read(got), answer_of(one.answer))

    for test in tests:
        run, recorded = _TestRun(test, exercise, planned), plan.by_test.get(test)
        exactly = "last_digits" in material.suite.marks[test]
        if recorded is not None and all(is_right(one, exactly) for one in recorded):
            # The test passes with the reference's answers, and unless it says so, does not depend on their last digits.
            first = next((one for one in recorded if not one.call.build), recorded[0] if recorded else None)
            run.first_call = (first.call, planned[first.place]) if first else None
            run.calls = recorded
        elif recorded and (stub := _untouched_stub(planned.get(recorded[0].place))):
            call = recorded[0].call
            run.outcome = Outcome(test, as_exception(call.name, stub), as_written(call, parameter_names))
            run.calls = [AnsweredCall(call, stub)]
        else:
            if reference is None:
                run.outcome, run.calls = execute(run, run.answer)
            else:
                _judge_by_values(run, right, deductions, partial(execute, run))
        runs.append(run)
    _deduct_container_slip(runs, right, execute)
    return runs


def _judge_by_values(run: _TestRun, right: Answering, deductions: Deductions, execute: Rerun) -> None:
    """Judge a test by the values of the student's answers, whatever their containers are."""
    answers = InRightContainers(run.answer, right)
    outcome, made = execute(answers)
    run.calls = tuple(answers.given)
    outcome, corrected = deductions.judge(outcome, made, answers, execute)
    run.outcome, run.slip = outcome, answers.slip
    run.corrected = corrected or (made if answers.slip else ())


def _deduct_container_slip(
    runs: Sequence[_TestRun],
    right: Answering,
    execute: Callable[[_TestRun, Answering], tuple[Outcome, list[AnsweredCall]]],
) -> None:
    """A slip costs something if a test does not accept it. Then it costs the same share of all tests that met it."""
    slipped = [(run, run.slip) for run in runs if run.slip is not None and run.outcome.error is None]
    if any(execute(run, InRightContainers(run.answer, right).as_they_came)[0].error is not None for run, _ in slipped):
        for run, slip in slipped:
            run.outcome = with_cost(run.outcome, slip)


def _untouched_stub(got: Unread | None) -> Failure | None:
    """The answer if it comes from an untouched stub: the test would ask nothing more, so it need not run."""
    answer = read(got) if got is not None else None
    return answer if isinstance(answer, Failure) and answer.kind is Kind.NOT_STARTED else None


def _ask_planned(exercise: ExerciseCalls, plan: Plan, tests: Sequence[Test]) -> PlannedAnswers:
    """Answers to the calls that the tests are known to make. After a call without an answer, a test makes no more."""
    known = plan.by_exercise.get(tests[0].exercise, ()) if tests else ()
    # Measured calls come last, when late imports are done. They run one at a time.
    ordered = sorted(known, key=lambda one: is_measured(one.call))
    calls = [one.call for one in ordered if not is_measured(one.call)]
    watched = plan.watched.get(tests[0].exercise, frozenset()) if tests else frozenset()
    closely = [number for number, one in enumerate(ordered) if one.place in watched]
    planned: dict[CallPlace, Unread] = {}
    for number, got in enumerate(ask_together(exercise, calls, closely)):
        place = ordered[number].place
        if place in watched and is_failure(got) and not is_ready_made(got):
            watched -= {place}  # as in `ask_closely`, it is made again without
        else:
            planned[place] = got
    skipped = set[CallPlace]()
    for one in ordered:
        if one.place not in planned and one.place not in skipped:
            ask = ask_closely if one.place in watched else ask_one
            planned[one.place] = ask(exercise, one.call)
        if isinstance(planned.get(one.place), NoAnswer):
            skipped |= _after(one.place, tests, plan)
    return planned


def _ready_made(answers: Sequence[Unread | Answer], listed: Sequence[str]) -> ReadyMade | None:
    """The exception for the first call of a listed function that these answers report. They may be forged."""
    for answer in map(read, filter(is_ready_made, answers)):
        if isinstance(answer, Failure) and answer.text in listed:
            return ReadyMade(READY_MADE.format(name=answer.text))
    return None


def _after(place: CallPlace, tests: Sequence[Test], plan: Plan) -> set[CallPlace]:
    """The calls that tests make after this one."""
    found = set[CallPlace]()
    for test in tests:
        places = [recorded.place for recorded in plan.by_test.get(test, ())]
        found |= {*places[places.index(place) + 1 :]} if place in places else set()
    return found


def _repeat_first_calls(calls: ExerciseCalls, firsts: dict[Test, tuple[Call, Unread]]) -> dict[Test, Exception]:
    """Make the first call of each test once more, the last one first: the error of each test whose answer changed."""
    distinct = {call.as_bytes: (call, got) for call, got in reversed(firsts.values())}
    asked = [call for call, _ in distinct.values()]
    repeated: list[Unread] = [*ask_together(calls, asked)]
    repeated += [ask_one(calls, call) for call in asked[len(repeated) :]]
    errors: dict[bytes, Exception] = {}
    for (call, first), second in zip(distinct.values(), repeated, strict=True):
        error = _difference(call, first, second)
        if error is not None and getattr(read(first), "dropped", False):
            # Another test reports the dropout. Here only what differs without it counts.
            without = structs.replace(call, lenient=True)
            error = _difference(without, ask_one(calls, without), ask_one(calls, without))
        if error is not None:
            errors[call.as_bytes] = error
    return {test: errors[call.as_bytes] for test, (call, _) in firsts.items() if call.as_bytes in errors}


def _difference(call: Call, first: Unread, second: Unread) -> Exception | None:
    """What is wrong with the second answer to a call; None if both agree, or may differ by chance."""
    if second == first:
        return None
    answer = read(second)
    if same_answer(read(first), answer) or has_chance(call, answer):
        return None
    return as_exception(call.name, answer) if isinstance(answer, NoAnswer) else Mismatch(CHANGED)


def _changes_when_repeated(calls: ExerciseCalls, call: Call, first: Reply) -> bool:
    """Whether a call that returned a wrong value returns another one when it is made once more."""
    second = read(ask_one(calls, call))
    return isinstance(second, Reply) and not has_chance(call, second) and not same_value(first.value, second.value)
