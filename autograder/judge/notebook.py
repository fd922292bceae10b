"""A student's notebook in the sandbox, driven from this side: cells run in order, calls made, deadlines kept."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec
from msgspec import UnsetType

from autograder.errors import MachineError
from autograder.judge.display_cells import DisplayCell, last
from autograder.judge.exercise_calls import ATTEMPTS, EndedFromOutside, Gone, SandboxedCalls
from autograder.judge.self_checks import SelfChecks
from autograder.report import CellResult
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.protocol.calls import Failure, answer_of
from autograder.sandbox.protocol.ending import END_SECONDS, Ending, ending_in
from autograder.sandbox.sandboxed.lookups import MAX_USES
from autograder.sandbox.supervisor.shortage import short_of_something
from autograder.testing import forbidden
from autograder.testing.callbacks import Questions

READY_SECONDS = 60.0  # a fork and its namespaces, on a busy machine
FORK_SECONDS = 10.0  # a fork takes milliseconds; past this the state process is lost
CUT = 100  # characters that say that the rest was cut
OUT_OF_TIME = "it ran out of time and was stopped"

Found = TypeVar("Found")


class Fresh(Protocol):
    """Where state processes come from; each has namespaces of its own, and has run nobody's code."""

    def open(self) -> socket.socket:
        """The socket of a fresh one; ends the one before. Raises `MachineError`."""

    def ending(self, ends: bool = True) -> Ending:
        """How the one that was opened last has ended. With `ends` unset it may go on, and nobody waits for its end."""

    def grown(self, begins: bool) -> int:
        """How many bytes its processes have grown by at most, since this was last asked with `begins`."""


