"""From one submission to one report.

with Marker(assignment, sandbox) as marker:
    report = marker.mark(submission)
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from autograder.course import Assignment, Exercise
from autograder.errors import CourseError, SubmissionError
from autograder.marking.catalogue import read_catalogue
from autograder.marking.diagnosis import Diagnoser, Diagnosis
from autograder.marking.picture import draw
from autograder.marking.questions import Questions, signature_names
from autograder.marking.report import ExerciseResult, Report, State, TestResult
from autograder.marking.student import (
    Missing,
    NotStarted,
    ReadyMade,
    Recorded,
    Stopped,
    Student,
    here,
)
from autograder.marking.suite import Outcome, Suite, Test
from autograder.sandbox.client import BadMessage, CellResult, Gone, Sandbox, TestProcess, TooSlow
from autograder.sandbox.client import Submission as Running
from autograder.sandbox.limits import Limits
from autograder.submission import Submission, code_cells, read_notebook
from autograder.text import one_line


class Marker:
    """Marks submissions of one assignment: the suite collected and the reference loaded once."""

    def __init__(self, assignment: Assignment, sandbox: Sandbox) -> None:
        self.assignment = assignment
        self.sandbox = sandbox
        self.limits = _limits(assignment, sandbox)
        sandbox.warm_up()  # while the reference is loaded
        self.module = assignment.reference()
        self.suite = Suite(assignment.suite)
        self.diagnoser = Diagnoser(read_catalogue(assignment.suite), vars(self.module))
        _check_names(assignment, self.suite, self.module)

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the suite's session; the sandbox stays."""
        self.suite.close()

    def mark(self, submission: Submission) -> Report:
        """Grade one notebook. A submission that cannot be graded is a report with its reason."""
        try:
            if submission.problem:
                raise SubmissionError(submission.problem)
            cells = code_cells(read_notebook(submission.path))
        except SubmissionError as error:
            return self.failed(submission.student, str(error))
        return self.mark_cells(submission.student, [cell.source for cell in cells])[0]

    def failed(self, student: str, reason: str) -> Report:
        """A report that says why there is no mark."""
        return Report(student, self.assignment.name, (), self.assignment.max_score, one_line(reason))

    def mark_cells(
        self, student: str, cells: list[str], exercises: Sequence[Exercise] | None = None, pictures: bool = False
    ) -> tuple[Report, list[CellResult]]:
        """Run `cells`, then judge each exercise; also what running each cell gave.

        With `pictures`, an exercise's result holds what it gives on the visible example.
        """
        exercises = self.assignment.exercises if exercises is None else exercises
        with self.sandbox.open(cells, self.limits) as running:
            behind = Behind(running, self.module)
            run = functools.partial(judge, self.suite, behind, exercises, self.module, self.diagnoser)
            results = run(self.assignment.brought)
            if not behind.same_again():
                results = run(self.assignment.brought, shared=False)
            if pictures:
                results = tuple(replace(result, picture=draw(behind, result)) for result in results)
            printed = running.results
        points = sum(exercise.points for exercise in exercises)
        return Report(student, self.assignment.name, results, points), printed


class Behind:
    """A transport over the wall that shares one forked process among the tests that follow each other.

    `isolate` begins a new one. The process is dropped after a call that did not answer. `same_again` says whether
    sharing made a difference.
    """

    def __init__(self, running: Running, module: ModuleType) -> None:
        self.running = running
        self.questions = Questions(vars(module))
        self.process: TestProcess | None = None
        self.exchanges: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.begin(())

    def begin(self, stand_ins: tuple[str, ...]) -> None:
        """Begin an exercise's tests, with the reference behind the names in `stand_ins`."""
        self.questions.begin(stand_ins)
        self.seconds: float | None = None
        self.isolate()

    def isolate(self) -> None:
        """The next call runs in a process that no call has run in before."""
        if self.process is not None:
            self.process.close()
            self.process = None

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a request; raises `Stopped` where no reply came."""
        try:
            if self.process is None:
                self.process = self.running.test()
            reply = self.process.request(self.questions.prepare(request), self.questions.answer, self.seconds)
            if self.process.exchange is not None:
                self.exchanges.append(self.process.exchange)
            return reply
        except (TooSlow, Gone, BadMessage) as error:
            if isinstance(error, TooSlow):
                self.seconds = self.running.limits.call_seconds_again
            self.isolate()
            raise Stopped(_stopped(error)) from None

    def same_again(self) -> bool:
        """Are all calls so far answered the same in another process and the other way round?

        Where they are, nothing that one test left behind has reached the next: the price of a process for each test
        is paid only by code that remembers.
        """
        backwards = self.exchanges[::-1]
        self.isolate()
        try:
            with contextlib.closing(self.running.test()) as process:
                return bool(process.repeat([sent for sent, _ in backwards]) == [reply for _, reply in backwards])
        except (TooSlow, Gone, BadMessage):
            return not backwards


class Here:
    """The same for names in this very process: `check` in a notebook, stock nbgrader, and the kit's own tests."""

    def __init__(self, names: dict[str, Any], module: ModuleType | None) -> None:
        self.names = names
        self.questions = Questions(vars(module) if module else {})
        self._transport = here(names, self.questions)

    def begin(self, stand_ins: tuple[str, ...]) -> None:
        """Begin an exercise's tests, with the reference behind the names in `stand_ins`."""
        self.questions.begin(stand_ins)

    def isolate(self) -> None:
        """One process is all there is here."""

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a request."""
        return self._transport(request)


def judge(
    suite: Suite,
    transport: Behind | Here,
    exercises: Sequence[Exercise],
    module: ModuleType | None,
    diagnoser: Diagnoser | None = None,
    brought: tuple[str, ...] = (),
    shared: bool = True,
) -> tuple[ExerciseResult, ...]:
    """Run the suite exercise by exercise, in order.

    Where earlier exercises lost marks, the reference stands behind their names. Where that does not give full marks,
    the student's own code stands there once more, and the better of the two counts: two mistakes that make up for
    each other are paid for once, too. Names that are `brought` from an earlier assignment are judged nowhere here, so
    the student's own code comes first, and the reference where that does not give full marks. Tests may run in one
    process (see `_run_tests`) unless `shared` is off.
    """
    namespace = vars(module) if module else getattr(transport, "names", {})
    names = lambda name: signature_names(namespace.get(name))  # noqa: E731
    student = Student(transport, names)
    reference = Student(here(vars(module)), names) if module else None
    results: list[ExerciseResult] = []
    for exercise in exercises:
        tests = [test for test in suite.tests if test.exercise == exercise.name]
        run = functools.partial(_run_tests, suite, transport, student, reference, tests, shared)
        lost = tuple(result.name for result in results if result.score < result.max_score)
        attempt = _best(run, [(*lost, *brought), ()] if lost else [(), brought])
        known = _diagnose(exercise, attempt, diagnoser)
        results.append(_as_result(exercise, attempt, known))
    return tuple(results)


@dataclass(frozen=True)
class _Attempt:
    """An exercise's tests with the reference behind certain names: outcomes, names asked for, and all calls."""

    outcomes: list[Outcome]
    asked: frozenset[str]
    calls: list[Recorded]

    @property
    def earned(self) -> float:
        return sum(outcome.test.weight for outcome in self.outcomes if outcome.error is None)

    @property
    def full(self) -> bool:
        return all(outcome.error is None for outcome in self.outcomes)


