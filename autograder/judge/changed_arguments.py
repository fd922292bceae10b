"""Arguments that a call leaves changed, whatever the tests look at.

A test of unchanged arguments makes a call or two. Code may leave those arguments unchanged and change
others, such as arrays that lie in one piece. So we look at all calls: code that changes an array or a tensor where the
reference does not cannot get full marks. If no test catches this, the one of lowest weight fails.
"""

from __future__ import annotations

from collections.abc import Iterable

from autograder.testing.expect import CHANGED_ARGUMENT, Mismatch
from autograder.testing.functions import AnsweredCall, Answering
from autograder.testing.values.core.comparing import change_of
from cellcage.protocol.calls import Call, Reply

ADVICE = "Which line writes into an argument, or sets its shape or dtype?"


def changed_argument(calls: Iterable[object], right: Answering) -> tuple[Call, Mismatch] | None:
    """The first of these calls that changes an argument that the reference does not change, with the message."""
    for one in calls:
        if isinstance(one, AnsweredCall) and (text := _change(one, right)):
            return one.call, Mismatch(f"{text} after the call than before.", ADVICE, CHANGED_ARGUMENT)
    return None


def _change(one: AnsweredCall, right: Answering) -> str:
    if not isinstance(one.answer, Reply) or one.answer.inputs is None:
        return ""
    changes = _changes(one.call, one.answer)
    expected = right(one.call) if any(changes) else None
    if not isinstance(expected, Reply):
        return ""
    rights = _changes(one.call, expected) if expected.inputs is not None else [""] * len(changes)
    pairs = enumerate(zip(changes, rights, strict=False), start=1)
    return next((f"argument {number} {found}" for number, (found, own) in pairs if found and not own), "")


def _changes(call: Call, answer: Reply) -> list[str]:
    pairs = zip(call.positional, answer.inputs or (), strict=False)
    return [change_of(before, after) if hasattr(before, "shape") else "" for before, after in pairs]
