"""An attempt as a result: points that add up, and one message for each reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.judge.attempt import Attempt
from autograder.report import ExerciseResult, Finding, State, TestMessage, TestResult
from autograder.testing.student_errors import BY_HAND, Stopped
from autograder.testing.suite import VALUE_ORDER, Outcome
from autograder.testing.values.core.comparing import digest
from autograder.text import one_line
from cellcage.protocol.calls import NoAnswer

ABOVE = "For the reason given above."
NO_MESSAGE = "This test failed."  # where its own message could not be produced
SAME = "The same as above."  # for a visible test, whose own input is not repeated
LONGEST_CALL = 150  # characters of a call beside a digest
NOT_TRIED = "not tried, since you stopped the check."
OTHER_ORDER = "the values came back in another order.", "In which order does the docstring name them?"


def bare_result(exercise: Exercise, best: Attempt) -> ExerciseResult:
    """The marks of an exercise without any explanation."""
    outcomes = _counted(exercise, best)
    return _result(exercise, best, [NO_MESSAGE if outcome.error else "" for outcome in outcomes], None)


def as_result(exercise: Exercise, best: Attempt, known: Finding | None, *, is_hidden: bool) -> ExerciseResult:
    """The result of an exercise, judged by hidden or by visible tests."""
    outcomes = _counted(exercise, best)
    # The hint of a known mistake is the question, and tests ask none of their own.
    asks = known is None or not known.hint or not known.is_certain
    messages = _of_hidden_tests(outcomes, asks) if is_hidden else _of_visible_tests(outcomes, asks)
    return _result(exercise, best, messages, known)


def _counted(exercise: Exercise, best: Attempt) -> Sequence[Outcome]:
    """The outcomes that count. A call of a ready-made function costs the whole exercise.

    What the other tests saw was not the student's work, either.
    """
    if not best.ready_made:
        return best.outcomes
    return [replace(outcome, error=best.ready_made, call=exercise.name, kept=0.0) for outcome in best.outcomes]


def _result(
    exercise: Exercise, best: Attempt, messages: Sequence[str | TestMessage], known: Finding | None
) -> ExerciseResult:
    outcomes = _counted(exercise, best)
    points = shares([outcome.test.weight for outcome in outcomes], exercise.points)
    return ExerciseResult(
        exercise.name,
        tuple(map(_as_test_result, outcomes, points, messages)),
        exercise.points,
        best.started or best.ready_made is not None,
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
    if outcome.answer is None or isinstance(outcome.answer.answer, NoAnswer):
        return ""
    return f"{one_line(outcome.call)[:LONGEST_CALL]} {digest(outcome.answer.call.as_bytes, outcome.answer.answer)}"


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
