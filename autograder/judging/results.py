"""An attempt as a result: points that add up, and one message a cause."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from autograder.course import Exercise
from autograder.diagnosis.naming import Diagnosis
from autograder.judging.attempt import Attempt
from autograder.report import ExerciseResult, State, TestResult
from autograder.suites.shown import ASKS, WENT_IN
from autograder.suites.student import BY_HAND, ReadyMade, Stopped
from autograder.suites.suite import ORDER, Outcome

ABOVE = "For the reason given above."
SAME = "The same as above."  # of a check, whose own input is not told again
NOT_TRIED = "not tried, since you stopped the check."
OTHER_ORDER = "the values came back in another order.", "In which order does the docstring name them?"


def as_result(exercise: Exercise, best: Attempt, known: Diagnosis | None, *, is_hidden: bool) -> ExerciseResult:
    """The result of an exercise, judged by the hidden suite or by visible checks."""
    outcomes = best.outcomes
    seen = next((outcome.error for outcome in outcomes if isinstance(outcome.error, ReadyMade)), None)
    if ready_made := best.ready_made or seen:
        # Noticed once, it costs the exercise: what the other tests saw was not the student's work either.
        outcomes = [replace(outcome, error=ready_made, call=exercise.name) for outcome in outcomes]
    # If the mistake is known, its hint is the question, and tests ask none of their own.
    asks = known is None or not known.hint
    said = [outcome.told(asks) for outcome in outcomes]
    if is_hidden:
        words = ["" if outcome.untouched or outcome.error is None else str(outcome.error) for outcome in outcomes]
        said = told_once([outcome.cause or text for outcome, text in zip(outcomes, words, strict=True)], said)
        said = [_with_inputs(outcome, message) for outcome, message in zip(outcomes, said, strict=True)]
    else:
        said = of_checks(outcomes)
    worth = shares([outcome.test.weight for outcome in outcomes], exercise.points)
    return ExerciseResult(
        exercise.name,
        tuple(map(_as_test_result, outcomes, worth, said)),
        exercise.points,
        best.started or ready_made is not None,
        known.name if known else None,
        known.hint if known else "",
        tuple(sorted(best.asked)),
        best.picture,
        known.evidence if known else "",
    )


def _as_test_result(outcome: Outcome, worth: float, message: str) -> TestResult:
    state: State = "not known" if outcome.untouched else "passed" if outcome.error is None else "failed"
    score = worth if state == "passed" else 0.0
    stopped, test = isinstance(outcome.error, Stopped), outcome.test
    return TestResult(test.name, test.sentence, state, score, worth, message, stopped)


def _with_inputs(outcome: Outcome, message: str) -> str:
    """The message, with code that makes what went in."""
    tell = outcome.made_by and message != ABOVE
    return f"{message} To have the same input: `{outcome.made_by}`." if tell else message


def told_once(causes: Sequence[str], messages: Sequence[str]) -> list[str]:
    """The messages; of tests that fail for one cause the first tells it, with how many more do. No cause: as it is."""
    count = Counter(filter(None, causes))
    met, found = set[str](), []
    for cause, message in zip(causes, messages, strict=True):
        more = count[cause] - 1
        if cause in met:
            message = ABOVE
        elif more > 0:
            others = "1 more test fails" if more == 1 else f"{more} more tests fail"
            message = f"{message} {others} for this reason."
        met |= {cause} - {""}
        found.append(message)
    return found


def of_checks(outcomes: Sequence[Outcome]) -> list[str]:
    """Messages of visible checks: a cause is told once. If it is the order of values, nothing else is asked."""
    met, found = set[str](), []
    has_order = any(outcome.cause == ORDER for outcome in outcomes)
    for outcome in outcomes:
        message, cause = outcome.told(), outcome.cause
        happened, asks, rest = message.partition(ASKS)
        went_in = WENT_IN + rest.partition(WENT_IN)[2] if WENT_IN in rest else ""
        if cause in met:
            message = NOT_TRIED if cause == BY_HAND else SAME
        elif cause == ORDER:
            message = f"{outcome.call}: {OTHER_ORDER[0]}{ASKS}{OTHER_ORDER[1]}{went_in}"
        elif has_order and asks:
            message = happened + went_in
        met |= {cause} - {""}
        found.append(message)
    return found


def shares(weights: Sequence[float], points: float) -> list[float]:
    """Points for each weight that add up to `points`: in hundredths, if none of them is then worth nothing."""
    exact = [points * weight / sum(weights) for weight in weights]
    for unit in (100, 10_000):
        whole = [math.floor(share * unit + 1e-6) for share in exact]
        left = max(0, round(points * unit) - sum(whole))
        for i in sorted(range(len(exact)), key=lambda i: whole[i] - exact[i] * unit)[:left]:
            whole[i] += 1
        if all(whole):
            break
    return [one / unit for one in whole]
