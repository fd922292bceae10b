"""A child of the notebooks' fork server: it runs a notebook's cells once, then forks call processes.

    fork server    has imported NumPy, PyTorch and IPython; runs no untrusted code; forks on request (see `fork_server`)
     └ notebook process   first process of a private pid namespace, so that all below it end with it; runs the cells
        └ call process   answers calls, then ends

What untrusted code prints goes to a bounded buffer; what it writes to descriptors 1 and 2 is dropped. `system_calls`
sets the limits of a notebook, `shell` what it starts with.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import msgspec
import numpy as np

from cellcage.backends.base import Confined, Untrusted
from cellcage.calling.around_call import Bounded
from cellcage.calling.lookups import MAX_USES, looked_up, names_used
from cellcage.calling.perform import Performer, describe
from cellcage.calling.ready_made import watched_test
from cellcage.child import silence
from cellcage.errors import MachineError
from cellcage.inside.processes import counts_delays, seconds_delayed
from cellcage.inside.shell import (
    TEST_CELL,
    Shown,
    collected,
    import_from_folder,
    line_of,
    parsed_test,
    prepared_shell,
    run_cell,
    run_test,
    stand_in,
    write_files,
)
from cellcage.limits import Limits
from cellcage.linux import seccomp, system_calls
from cellcage.protocol import frames, messages
from cellcage.protocol.calls import Call, Failure, Reply, answer_bytes, answer_of, call_of, sendable
from cellcage.protocol.ending import ENDLESS, MACHINE_SHORT, Ending, ending_of
from cellcage.values.value_type import by_tag

FORK_SECONDS = 3.0  # the time of a call: so long another notebook may take up this user's processes
AGAIN_SECONDS = 0.1  # between two looks at whether a long call still imports something
IMPORTS = "<frozen importlib._bootstrap>"  # the file of Python's import system
LOOK_SECONDS = 0.5  # between two looks at whether a cell is idle
COLLECT = 20_000, 10, 10  # thresholds of the garbage collector, which copies shared pages; Python's first is 700


class Notebooks:
    """What the notebooks' fork server prepares for its notebooks: the shell that cells run in, and its setting."""

    shell: Any
    setting: messages.Setting

    def warm_up(self, setting: Mapping[str, object]) -> None:
        """Import once what every notebook needs, and make the shell."""
        self.setting = msgspec.convert(setting, messages.Setting)
        self.shell = prepared_shell(self.setting)
        frames.make_readers(messages.ToNotebook, messages.Calls, messages.AnswerMessage)
        by_tag()
        # What reads calls and writes answers is built at its first use: do that here, once for all forks.
        first = call_of(Call("first", [np.zeros(1)]).as_bytes)
        begun_by = messages.BeginCalls(watch=messages.Watched(("first",)))
        with Performer({"first": np.copy}, begun_by=begun_by) as performer:
            answer_bytes(performer.perform(first, closely=True))

    def prepare(self, needed: object) -> None:
        """A notebook process needs nothing more."""

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Confined) -> None:
        """Run cells and fork call processes on request."""
        assert isinstance(sandbox, Untrusted)
        _State(self, sock, limits, sandbox).serve()


