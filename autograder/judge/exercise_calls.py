"""The calls of one exercise, made in a process in the sandbox: many at once, or one alone."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autograder.errors import MachineError
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.calls import (
    Answer,
    Call,
    Failure,
    Kind,
    NoAnswer,
    Why,
    answer_bytes,
    answer_of,
    call_of,
)  # fmt: skip
from autograder.sandbox.protocol.ending import Ending
from autograder.sandbox.protocol.messages import Calls
from autograder.testing.callbacks import Questions
from autograder.testing.local import CallsHere

if TYPE_CHECKING:
    from autograder.judge.notebook import Notebook

ATTEMPTS = 2  # what is lost, and not through the student's code, is done once more
# Bytes from which on the kernel counts a call's memory, too. Below this its count says little: it includes pages of the
# libraries' own code, which count as soon as they are used.
MEASURED = 16 * 2**20
MAX_STOPPED = 2  # calls stopped in a row, after which the next one gets very little time
GONE_IN_CALL = "the Python process ended during the call"
# How a question begins: a map of one pair whose key is this word.
QUESTION = frames.body({"question": None})[:-1]
Unread = bytes | Failure | NoAnswer  # an answer before it is decoded, see `read`


class Gone(Exception):
    """The notebook's process ends before an exercise can start."""


class ProcessLost(Exception):
    """A process ended, and the student's code did not end it; the text says what is known."""


class SandboxedCalls:
    """The calls of one exercise, in one process in the sandbox as long as that lives."""

    def __init__(self, notebook: Notebook, questions: Questions) -> None:
        self.questions = questions
        self.cells: Sequence[str] | None = notebook.cells
        self._notebook = notebook
        self._sock: socket.socket | None = None
        self._stopped = 0  # calls in a row

    def close(self) -> None:
        """Close the connection; the process ends, at the latest when the next exercise begins."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def ask(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[Unread]:
        """An undecoded answer to each of `calls`, in order (see `read`). It ends with the first `NoAnswer`.

        Each call comes with its bytes, or None if they are to be made here. Raises `MachineError` if the process is
        lost twice and the student's code did not end it: then the submission gets no mark, rather than a lower one.
        """
        left, times_lost = list(calls), 0
        while self._notebook.machine_failed is None:
            try:
                for answer in self._ask(list(left)):
                    del left[:1]
                    yield answer
                return
            except ProcessLost as error:
                self.close()
                times_lost += 1
                if times_lost == ATTEMPTS:
                    why = f"the process of an exercise ended during a call, twice: {error}"
                    self._notebook.machine_failed = MachineError(why)
            except (MachineError, frames.Exhausted) as error:
                self._notebook.machine_failed = MachineError(str(error))
        raise self._notebook.machine_failed

    def _ask(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[Unread]:
        """As `ask`, but without a second try. Raises `ProcessLost`."""
        if not calls:
            return
        limits, allowance = self._notebook.limits, self._notebook.allowance
        prepared = [self.questions.prepare(call) if body is None else call for call, body in calls]
        packed = [body or call.as_bytes for call, (_, body) in zip(prepared, calls, strict=True)]
        try:
            if self._sock is None:
                self._sock = self._notebook.fork(self.questions)
            seconds = self._patience() if len(calls) == 1 else min(self._patience(), limits.planned_seconds)
            measured = len(calls) == 1 and is_measured(calls[0][0])
            if measured:
                self._notebook.fresh.grown(begins=True)
            deadline = self._deadline(seconds)
            frames.send(self._sock, Calls(len(packed)), deadline, packed)
            for call, body in calls:
                if body is not None:
                    self.questions.begin(call)
                deadline = self._deadline(seconds)
                while (got := frames.receive_body(self._sock, deadline, allowance)).startswith(QUESTION):
                    answer = self.questions.answer(_question(got))
                    frames.send(self._sock, {"answer": answer_bytes(answer)}, deadline)
                self._stopped = 0
                yield self._forbidden() or (self._too_much_memory(call) if measured else None) or got
        except frames.Deadline:
            if len(calls) == 1:
                self._stopped, self._notebook.has_loop = self._stopped + 1, True
            elif self._notebook.has_loop:
                self._stopped = MAX_STOPPED  # most likely it is the same loop
            yield self._lost(Why.TOO_SLOW, f"no answer after {seconds:g} second{'s' * (seconds != 1)}")
        except frames.Closed:
            yield self._lost_by(self._notebook.ending())
        except Gone:
            yield self._lost(Why.GONE, GONE_IN_CALL)
        except (frames.WireError, RecursionError, ValueError, KeyError, TypeError) as error:
            text = str(error) if isinstance(error, frames.WireError) else type(error).__name__
            yield self._lost(Why.UNREADABLE, text[:200])

    def _patience(self) -> float:
        """Seconds for a call: fewer once a call of any exercise was stopped, fewest after several in a row."""
        limits = self._notebook.limits
        if self._stopped >= MAX_STOPPED:
            return min(limits.call_seconds_at_last, limits.call_seconds_again)
        return limits.call_seconds_again if self._notebook.has_loop else limits.call_seconds

    def _deadline(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._notebook.ends_at)

    def _forbidden(self) -> Failure | None:
        """A call of something forbidden is known on this side, whatever the process answers."""
        name = self.questions.forbidden
        return Failure(Kind.FORBIDDEN, name) if name else None

    def _too_much_memory(self, call: Call) -> Failure | None:
        """The failure of a call that held more memory than it may, as the kernel counts it."""
        grown = self._notebook.fresh.grown(begins=False)
        return Failure(Kind.MEMORY, str(grown)) if grown > (call.memory or 0) else None

    def _lost_by(self, ending: Ending) -> Failure | NoAnswer:
        if not ending.is_students:
            raise ProcessLost(str(ending))
        return self._lost(Why.OVER_LIMIT, ending.limit) if ending.limit else self._lost(Why.GONE, GONE_IN_CALL)

    def _lost(self, why: Why, text: str) -> Failure | NoAnswer:
        self.close()
        return self._forbidden() or NoAnswer(why, text)


ExerciseCalls = SandboxedCalls | CallsHere  # the calls of one exercise, in the sandbox or in this process


def ask_one(calls: ExerciseCalls, call: Call) -> Unread:
    """The answer to one call."""
    return next(calls.ask([(call, None)]))


def ask_together(calls: ExerciseCalls, asked: Sequence[Call]) -> Iterator[bytes | Failure]:
    """Answers to calls that are sent at once, up to the first call without an answer.

    Which call that was only shows when the remaining ones are made one by one.
    """
    for answer in calls.ask([(call, call.as_bytes) for call in asked]):
        if isinstance(answer, NoAnswer):
            return
        yield answer


def is_measured(call: Call) -> bool:
    """True if the kernel counts the call's memory, too. Such a call is made alone."""
    return call.memory is not None and call.memory >= MEASURED


def read(got: Unread | Answer) -> Answer:
    """The decoded answer; `NoAnswer` if it cannot be decoded."""
    if not isinstance(got, bytes):
        return got
    try:
        return answer_of(got)
    except frames.WireError as error:
        return NoAnswer(Why.UNREADABLE, str(error)[:200])


def _question(body: bytes) -> Call:
    question = frames.parse(body)["question"]
    if not isinstance(question, bytes):
        raise frames.WireError("not a question")
    return call_of(question)
