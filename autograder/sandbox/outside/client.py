"""The trusted side: open a submission, run its cells, make calls, keep every deadline."""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.errors import MachineError
from autograder.judging import ready_made
from autograder.sandbox.limits import Limits
from autograder.sandbox.outside import cgroup, launch
from autograder.sandbox.protocol import wire

START_SECONDS = 60.0  # importing PyTorch on a busy machine
FORK_SECONDS = 10.0  # a fork takes milliseconds; past this the state process is lost
ATTEMPTS = 2  # a state process that was lost is made again once, by running the cells anew

OWN_PROCESSES = 8  # bubblewrap's, the warm process, the one that makes a submission's namespaces

CUT = 100  # characters that say that the rest was cut
MAX_QUESTIONS = 1000  # of a notebook's cells: self-checks against ready-made attention

OUT_OF_TIME = "it ran out of time and was stopped"

Answer = Callable[[dict[str, Any]], dict[str, Any]]  # a question of student code's in, the reply out


@dataclass(frozen=True)
class CellResult:
    """What running one cell gave: printed text, and the error as data, or why it was stopped."""

    printed: str = ""
    error: dict[str, Any] | None = None
    stopped: str | None = None

    @property
    def ran_out_of_time(self) -> bool:
        """Was it stopped, or interrupted, because it took too long?"""
        interrupted = self.error is not None and self.error["kind"] == "KeyboardInterrupt"
        return interrupted or self.stopped == OUT_OF_TIME


class Gone(Exception):
    """The process that served a call ended; the text says how."""


class TooSlow(Exception):
    """A call did not return in time."""


class BadMessage(Exception):
    """What came back was not of the agreed form."""


class Sandbox:
    """One warm process; opens submissions one after another.

    `kind` is "bubblewrap", "process" (limits only, for machines without bubblewrap) or "auto".
    Raises `MachineError` where "bubblewrap" is asked for and does not work.
    """

    def __init__(self, limits: Limits | None = None, kind: str = "auto") -> None:
        self.limits = limits or Limits()
        reason = launch.why_no_bubblewrap() if kind != "process" else "not asked for"
        if kind == "bubblewrap" and reason:
            raise MachineError(reason)
        self.isolated = reason is None
        self.warning = None if self.isolated or kind == "process" else reason
        self._ids = itertools.count(1)
        self._group: cgroup.ControlGroup | None = None
        self._held = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ready = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def open(self, cells: Sequence[str], limits: Limits | None = None, watch: bool = True) -> Submission:
        """A submission whose `cells` (source texts) have been run in order, or where that failed, as far as it went.

        `limits` are the sandbox's own where not given. With `watch`, ready-made convolution is noticed, too: every
        call of PyTorch's is looked at, which costs a quarter of its time. Ready-made attention is noticed always.
        """
        return Submission(self, list(cells), limits or self.limits, watch)

    def close(self) -> None:
        """End the warm process and all below it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr:
                self._process.stderr.close()
            self._process = None
        if self._group is not None:
            self._group.close()
            self._group = None

    def warm_up(self) -> None:
        """Begin to start the warm process, and do not wait for it."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._control, inside = socket.socketpair()
            self._group = cgroup.create()
            self._process = launch.start(inside, self.isolated, self._group)
            self._ready = False
            inside.close()

    def _start(self) -> socket.socket:
        self.warm_up()
        assert self._control is not None
        if not self._ready:
            try:
                wire.receive(self._control, time.monotonic() + START_SECONDS)
            except (wire.Closed, wire.Deadline):
                text = self._last_words()
                self.close()
                raise MachineError(f"the sandbox did not start: {text}") from None
            self._ready = True
            self._held = self._group.held() if self._group else 0
        return self._control

    def _last_words(self) -> str:
        stream = self._process.stderr if self._process else None
        if stream is None or not select.select([stream], [], [], 1)[0]:
            return "no message"
        return stream.read1(2000).decode(errors="replace").strip()[-500:] or "no message"  # type: ignore[attr-defined]

    def _open(self, limits: Limits, watch: bool) -> tuple[int, socket.socket]:
        for _ in range(ATTEMPTS):
            control = self._start()
            outer, inner = socket.socketpair()
            number = next(self._ids)
            message = {"op": "open", "id": number, "limits": self._within(limits).to_dict(), "watch": watch}
            try:
                with inner:
                    wire.send_with_descriptor(control, message, inner, time.monotonic() + FORK_SECONDS)
                return number, outer
            except (wire.Closed, wire.Deadline):
                outer.close()
                self.close()
        raise MachineError("the sandbox's warm process ends again and again; is the machine out of memory?")

    def _within(self, limits: Limits) -> Limits:
        """Limits of the whole, put on the control group; where there is none, fewer processes."""
        if self._group is None:
            return replace(limits, processes=min(limits.processes, limits.processes_uncounted))
        # One process meets its own limit first, and a MemoryError says more than a process that is gone.
        memory = self._held + limits.memory + 2 * limits.scratch
        self._group.limit(memory, limits.processes + OWN_PROCESSES)
        return limits

    def _end(self, number: int) -> None:
        if self._control is None:
            return
        try:
            wire.send(self._control, {"op": "close", "id": number}, time.monotonic() + FORK_SECONDS)
            wire.receive(self._control, time.monotonic() + FORK_SECONDS)
        except (wire.Closed, wire.Deadline, wire.WireError):
            self.close()