class Notebook:
    """One submission: its `cells` (source texts) have been run in order, or as far as that went.

    watched: parts of names of functions that are not to be called, see `perform`
    answered: ready-made functions that a self-check in a cell may compare with, see `ready_made.answered_in`
    showing: cells that only show something, by text; where they may, they run beside the others in a fork of their own,
        before any exercise is asked: what they show then holds nothing of what a hidden test passes
    shows: do they run at all?
    """

    def __init__(
        self,
        cells: Sequence[str],
        limits: Limits,
        fresh: Fresh,
        watched: Sequence[str] = (),
        answered: Mapping[str, forbidden.Answered] | None = None,
        showing: Mapping[str, DisplayCell] | None = None,
        shows: bool = False,
    ) -> None:
        self.cells, self.limits, self.watched = list(cells), limits, tuple(watched)
        self._fresh, self._showing, self._shows = fresh, showing or {}, shows
        self._ends_at = time.monotonic() + limits.submission_seconds
        self._allowance = frames.Allowance(limits.reply, limits.replies)
        self._skip: dict[int, CellResult] = {}
        self._self_checks = SelfChecks(answered or {})
        self._ended_from_outside = 0  # times that cells were lost so
        self.machine_failed: MachineError | None = None  # in a call; a suite may have caught it
        self._sock: socket.socket | None = None
        self._results: dict[int, CellResult] = {}
        self._last: frozenset[int] | None = None  # not known yet
        self.has_loop = False  # was a call of any exercise too slow?
        self.renew()

    def __enter__(self) -> Notebook:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; whoever opened it ends its processes."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    @short_of_something()
    def renew(self) -> None:
        """Run all cells in a fresh process; one that kills its process, or must be killed, is left out from then on.

        Nothing that was done before can be found from there.
        """
        while True:
            self.close()
            self._sock = self._fresh.open()
            self._wait_until_ready()
            if self._last is None and not self._find_last():
                continue
            waiting = self._last or frozenset()
            if self._run([n for n in range(len(self.cells)) if n not in waiting]) and self._show(sorted(waiting)):
                return

    @property
    def results(self) -> list[CellResult]:
        """What each cell gave; nothing of one that has not run."""
        return [self._results.get(number, CellResult()) for number in range(len(self.cells))]

    def _show(self, waiting: Sequence[int]) -> bool:
        """Run the cells that only show something, once, in a fork that is then gone. False if the process is lost."""
        if self._shows and waiting:
            assert self._sock is not None
            with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError):
                frames.send(self._sock, messages.Aside(), time.monotonic() + FORK_SECONDS)
                if not self._run(waiting):
                    return False
                self._shows, until = False, time.monotonic() + FORK_SECONDS
                frames.send(self._sock, messages.Back(), until)
                return frames.receive(self._sock, until, self._allowance, form=messages.Begun).begun
            return False
        return True

    def _find_last(self) -> bool:
        """Find which cells run last, in a process that has run none. If it is lost by the question, none waits."""
        self._last = frozenset()
        others = [source for source in self.cells if source not in self._showing]
        if len(others) == len(self.cells):
            return True
        looked_up = self._looked_up(others)
        if looked_up is not None:
            self._last = last(self.cells, self._showing, looked_up)
        return looked_up is not None

    def _looked_up(self, sources: Sequence[str]) -> set[str] | None:
        """Names that cells may look up; None if no answer came, and the process is of no more use."""
        assert self._sock is not None
        until = time.monotonic() + self.limits.cell_seconds
        with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError):
            frames.send(self._sock, messages.LookUp(tuple(sources)), until)
            return set(frames.receive(self._sock, until, self._allowance, form=messages.Names).names)
        return None

    def _wait_until_ready(self) -> None:
        """What is said before a cell has run is the kit's own; what is said later may be anybody's."""
        assert self._sock is not None
        try:
            said = frames.receive(
                self._sock, time.monotonic() + READY_SECONDS, self._allowance, form=messages.FirstOfChild
            )
        except (frames.Closed, frames.Deadline):
            raise MachineError("the sandbox did not begin") from None
        if isinstance(said, messages.Broken):
            raise MachineError(f"the sandbox could not be set up: {str(list(said.broken))[:300]}")

    def begin(self, questions: Questions) -> SandboxedCalls:
        """A process with the state after the cells, for the calls of one exercise."""
        return SandboxedCalls(self, questions)

    @short_of_something()
    def uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        """Names of the notebook's, or among `known`, that an exercise's code looks up; none if that cannot be told."""
        with contextlib.suppress(Gone):
            return self._again(lambda: self._uses(name, known))
        return frozenset()

    def _uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        assert self._sock is not None
        until = min(time.monotonic() + FORK_SECONDS, self._ends_at)
        frames.send(self._sock, messages.LookUses(name, tuple(known)), until)
        found = frames.receive(
            self._sock, until, frames.Allowance(MAX_USES * 100, MAX_USES * 100), form=messages.Uses
        ).uses
        if len(found) > MAX_USES:
            raise frames.WireError("not a list of names")
        return frozenset(word for word in found if isinstance(word, str))

    @short_of_something()
    def fork(self, questions: Questions) -> socket.socket:
        """A process for an exercise. Raises `Gone`, or `MachineError` if there is no room for one."""
        self._self_checks.was_asked = True
        return self._again(lambda: self._fork(questions))

    def _again(self, ask: Callable[[], Found]) -> Found:
        """What the state process gives; if it is lost, cells are run once more.

        Raises `Gone`, or `MachineError` if it was lost twice and the last time not by the student's doing.
        """
        why = ""
        for _ in range(ATTEMPTS):
            if self._sock is None:
                self.renew()
            try:
                return ask()
            except frames.Closed:
                ending = self._fresh.ending()
                why = "" if ending.is_students else str(ending)
            except EndedFromOutside as error:
                why = str(error)
            except (frames.Deadline, frames.WireError):
                why = ""
            self.close()
        if why:
            raise MachineError(f"the notebook's process did not go on, twice: {why}")
        raise Gone

    def ending(self) -> Ending:
        """How the process of the last exercise ended, as its parent says, or as its parent itself did.

        The parent has run student code. What it says in its favour is no more than that the machine was at fault, and
        then nothing is graded.
        """
        if self._sock is None:
            return Ending()
        try:
            until = time.monotonic() + END_SECONDS + FORK_SECONDS
            frames.send(self._sock, messages.HowExerciseEnded(), until)
            ending = ending_in(frames.receive(self._sock, until, self._allowance, form=messages.ExerciseEnded).ending)
        except frames.Deadline:
            return Ending(running=True)  # it does not listen, as in a loop
        except (frames.Closed, frames.WireError):
            return self._fresh.ending()
        if ending.is_students:
            return ending
        return msgspec.structs.replace(ending, out_of_memory=self._fresh.ending(ends=False).out_of_memory)

    def grown(self, begins: bool = False) -> int:
        """How many bytes more than where it began the processes have had, as the kernel counts them."""
        return self._fresh.grown(begins)

    def _fork(self, questions: Questions) -> socket.socket:
        assert self._sock is not None
        outer, inner = frames.pair()
        message = messages.Exercise(tuple(questions.substituted), self.watched)
        try:
            with inner:
                frames.send_with_descriptors(self._sock, message, [inner.fileno()], time.monotonic() + FORK_SECONDS)
            said = frames.receive(
                outer, time.monotonic() + FORK_SECONDS, frames.Allowance(200, 200), form=messages.Begun
            )
            if said.failed:
                raise EndedFromOutside(f"no process could be started ({said.failed[:100]})")
            if not said.begun:
                raise frames.WireError("it has not begun")
            return outer
        except BaseException:
            outer.close()
            raise

    def _run(self, numbers: Sequence[int]) -> bool:
        """Run these cells in order. False if the process is lost; the cell that took it along is left out from then on.

        What cells gave the first time stays: later there may be no time left for them.
        """
        limits = self.limits
        cells_end = time.monotonic() + limits.cells_seconds
        results: dict[int, CellResult] = {}
        ran_out = False
        if self.watched:
            assert self._sock is not None
            with contextlib.suppress(frames.Closed, frames.Deadline):  # the first cell meets it again
                frames.send(self._sock, messages.Without(self.watched), cells_end)
        for number in numbers:
            if time.monotonic() > self._ends_at:
                self._skip.setdefault(number, CellResult(stopped=OUT_OF_TIME, ran_out_of_time=True))
            if number not in self._skip:
                result = self._run_cell(number, self._seconds(number, ran_out), cells_end)
                if isinstance(result, Exception):
                    self._leave_out(number, result)
                    return False
                results[number] = result
            else:
                results[number] = self._skip[number]
            ran_out = ran_out or results[number].ran_out_of_time
        self._results = results | self._results
        return True

    def _leave_out(self, number: int, stop: Exception) -> None:
        """Leave a cell out from now on that took its process along.

        If it did not, all cells run once more. Raises `MachineError` if that happens again.
        """
        ending = self._fresh.ending() if isinstance(stop, frames.Closed) else Ending(running=True)
        if ending.is_students:
            late = isinstance(stop, frames.Deadline) and not ending.limit
            self._skip[number] = CellResult(stopped=ending.limit or _how(stop), ran_out_of_time=late)
            return
        self._ended_from_outside += 1
        if self._ended_from_outside >= ATTEMPTS:
            raise MachineError(f"the notebook's process ended while a cell ran, twice: {ending}")

    def _seconds(self, number: int, ran_out: bool) -> float:
        """How long a cell may take: less if one before it, or it itself when it ran before, ran out of time.

        A cell that waited to show something may well show what is known to be endless.
        """
        before, limits = self._results.get(number), self.limits
        if before is None and (self.has_loop or (ran_out and number in (self._last or ()))):
            return min(limits.call_seconds_again, limits.cell_seconds_again)
        return limits.cell_seconds_again if ran_out or (before and before.ran_out_of_time) else limits.cell_seconds

    def _run_cell(self, number: int, seconds: float, cells_end: float) -> CellResult | Exception:
        """Run one cell; the exception if it took its process along, or could not be interrupted."""
        assert self._sock is not None
        # One second more than the inner timer, which interrupts an honest loop and keeps what the cell had defined.
        deadline = min(cells_end, time.monotonic() + seconds + 1)
        try:
            frames.send(self._sock, self._order(number, seconds), deadline)
            while True:
                said = frames.receive(self._sock, deadline, self._allowance, form=messages.CellOutput)
                if isinstance(said.question, UnsetType):
                    return self._cell_result(number, said)
                frames.send(self._sock, messages.Answer(self._self_checks.answer(said.question)), deadline)
        except (frames.Closed, frames.Deadline, frames.WireError) as stop:
            return stop

    def _order(self, number: int, seconds: float) -> messages.RunCell:
        return messages.RunCell(self.cells[number], seconds)

    def _cell_result(self, number: int, said: messages.CellOutput) -> CellResult:
        text = said.printed[: int(self.limits.printed_characters) + CUT]
        if not said.failure:
            return CellResult(text)
        failure = answer_of(said.failure)
        if not isinstance(failure, Failure):
            raise frames.WireError("not a failure")
        lines = tuple((one.function, one.number, one.text) for one in failure.lines)
        return CellResult(
            text, failure.error, failure.text, lines, ran_out_of_time=failure.error == "KeyboardInterrupt"
        )


def _how(stop: Exception) -> str:
    """One sentence on how a cell ended its process."""
    if isinstance(stop, frames.Deadline):
        return OUT_OF_TIME
    if isinstance(stop, frames.Closed):
        return "it ended the Python process"
    return "what came back was not of the agreed form"
