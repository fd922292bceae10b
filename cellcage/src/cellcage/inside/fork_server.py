"""A process in the sandbox that forks children on request, and runs no untrusted code itself.

The zygote forks it (`inside.zygote`). Fork servers differ in their `Children`: those of untrusted code fork notebook
processes (`inside.notebook_process`); for trusted ones the caller brings a class. The control socket brings messages of
`protocol.messages`; with `Open` comes the descriptor on which the child will communicate. Messages have their own
sockets, so printed output cannot disturb them. `cellcage.backends` says which rights are given up, and when.
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
import signal
import socket
from typing import NoReturn

from cellcage.backends.base import Backend, Forked, Trusted, Untrusted
from cellcage.child import Children
from cellcage.inside.processes import CpuMeter, MemoryWatch
from cellcage.limits import Limits
from cellcage.linux import system_calls
from cellcage.protocol import frames, messages
from cellcage.protocol.ending import END_SECONDS, MACHINE_SHORT, Ending, ending_of


def main(descriptor: int, order: messages.StartServer, backend: Backend, sandbox: Untrusted | Trusted) -> None:
    """Serve the control socket on `descriptor` until its other end closes."""
    control = socket.socket(fileno=descriptor)
    child: Children = pkgutil.resolve_name(order.child)()
    sandbox.before_imports()
    child.warm_up(order.setting)
    system_calls.gather_pages()
    sandbox.before_first_fork()
    backend.heed_sigterm(control)
    _ForkServer(control, child, sandbox).serve()


class _ForkServer:
    """Forks children, reports how they ended, and ends them."""

    def __init__(self, control: socket.socket, child: Children, sandbox: Untrusted | Trusted) -> None:
        self._control, self._prepared, self._sandbox = control, child, sandbox
        self._children: dict[int, Forked] = {}
        self._memory: tuple[int, MemoryWatch] | None = None  # of one child, by its number, during one call
        self._meters: dict[int, CpuMeter] = {}  # by the child's number

    def serve(self) -> None:
        try:
            frames.send(self._control, messages.Ready())
            with contextlib.suppress(frames.Closed):
                while True:
                    look = self._memory[1].look if self._memory else None
                    self._sandbox.watch(self._control, self._children.values(), look)
                    message, descriptors = frames.receive_with_descriptors(self._control, messages.ToServer)
                    self._do(message, descriptors)
        finally:
            for child in self._children.values():
                self._sandbox.end(child)
            self._sandbox.leave_nothing()

    def _do(self, message: messages.ToServer, descriptors: list[int]) -> None:
        if isinstance(message, messages.Open):
            pid = self._open(message, descriptors[0])
            self._children[message.number] = Forked(pid, message.limits)
            os.close(descriptors[0])
        elif isinstance(message, messages.HowEnded):
            frames.send(self._control, messages.Ended(self._ending(message)))
        elif isinstance(message, messages.Measure):
            frames.send(self._control, messages.Grown(self._grown(message)))
        elif isinstance(message, messages.CpuTime):
            frames.send(self._control, self._used(message.number))
        elif isinstance(message, messages.Close):
            self._memory = None
            self._meters.pop(message.number, None)
            if child := self._children.pop(message.number, None):
                self._sandbox.end(child)
            frames.send(self._control, messages.NotebookClosed(message.number))
        else:
            with contextlib.suppress(Exception):  # it is raised again, and reported, when a child needs it
                self._prepared.prepare(message.needed)

    def _ending(self, request: messages.HowEnded) -> Ending:
        """How a child ended. Processes that it has started may still run."""
        child = self._children.get(request.number)
        if child is not None and child.over_limit:
            return Ending(limit=child.over_limit)
        return ending_of(child.pid, END_SECONDS if request.ends else 0) if child and child.pid else Ending()

    def _grown(self, request: messages.Measure) -> int:
        """By how many bytes a child's processes have grown; 0 if that is unknown."""
        memory, self._memory = self._memory, None
        child = self._children.get(request.number)
        with contextlib.suppress(OSError):
            if request.begins and child and child.pid:
                self._memory = request.number, MemoryWatch(child.pid)
            elif memory and memory[0] == request.number:
                return memory[1].grown()
        return 0

    def _used(self, number: int) -> messages.Used:
        child = self._children.get(number)
        with contextlib.suppress(OSError):
            if child and child.pid:
                return self._meters.setdefault(number, CpuMeter(child.pid)).used()
        return messages.Used(-1.0)

    def _open(self, message: messages.Open, descriptor: int) -> int:
        """Fork a child. Returns 0 if that fails; the reason is then sent on its descriptor."""
        try:
            if message.needed is not None:
                self._prepared.prepare(message.needed)
            pid = self._sandbox.fork()
        except Exception as error:
            _report(descriptor, error)
            return 0
        if pid == 0:
            self._child(message.limits, descriptor)
        return pid

    def _child(self, limits: Limits, descriptor: int) -> NoReturn:
        """In the fork: give up rights, then do the work. Never returns to the fork server's loop."""
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._control.close()
            self._sandbox.in_child(limits)
        except BaseException as error:
            _report(descriptor, error)
            os._exit(1)
        code = 1
        try:
            self._prepared.serve(socket.socket(fileno=descriptor), limits, self._sandbox)
            code = 0
        except (OSError, frames.Exhausted):
            code = MACHINE_SHORT
        finally:
            os._exit(code)


def _report(descriptor: int, error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), messages.Broken((type(error).__name__, str(error))))