@dataclass
class Submission:
    """One student's notebook inside the sandbox."""

    sandbox: Sandbox
    cells: list[str]
    limits: Limits
    watch: bool = True
    results: list[CellResult] = field(init=False)
    _number: int | None = field(init=False, default=None)
    _sock: socket.socket | None = field(init=False, default=None)
    _skip: dict[int, CellResult] = field(init=False, default_factory=dict)
    _questions: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._ends_at = time.monotonic() + self.limits.submission_seconds
        self._allowance = wire.Allowance(self.limits.reply, self.limits.replies)
        self.results = self._run_cells()

    def __enter__(self) -> Submission:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process of this submission; its scratch space goes with them."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._number is not None:
            self.sandbox._end(self._number)
            self._number = None

    def test(self) -> TestProcess:
        """A fresh process that has the state after the cells, for the calls of one test."""
        for _ in range(ATTEMPTS):
            if self._sock is None:
                self._run_cells()
            with contextlib.suppress(wire.Closed, wire.Deadline, wire.WireError):
                return TestProcess(self._fork(), self.limits, self._ends_at, self._allowance)
            self.close()
        raise Gone("the notebook's process ends before the test can start")

    def _fork(self) -> socket.socket:
        assert self._sock is not None
        outer, inner = socket.socketpair()
        try:
            with inner:
                wire.send_with_descriptor(self._sock, {"op": "test"}, inner, time.monotonic() + FORK_SECONDS)
            wire.receive(outer, time.monotonic() + FORK_SECONDS, wire.Allowance(100, 100))
        except BaseException:
            outer.close()
            raise
        return outer

    def _run_cells(self) -> list[CellResult]:
        """Run all cells; one that kills its process, or must be killed, is left out and the rest run anew."""
        while True:
            self.close()
            self._number, self._sock = self.sandbox._open(self.limits, self.watch)
            results = self._attempt()
            if results is not None:
                return results

    def _attempt(self) -> list[CellResult] | None:
        assert self._sock is not None
        limits = self.limits
        cells_end = time.monotonic() + limits.cells_seconds
        results: list[CellResult] = []
        seconds = limits.cell_seconds
        for number, source in enumerate(self.cells):
            if time.monotonic() > self._ends_at:
                self._skip.setdefault(number, CellResult(stopped=OUT_OF_TIME))
            if number not in self._skip:
                result = self._run_cell(source, seconds, cells_end)
                if isinstance(result, Exception):
                    self._skip[number] = CellResult(stopped=_how(result))
                    return None
                results.append(result)
            else:
                results.append(self._skip[number])
            if results[-1].ran_out_of_time:
                seconds = limits.cell_seconds_again
        return results

    def _run_cell(self, source: str, seconds: float, cells_end: float) -> CellResult | Exception:
        """Run one cell; the exception where it took its process along, or could not be interrupted."""
        assert self._sock is not None
        # One second more than the inner timer, which interrupts an honest loop and keeps what the cell had defined.
        deadline = min(cells_end, time.monotonic() + seconds + 1)
        try:
            wire.send(self._sock, {"op": "cell", "source": source, "seconds": seconds}, deadline)
            while "question" in (reply := wire.receive(self._sock, deadline, self._allowance)):
                wire.send(self._sock, self._answer(reply["question"]), deadline)
        except (wire.Closed, wire.Deadline, wire.WireError, BadMessage) as stop:
            return stop
        if "broken" in reply:
            raise MachineError(f"the sandbox could not be set up: {str(reply['broken'])[:300]}")
        printed = reply.get("printed")
        text = printed[: self.limits.printed_characters + CUT] if isinstance(printed, str) else ""
        return CellResult(text, _error(reply["error"]) if "error" in reply else None)

    def _answer(self, question: Any) -> dict[str, Any]:
        """The reply to a cell's question, of which only a few are answered."""
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            raise wire.WireError("too many questions")
        with _in_words(0):
            return _answered(question, ready_made.answer)


