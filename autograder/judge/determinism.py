"""Calls made a second time: the answers must be the same.

A function that keeps something between calls is found here, or by the tests, since all calls of an exercise are made in
one process.
"""

from __future__ import annotations

from msgspec.structs import replace

from autograder.judge.exercise_calls import ExerciseCalls, Unread, ask_one, ask_together, read
from autograder.sandbox.protocol.calls import Call, NoAnswer, Reply
from autograder.testing.comparing import same_answer, same_value
from autograder.testing.expect import Mismatch
from autograder.testing.session import Test
from autograder.testing.student import as_exception, has_chance

CHANGED = "gave another answer when it was called again with the same arguments. Does it keep something between calls?"


def repeat_first_calls(calls: ExerciseCalls, firsts: dict[Test, tuple[Call, Unread]]) -> dict[Test, Exception]:
    """Make the first call of each test once more, the last one first: the error of each test whose answer changed.

    Calls that draw at random are not repeated.
    """
    distinct = {call.as_bytes: (call, got) for call, got in reversed(firsts.values()) if call.chance is None}
    asked = [call for call, _ in distinct.values()]
    repeated: list[Unread] = [*ask_together(calls, asked)]
    repeated += [ask_one(calls, call) for call in asked[len(repeated) :]]
    errors: dict[bytes, Exception] = {}
    for (call, first), second in zip(distinct.values(), repeated, strict=True):
        error = _difference(call, first, second)
        if error is not None and getattr(read(first), "dropped", False):
            # Another test reports the dropout. Here only what differs without it counts.
            without = replace(call, lenient=True)
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


def changes_when_repeated(calls: ExerciseCalls, call: Call, first: Reply) -> bool:
    """Whether a call that returned a wrong value returns another one when it is made once more."""
    if call.chance is not None:
        return False
    second = read(ask_one(calls, call))
    return isinstance(second, Reply) and not has_chance(call, second) and not same_value(first.value, second.value)
