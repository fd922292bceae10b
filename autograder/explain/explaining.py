"""An attempt as a result: points that add up, one message for each reason, the diagnosis and the picture.

No explanation can change the mark. If a step raises or runs out of time, the result names it and goes without it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.course.loading import TimeIsUp
from autograder.explain import visible_fingerprints
from autograder.explain.fingerprints import answer_digest
from autograder.explain.material import Material
from autograder.explain.naming import DROPOUT, NON_DETERMINISTIC, diagnose, say_little
from autograder.explain.picture import drawn
from autograder.explain.relations import NAN, of_shown
from autograder.judge import cell_errors
from autograder.judge.attempt import JudgedNames
from autograder.judge.judging import Judged, later_cell, mark
from autograder.judge.notebook import JudgedNotebook
from autograder.judge.rules.rule import Attempt
from autograder.report import ExerciseResult, Finding, State, TestMessage, TestResult
from autograder.testing.expect import Mismatch
from autograder.testing.student_errors import BY_HAND, Stopped
from autograder.testing.suite import VALUE_ORDER, Outcome
from autograder.text import one_line
from cellcage.notebook_calls import read
from cellcage.protocol.calls import NoAnswer, Reply

EXERCISE_SECONDS, SUBMISSION_SECONDS = 3.0, 15.0  # of CPU time; an honest diagnosis takes a few milliseconds
AGAIN_SECONDS = 0.1  # an interruption may be swallowed, for example by a destructor, so it comes again
MAX_ERROR = 200  # characters of an exception's text

Made = TypeVar("Made")
Finder = Callable[[Judged, ExerciseResult], Finding | None]  # the result: as far as it is known
Words = Callable[[Sequence[Outcome], bool], Sequence[str | TestMessage]]
ABOVE = "For the reason given above."
NO_MESSAGE = "This test failed."  # where its own message could not be produced
SAME = "The same as above."  # for a visible test, whose own input is not repeated
LONGEST_CALL = 150  # characters of a call beside a digest
NOT_TRIED = "not tried, since you stopped the check."
OTHER_ORDER = "the values came back in another order.", "In which order does the docstring name them?"


class Explaining:
    """Runs steps that may fail. In a student's own kernel there is no time limit, only the stop button.

    failed: a finding for each step of the current exercise that failed
    """

    def __init__(self, limited: bool = False) -> None:
        self._limited, self._left = limited, SUBMISSION_SECONDS
        self._seconds = EXERCISE_SECONDS  # left for the current exercise
        self.failed: list[Finding] = []

    def begin(self) -> None:
        """Begin with another exercise."""
        self._seconds, self.failed = EXERCISE_SECONDS, []

    def attempt(self, what: str, make: Callable[[], Made], instead: Made) -> Made:
        """What `make` returns; `instead` if it fails. what: what it makes, in words"""
        try:
            with self._in_time():
                return make()
        except TimeIsUp:
            self.failed.append(Finding("not produced", f"{what} (it took too long)"))
        except Exception as error:
            self.failed.append(Finding("not produced", f"{what} ({_in_words(error)})"))
        return instead

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[None]:
        """Raises `TimeIsUp` in the block once it has used up the CPU time left. `in_time` goes by the clock."""
        if not self._limited:
            yield
            return
        seconds, began = min(self._seconds, self._left), time.process_time()
        if seconds <= 0:
            raise TimeIsUp
        signal.signal(signal.SIGPROF, _interrupt)
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            used = time.process_time() - began
            self._seconds, self._left = self._seconds - used, self._left - used


def _interrupt(*_: object) -> None:
    raise TimeIsUp


def _in_words(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return one_line(f"{type(error).__name__}: {error!s:.{MAX_ERROR}}, {Path(place.filename).name}, line {place.lineno}")


def bare(judged: Sequence[Judged]) -> tuple[ExerciseResult, ...]:
    """Only the marks, without any explanation."""
    return tuple(bare_result(one.exercise, one.best) for one in judged)


def explain(
    material: Material, judged: Sequence[Judged], explaining: Explaining, names: JudgedNames
) -> list[ExerciseResult]:
    """The results with all explanations, and with pictures of what `names` answer."""
    return [_explained(material, one, explaining, names) for one in judged]


def judge(
    material: Material, names: JudgedNames, exercises: Sequence[Exercise], signatures: Mapping[str, Any] | None = None
) -> tuple[ExerciseResult, ...]:
    """Mark `exercises` and explain the marks, without a time limit. See `mark`."""
    judged = mark(material, names, exercises, signatures)
    return tuple(explain(material, judged, Explaining(), names))


def add(
    results: Sequence[ExerciseResult], judged: Sequence[Judged], explaining: Explaining, what: str, find: Finder
) -> list[ExerciseResult]:
    """The results with what `find` finds in addition. what: that in words"""
    return [_with_more(result, one, explaining, what, find) for result, one in zip(results, judged, strict=True)]


def _with_more(
    result: ExerciseResult, judged: Judged, explaining: Explaining, what: str, find: Finder
) -> ExerciseResult:
    explaining.begin()
    found = explaining.attempt(what, lambda: find(judged, result), None)
    return result.adding(*([found] if found else []), *explaining.failed)


def _explained(material: Material, one: Judged, explaining: Explaining, names: JudgedNames) -> ExerciseResult:
    explaining.begin()
    exercise, best, result = one.exercise, one.best, bare_result(one.exercise, one.best)
    words = _of_hidden_tests if material.reference else _of_visible_tests
    known = explaining.attempt("the diagnosis", lambda: _diagnose(material, exercise.name, best), None)
    result = explaining.attempt("messages", lambda: as_result(exercise, best, known, words), result)
    # Code that was stopped would have to be stopped once more.
    if best.started and not any(isinstance(run.outcome.error, Stopped) for run in best.runs):
        draw = functools.partial(drawn, material.examples.get(exercise.name), names, one)
        result = structs.replace(result, picture=explaining.attempt("the picture", draw, None))
    return result.adding(*explaining.failed)


def _diagnose(material: Material, exercise: str, best: Attempt) -> Finding | None:
    failed = [run.outcome for run in best.runs if run.outcome.error]
    if all(outcome.untouched for outcome in failed):
        return None
    if material.hypotheses is None:
        return None if material.reference else _diagnose_visible(material, exercise, best, failed)
    known = diagnose(material.hypotheses, exercise, best.calls, material.relations)
    if known is None and best.corrected:
        known = diagnose(material.hypotheses, exercise, best.corrected, material.relations)
        known = None if known and known.name == NAN else known  # there NaN stands for what did not come back
    if not best.non_deterministic or (known is not None and known.kind == "known mistake"):
        return known
    # Non-deterministic answers are related to the right ones by chance only. Which calls they answer is not by chance.
    return DROPOUT if _has_dropped(best) else NON_DETERMINISTIC


def _has_dropped(best: Attempt) -> bool:
    """Whether a dropout was on in a call: two such calls may be equal by chance."""
    answers = (read(one.answer) for one in best.calls)
    return any(isinstance(answer, Reply) and answer.dropped for answer in answers)


def _diagnose_visible(material: Material, exercise: str, best: Attempt, failed: Sequence[Outcome]) -> Finding | None:
    """A diagnosis from only the visible tests, without a solution: a known mistake's name, or else a relation."""
    errors = [outcome.error for outcome in failed]
    pairs = [(error.got, error.wanted) for error in errors if isinstance(error, Mismatch)]
    if not pairs:  # exceptions are weak evidence if there is nothing else
        return None
    if _has_dropped(best):
        return DROPOUT
    if best.non_deterministic:
        return NON_DETERMINISTIC
    answers = [read(one.answer) for one in best.calls]
    if not say_little(answers):
        names = visible_fingerprints.read(material.suite.folder)
        if known := visible_fingerprints.named(names, exercise, answers):
            return known
    if len(pairs) < len(failed) or not all(hasattr(value, "dtype") for pair in pairs for value in pair):
        return None
    return of_shown(pairs, material.relations)