def _how(stop: Exception) -> str:
    """One sentence on how a cell or call ended its process."""
    if isinstance(stop, wire.Deadline):
        return OUT_OF_TIME
    if isinstance(stop, wire.Closed):
        return "it ended the Python process"
    return "what came back was not of the agreed form"


class TestProcess:
    """Makes calls in a forked process, each with its deadline."""

    __test__ = False  # not a test class of pytest's

    def __init__(self, sock: socket.socket, limits: Limits, ends_at: float, allowance: wire.Allowance) -> None:
        self._sock = sock
        self._limits = limits
        self._ends_at = ends_at
        self._allowance = allowance

    def close(self) -> None:
        """Hang up; the process ends, or is ended with the next test."""
        self._sock.close()

    def request(self, request: dict[str, Any], answer: Answer | None = None, seconds: float | None = None) -> bytes:
        """The reply to `request` (see `perform`) within `seconds`, by default the limit of a call; see `read_reply`.

        Raises `TooSlow`, `Gone` or `BadMessage`; the process is of no use after that.
        """
        seconds = self._limits.call_seconds if seconds is None else seconds
        deadline = min(time.monotonic() + seconds, self._ends_at)
        with _in_words(seconds):
            wire.send(self._sock, {key: wire.encode(value) for key, value in request.items()}, deadline)
            while True:
                body = wire.receive_body(self._sock, deadline, self._allowance)
                if not body.startswith(QUESTION):
                    return body
                wire.send(self._sock, _answered(wire.parse(body)["question"], answer), deadline)

    def stream(self, groups: Sequence[Sequence[bytes]], answer: Answer | None = None) -> Iterator[bytes]:
        """Replies to groups of encoded requests, in order. Raises as `request` does.

        Where a request takes its process along, replies to others of its group may be lost, too.
        """
        seconds = self._limits.foreseen_seconds
        with _in_words(seconds):
            message = {"stream": [list(group) for group in groups]}
            wire.send(self._sock, message, min(time.monotonic() + seconds, self._ends_at))
            for _ in itertools.chain.from_iterable(groups):
                deadline = min(time.monotonic() + seconds, self._ends_at)
                while (body := wire.receive_body(self._sock, deadline, self._allowance)).startswith(QUESTION):
                    wire.send(self._sock, _answered(wire.parse(body)["question"], answer), deadline)
                yield body


# A map of one pair whose key is this word: how a question begins.
QUESTION = wire.body({"question": None})[:-1]


def read_reply(body: bytes) -> dict[str, Any]:
    """The reply in `body`; raises `BadMessage` where there is none."""
    with _in_words(0):
        reply = {key: wire.decode(value) for key, value in wire.parse(body).items()}
        return reply | {"error": _error(reply["error"])} if "error" in reply else reply


@contextlib.contextmanager
def _in_words(seconds: float) -> Iterator[None]:
    """What went wrong, as what it means; whatever reading a message stumbles over is the message's fault."""
    try:
        yield
    except wire.Deadline:
        raise TooSlow(f"no answer after {seconds:g} seconds") from None
    except wire.Closed:
        raise Gone("the Python process ended during the call") from None
    except (wire.WireError, RecursionError, ValueError, KeyError, TypeError) as error:
        raise BadMessage(str(error)) from None


def _answered(question: Any, answer: Answer | None) -> dict[str, Any]:
    """The reply to a question of student code's, as it crosses the wall."""
    if answer is None or not isinstance(question, dict):
        raise wire.WireError("a question that was not invited")
    reply = answer({key: wire.decode(value) for key, value in question.items()})
    return {key: wire.encode(value) for key, value in reply.items()}


def _error(data: Any) -> dict[str, Any]:
    """An error as text; whatever a student's process says here is shown, never acted on."""
    data = data if isinstance(data, dict) else {}
    lines = data.get("lines")
    triples = (
        [line for line in lines if isinstance(line, list | tuple) and len(line) == 3]
        if isinstance(lines, list | tuple)
        else []
    )
    return {
        "kind": str(data.get("kind", "Exception"))[:40],
        "text": str(data.get("text", ""))[:400],
        "lines": [
            (str(name)[:80], number if isinstance(number, int) else 0, str(text)[:160])
            for name, number, text in triples[:3]
        ],
    }
