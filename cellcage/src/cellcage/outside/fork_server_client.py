"""A fork server, from outside: start it, open children, end it. What a child writes is not read here."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from cellcage.errors import MachineError
from cellcage.limits import Limits
from cellcage.outside import cgroup
from cellcage.outside.zygote_client import Zygote, send_with_sockets
from cellcage.process import LOST, Process
from cellcage.protocol import frames, messages

START_SECONDS = 60.0  # importing PyTorch on a busy machine
PREPARE_SECONDS = 90.0  # for what a trusted fork server loads, on a busy machine
ATTEMPTS = 2  # a fork server that was lost is started again once

OWN_PROCESSES = 4  # the fork server, and room for one that ends
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
        self._lock = threading.RLock()
        self._number = 0
        self._control: socket.socket | None = None
        self._group: cgroup.ControlGroup | None = None
        self._ready = False
        self._ended = False
        self._memory_before = 0  # bytes that the control group uses before there is a child

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
                    joins = len(self._group.folders) if self._group else 0
                    with self._group.files() if self._group else contextlib.nullcontext(()) as files:
                        self._number, self._control = self._zygote.server(
                            self._child_class, self._trusted, self._setting, files, joins
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
            except LOST:
                self.close()

    def process(
        self,
        limits: Limits,
        files: Mapping[str, bytes] | None = None,
        own: Mapping[str, bytes] | None = None,
        needed: object = None,
    ) -> Process:
        """A child, to be opened. needed: see `prepare`. A fork server that does not end a child in time is lost."""
        return Process(functools.partial(self._open, limits, needed), files, own, self.close)

    def _open(self, limits: Limits, needed: object) -> tuple[socket.socket, socket.socket]:
        """The socket of a new child, and the one for its status. Raises `MachineError` if that can't be started."""
        with self._lock:
            reason = ""
            for _ in range(ATTEMPTS):
                try:
                    control = self._started()
                except frames.Closed as error:
                    reason = f": {error}"
                    continue
                order = messages.Open(self._within(limits), needed)
                try:
                    sock, status = send_with_sockets(control, order, 2, time.monotonic() + PREPARE_SECONDS)
                    return sock, status
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