def cells_of(notebook: JudgedNotebook) -> Finder:
    """Finds what the notebook's cells, rather than the exercise's code, have to do with its result."""

    def find(judged: Judged, result: ExerciseResult) -> Finding | None:
        name, words = result.name, ""
        if not result.started:
            words = cell_errors.of_names([name], notebook.cells, notebook.results).get(name, "")
        elif judged.place is not None and judged.final is not None:
            number = later_cell(notebook, judged)
            uses = notebook.uses(name, ())
            words = cell_errors.changed_later(name, uses, None if number is None else notebook.cells[number])
        elif result.score < result.max_score:
            messages = [test.message for test in result.tests]
            cells = zip(notebook.cells, notebook.results, strict=True)
            words = (
                cell_errors.not_reached(messages, cells)
                or cell_errors.debugger_left_in(messages, notebook.cells)
                or cell_errors.defined_again(name, notebook.cells)
            )
        return Finding("cells", evidence=words) if words else None

    return find


def bare_result(exercise: Exercise, best: Attempt) -> ExerciseResult:
    """The marks of an exercise without any explanation."""
    outcomes = best.outcomes
    return _result(exercise, best, [NO_MESSAGE if outcome.error else "" for outcome in outcomes], None)


def as_result(exercise: Exercise, best: Attempt, known: Finding | None, words: Words) -> ExerciseResult:
    """The result of an exercise. words: makes the messages of hidden or of visible tests"""
    outcomes = best.outcomes
    # The hint of a known mistake is the question, and tests ask none of their own.
    asks = known is None or not known.hint or not known.is_certain
    return _result(exercise, best, words(outcomes, asks), known)


