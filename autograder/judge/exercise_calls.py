"""The calls of one exercise, in the sandbox or in this process: many at once, or one by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from autograder.testing.local import CallsHere
from cellcage.notebook_calls import NotebookCalls, Unread
from cellcage.protocol import frames
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Why

# How a failure begins: a map of one pair whose key is this word.
FAILURE = frames.body({"failure": None})[:-1]
ExerciseCalls = NotebookCalls | CallsHere


def ask_one(calls: ExerciseCalls, call: Call) -> Unread:
    """The answer to one call."""
    return next(calls.ask([(call, None)]))


def ask_together(calls: ExerciseCalls, asked: Sequence[Call], closely: Collection[int] = ()) -> Iterator[Unread]:
    """Answers to calls that are sent at once, up to the first one that used up its time. closely: see `ask`.

    If the process ended, the call during which it did is left out. It may answer when it is made by itself.
    """
    for answer in calls.ask([(call, call.as_bytes) for call in asked], closely):
        if isinstance(answer, NoAnswer) and answer.why not in (Why.TOO_SLOW, Why.WAITED):
            return
        yield answer


def is_failure(got: Unread | Answer) -> bool:
    """True if a call got no value, or no answer. Bytes are not decoded."""
    return got.startswith(FAILURE) if isinstance(got, bytes) else isinstance(got, Failure | NoAnswer)


def is_too_slow(got: Unread | Answer) -> bool:
    """True if a call used up its time without an answer."""
    return isinstance(got, NoAnswer) and got.why in (Why.TOO_SLOW, Why.WAITED)
