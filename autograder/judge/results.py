"""An attempt as a result: points that add up, and one message a cause."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from autograder.course import Exercise
from autograder.diagnosis.naming import Diagnosis
from autograder.judge.attempt import Attempt
from autograder.report import CellResult, ExerciseResult, Message, State, TestResult
from autograder.testing import cell_errors
from autograder.testing.session import ORDER, Outcome
from autograder.testing.student import BY_HAND, Forbidden, Stopped

ABOVE = "For the reason given above."
SAME = "The same as above."  # of a check, whose own input is not told again
NOT_TRIED = "not tried, since you stopped the check."
OTHER_ORDER = "the values came back in another order.", "In which order does the docstring name them?"


def as_result(exercise: Exercise, best: Attempt, known: Diagnosis | None, *, is_hidden: bool) -> ExerciseResult:
    """The result of an exercise, judged by the hidden tests or by visible tests."""
    outcomes = best.outcomes
    seen = next((outcome.error for outcome in outcomes if isinstance(outcome.error, Forbidden)), None)
    if forbidden := best.forbidden or seen:
        # Noticed once, it costs the exercise: what the other tests saw was not the student's work either.
        outcomes = [replace(outcome, error=forbidden, call=exercise.name) for outcome in outcomes]
    # If the mistake is known, its hint is the question, and tests ask none of their own.
    asks = known is None or not any(cause.hint for cause in known.causes)
    said = of_hidden_tests(outcomes, asks) if is_hidden else of_checks(outcomes, asks)
    worth = shares([outcome.test.weight for outcome in outcomes], exercise.points)
    return ExerciseResult(
        exercise.name,
        tuple(map(_as_test_result, outcomes, worth, said)),
        exercise.points,
        best.started or forbidden is not None,
        known.causes if known else (),
        tuple(sorted(best.asked)),
        best.picture,
        known.evidence if known else "",
        known_mistake=known is not None and not known.is_relation,
    )


def with_cell_errors(
    found: Sequence[ExerciseResult], sources: Sequence[str], cells: Sequence[CellResult]
) -> tuple[ExerciseResult, ...]:
    """The results; of exercises that are not there since their cell did not run, with why that is."""
    why = cell_errors.of_names([one.name for one in found if not one.started], sources, cells)
    return tuple(structs.replace(one, evidence=why[one.name]) if one.name in why else one for one in found)


def _as_test_result(outcome: Outcome, worth: float, message: str | Message) -> TestResult:
    state: State = "not known" if outcome.untouched else "passed" if outcome.error is None else "failed"
    score = worth if state == "passed" else 0.0
    stopped, test = isinstance(outcome.error, Stopped), outcome.test
    parts = message if isinstance(message, Message) else None
    return TestResult(test.name, test.sentence, state, score, worth, str(message), stopped, parts)


def of_hidden_tests(outcomes: Sequence[Outcome], asks: bool) -> list[str]:
    """Messages of hidden tests, with their own questions or without: a cause is told once, with code for its input."""
    words = ["" if outcome.untouched or outcome.error is None else str(outcome.error) for outcome in outcomes]
    causes = [outcome.cause or text for outcome, text in zip(outcomes, words, strict=True)]
    inputs = [f" To have the same input: `{one.reproduce}`." if one.reproduce else "" for one in outcomes]
    return once_each(causes, [outcome.message(asks) for outcome in outcomes], inputs)


def once_each(causes: Sequence[str], messages: Sequence[str], endings: Sequence[str] = ()) -> list[str]:
    """The messages; of tests that fail for one cause the first tells it, with how many more do. No cause: as it is.

    endings: what each message ends with if it tells its cause
    """
    count = Counter(filter(None, causes))
    met, found = set[str](), []
    for cause, message, ending in zip(causes, messages, endings or [""] * len(messages), strict=True):
        more = count[cause] - 1
        others = "1 more test fails" if more == 1 else f"{more} more tests fail"
        counted = f"{message} {others} for this reason." if more > 0 else message
        found.append(ABOVE if cause in met else counted + ending)
        met |= {cause} - {""}
    return found


def of_checks(outcomes: Sequence[Outcome], asks: bool = True) -> list[Message]:
    """Messages of visible tests: a cause is told once. If it is the order of values, nothing else is asked.

    asks: with their own questions, or is a better one known?
    """
    met, found = set[str](), []
    has_order = any(outcome.cause == ORDER for outcome in outcomes)
    for outcome in outcomes:
        message, cause = outcome.parts, outcome.cause
        if cause in met:
            message = Message(NOT_TRIED if cause == BY_HAND else SAME)
        elif cause == ORDER:
            message = Message(f"{outcome.call}: {OTHER_ORDER[0]}", OTHER_ORDER[1], message.went_in)
        elif has_order or not asks:
            message = structs.replace(message, question="")
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