def _result(
    exercise: Exercise, best: Attempt, messages: Sequence[str | TestMessage], known: Finding | None
) -> ExerciseResult:
    outcomes = best.outcomes
    points = shares([outcome.test.weight for outcome in outcomes], exercise.points)
    return ExerciseResult(
        exercise.name,
        tuple(map(_as_test_result, outcomes, points, messages)),
        exercise.points,
        best.started,
        tuple(sorted(best.asked)),
        findings=(known,) if known else (),
    )


def _as_test_result(outcome: Outcome, points: float, message: str | TestMessage) -> TestResult:
    state: State = "not known" if outcome.untouched else "passed" if outcome.error is None else "failed"
    score = points if state == "passed" else round(points * outcome.kept, 4)
    stopped, test = isinstance(outcome.error, Stopped), outcome.test
    parts = message if isinstance(message, TestMessage) else None
    answer = _answer(outcome) if state == "failed" and message != NO_MESSAGE else ""
    return TestResult(test.name, test.sentence, state, score, points, str(message), stopped, parts, answer)


def _answer(outcome: Outcome) -> str:
    """The call that failed, and a digest of its answer. Nobody who has many submissions needs to read the answer."""
    answered = outcome.answer
    if answered is None or isinstance(answered.answer, NoAnswer):
        return ""
    return f"{one_line(outcome.call)[:LONGEST_CALL]} {answer_digest(answered.call, answered.answer)}"


def _of_hidden_tests(outcomes: Sequence[Outcome], asks: bool) -> list[str]:
    """Messages of hidden tests, with or without their own questions. The first for a reason has code for its input."""
    texts = ["" if outcome.untouched or outcome.error is None else str(outcome.error) for outcome in outcomes]
    reasons = [outcome.reason or text for outcome, text in zip(outcomes, texts, strict=True)]
    inputs = [f" To have the same input: `{one.reproduce}`." if one.reproduce else "" for one in outcomes]
    # A name is given for values. What is wrong with a module that was only built, it need not explain.
    own = [asks or (outcome.answer is not None and outcome.answer.call.build) for outcome in outcomes]
    messages = [one.message(asks and _may_ask(one, outcomes)) for one, asks in zip(outcomes, own, strict=True)]
    return once_each(reasons, messages, inputs)


def _may_ask(outcome: Outcome, outcomes: Sequence[Outcome]) -> bool:
    """False if a test's question fits only if no other test finds a wrong answer, and one does."""
    return not outcome.asks_if_others_pass or sum(one.finds_wrong_answer for one in outcomes) < 2


def once_each(reasons: Sequence[str], messages: Sequence[str], endings: Sequence[str] = ()) -> list[str]:
    """Each test's message. Of tests with one reason only the first states it, and how many more tests fail.

    reasons: empty for a test whose message is not changed
    endings: what each message ends with if it states its reason
    """
    count = Counter(filter(None, reasons))
    met, found = set[str](), []
    for reason, message, ending in zip(reasons, messages, endings or [""] * len(messages), strict=True):
        more = count[reason] - 1
        others = "1 more test fails" if more == 1 else f"{more} more tests fail"
        counted = f"{message} {others} for this reason." if more > 0 else message
        found.append(ABOVE if reason in met else counted + ending)
        met |= {reason} - {""}
    return found


def _of_visible_tests(outcomes: Sequence[Outcome], asks: bool) -> list[TestMessage]:
    """Messages of visible tests, each reason once. If the order of values is wrong, no other question is asked."""
    met, found = set[str](), []
    has_order = any(outcome.reason == VALUE_ORDER for outcome in outcomes)
    for outcome in outcomes:
        message, reason = outcome.parts, outcome.reason
        if reason in met:
            message = TestMessage(NOT_TRIED if reason == BY_HAND else SAME)
        elif reason == VALUE_ORDER:
            message = TestMessage(f"{outcome.call}: {OTHER_ORDER[0]}", OTHER_ORDER[1], message.went_in)
        elif has_order or not asks or not _may_ask(outcome, outcomes):
            message = structs.replace(message, question="")
        met |= {reason} - {""}
        found.append(message)
    return found


def shares(weights: Sequence[float], points: float) -> list[float]:
    """Points for each weight that add up to `points`; in hundredths, unless one of them would then be 0."""
    exact = [points * weight / sum(weights) for weight in weights]
    for unit in (100, 10_000):
        whole = [math.floor(share * unit + 1e-6) for share in exact]
        left = max(0, round(points * unit) - sum(whole))
        for i in sorted(range(len(exact)), key=lambda i: whole[i] - exact[i] * unit)[:left]:
            whole[i] += 1
        if all(whole):
            break
    return [one / unit for one in whole]
