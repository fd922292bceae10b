"""A notebook in the sandbox, from outside: its cells run in order, with deadlines, and its functions can be called.

What comes back may be forged. It is read as plain data, with limits on its size, and nothing of it is run.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

import msgspec

from cellcage.cell_result import CellResult
from cellcage.clock import CpuClock, TimeLimit
from cellcage.errors import MachineError
from cellcage.limits import Limits
from cellcage.notebook_calls import ATTEMPTS, NotebookCalls, Terms, read
from cellcage.process import Process
from cellcage.protocol import frames, messages
from cellcage.protocol.calls import Call, Failure, NoAnswer, Reply, answer_of
from cellcage.protocol.ending import END_SECONDS, Ending

READY_SECONDS = 60.0  # a fork and its namespaces, on a busy machine; then it reads its files
FORK_SECONDS = 20.0  # a fork takes milliseconds, also on a busy machine; then the process that forks counts as lost
CUT = 100  # characters for the sentence that the rest was cut
OUT_OF_TIME = "it ran out of time and was stopped"
HOW_ENDED: dict[type[Exception], str] = {  # by what is raised here if a cell ends its process
    frames.Deadline: OUT_OF_TIME,
    frames.Closed: "it ended the Python process",
    frames.WireError: "what came back was not of the agreed form",
}
LOST = tuple(HOW_ENDED)

Result = TypeVar("Result")


class CallFailed(Exception):
    """A call gave no value. `answer` is a `Failure` or a `NoAnswer`; the text says what happened."""

    def __init__(self, answer: Failure | NoAnswer) -> None:
        kind = answer.error if isinstance(answer, Failure) else answer.why.value
        super().__init__(f"{kind}: {answer.text}")
        self.answer = answer


class Notebook:
    """A notebook, whose `cells` (source texts) are run in order, as far as they can be.

    A cell that ends its process, or that must be stopped by ending it, is skipped, and the others run again.

    process: opens a fresh one for the cells, and again when one was lost
    Raises `MachineError` if the machine could not run it.
    """

    shows = False  # whether results have pictures and tables, too

    def __init__(self, cells: Sequence[str], limits: Limits, process: Process) -> None:
        self.cells, self.limits, self.process = list(cells), limits, process
        self.ends_at = time.monotonic() + limits.total_clock_seconds
        self.clock = CpuClock(process.used)
        self._spent_before = 0.0  # by earlier processes
        self.allowance = frames.Allowance(limits.reply, limits.replies)
        self._skip: dict[int, CellResult] = {}
        self._times_lost = 0  # while a cell ran, and the notebook's code was not the cause
        self.machine_failed: MachineError | None = None  # in a call; the caller may have caught it
        self._is_open = False
        self._results: dict[int, CellResult] = {}
        self._place = len(self.cells)  # the process has the state before the cell of this number
        self._got_answers = False  # what questions were answered may lie in this process's scratch space
        self.looping = set[str]()  # groups of calls where a call used up its time
        self.slowest = 0.0  # seconds that the slowest answered call has taken
        self.renew()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The caller that opened the process ends it."""
        if self._is_open:
            self.process.sock.close()
            self._is_open = False

    @property
    def has_time(self) -> bool:
        """Whether the notebook has time left, as far as we know."""
        return time.monotonic() < self.ends_at and self.spent < self.limits.total_seconds

    @property
    def spent(self) -> float:
        """Seconds of CPU time and idle of all its processes, as far as they are known."""
        return self._spent_before + self.clock.spent

    def at(self, place: int | None) -> None:
        """Go to the state before the cell of this number, or to the final one; in the present process if that can."""
        place = len(self.cells) if place is None else place
        if not self._is_open or place < self._place or self._got_answers:
            self.renew(place)
        elif place > self._place:
            before, self._place = self._place, place
            if not self._run(self._chosen(range(before, place))):
                self.renew(place)

    def renew(self, place: int | None = None) -> None:
        """Run all cells in a fresh process, which shares nothing with the one before.

        A cell that ends its process, or that must be stopped by ending it, is skipped from then on.

        place: run the cells before this one only
        """
        self._place, self._got_answers = len(self.cells) if place is None else place, False
        while True:
            self.close()
            self.process.open()
            self._is_open = True
            self._spent_before += self.clock.spent
            self.clock = CpuClock(self.process.used)
            if self.process.files or self.process.own:
                files = messages.Files(dict(self.process.files), dict(self.process.own))
                with contextlib.suppress(frames.Closed, frames.Deadline):  # the wait below finds the same
                    frames.send(self.process.sock, files, time.monotonic() + READY_SECONDS)
            self._wait_until_ready()
            if self._before_cells() and self._run(self._chosen(range(self._place))):
                return

    def _before_cells(self) -> bool:
        """Called in a process that has run no cell. False if the process was lost."""
        return True

    def _chosen(self, numbers: Iterable[int]) -> list[int]:
        """Those of these cells that run in their places."""
        return list(numbers)

    @property
    def results(self) -> list[CellResult]:
        """What each cell gave; an empty result for a cell that has not run."""
        return [self._results.get(number, CellResult()) for number in range(len(self.cells))]

    def _ask(self, message: Any, until: float, form: type[Result], allowance: frames.Allowance | None = None) -> Result:
        """Send a message and receive the reply to it."""
        frames.send(self.process.sock, message, until)
        return frames.receive(self.process.sock, until, allowance or self.allowance, form=form)

    def _wait_until_ready(self) -> None:
        """Receive the first message, which is the sandbox's own. Later ones may come from untrusted code."""
        until = time.monotonic() + READY_SECONDS
        try:
            message = frames.receive(self.process.sock, until, self.allowance, form=messages.FirstOfChild)
        except (frames.Closed, frames.Deadline):
            raise MachineError("the sandbox did not begin") from None
        if isinstance(message, messages.Broken):
            raise MachineError(f"the sandbox could not be set up: {str(list(message.broken))[:300]}")

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The value that one of the notebook's functions gives, called in a process of its own.

        Arguments and values are plain Python values, NumPy arrays, and other registered types (`cellcage.values`).
        Raises `CallFailed` if the function raises, loops, or ends its process, and `MachineError`.
        """
        with contextlib.closing(self.begin(Terms(group=name))) as calls:
            answer = read(next(calls.ask([(Call(name, args, kwargs), None)])))
        if isinstance(answer, Reply):
            return answer.value
        raise CallFailed(answer)

    def begin(self, terms: Terms) -> NotebookCalls:
        """Begin calls in a call process: a fork of the notebook process, which has the present state."""
        return NotebookCalls(self, terms)

    def fork(self, message: messages.BeginCalls) -> socket.socket | None:
        """The socket of a new call process; None if cells end the notebook process first. Raises `MachineError`."""
        self._got_answers = self._got_answers or message.may_ask
        return self._ask_twice(lambda: self._fork(message))

    def _ask_twice(self, ask: Callable[[], Result]) -> Result | None:
        """The notebook process's answer; None if it is lost, runs the cells once more, and is lost again.

        Raises `MachineError` if its own code did not cause the second loss.
        """
        why = ""
        for _ in range(ATTEMPTS):
            if not self._is_open:
                self.renew(self._place)
            began = time.monotonic()
            try:
                return ask()
            except frames.Closed:
                ending = self.process.ended()
                why = "" if ending.is_own else str(ending)
            except MachineError as error:
                why = str(error)
            except (frames.Deadline, frames.WireError):
                why = ""
                self._spent_before += time.monotonic() - began  # or the next process could do the same, again and again
            self.close()
        if why:
            raise MachineError(f"the notebook's process did not go on, twice: {why}")
        return None

    def ending(self) -> Ending:
        """How the last call process ended, as its parent reports it, or how the parent itself ended.

        The parent has run untrusted code. In its favour it can only report that the machine was at fault.
        """
        if not self._is_open:
            return Ending()
        until = time.monotonic() + END_SECONDS + FORK_SECONDS
        try:
            ending = self._ask(messages.HowEnded(), until, Ending)
        except frames.Deadline:
            return Ending(running=True)  # it does not listen, as in a loop
        except (frames.Closed, frames.WireError):
            return self.process.ended()
        if ending.is_own:
            return ending
        return msgspec.structs.replace(ending, out_of_memory=self.process.ended(ends=False).out_of_memory)

    def _fork(self, message: messages.BeginCalls) -> socket.socket:
        outer, inner = frames.pair()
        until = time.monotonic() + FORK_SECONDS
        try:
            with inner:
                frames.send_with_descriptors(self.process.sock, message, [inner.fileno()], until)
            reply = frames.receive(outer, until, frames.Allowance(200, 200), form=messages.Begun)
            if reply.failed:
                raise MachineError(f"no process could be started ({reply.failed[:100]})")
            return outer
        except BaseException:
            outer.close()
            raise

    def _run(self, numbers: Sequence[int]) -> bool:
        """Run these cells in order. False if the process is lost; the cell that ended it is skipped from then on.

        Results of a cell's first run are kept: later there may be no time left for it.
        """
        began, results = time.monotonic(), dict[int, CellResult]()
        ran_out = False
        for number in numbers:
            if not self.has_time or self._cells_are_over(began):
                self._skip.setdefault(number, CellResult(stopped=OUT_OF_TIME, ran_out_of_time=True))
            if number not in self._skip:
                result = self._run_cell(number, self._seconds(number, ran_out))
                if isinstance(result, Exception):
                    self._skip_from_now(number, result)
                    return False
                results[number] = result
            else:
                results[number] = self._skip[number]
            ran_out = ran_out or results[number].ran_out_of_time
        self._results = results | self._results
        return True

    def _cells_are_over(self, began: float) -> bool:
        """Whether the cells have used up their time together."""
        if time.monotonic() - began <= self.limits.cells_seconds:
            return False
        self.clock.used()
        return self.clock.spent > self.limits.cells_seconds

    def _skip_from_now(self, number: int, stop: Exception) -> None:
        """Skip a cell that ended its process from now on.

        If the process ended for another reason, all cells run once more. Raises `MachineError` if that happens again.
        """
        ending = self.process.ended() if isinstance(stop, frames.Closed) else Ending(running=True)
        if ending.is_own:
            late = isinstance(stop, frames.Deadline) and not ending.limit
            self._skip[number] = CellResult(stopped=ending.limit or HOW_ENDED[type(stop)], ran_out_of_time=late)
            return
        self._times_lost += 1
        if self._times_lost >= ATTEMPTS:
            raise MachineError(f"the notebook's process ended while a cell ran, twice: {ending}")

    def _seconds(self, number: int, ran_out: bool) -> float:
        """Seconds for a cell: fewer if a cell before it, or the cell itself in an earlier run, ran out of time."""
        before, limits = self._results.get(number), self.limits
        return limits.cell_seconds_again if ran_out or (before and before.ran_out_of_time) else limits.cell_seconds

    def _run_cell(self, number: int, seconds: float) -> CellResult | Exception:
        """Run one cell; the exception if it ended its process, or could not be interrupted."""
        # The sandbox interrupts an ordinary loop one second earlier, and keeps what the cell had defined.
        limit = self.clock.limit(seconds + 1, seconds + 1, self.on_the_clock(seconds) + 1)
        try:
            return self._cell_result(number, self._asked(self._run_message(number, seconds), limit))
        except LOST as stop:
            return stop

    def on_the_clock(self, seconds: float) -> float:
        """Seconds on the clock after which code that may use so much CPU time is stopped, too."""
        return min(seconds * self.limits.clock_factor, max(0.0, self.ends_at - time.monotonic()))

    def _asked(self, message: messages.RunCell, limit: TimeLimit) -> messages.CellOutput:
        frames.send(self.process.sock, message, limit.ends_at)
        limit.wait(self.process.sock)
        return frames.receive(self.process.sock, limit.ends_at, self.allowance, form=messages.CellOutput)

    def _run_message(self, number: int, seconds: float) -> messages.RunCell:
        return messages.RunCell(self.cells[number], seconds, self.on_the_clock(seconds), shows=self.shows)

    def _cell_result(self, number: int, output: messages.CellOutput) -> CellResult:
        text = output.printed[: int(self.limits.printed_characters) + CUT]
        if not output.failure:
            return CellResult(text, rich=output.rich)
        failure = answer_of(output.failure)
        if not isinstance(failure, Failure):
            raise frames.WireError("not a failure")
        lines = tuple((one.function, one.number, one.text) for one in failure.lines)
        late = failure.error == "KeyboardInterrupt"
        return CellResult(text, failure.error, failure.text, lines, ran_out_of_time=late, rich=output.rich)
