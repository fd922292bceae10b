"""The calls of one exercise, made in a process in the sandbox: many at once, or one alone."""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from autograder.errors import MachineError
from autograder.judge.clock import CpuSpent, TimeLimit
from autograder.testing.callbacks import Questions
from autograder.testing.local import CallsHere
from cellcage.protocol import frames
from cellcage.protocol.calls import (
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
from cellcage.protocol.ending import Ending
from cellcage.protocol.messages import Calls

if TYPE_CHECKING:
    from autograder.judge.notebook import Notebook

ATTEMPTS = 2  # what is lost, and not through the student's code, is done once more
# Bytes from which on the kernel counts a call's memory, too. Below this its count says little: it includes pages of the
# libraries' own code, which count as soon as they are used.
MEASURED = 16 * 2**20
ON_ITS_WAY = 5.0  # seconds for the rest of a message that has begun; 32 MiB take milliseconds of CPU time
MAX_STOPPED = 2  # stopped calls of an exercise, after which each one gets very little time
USED_UP = "the whole notebook had used up its time before this call"
GONE_IN_CALL = "the Python process ended during the call"
# How a question begins: a map of one pair whose key is this word.
QUESTION = frames.body({"question": None})[:-1]
# The same for a failure among the answers.
FAILURE = frames.body({"failure": None})[:-1]
Unread = bytes | Failure | NoAnswer  # an answer before it is decoded, see `read`


class Gone(Exception):
    """The notebook's process ends before an exercise can start."""


class ProcessLost(Exception):
    """A process ended, and the student's code did not end it; the text says what is known."""


class Waited(Exception):
    """A call was stopped without having used up its CPU time: it was idle for as long, or the clock ran out."""


class SandboxedCalls:
    """The calls of one exercise, in one process in the sandbox as long as that lives."""

    def __init__(
        self, notebook: Notebook, questions: Questions, name: str = "", ready_made: Sequence[str] = ()
    ) -> None:
        self.questions = questions
        self.cells: Sequence[str] | None = notebook.cells
        self._notebook, self._name, self._ready_made = notebook, name, tuple(ready_made)
        self._sock: socket.socket | None = None
        # Calls that were stopped for their time. No mark depends on those of no exercise, so they get little at once.
        self._stopped = 1 if not name or name in notebook.looping else 0
        self._waits = False  # a call was stopped by the clock twice: the code waits for something by itself

    def close(self) -> None:
        """Close the connection; the process ends, at the latest when the next exercise begins."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def ask(self, calls: Sequence[tuple[Call, bytes | None]], closely: Collection[int] = ()) -> Iterator[Unread]:
        """An undecoded answer to each of `calls`, in order (see `read`). It ends with the first `NoAnswer`.

        Each call comes with its bytes, or None if they are to be made here. `closely` has the numbers of those that are
        watched closely, see `ready_made.Watch`. A call that was stopped by the clock, and
        had not used up its CPU time, is made once more by itself: the machine may have been busy. Raises `MachineError`
        if the process is lost twice and the student's code did not end it: then the submission gets no mark, rather
        than a lower one.
        """
        left, times_lost, waited = [(*one, number in closely) for number, one in enumerate(calls)], 0, False
        while left and self._notebook.machine_failed is None:
            try:
                for answer in self._ask(left[:1] if waited else list(left)):
                    del left[:1]
                    waited = False
                    yield answer
                    if isinstance(answer, NoAnswer):
                        return
            except Waited as error:
                self.close()
                if waited or self._waits or not self._notebook.has_time:
                    self._waits = True
                    self._stopped += 1
                    if self._name:
                        self._notebook.looping.add(self._name)
                    yield self._lost(Why.WAITED, str(error))
                    return
                waited = True
            except ProcessLost as error:
                self.close()
                times_lost += 1
                if times_lost == ATTEMPTS:
                    why = f"the process of an exercise ended during a call, twice: {error}"
                    self._notebook.machine_failed = MachineError(why)
            except (MachineError, frames.Exhausted) as error:
                self._notebook.machine_failed = MachineError(str(error))
        if self._notebook.machine_failed is not None:
            raise self._notebook.machine_failed

    def _ask(self, calls: Sequence[tuple[Call, bytes | None, bool]]) -> Iterator[Unread]:
        """As `ask`, but without a second try. Raises `ProcessLost` and `Waited`."""
        if not calls:
            return
        if not self._notebook.has_time:
            yield self._lost(Why.TOO_SLOW, USED_UP)
            return
        notebook, allowance = self._notebook, self._notebook.allowance
        seconds, began = 0.0, time.monotonic()
        prepared = [self.questions.prepare(call) if body is None else call for call, body, _ in calls]
        packed = [body or call.as_bytes for call, (_, body, _) in zip(prepared, calls, strict=True)]
        closely = tuple(number for number, (_, _, close) in enumerate(calls) if close)
        try:
            if self._sock is None:
                self._sock = notebook.fork(self.questions, self._ready_made)
            measured = len(calls) == 1 and is_measured(calls[0][0])
            if measured:
                notebook.fresh.grown(begins=True)
            seconds, began = self._patience(), time.monotonic()
            limit = self._limit(seconds)
            frames.send(self._sock, Calls(len(packed), closely=closely), limit.ends_at, packed)
            for call, body, _ in calls:
                if body is not None:
                    self.questions.begin(call)
                computed = 0.0
                while (got := self._receive(limit, allowance)).startswith(QUESTION):
                    computed += self._answer(got, limit)
                    if computed > seconds:
                        raise CpuSpent
                notebook.slowest = max(notebook.slowest, time.monotonic() - began)
                yield (self._too_much_memory(call) if measured else None) or got
                seconds, began = self._patience(), time.monotonic()
                limit = self._limit(seconds)
        except CpuSpent:
            self._stopped += 1
            if self._name:
                notebook.looping.add(self._name)
            yield self._lost(Why.TOO_SLOW, f"no answer after {seconds:g} second{'s' * (seconds != 1)} of computing")
        except frames.Deadline:
            passed = f"{time.monotonic() - began:.2g}"
            raise Waited(f"no answer after {passed} second{'s' * (passed != '1')}") from None
        except frames.Closed:
            yield self._lost_by(self._notebook.ending())
        except Gone:
            yield self._lost(Why.GONE, GONE_IN_CALL)
        except (frames.WireError, RecursionError, ValueError, KeyError, TypeError) as error:
            text = str(error) if isinstance(error, frames.WireError) else type(error).__name__
            yield self._lost(Why.UNREADABLE, text[:200])

    def _patience(self) -> float:
        """CPU seconds for a call: fewer once a call of this exercise was stopped, fewest after a second one.

        Never fewer than twice what the slowest answered call took: it may have imported a library, which a call in the
        next process has to do again.
        """
        limits = self._notebook.limits
        if not self._stopped:
            return limits.call_seconds
        less = limits.call_seconds_at_last if self._stopped >= MAX_STOPPED else limits.call_seconds_again
        return min(max(less, 2 * self._notebook.slowest), limits.call_seconds)

    def _limit(self, seconds: float) -> TimeLimit:
        notebook = self._notebook
        return notebook.clock.limit(seconds, notebook.limits.idle_seconds, notebook.on_the_clock(seconds))

    def _receive(self, limit: TimeLimit, allowance: frames.Allowance) -> bytes:
        assert self._sock is not None
        limit.wait(self._sock)
        return frames.receive_body(self._sock, min(limit.ends_at, time.monotonic() + ON_ITS_WAY), allowance)

    def _answer(self, question: bytes, limit: TimeLimit) -> float:
        """Answer a question to the reference. Returns the CPU seconds that it took, which count as the submission's."""
        assert self._sock is not None
        began = time.process_time()
        answer = answer_bytes(self.questions.answer(_question(question)))
        seconds = time.process_time() - began
        self._notebook.clock.others += seconds
        frames.send(self._sock, {"answer": answer}, limit.ends_at)
        return seconds

    def _too_much_memory(self, call: Call) -> Failure | None:
        """The failure of a call that held more memory than it may, as the kernel counts it."""
        grown = self._notebook.fresh.grown(begins=False)
        return Failure(Kind.MEMORY, str(grown)) if grown > (call.memory or 0) else None

    def _lost_by(self, ending: Ending) -> NoAnswer:
        if not ending.is_students:
            raise ProcessLost(str(ending))
        return self._lost(Why.OVER_LIMIT, ending.limit) if ending.limit else self._lost(Why.GONE, GONE_IN_CALL)

    def _lost(self, why: Why, text: str) -> NoAnswer:
        self.close()
        return NoAnswer(why, text)


ExerciseCalls = SandboxedCalls | CallsHere  # the calls of one exercise, in the sandbox or in this process


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
