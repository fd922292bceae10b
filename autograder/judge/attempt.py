"""One exercise judged once: its calls are made, its tests run on the answers, and the rules judge what came out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.judge.notebook import JudgedNotebook
from autograder.judge.redaction import hidden, without_words
from autograder.judge.rules import CHECK
from autograder.judge.rules.rule import (
    Asking,
    Attempt,
    ExerciseCalls,
    PlannedAnswers,
    Rule,
    Seen,
    Setting,
    TestRun,
    ask_closely,
    ask_one,
    ask_together,
    is_failure,
    is_noticed,
)
from autograder.report import Finding
from autograder.testing.call_text import ParameterNames, as_written
from autograder.testing.callbacks import Questions
from autograder.testing.functions import AnsweredCall, Answering, Functions, Here
from autograder.testing.plan import CallPlace, Plan
from autograder.testing.student_errors import as_exception
from autograder.testing.suite import Outcome, Suite, Test
from cellcage.notebook_calls import Terms, Unread, read
from cellcage.protocol.calls import Answer, Call, Failure, Gives, Kind, NoAnswer, Reply

JudgedNames = JudgedNotebook | Here  # whose code is judged: in the sandbox, or in this process


class Beginning(Protocol):
    """What an attempt needs from the judged code."""

    def begin(self, terms: Terms) -> ExerciseCalls:
        """Begin the calls of an exercise."""


@dataclass(frozen=True)
class Tests:
    """The tests of an assignment, and what they are run with.

    suite: hidden or visible tests
    reference: the solution's names, empty if there is no solution here
    rules: judge the answers
    prerequisites: names from an earlier assignment, which are not judged here
    terms: for each exercise, those on which its code is called
    """

    suite: Suite
    reference: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)
    rules: Sequence[type[Rule]] = CHECK
    prerequisites: tuple[str, ...] = ()
    terms: Mapping[str, Terms] = field(default_factory=dict)

    def in_text(self, cells: Sequence[str], exercise: str) -> list[Finding]:
        """What a person should look at in the cells that define an exercise."""
        return [found for rule in self.rules for found in rule.in_text(cells, self.terms[exercise])]

    def questions(self, substituted: tuple[str, ...]) -> Questions:
        """What code may ask with the reference in place of these names."""
        return Questions(self.reference, substituted, self.plan.array_functions)


def attempt(
    material: Tests,
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
    plan = material.plan
    questions = material.questions(substituted)
    terms = replace(material.terms.get(which.name, Terms(group=which.name)), questions=questions)
    with contextlib.closing(names.begin(terms)) as calls:
        right = plan.answering(material.reference)
        setting = Setting(which.name, tests, plan, calls, right, parameter_names)
        rules = [rule(setting) for rule in material.rules]
        asking = Asking(plan.by_exercise.get(which.name, ()) if tests else ())
        for rule in rules:
            asking = rule.before_calls(asking)
        planned = _answers(asking, setting)
        runs = [_run(material, test, setting, asking, planned, rules) for test in tests]
        attempted = Attempt(runs, planned, substituted=substituted)
        for rule in rules:
            attempted = rule.after_tests(attempted)
    return replace(attempted, asked=frozenset(questions.asked))


def _run(
    material: Tests,
    test: Test,
    setting: Setting,
    asking: Asking,
    planned: PlannedAnswers,
    rules: Sequence[Rule],
) -> TestRun:
    """One test, on the answers to its calls. It need not run if its planned calls tell the outcome."""
    recorded = material.plan.by_test.get(test)
    if recorded is not None and all(asking.is_right(test, one, planned.get(one.place)) for one in recorded):
        # The test passes with the reference's answers, and unless it says so, does not depend on their last digits.
        first = next((one for one in recorded if not one.call.build), recorded[0] if recorded else None)
        return TestRun(Outcome(test, None), recorded, Seen((first.call, planned[first.place]) if first else None))
    if recorded and (stub := _untouched_stub(planned.get(recorded[0].place))):
        call = recorded[0].call
        outcome = Outcome(test, as_exception(call.name, stub), as_written(call, setting.parameter_names))
        return TestRun(outcome, [AnsweredCall(call, stub)], Seen())
    answers = _Answers(test, setting.calls, planned, rules)
    reference = Functions(setting.right, setting.parameter_names) if material.reference else None

    def rerun(answering: Answering) -> tuple[Outcome, Sequence[AnsweredCall]]:
        answers.times_made.clear()
        student = Functions(answering, setting.parameter_names)
        return material.suite.run(test, student, reference), student.calls

    outcome, made = rerun(answers)
    return TestRun(outcome, tuple(answers.given), answers.seen, (), made, answers, answers.as_they_came, rerun)


class _Answers:
    """Answers to a test's calls. A call that was not planned is made when the test makes it.

    given: the calls with the answers as they came
    times_made: how often the test has made each planned call
    """

    def __init__(self, test: Test, calls: ExerciseCalls, planned: PlannedAnswers, rules: Sequence[Rule]) -> None:
        self._test, self._calls, self._planned, self._rules = test, calls, planned, rules
        self.given: list[AnsweredCall] = []
        self.seen = Seen()
        self.times_made: Counter[bytes] = Counter()
        self._with_functions = 0

    def __call__(self, call: Call) -> Answer:
        """The answer to a call, as the rules change it."""
        answer = self.as_they_came(call)
        self.given.append(AnsweredCall(call, answer))
        for rule in self._rules:
            answer = rule.after_call(self._test, call, answer, self.as_they_came)
        return answer

    def as_they_came(self, call: Call) -> Answer:
        """The answer to a call, without the code's own words once it has called the reference."""
        answer = read(self._unread(call))
        if isinstance(answer, Reply) and not call.build and self.seen.first_reply is None:
            self.seen.first_reply = call, answer
        if self._calls.questions.asked:
            answer = self._without_words(call, answer)
        return answer

    def _unread(self, call: Call) -> Unread:
        if any(map(callable, call.given())):  # no call of this test is planned; one of them is watched closely
            self._with_functions += 1
            return (ask_closely if self._with_functions == 1 else ask_one)(self._calls, call)
        got = self._planned.get((call.as_bytes, self.times_made[call.as_bytes]))
        self.times_made[call.as_bytes] += 1
        if got is None:
            got = ask_one(self._calls, call)
        if self.seen.first_call is None or self.seen.first_call[0].build:
            self.seen.first_call = call, got
        return got

    def _without_words(self, call: Call, answer: Answer) -> Answer:
        cells = self._calls.cells
        if cells is None or isinstance(answer, NoAnswer):  # in the students' own kernel nothing is hidden
            return answer
        found = without_words(answer, cells)
        if isinstance(found, Reply) and call.gives is Gives.PRINTED:
            return structs.replace(found, value=hidden(found.value))
        return found


