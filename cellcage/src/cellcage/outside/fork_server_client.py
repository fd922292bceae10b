"""A fork server, from outside: start it, open children, end it. What a child writes is not read here."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from cellcage.errors import MachineError
from cellcage.limits import Limits
from cellcage.outside import cgroup
from cellcage.outside.zygote_client import Zygote, send_with_socket
from cellcage.protocol import frames, messages
from cellcage.protocol.ending import Ending

START_SECONDS = 60.0  # importing PyTorch on a busy machine
FORK_SECONDS = 10.0  # a fork takes milliseconds; after this time the fork server is lost
PREPARE_SECONDS = 90.0  # for what a trusted fork server loads, on a busy machine
ATTEMPTS = 2  # a fork server that was lost is started again once

OWN_PROCESSES = 4  # the fork server, and room for one that ends
LOST = (frames.Closed, frames.Deadline, frames.WireError, frames.Exhausted)  # then it is ended, and another started
ServerAnswer = TypeVar("ServerAnswer", messages.Ended, messages.Grown, messages.Used)

NOTEBOOKS = "cellcage.inside.notebook_process:Notebooks"


class ForkServer(AbstractContextManager["ForkServer"]):
    """A fork server of a zygote, forked when it is needed, and again if it was lost. Threads may share it.

    child: "module:class" of what it forks, see `cellcage.child`; by default notebook processes
    setting: plain data for that class; for notebook processes the fields of `protocol.messages.Setting`
    trusted: whether its children may read the zygote's `places`. They must run no untrusted code. A control group, if
        there can be one, limits only untrusted ones
    """

    def __init__(
        self, zygote: Zygote, child: str = NOTEBOOKS, setting: Mapping[str, object] | None = None, trusted: bool = False
    ) -> None:
        self._zygote, self._child_class, self._setting, self._trusted = zygote, child, setting or {}, trusted
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._number = 0
        self._control: socket.socket | None = None
        self._group: cgroup.ControlGroup | None = None
        self._ready = False
        self._ended = False
        self._memory_before = 0  # bytes that the control group uses before there is a child
        self._ending = set[int]()  # children that were asked to end and have not ended yet

    def __exit__(self, *exc: object) -> None:
        self.end()

    def warm_up(self) -> None:
        """Start it, without waiting until it is ready."""
        with self._lock:
            if self._ended:
                raise MachineError("the run was ended")
            if self._control is None:
                self._group = None if self._trusted else cgroup.create()
                try:
                    with self._group.joining_files() if self._group else contextlib.nullcontext(()) as files:
                        self._number, self._control = self._zygote.server(
                            self._child_class, self._trusted, self._setting, files
                        )
                except MachineError:
                    self.close()
                    raise
                self._ready = False

    def prepare(self, needed: object) -> None:
        """Have it load what the next children will need (plain data). If it cannot be started, `open` says why."""
        with self._lock:
            try:
                frames.send(self._started(), messages.Prepare(needed), time.monotonic() + PREPARE_SECONDS)
            except (*LOST, MachineError):
                self.close()

    def open(self, limits: Limits, needed: object = None) -> Child:
        """A new child. needed: see `prepare`. Raises `MachineError` if no fork server can be started."""
        with self._lock:
            reason = ""
            for _ in range(ATTEMPTS):
                try:
                    control = self._started()
                except frames.Closed as error:
                    reason = f": {error}"
                    continue
                number, killed = next(self._ids), self.killed_for_memory()
                order = messages.Open(number, self._within(limits), needed)
                try:
                    sock = send_with_socket(control, order, time.monotonic() + PREPARE_SECONDS)
                    return Child(self, number, sock, killed)
                except (frames.Closed, frames.Deadline):
                    self.close()
        raise MachineError(f"the sandbox ends again and again; is the machine out of memory?{reason}")

    def end(self) -> None:
        """End it for good, at once. A thread that waits for it finds its socket closed."""
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
        """The control socket of a ready fork server. Raises `Closed`, with its error output, if it has ended."""
        self.warm_up()
        assert self._control is not None
        if not self._ready:
            try:
                frames.receive(self._control, time.monotonic() + START_SECONDS, form=messages.Ready)
            except (frames.Closed, frames.Deadline) as error:
                reason = f"the sandbox did not start: {self._zygote.last_words()}"
                self.close()
                if isinstance(error, frames.Deadline):
                    raise MachineError(reason) from None
                raise frames.Closed(reason) from None
            self._ready = True
            self._memory_before = self._group.memory_in_use() if self._group else 0
        return self._control

    def _within(self, limits: Limits) -> Limits:
        """The limits of one process; the control group gets those of the whole. Without one, fewer processes."""
        if self._group is None:
            return replace(limits, processes=min(limits.processes, limits.processes_uncounted))
        # A single process meets its own limit first: a MemoryError says more than a process that is gone.
        memory = self._memory_before + limits.memory + 2 * limits.scratch
        self._group.limit(memory, limits.processes + OWN_PROCESSES)
        return limits

    def killed_for_memory(self) -> int:
        """How often the kernel has killed a process because the whole fork server had reached its memory limit."""
        with self._lock:
            return self._group.killed_for_memory() if self._group else 0

    def ask(
        self, question: messages.HowEnded | messages.Measure | messages.CpuTime, form: type[ServerAnswer]
    ) -> ServerAnswer | None:
        """The answer to a question about a child; None if the fork server is lost."""
        with self._lock:
            try:
                if self._control is not None:
                    frames.send(self._control, question, time.monotonic() + FORK_SECONDS)
                    while not isinstance(message := self._receive(), form):
                        pass
                    return message
            except LOST:
                self.close()
        return None

    def _receive(self) -> messages.FromServer:
        """The next message. The end of a child is noted."""
        assert self._control is not None
        # A lot may have to be loaded for another child before there is an answer.
        ends_at = time.monotonic() + PREPARE_SECONDS
        message: messages.FromServer = frames.receive(self._control, ends_at, form=messages.FromServer)
        if isinstance(message, messages.NotebookClosed):
            self._ending.discard(message.number)
        return message

    def begin_to_end(self, number: int) -> None:
        """Ask for a child's end, without waiting for it."""
        with self._lock:
            if self._control is not None:
                try:
                    frames.send(self._control, messages.Close(number), time.monotonic() + FORK_SECONDS)
                    self._ending.add(number)
                except LOST:
                    self.close()

    def wait_for_end(self, number: int) -> None:
        """Wait until a child has ended that was asked to end."""
        with self._lock:
            try:
                while self._control is not None and number in self._ending:
                    self._receive()
            except LOST:
                self.close()


