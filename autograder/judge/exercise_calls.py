"""The calls of one exercise in a process behind the sandbox: together or alone, and once more if that was lost."""

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

if TYPE_CHECKING:
    from autograder.judge.notebook import Notebook

ATTEMPTS = 2  # what was lost, and not by the student's doing, is made again once
# Bytes from which on memory is measured from outside. Of less, the kernel's count says little: pages of the libraries'
# own code count as soon as they are used.
MEASURED = 16 * 2**20
IN_A_ROW = 2  # calls that were stopped: the next is hardly waited for
GONE_IN_CALL = "the Python process ended during the call"
# A map of one pair whose key is this word: how a question begins.
QUESTION = frames.body({"question": None})[:-1]


class Gone(Exception):
    """The notebook's process ends before an exercise can start."""


class EndedFromOutside(Exception):
    """A process ended, and not by the student's doing; the text says what is known."""


class SandboxedCalls:
    """The calls of one exercise, in one process in the sandbox as long as that lives."""

    def __init__(self, notebook: Notebook, questions: Questions) -> None:
        self.questions = questions
        self.cells: Sequence[str] | None = notebook.cells
        self._notebook = notebook
        self._sock: socket.socket | None = None
        self._stopped = 0  # calls in a row
        self.said = set[object]()  # exceptions that a report may quote

    def close(self) -> None:
        """Hang up; the process ends, or is ended with the next exercise."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def ask(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[bytes | Failure | NoAnswer]:
        """An answer to each of `calls`, in order, unread (see `read`); it ends with the first `NoAnswer`.

        With a call goes what it is as bytes, if that is known. Raises `MachineError` if the process is lost twice, and
        not by the student's doing: then there is no mark, and never a lower one.
        """
        if self._notebook.machine_failed is None:
            try:
                yield from self._ask_twice(calls)
                return
            except (MachineError, frames.Exhausted) as error:
                self._notebook.machine_failed = MachineError(str(error))
        raise self._notebook.machine_failed

    def _ask_twice(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[bytes | Failure | NoAnswer]:
        """As `ask`; what is lost, and not by the student's doing, is asked once more. Raises `MachineError`."""
        left, why = list(calls), ""
        for _ in range(ATTEMPTS):
            try:
                for answer in self._ask(list(left)):
                    del left[:1]
                    yield answer
                return
            except EndedFromOutside as error:
                why = str(error)
                self.close()
        raise MachineError(f"the process of an exercise ended during a call, twice: {why}")

    def _ask(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[bytes | Failure | NoAnswer]:
        """As `ask`, once. Raises `EndedFromOutside`."""
        if not calls:
            return
        limits, allowance = self._notebook.limits, self._notebook._allowance
        prepared = [self.questions.prepare(call) if body is None else call for call, body in calls]
        packed = [body or call.as_bytes for call, (_, body) in zip(prepared, calls, strict=True)]
        try:
            if self._sock is None:
                self._sock = self._notebook.fork(self.questions)
            seconds = self._patience() if len(calls) == 1 else min(self._patience(), limits.planned_seconds)
            measured = len(calls) == 1 and is_measured(calls[0][0])
            if measured:
                self._notebook.grown(begins=True)
            deadline = self._deadline(seconds)
            frames.send_with(self._sock, Calls(len(packed)), packed, deadline)
            for call, body in calls:
                if body is not None:
                    self.questions.begin(call)
                deadline = self._deadline(seconds)
                while (got := frames.receive_body(self._sock, deadline, allowance)).startswith(QUESTION):
                    answer = self.questions.answer(_question(got))
                    frames.send(self._sock, {"answer": answer_bytes(answer)}, deadline)
                self._stopped = 0
                yield self._noted() or (self._too_much(call) if measured else None) or got
        except frames.Deadline:
            if len(calls) == 1:
                self._stopped, self._notebook.has_loop = self._stopped + 1, True
            elif self._notebook.has_loop:
                self._stopped = IN_A_ROW  # most likely it is the same loop
            yield self._lost(Why.TOO_SLOW, f"no answer after {seconds:g} second{'s' * (seconds != 1)}")
        except frames.Closed:
            yield self._lost_by(self._notebook.ending())
        except Gone:
            yield self._lost(Why.GONE, GONE_IN_CALL)
        except (frames.WireError, RecursionError, ValueError, KeyError, TypeError) as error:
            text = str(error) if isinstance(error, frames.WireError) else type(error).__name__
            yield self._lost(Why.UNREADABLE, text[:200])

    def _patience(self) -> float:
        """Seconds for a call: less once one was stopped, in any exercise, and least while one after the other is."""
        limits = self._notebook.limits
        if self._stopped >= IN_A_ROW:
            return min(limits.call_seconds_at_last, limits.call_seconds_again)
        return limits.call_seconds_again if self._notebook.has_loop else limits.call_seconds

    def _deadline(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._notebook._ends_at)

    def _noted(self) -> Failure | None:
        """A call of what is ready-made is known on this side, whatever the process says of it."""
        name = self.questions.forbidden
        return Failure(Kind.FORBIDDEN, name) if name else None

    def _too_much(self, call: Call) -> Failure | None:
        """What is said of a call that held more than it may, by the kernel's count."""
        grown = self._notebook.grown()
        return Failure(Kind.MEMORY, str(grown)) if grown > (call.memory or 0) else None

    def _lost_by(self, ending: Ending) -> Failure | NoAnswer:
        if not ending.is_students:
            raise EndedFromOutside(str(ending))
        return self._lost(Why.OVER_LIMIT, ending.limit) if ending.limit else self._lost(Why.GONE, GONE_IN_CALL)

    def _lost(self, why: Why, text: str) -> Failure | NoAnswer:
        self.close()
        return self._noted() or NoAnswer(why, text)


def is_measured(call: Call) -> bool:
    """Is its memory counted by the kernel, too? Such a call is made alone."""
    return call.memory is not None and call.memory >= MEASURED


def read(got: bytes | Answer) -> Answer:
    """The answer in what came back."""
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