def _untouched_stub(got: Unread | None) -> Failure | None:
    """The answer if it comes from an untouched stub: the test would ask nothing more, so it need not run."""
    answer = read(got) if got is not None else None
    return answer if isinstance(answer, Failure) and answer.kind is Kind.NOT_STARTED else None


def _answers(asking: Asking, setting: Setting) -> PlannedAnswers:
    """Answers to the calls that the tests are known to make. After a call without an answer, a test makes no more."""
    calls, watched = setting.calls, asking.closely
    closely = [number for number, one in enumerate(asking.together) if one.place in watched]
    planned: dict[CallPlace, Unread] = {}
    together = ask_together(calls, [one.call for one in asking.together], closely)
    for got, one in zip(together, asking.together, strict=False):
        if one.place in watched and is_failure(got) and not is_noticed(got):
            watched -= {one.place}  # as in `ask_closely`, it is made again without
        else:
            planned[one.place] = got
    skipped = set[CallPlace]()
    for one in (*asking.together, *asking.alone):
        if one.place not in planned and one.place not in skipped:
            ask = ask_closely if one.place in watched else ask_one
            planned[one.place] = ask(calls, one.call)
        if isinstance(planned.get(one.place), NoAnswer):
            skipped |= _after(one.place, setting)
    return planned


def _after(place: CallPlace, setting: Setting) -> set[CallPlace]:
    """The calls that tests make after this one."""
    found = set[CallPlace]()
    for test in setting.tests:
        places = [recorded.place for recorded in setting.plan.by_test.get(test, ())]
        found |= {*places[places.index(place) + 1 :]} if place in places else set()
    return found