class Child(AbstractContextManager["Child"]):
    """One fork of a fork server, and the socket that it talks on."""

    def __init__(self, server: ForkServer, number: int, sock: socket.socket, killed_before: int) -> None:
        self.number, self.sock = number, sock
        self._server, self._killed_before = server, killed_before
        self._ending = False

    def __exit__(self, *exc: object) -> None:
        self.close()

    def ending(self, ends: bool = True) -> Ending:
        """How its first process ended; an empty `Ending` if the fork server is lost, too.

        ends: whether it is about to end, so that the fork server waits a moment for that
        """
        answer = self._server.ask(messages.HowEnded(self.number, ends), messages.Ended)
        if answer is None:
            return Ending()
        killed = self._server.killed_for_memory() > self._killed_before
        return structs.replace(answer.ending, out_of_memory=killed)

    def grown(self, begins: bool) -> int:
        """How many bytes its processes have grown by, at most, since this was last called with `begins`.

        0 if that is not known.
        """
        answer = self._server.ask(messages.Measure(self.number, begins), messages.Grown)
        return answer.bytes if answer else 0

    def used(self) -> messages.Used:
        """The CPU time that its processes have used."""
        return self._server.ask(messages.CpuTime(self.number), messages.Used) or messages.Used(-1.0)

    def begin_to_end(self) -> None:
        """Have all its processes ended, without waiting; `close` waits."""
        self.sock.close()
        if not self._ending:
            self._server.begin_to_end(self.number)
            self._ending = True

    def close(self) -> None:
        """End all its processes; its scratch space goes with them."""
        self.begin_to_end()
        self._server.wait_for_end(self.number)


class FreshChildren(AbstractContextManager["FreshChildren"]):
    """One child of a fork server at a time, each fresh: opening one ends the one before.

    files: what a notebook in it has in its folder, read-only; modules among them come before all others
    own: the notebook's own files, which its cells may change; modules among them come after all others
    """

    def __init__(
        self,
        server: ForkServer,
        limits: Limits,
        files: Mapping[str, bytes] | None = None,
        own: Mapping[str, bytes] | None = None,
    ) -> None:
        self._server, self._limits, self.files, self.own = server, limits, files or {}, own or {}
        self._child: Child | None = None

    def __exit__(self, *exc: object) -> None:
        self.close()

    def open(self) -> socket.socket:
        """The socket of a fresh child. Raises `MachineError`."""
        self.close()
        self._child = self._server.open(self._limits)
        return self._child.sock

    def ending(self, ends: bool = True) -> Ending:
        """How the last child's first process ended; see `Child.ending`."""
        return self._child.ending(ends) if self._child else Ending()

    def grown(self, begins: bool) -> int:
        """How many bytes the last child's processes have grown by; see `Child.grown`."""
        return self._child.grown(begins) if self._child else 0

    def used(self) -> messages.Used:
        """The CPU time that the last child's processes have used."""
        return self._child.used() if self._child else messages.Used(-1.0)

    def begin_to_end(self) -> None:
        """Have the last child's processes ended, without waiting."""
        if self._child:
            self._child.begin_to_end()

    def close(self) -> None:
        """End the last child."""
        if self._child:
            self._child.close()
            self._child = None
