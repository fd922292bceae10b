"""Arguments that a call leaves changed, whatever the tests look at.

A test of unchanged arguments makes a call or two. Code may leave those arguments unchanged and change
others, such as arrays that lie in one piece. So we look at all calls: code that changes an array or a tensor where the
reference does not cannot get full marks. If no test catches this, the one of lowest weight fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder.judge.rules.rule import Attempt, Rule
from autograder.testing.call_text import as_written
from autograder.testing.expect import CHANGED_ARGUMENT, Mismatch, change_of
from autograder.testing.functions import AnsweredCall, Answering
from cellcage.protocol.calls import Call, Reply

ADVICE = "Which line writes into an argument, or sets its shape or dtype?"


class ChangedArguments(Rule):
    """See the module."""

    def after_tests(self, attempt: Attempt) -> Attempt:
        """If no test has failed for a changed argument, the cheapest one fails of those whose calls change one."""
        if any(getattr(run.outcome.error, "reason", "") == CHANGED_ARGUMENT for run in attempt.runs):
            return attempt
        passed = [run for run in attempt.runs if run.outcome.share]
        changing = [(run, *found) for run in passed if (found := _changed(run.calls, self.setting.right))]
        if not changing:
            return attempt
        run, call, error = min(changing, key=lambda one: one[0].test.weight)
        written = as_written(call, self.setting.parameter_names)
        return attempt.with_outcomes({run.test: replace(run.outcome, error=error, call=written, kept=0.0)})


def _changed(calls: Iterable[object], right: Answering) -> tuple[Call, Mismatch] | None:
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
