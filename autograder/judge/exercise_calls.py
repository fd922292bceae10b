"""The calls of one exercise, in the sandbox or in this process: many at once, or one by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from autograder.testing.local import CallsHere
from cellcage.notebook_calls import NotebookCalls, Unread, read
from cellcage.protocol import frames
from cellcage.protocol.calls import Answer, Call, Failure, Kind, NoAnswer, Why

# How a failure begins: a map of one pair whose key is this word.
FAILURE = frames.body({"failure": None})[:-1]
ExerciseCalls = NotebookCalls | CallsHere


def ask_one(calls: ExerciseCalls, call: Call, closely: bool = False) -> Unread:
    """The answer to one call. closely: see `ask`"""
    return next(calls.ask([(call, None)], (0,) if closely else ()))


def ask_closely(calls: ExerciseCalls, call: Call) -> Unread:
    """The answer to one call that is watched closely, which can break honest code. If it fails, it is made again."""
    got = ask_one(calls, call, closely=True)
    return ask_one(calls, call) if is_failure(got) and not is_ready_made(got) else got


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


def is_ready_made(got: Unread | Answer) -> bool:
    """True if a listed function was called."""
    answer = read(got) if is_failure(got) else None
    return isinstance(answer, Failure) and answer.kind is Kind.READY_MADE


def is_too_slow(got: Unread | Answer) -> bool:
    """True if a call used up its time without an answer."""
    return isinstance(got, NoAnswer) and got.why in (Why.TOO_SLOW, Why.WAITED)
