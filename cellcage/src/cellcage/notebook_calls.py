"""Calls of a notebook's functions, made in a call process: many at once, or one by itself."""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import structs

from cellcage.clock import TimeLimit
from cellcage.errors import MachineError
from cellcage.protocol import frames
from cellcage.protocol.calls import (
    Answer,
    Call,
    Failure,
    Kind,
    NoAnswer,
    Reply,
    Why,
    answer_bytes,
    answer_of,
    call_of,
)  # fmt: skip
from cellcage.protocol.ending import ENDLESS
from cellcage.protocol.messages import BeginCalls, Calls, Proxy, Question, Watched

if TYPE_CHECKING:
    from cellcage.notebook import Notebook

ATTEMPTS = 2  # repeat a call once if it was lost and the notebook's code is not the cause
ON_ITS_WAY = 5.0  # seconds for the rest of a message that has begun; 32 MiB take milliseconds of CPU time
MAX_STOPPED = 2  # stopped calls of a group, after which each one gets very little time
USED_UP = "the whole notebook had used up its time before this call"
GONE_IN_CALL = "the Python process ended during the call"
# How a question begins: a map of one pair whose key is this word.
QUESTION = frames.body({"question": None})[:-1]
Unread = bytes | Failure | NoAnswer  # an answer before it is decoded, see `read`


class NoQuestions:
    """The questions that untrusted code may ask during a call: none. A subclass may answer some.

    Then untrusted code gets proxies in place of functions among the arguments.

    substituted: names of the notebook that this side answers for
    asked: the names about which a question got an answer
    """

    substituted: tuple[Proxy, ...] = ()
    asked: Collection[str] = ()

    def prepare(self, call: Call) -> Call:
        """Begin a call; returns it with handles in place of functions."""
        return call

    def begin(self, call: Call) -> None:
        """Begin a call that passes no functions."""

    def answer(self, question: Call) -> Reply | Failure:
        """The answer to a question. If it raises, the question is refused."""
        return Failure(Kind.REFUSED, "there is nothing to ask here", "RuntimeError")


@dataclass(frozen=True)
class FirstCells:
    """Cells of plain Python that run in a call process, one before each call, and limits of its own for that process.

    cells: if there are fewer than calls, the last one serves for the others, too
    seconds: of CPU time for each call. A call that is stopped is not made again, and does not count against the others
    memory: bytes for the process, with what the notebook's cells hold
    """

    cells: tuple[str, ...]
    seconds: float
    memory: int


@dataclass(frozen=True)
class Terms:
    """On which terms calls are made.

    questions: what the code may ask meanwhile; by default nothing
    group: what the calls belong to. If one of a group was stopped for its time, the others get less. Calls of no group
        get as little
    watch: what is noticed during the calls
    first_cells: cells that run in the call process before the calls
    """

    questions: NoQuestions = field(default_factory=NoQuestions)
    group: str = ""
    watch: Watched = field(default_factory=Watched)
    first_cells: FirstCells | None = None

    def message(self, left: int = 0) -> BeginCalls:
        """How a call process begins. left: after a loss, only the last of the calls, and their cells"""
        message = BeginCalls(self.questions.substituted, self.watch)
        if first := self.first_cells:
            return structs.replace(message, cells=first.cells[-left:], memory=first.memory)
        return message


