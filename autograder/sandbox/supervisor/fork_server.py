"""A fork server, from the supervisor's side: start it, open children, end it. It reads nothing that a child writes."""

from __future__ import annotations

import contextlib
import itertools
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from autograder.errors import MachineError
from autograder.sandbox.backends import Backend
from autograder.sandbox.backends.places import shown_with
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.ending import Ending
from autograder.sandbox.protocol.messages import (
    Close,
    Closed,
    Ended,
    FromServer,
    Grown,
    HowEnded,
    Measure,
    Open,
    Preparation,
    Ready,
)
from autograder.sandbox.supervisor import cgroup, launch
from autograder.sandbox.supervisor.shortage import short_of_something
from autograder.sandbox.supervisor.zygote import Zygote

START_SECONDS = 60.0  # importing PyTorch on a busy machine
FORK_SECONDS = 10.0  # a fork takes milliseconds; past this the fork server is lost
PREPARE_SECONDS = 90.0  # loading an assignment's suite and reference on a busy machine
ATTEMPTS = 2  # a fork server that was lost is started again once

OWN_PROCESSES = 4  # the fork server, and room for one that ends
LOST = (frames.Closed, frames.Deadline, frames.WireError, frames.Exhausted)  # it is ended, and the next one started

STUDENTS = "autograder.sandbox.sandboxed.notebook"
JUDGES = "autograder.judge.process"


def isolates(kind: str) -> tuple[Backend, str | None]:
    """Which backend does a sandbox of this kind have here; and what to warn of, if it could be more?

    kind: "bubblewrap", "landlock", "process" (limits only) or "auto", the best of them that works
    Raises `MachineError` if this is no Linux, if a sandbox is asked for by name and does not work, or if a limit that
    somebody has set for this process is too low for any submission.
    """
    if sys.platform != "linux":
        raise MachineError("notebooks are run on Linux alone, or in a container; in JupyterLab, check(...) works here")
    if too_low := launch.why_too_little():
        raise MachineError(too_low)
    return launch.chosen(kind)


def what_is_unsafe(kind: str, root: Path) -> str | None:
    """One sentence, if there is no sandbox, less of one, or the course is on its wrong side.

    Raises `MachineError` as `isolates` does.
    """
    chosen, reason = isolates(kind)
    if not chosen.isolates:
        reason = reason or "that is what was asked for"
        reason = f"student code runs in a process with limits, but without a sandbox: {reason}"
    elif place := shown_with(root):
        reason = f"student code can read the course, since it lies in {place}, with the libraries"
    return reason and f"{reason} (`autograder doctor` says what helps)"