class _State:
    """Runs the cells once, then forks call processes."""

    def __init__(self, prepared: Notebooks, sock: socket.socket, limits: Limits, sandbox: Untrusted) -> None:
        self.setting, self.shell, self.sock = prepared.setting, prepared.shell, sock
        self.call_process, self.limits = sandbox.call_process(), limits
        self.printed = Bounded(int(limits.printed_characters))

    def serve(self) -> None:
        silence()
        gc.set_threshold(*COLLECT)
        sys.stdout = sys.stderr = self.printed  # type: ignore[assignment]
        sys.stdin = io.StringIO()
        for name, values in self.setting.stand_ins.items():
            sys.modules[name] = stand_in(name, values)
        import_from_folder()
        frames.send(self.sock, messages.Ready())
        while True:
            message, descriptors = frames.receive_with_descriptors(self.sock, messages.ToNotebook)
            self._do(message, descriptors)

    def _do(self, message: messages.ToNotebook, descriptors: list[int]) -> None:
        match message:
            case messages.Files():
                write_files(message.files, message.own)
            case messages.LookUp():
                frames.send(self.sock, messages.Names(tuple(looked_up(message.sources))))
            case messages.LookUses():
                # From what a function's code looks up, the client knows which other names matter there.
                found = names_used(self.shell.user_ns, message.name, message.known)
                frames.send(self.sock, messages.Names(tuple(sorted(found)[:MAX_USES])))
            case messages.RunCell():
                frames.send(self.sock, self._run_cell(message))
            case messages.BeginCalls():
                if not descriptors:  # one was sent, but the cells have opened as many files as they may
                    raise MemoryError
                self._begin_calls(descriptors[0], message)
            case messages.HowEnded():
                ending = ending_of(self.call_process.pid) if self.call_process.pid else Ending()
                frames.send(self.sock, ending)

    def _run_cell(self, cell: messages.RunCell) -> messages.CellOutput:
        """Run one cell as a notebook would. An endless loop in Python is interrupted."""
        self.printed.clear()
        error: BaseException | None = None
        shown, warned, rich, noticed = "", False, Shown(), list[str]()
        signal.signal(signal.SIGPROF, _interrupt)
        signal.setitimer(signal.ITIMER_PROF, cell.seconds)
        signal.signal(signal.SIGALRM, _IdleAlarm(cell))
        signal.setitimer(signal.ITIMER_REAL, cell.seconds, LOOK_SECONDS)
        try:
            if cell.nonce:
                tree = parsed_test(self.shell, cell.source)
                with watched_test(cell.watch, self.shell.user_ns, TEST_CELL, tree) as noticed:
                    shown, warned = run_test(self.shell, cell.source, tree)
            elif cell.shows:
                with collected(self.shell) as output:
                    rich = output.found
                    run_cell(self.shell, cell.source)
            else:
                run_cell(self.shell, cell.source)
        except BaseException as raised:
            error = raised
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        failure = b"" if error is None else answer_bytes(describe(error, self.shell.user_ns))
        if cell.nonce:
            return messages.CellOutput(
                failure=failure,
                nonce=cell.nonce,
                shown=shown,
                line=line_of(error),
                warned=warned,
                noticed=noticed[0] if noticed else "",
            )
        return messages.CellOutput(printed=self.printed.getvalue(), failure=failure, rich=tuple(rich))

    def _begin_calls(self, descriptor: int, message: messages.BeginCalls) -> None:
        """End the previous call process and all that it started, and fork the next."""
        self.call_process.end()
        try:
            pid = self._fork()
        except OSError as error:
            with contextlib.suppress(frames.Closed):
                frames.send(socket.socket(fileno=descriptor), messages.Begun(failed=str(error)))
            return
        if pid:
            os.close(descriptor)
            return
        code = 1
        try:
            system_calls.die_with_parent()  # without a pid namespace, nothing else ends an endless loop
            self.call_process.in_child()
            seccomp.keep_from_ending_itself()
            self.sock.close()
            _CallProcess(self.shell, socket.socket(fileno=descriptor), self.printed, message, self.limits).serve()
            code = 0
        except (OSError, MachineError):
            code = MACHINE_SHORT
        finally:
            os._exit(code)

    def _fork(self) -> int:
        """Raises `OSError` if no process can be forked, even after those that cells have left behind are ended."""
        until = time.monotonic() + FORK_SECONDS
        while True:
            try:
                return self.call_process.fork()
            except OSError:
                # Cells may have started as many as a notebook may have. Other notebooks' processes end soon.
                if time.monotonic() > until:
                    raise
                self.call_process.make_room()
                time.sleep(0.05)


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt("the cell ran out of time")


