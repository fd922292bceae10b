"""A suite's verdict on one submission: exercise by exercise, an early mistake paid for once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from autograder.course import Exercise
from autograder.judging.diagnosis import Diagnoser, Diagnosis
from autograder.judging.foresight import Heard
from autograder.judging.questions import parameter_names
from autograder.judging.student import Missing, NotStarted, ReadyMade, Recorded, Stopped, Student, here
from autograder.judging.suite import Outcome, Suite, Test
from autograder.judging.transport import Behind, Here
from autograder.report import ExerciseResult, State, TestResult


def judge(
    suite: Suite,
    transport: Behind | Here,
    exercises: Sequence[Exercise],
    module: ModuleType | None,
    diagnoser: Diagnoser | None = None,
    brought: tuple[str, ...] = (),
) -> tuple[ExerciseResult, ...]:
    """Run the suite exercise by exercise, in order.

    An exercise that does not get full marks is judged once more, with the reference behind the names of earlier
    exercises that lost marks, and behind names that are `brought` from an earlier assignment and judged nowhere here:
    an early mistake is paid for once. The better of the two counts, so two mistakes that make up for each other are
    paid for once, too.
    """
    namespace = vars(module) if module else getattr(transport, "names", {})
    names = functools.partial(parameter_names, namespace)
    student = Student(transport, names)
    reference = Student(here(vars(module)), names) if module else None
    results: list[ExerciseResult] = []
    for exercise in exercises:
        tests = [test for test in suite.tests if test.exercise == exercise.name]
        run = functools.partial(_run_tests, suite, transport, student, reference, tests)
        lost = tuple(result.name for result in results if result.score < result.max_score)
        attempt = _best(run, (*lost, *brought))
        known = _diagnose(exercise, attempt, diagnoser)
        results.append(_as_result(exercise, attempt, known))
    return tuple(results)


@dataclass(frozen=True)
class _Attempt:
    """An exercise's tests with the reference behind certain names: outcomes, names asked for, and all calls."""

    outcomes: list[Outcome]
    asked: frozenset[str]
    calls: list[Recorded | Heard]
    ready_made: ReadyMade | None = None

    @property
    def earned(self) -> float:
        return sum(outcome.test.weight for outcome in self.outcomes if outcome.error is None)

    @property
    def untouched(self) -> bool:
        """Was nothing done? What looks so may be done, and what it builds on an untouched stub."""
        return all(isinstance(o.error, NotStarted) and o.error.its_own for o in self.outcomes)

    @property
    def full(self) -> bool:
        return all(outcome.error is None for outcome in self.outcomes)


def _best(run: Callable[[tuple[str, ...]], _Attempt], behind: tuple[str, ...]) -> _Attempt:
    """The student's own code; where that does not give full marks, the reference behind names that it asks for."""
    own = run(())
    if own.full or own.untouched or not behind:
        return own
    followed = run(behind)
    return max(followed, own, key=lambda one: one.earned) if followed.asked else own


def _diagnose(exercise: Exercise, attempt: _Attempt, diagnoser: Diagnoser | None) -> Diagnosis | None:
    if diagnoser is None or not any(_is_judged(outcome) for outcome in attempt.outcomes if outcome.error):
        return None
    calls = [call.recorded() if isinstance(call, Heard) else call for call in attempt.calls]
    return diagnoser.diagnose(exercise.name, calls)


def _run_tests(
    suite: Suite,
    transport: Behind | Here,
    student: Student,
    reference: Student | None,
    tests: list[Test],
    stand_ins: tuple[str, ...],
) -> _Attempt:
    """Run an exercise's tests with the reference behind the names in `stand_ins`."""
    outcomes: list[Outcome] = []
    calls: list[Recorded | Heard] = []
    student.ready_made = None
    transport.begin(stand_ins, tests[0].exercise if tests else "")
    for test in tests:
        transport.isolate()
        known = transport.known(test)
        if known is not None:
            outcome, heard = known
            calls += heard
        else:
            student.last_call, student.calls = "", []
            outcome = suite.run(test, student, reference)
            transport.learn(test, outcome)
            calls += student.calls
        outcomes.append(outcome)
    transport.isolate()
    return _Attempt(outcomes, frozenset(transport.questions.asked), calls, student.ready_made)


def _is_judged(outcome: Outcome) -> bool:
    """Was there something to judge?"""
    return not isinstance(outcome.error, NotStarted | Missing)


def _as_result(exercise: Exercise, attempt: _Attempt, known: Diagnosis | None) -> ExerciseResult:
    outcomes = attempt.outcomes
    seen = next((outcome.error for outcome in outcomes if isinstance(outcome.error, ReadyMade)), None)
    ready_made = attempt.ready_made or seen
    if ready_made is not None:
        # Noticed once, it costs the exercise: what the other tests saw was not the student's work either.
        outcomes = [replace(outcome, error=ready_made) for outcome in outcomes]
    started = not all(isinstance(outcome.error, NotStarted | Missing) for outcome in outcomes)
    tests = _as_results(outcomes, exercise.points)
    name, hint = (known.name, known.hint) if known else (None, "")
    return ExerciseResult(exercise.name, tests, exercise.points, started, name, hint, tuple(sorted(attempt.asked)))


def _as_results(outcomes: list[Outcome], points: float) -> tuple[TestResult, ...]:
    """Weights scaled to the exercise's points."""
    total = sum(outcome.test.weight for outcome in outcomes)
    results = []
    for outcome in outcomes:
        share = points * outcome.test.weight / total
        state: State = "passed" if outcome.error is None else "failed"
        if isinstance(outcome.error, NotStarted | Missing):
            state = "not known"
        score = share if state == "passed" else 0.0
        stopped = isinstance(outcome.error, Stopped)
        test, points_of = outcome.test, (round(score, 4), round(share, 4))
        results.append(TestResult(test.name, test.sentence, state, *points_of, outcome.message, stopped))
    return tuple(results)
