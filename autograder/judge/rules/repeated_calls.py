"""A call that is made a second time must give the same answer.

A function that keeps something between calls is found by that, or by the tests, since all calls of an exercise are made
in one process.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from autograder.judge.rules.rule import Attempt, ExerciseCalls, Rule, ask_one, ask_together
from autograder.testing.comparing import same_answer, same_value
from autograder.testing.functions import has_chance
from autograder.testing.mismatch import Mismatch
from autograder.testing.student_errors import as_exception
from autograder.testing.suite import Test
from cellcage.notebook_calls import Unread, read
from cellcage.protocol.calls import Call, NoAnswer, Reply

MAX_REPEATED = 2  # calls of failed tests that are made once more
CHANGED = "gave another answer when it was called again with the same arguments. Does it keep something between calls?"


class RepeatedCalls(Rule):
    """See the module."""

    def after_tests(self, attempt: Attempt) -> Attempt:
        """Repeat the first call of each test that passed, and fail it for another answer. Repeat wrong answers, too."""
        calls = self.setting.calls
        passed = {run.test: run.seen.first_call for run in attempt.runs if run.outcome.share}
        errors = _errors(calls, {test: first for test, first in passed.items() if first is not None})
        wrong = [run.seen.first_reply for run in attempt.runs if isinstance(run.outcome.error, Mismatch)]
        non_deterministic = any(isinstance(error, Mismatch) for error in errors.values()) or any(
            _changes(calls, *reply) for reply in [one for one in wrong if one is not None][:MAX_REPEATED]
        )
        outcomes = {
            run.test: replace(run.outcome, error=errors[run.test], call=run.test.exercise, kept=0.0)
            for run in attempt.runs
            if run.test in errors
        }
        return replace(attempt.with_outcomes(outcomes), non_deterministic=non_deterministic)


def _errors(calls: ExerciseCalls, firsts: dict[Test, tuple[Call, Unread]]) -> dict[Test, Exception]:
    """Make these calls once more, the last one first: the error of each test whose answer changed."""
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


def _changes(calls: ExerciseCalls, call: Call, first: Reply) -> bool:
    """Whether a call that returned a wrong value returns another one when it is made once more."""
    second = read(ask_one(calls, call))
    return isinstance(second, Reply) and not has_chance(call, second) and not same_value(first.value, second.value)