def _end_unless_importing(signum: int, frame: FrameType | None) -> None:
    """End this process, whose call is most likely endless. Code that changes this only gets the time for imports."""
    if not any(inner.f_code.co_filename == IMPORTS for inner, _ in traceback.walk_stack(frame)):
        os._exit(ENDLESS)


class _IdleAlarm:
    """Interrupts a cell that sleeps or waits for too long, but not one that other programs keep from computing."""

    def __init__(self, cell: messages.RunCell) -> None:
        self._cell, self._began, self._active = cell, time.monotonic(), _active_seconds()

    def __call__(self, signum: int, frame: Any) -> None:
        passed, active = time.monotonic() - self._began, _active_seconds()
        idle = 0.0 if active is None or self._active is None else passed - (active - self._active)
        if idle >= self._cell.seconds or passed >= self._cell.clock_seconds:
            _interrupt(signum, frame)


def _active_seconds() -> float | None:
    """Seconds that this process has computed or waited for a processor; None if the kernel does not count both."""
    return time.process_time() + seconds_delayed("self") if counts_delays() else None


@dataclass
class _CallProcess:
    """Answers calls."""

    shell: Any
    sock: socket.socket
    printed: Bounded
    begun_by: messages.BeginCalls
    limits: Limits
    _failure: Failure | None = None

    def serve(self) -> None:
        gc.freeze()  # the objects that cells have made are not collected
        self.printed.clear()
        sys.stderr = Bounded(0)  # type: ignore[assignment]
        frames.send(self.sock, messages.Begun())
        if self.begun_by.memory:
            system_calls.lower_memory(int(self.limits.memory) - self.begun_by.memory)
        ask = functools.partial(_ask, self.sock)
        with Performer(self.shell.user_ns, ask, self.begun_by) as performer, contextlib.suppress(frames.Closed):
            self._cells, self._names = iter(self.begun_by.cells), dict(self.shell.user_ns)
            while True:
                request = frames.receive(self.sock, form=messages.Calls)
                calls = [frames.receive_body(self.sock) for _ in range(request.calls)]
                self._answer(calls, performer, request.closely)
                if request.printed:
                    frames.send(self.sock, messages.CellOutput(self.printed.getvalue()))

    def _run(self, cell: str) -> Failure | None:
        """Run a cell of plain Python in the names that there were at the beginning. Returns its failure.

        It shows nothing, so it is compiled in one go, in half of the time that `run_cell` takes.
        """
        self.shell.user_ns.clear()
        self.shell.user_ns.update(self._names)
        try:
            with self.shell.builtin_trap:
                exec(compile(cell, "<first cell>", "exec", dont_inherit=True), self.shell.user_ns)  # noqa: S102
        except BaseException as error:
            return describe(error, self.shell.user_ns)
        return None

    def _answer(self, calls: Sequence[bytes], performer: Performer, closely: Sequence[int]) -> None:
        """Answer calls in order, each as soon as it is done, so that the other side knows which one is too slow."""
        signal.signal(signal.SIGPROF, _end_unless_importing)
        for number, body in enumerate(calls):
            call = call_of(body)
            if call.memory is not None:
                system_calls.give_freed_blocks_back()
            if (cell := next(self._cells, None)) is not None:
                self._failure = self._run(cell)
            signal.setitimer(signal.ITIMER_PROF, self.limits.call_seconds, AGAIN_SECONDS)
            answer = self._failure or performer.perform(call, number in closely)
            signal.setitimer(signal.ITIMER_PROF, 0)
            frames.send_all(self.sock, frames.framed(sendable(answer)))


def _ask(sock: socket.socket, question: Call) -> Reply | Failure:
    """Send a question from untrusted code to the other side. Returns the answer."""
    frames.send(sock, messages.Question(question.as_bytes))
    return answer_of(frames.receive(sock, form=messages.AnswerMessage).answer)