class NotebookCalls:
    """Calls in one call process, as long as that lives. See `Notebook.begin`."""

    def __init__(self, notebook: Notebook, terms: Terms) -> None:
        self.terms, self.questions, self._first_cells = terms, terms.questions, terms.first_cells
        self.cells: Sequence[str] | None = notebook.cells
        self._notebook, self._group = notebook, terms.group
        self._sock: socket.socket | None = None
        # Calls that were stopped for their time.
        self._stopped = 1 if not terms.group or terms.group in notebook.looping else 0
        limits = notebook.limits
        self._most = limits.call_seconds + limits.import_seconds
        self._allowance = frames.Allowance(limits.reply, limits.reply) if terms.first_cells else notebook.allowance
        self._began = 0.0  # when the present call began, by `time.monotonic`
        self._waits = False  # a call was stopped by the clock twice: the code waits for something by itself

    def close(self) -> None:
        """Close the connection; the process ends, at the latest when the next call process begins."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def ask(self, calls: Sequence[tuple[Call, bytes | None]], closely: Collection[int] = ()) -> Iterator[Unread]:
        """An undecoded answer to each of `calls`, in order (see `read`). It ends with the first `NoAnswer`.

        Each call comes with its bytes, or None if they are to be made here. `closely` has the numbers of those that are
        watched closely. A call that was stopped by the clock, and had not used up its CPU time,
        is made once more by itself: the machine may have been busy. Raises `MachineError` if the process is lost twice
        and the notebook's own code did not end it.
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
            except frames.Deadline:
                passed = f"{time.monotonic() - self._began:.2g}"
                self.close()
                if waited or self._waits or self._first_cells or not self._notebook.has_time:
                    self._waits = True
                    self._loops()
                    yield self._lost(Why.WAITED, f"no answer after {passed} second{'s' * (passed != '1')}")
                    return
                waited = True
            except frames.Closed:
                ending = self._notebook.ending()
                if ending.is_own:
                    yield self._lost(Why.OVER_LIMIT if ending.limit else Why.GONE, ending.limit or GONE_IN_CALL)
                    return
                self.close()
                times_lost += 1
                if times_lost == ATTEMPTS:
                    why = f"the call process ended during a call, twice: {ending}"
                    self._notebook.machine_failed = MachineError(why)
            except MachineError as error:
                self._notebook.machine_failed = MachineError(str(error))
        if self._notebook.machine_failed is not None:
            raise self._notebook.machine_failed

    def _ask(self, calls: Sequence[tuple[Call, bytes | None, bool]]) -> Iterator[Unread]:
        """As `ask`, but without a second try. Raises `Closed`, and `Deadline` if the time on the clock is up."""
        if not calls:
            return
        if not self._notebook.has_time:
            yield self._lost(Why.TOO_SLOW, USED_UP)
            return
        notebook, allowance = self._notebook, self._allowance
        seconds = 0.0
        prepared = [self.questions.prepare(call) if body is None else call for call, body, _ in calls]
        packed = [body or call.as_bytes for call, (_, body, _) in zip(prepared, calls, strict=True)]
        closely, is_watched = tuple(number for number, (_, _, close) in enumerate(calls) if close), False
        try:
            self._sock = self._sock or self._notebook.fork(self.terms.message(len(calls)))
            if self._sock is None:
                yield self._lost(Why.GONE, GONE_IN_CALL)
                return
            measured = len(calls) == 1 and calls[0][0].is_alone
            if measured:
                notebook.process.used(measures=True)
            seconds, self._began = self._patience(), time.monotonic()
            limit = self._limit(seconds)
            frames.send(self._sock, Calls(len(packed), closely=closely), limit.ends_at, packed)
            for call, body, is_watched in calls:  # noqa: B007, see below
                if body is not None:
                    self.questions.begin(call)
                computed = 0.0
                while (got := self._receive(limit, allowance)).startswith(QUESTION):
                    computed += self._answer(got, limit)
                    if computed > min(seconds, notebook.limits.call_seconds):
                        raise frames.Deadline(computed=True)
                if self._first_cells is None:
                    notebook.slowest = max(notebook.slowest, time.monotonic() - self._began)
                yield (self._too_much_memory(call) if measured else None) or got
                seconds, self._began = self._patience(), time.monotonic()
                limit = self._limit(seconds)
        except (frames.Deadline, frames.Closed) as stop:
            if not self._has_computed_too_long(stop):
                raise
            if is_watched:  # it may only have been slow because of the watch, which at least doubles the time
                self._most = notebook.limits.call_seconds / 2
            else:
                self._loops()
            seconds = min(seconds, notebook.limits.call_seconds)
            yield self._lost(Why.TOO_SLOW, f"no answer after {seconds:g} second{'s' * (seconds != 1)} of computing")
        except frames.WireError as error:
            yield self._lost(Why.UNREADABLE, str(error)[:200])

    def _has_computed_too_long(self, stop: frames.Deadline | frames.Closed) -> bool:
        """Whether its time was used up, or the call process ended itself, see `Limits.call_seconds`."""
        if isinstance(stop, frames.Deadline):
            return stop.computed
        return self._notebook.ending().exit_code == ENDLESS

    def _loops(self) -> None:
        self._stopped += 1
        if self._group and self._first_cells is None:
            self._notebook.looping.add(self._group)

    def _patience(self) -> float:
        """CPU seconds for a call: fewer once a call of this group was stopped, fewest after a second one.

        Never fewer than twice what the slowest answered call took: it may have imported a library, which a call in the
        next process has to do again.
        """
        limits = self._notebook.limits
        if self._first_cells:
            return self._first_cells.seconds
        if not self._stopped:
            return self._most
        less = limits.call_seconds_at_last if self._stopped >= MAX_STOPPED else limits.call_seconds_again
        return min(max(less, 2 * self._notebook.slowest), self._most)

    def _limit(self, seconds: float) -> TimeLimit:
        notebook = self._notebook
        return notebook.clock.limit(seconds, notebook.limits.idle_seconds, notebook.on_the_clock(seconds))

    def _receive(self, limit: TimeLimit, allowance: frames.Allowance) -> bytes:
        assert self._sock is not None
        limit.wait(self._sock)
        return frames.receive_body(self._sock, min(limit.ends_at, time.monotonic() + ON_ITS_WAY), allowance)

    def _answer(self, question: bytes, limit: TimeLimit) -> float:
        """Answer a question. Returns the CPU seconds that it took, which count as the notebook's."""
        assert self._sock is not None
        began = time.process_time()
        call = call_of(frames.parse(question, Question, "a question").question)
        try:
            answer = answer_bytes(self.questions.answer(call))
        except Exception as error:  # on this side, so it is not the notebook's fault: the question has no answer
            refusal = Failure(Kind.REFUSED, f"cannot be answered ({type(error).__name__})", "RuntimeError")
            answer = answer_bytes(refusal)
        seconds = time.process_time() - began
        self._notebook.clock.besides += seconds
        frames.send(self._sock, {"answer": answer}, limit.ends_at)
        return seconds

    def _too_much_memory(self, call: Call) -> Failure | None:
        """The failure of a call that held more memory than it may, as the kernel counts it."""
        memory = self._notebook.process.used(measures=False).memory
        return Failure(Kind.MEMORY, str(memory)) if memory > (call.memory or 0) else None

    def _lost(self, why: Why, text: str) -> NoAnswer:
        self.close()
        return NoAnswer(why, text)


def read(got: Unread | Answer) -> Answer:
    """The decoded answer; `NoAnswer` if it cannot be decoded."""
    if not isinstance(got, bytes):
        return got
    try:
        return answer_of(got)
    except frames.WireError as error:
        return NoAnswer(Why.UNREADABLE, str(error)[:200])