class ForkServer:
    """A fork server of a zygote, forked when it is needed, and again if it was lost. Threads may share it.

    child: module of what it forks; setting: what that module is told, plain data
    judges: may it see the course? If not, it is for students' code, and limits hold for all of it together
    """

    def __init__(
        self, zygote: Zygote, child: str = STUDENTS, setting: Mapping[str, object] | None = None, judges: bool = False
    ) -> None:
        self._zygote, self._child_module, self._setting, self._judges = zygote, child, setting or {}, judges
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._number = 0
        self._control: socket.socket | None = None
        self._group: cgroup.ControlGroup | None = None
        self._ready = False
        self._ended = False
        self._held = 0
        self._ending = set[int]()  # children whose end was asked for and not yet told

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def warm_up(self) -> None:
        """Begin to start it, and do not wait for it."""
        with self._lock:
            if self._ended:
                raise MachineError("the run was ended")
            if self._control is None:
                self._group = None if self._judges else cgroup.create()
                try:
                    with self._group.entrances() if self._group else contextlib.nullcontext(()) as files:
                        self._number, self._control = self._zygote.server(
                            self._child_module, self._judges, self._setting, files
                        )
                except MachineError:
                    self.close()
                    raise
                self._ready = False

    def prepare(self, preparation: Preparation) -> None:
        """Tell it what the next children will need. If it cannot be started, whoever opens a child is told why."""
        with self._lock:
            try:
                frames.send(self._started(), preparation, time.monotonic() + PREPARE_SECONDS)
            except (*LOST, MachineError):
                self.close()

    @short_of_something()
    def open(self, limits: Limits, preparation: Preparation | None = None) -> Child:
        """A child of its own. Raises `MachineError` if no fork server can be started."""
        with self._lock:
            said = ""
            for _ in range(ATTEMPTS):
                try:
                    control = self._started()
                except frames.Closed as error:
                    said = f": {error}"
                    continue
                outer, inner = frames.pair()
                number = next(self._ids)
                killed = self._killed_for_memory()
                order = Open(number, self._within(limits), preparation)
                try:
                    with inner:
                        frames.send_with_descriptors(
                            control, order, [inner.fileno()], time.monotonic() + PREPARE_SECONDS
                        )
                    return Child(self, number, outer, killed)
                except frames.Exhausted:
                    outer.close()
                    raise
                except (frames.Closed, frames.Deadline):
                    outer.close()
                    self.close()
        raise MachineError(f"the sandbox ends again and again; is the machine out of memory?{said}")

    def end(self) -> None:
        """End it for good, at once: whoever waits for it in another thread is told that it is gone."""
        self._ended = True
        if (control := self._control) is not None:
            with contextlib.suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)
        self.close()

    def close(self) -> None:
        """End it and all below it; the next child starts another."""
        with self._lock:
            if self._control is not None:
                self._control.close()
                self._control = None
                self._ending.clear()
                self._zygote.end_server(self._number)
            if self._group is not None:
                self._group.close()
                self._group = None

    def _started(self) -> socket.socket:
        """The control socket of a ready fork server. Raises `Closed`, with its last words, if it has ended."""
        self.warm_up()
        assert self._control is not None
        if not self._ready:
            try:
                frames.receive(self._control, time.monotonic() + START_SECONDS, form=Ready)
            except (frames.Closed, frames.Deadline) as error:
                text = self._zygote.last_words()
                self.close()
                if isinstance(error, frames.Deadline):
                    raise MachineError(f"the sandbox did not start: {text}") from None
                raise frames.Closed(f"the sandbox did not start: {text}") from None
            self._ready = True
            self._held = self._group.held() if self._group else 0
        return self._control

    def _within(self, limits: Limits) -> Limits:
        """Limits of the whole, put on the control group; if there is none, fewer processes."""
        if self._group is None:
            return replace(limits, processes=min(limits.processes, limits.processes_uncounted))
        # One process meets its own limit first, and a MemoryError says more than a process that is gone.
        memory = self._held + limits.memory + 2 * limits.scratch
        self._group.limit(memory, limits.processes + OWN_PROCESSES)
        return limits

    def ending(self, number: int, killed_before: int, ends: bool) -> Ending:
        """How a child's first process ended; nobody knows if the fork server is lost, too.

        ends: is it about to, so that its end is waited for a moment?
        killed_before: what `_killed_for_memory` said before the child was opened
        """
        with self._lock:
            try:
                if self._control is not None:
                    frames.send(self._control, HowEnded(number, ends), time.monotonic() + FORK_SECONDS)
                    while not isinstance(said := self._receive(), Ended):
                        pass
                    killed = self._killed_for_memory() > killed_before
                    return msgspec.structs.replace(said.ending, out_of_memory=killed)
            except LOST:
                self.close()
        return Ending()

    def grown(self, number: int, begins: bool) -> int:
        """How many bytes a child's processes have grown by, at most, since this was last asked with `begins`.

        0 if nobody knows.
        """
        with self._lock:
            try:
                if self._control is not None:
                    frames.send(self._control, Measure(number, begins), time.monotonic() + FORK_SECONDS)
                    while not isinstance(said := self._receive(), Grown):
                        pass
                    return said.bytes
            except LOST:
                self.close()
        return 0

    def _killed_for_memory(self) -> int:
        """How often the kernel has killed a process because the whole fork server had reached its memory limit."""
        return self._group.killed_for_memory() if self._group else 0

    def _receive(self) -> FromServer:
        """The next message; one that tells of a child's end is noted."""
        assert self._control is not None
        # Before an answer there may be a whole assignment to load for another child.
        said: FromServer = frames.receive(self._control, time.monotonic() + PREPARE_SECONDS, form=FromServer)
        if isinstance(said, Closed):
            self._ending.discard(said.number)
        return said

    def begin_to_end(self, number: int) -> None:
        """Ask for a child's end, and do not wait for it."""
        with self._lock:
            if self._control is not None:
                try:
                    frames.send(self._control, Close(number), time.monotonic() + FORK_SECONDS)
                    self._ending.add(number)
                except LOST:
                    self.close()

    def wait_for_end(self, number: int) -> None:
        """Wait until a child has ended whose end was asked for."""
        with self._lock:
            try:
                while self._control is not None and number in self._ending:
                    self._receive()
            except LOST:
                self.close()


class Child:
    """One fork of a fork server, and the socket that it talks on."""

    def __init__(self, server: ForkServer, number: int, sock: socket.socket, killed_before: int) -> None:
        self._server, self._number, self._killed_before = server, number, killed_before
        self._ending = False
        self.sock = sock

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def ending(self, ends: bool = True) -> Ending:
        """How its first process ended; see `Host.ending`."""
        return self._server.ending(self._number, self._killed_before, ends) if self._number else Ending()

    def grown(self, begins: bool) -> int:
        """How many bytes its processes have grown by; see `ForkServer.grown`."""
        return self._server.grown(self._number, begins) if self._number else 0

    def begin_to_end(self) -> None:
        """Have all processes of this child ended, and go on; `close` then waits for it."""
        self.sock.close()
        if self._number and not self._ending:
            self._server.begin_to_end(self._number)
            self._ending = True

    def close(self) -> None:
        """End every process of this child; its scratch space goes with them."""
        self.begin_to_end()
        if self._number:
            self._server.wait_for_end(self._number)
            self._number = 0


class FreshChildren:
    """One child of a fork server at a time, each fresh: opening one ends the one before."""

    def __init__(self, server: ForkServer, limits: Limits) -> None:
        self._server, self._limits = server, limits
        self._child_module: Child | None = None

    def __enter__(self) -> FreshChildren:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def open(self) -> socket.socket:
        """The socket of a fresh child. Raises `MachineError`."""
        self.close()
        self._child_module = self._server.open(self._limits)
        return self._child_module.sock

    def ending(self, ends: bool = True) -> Ending:
        """How the child that was opened last has ended; see `Host.ending`."""
        return self._child_module.ending(ends) if self._child_module else Ending()

    def grown(self, begins: bool) -> int:
        """How many bytes the last child's processes have grown by; see `ForkServer.grown`."""
        return self._child_module.grown(begins) if self._child_module else 0

    def begin_to_end(self) -> None:
        """Have the last child's processes ended, and go on."""
        if self._child_module:
            self._child_module.begin_to_end()

    def close(self) -> None:
        """End the last child."""
        if self._child_module:
            self._child_module.close()
            self._child_module = None