def _best(run: Callable[[tuple[str, ...]], _Attempt], behind: list[tuple[str, ...]]) -> _Attempt:
    """The best of up to two attempts, the first where they are equal; the second only where it can differ.

    It can where all tests say "not started", too: the stub they met may be that of a name still to be brought.
    """
    first, second = behind
    attempt = run(first)
    if attempt.full or first == second or (first and not attempt.asked):
        return attempt
    return max(attempt, run(second), key=lambda one: one.earned)


def _diagnose(exercise: Exercise, attempt: _Attempt, diagnoser: Diagnoser | None) -> Diagnosis | None:
    if diagnoser is None or not any(_may_be_state(outcome) for outcome in attempt.outcomes):
        return None
    return diagnoser.diagnose(exercise.name, attempt.calls)


def _run_tests(
    suite: Suite,
    transport: Behind | Here,
    student: Student,
    reference: Student | None,
    tests: list[Test],
    shared: bool,
    stand_ins: tuple[str, ...],
) -> _Attempt:
    """Run an exercise's tests with the reference behind the names in `stand_ins`.

    All tests run in one process while all goes well; after a failure, each in its own.

    A test that failed in a process where others had run before runs again in a fresh one, and that counts: so no
    state that an earlier test left behind can cost a mark, and correct work needs one fork an exercise.
    """

    def run(test: Test) -> Outcome:
        student.last_call = ""
        return suite.run(test, student, reference)

    outcomes = []
    student.calls = []
    transport.begin(stand_ins)
    alone = not shared
    for number, test in enumerate(tests):
        if alone:
            transport.isolate()
        outcome = run(test)
        if _may_be_state(outcome):
            if number > 0 and not alone:
                transport.isolate()
                outcome = run(test)
            alone = True
        outcomes.append(outcome)
    transport.isolate()
    return _Attempt(outcomes, frozenset(transport.questions.asked), student.calls)


def _may_be_state(outcome: Outcome) -> bool:
    """Could something that an earlier test left behind have caused this?"""
    return outcome.error is not None and not isinstance(outcome.error, NotStarted | Missing)


def _as_result(exercise: Exercise, attempt: _Attempt, known: Diagnosis | None) -> ExerciseResult:
    outcomes = attempt.outcomes
    ready_made = next((o.error for o in outcomes if isinstance(o.error, ReadyMade)), None)
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
        results.append(
            TestResult(
                outcome.test.name, outcome.test.sentence, state, round(score, 4), round(share, 4), outcome.message
            )
        )
    return tuple(results)


def _stopped(error: Exception) -> str:
    if isinstance(error, TooSlow):
        return f"{error}. Is there a loop that never ends?"
    if isinstance(error, Gone):
        return "the Python process ended during the call. Does the code exit, or use far more memory than its input?"
    return f"what came back could not be read ({error})."


def _limits(assignment: Assignment, sandbox: Sandbox) -> Limits:
    try:
        return sandbox.limits.changed(assignment.limits)
    except ValueError as error:
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.limits: {error}") from None


def _check_names(assignment: Assignment, suite: Suite, module: ModuleType) -> None:
    """The notebook's exercises have tests, and what it asks students to bring has a reference."""
    missing = [exercise.name for exercise in assignment.exercises if exercise.name not in suite.exercises()]
    if missing:
        raise CourseError(
            f"{suite.path}: no tests for {', '.join(missing)}; {assignment.notebook} has check cells of those names"
        )
    unknown = [name for name in assignment.brought if not hasattr(module, name)]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
