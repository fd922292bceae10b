"""A process in the sandbox that forks a child for each submission, and runs no student code itself.

The zygote forks it (`sandboxed.zygote`). There are two kinds of fork servers, which differ in their `Children`: one for
student code (`sandboxed.notebook`), one for judges (`judge.process`). The control socket brings messages of
`protocol.messages`; with `Open` comes the descriptor on which the child will communicate. Messages have their own
sockets, so printed output cannot disturb them. `sandbox.backends` says which rights are given up, and when.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
from collections.abc import Mapping
from typing import NoReturn, Protocol

from autograder.sandbox.backends import BACKENDS, Judges, Students, confined
from autograder.sandbox.backends.base import Child
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.protocol.ending import END_SECONDS, MACHINE_SHORT, Ending, ending_of
from autograder.sandbox.sandboxed.memory_watch import MemoryWatch
from autograder.sandbox.sandboxed.processes import CpuMeter


class Children(Protocol):
    """What a fork server prepares for its children, and what each of them does."""

    def warm_up(self, setting: Mapping[str, object]) -> None:
        """Import once what every child needs."""

    def prepare(self, preparation: messages.Preparation) -> None:
        """Load from the course what the next children will need. May raise."""

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Students | Judges) -> None:
        """Do the work of a child, in the fork."""


def main(descriptor: int, body: bytes) -> None:
    """Serve the control socket on `descriptor` until its other end closes.

    body: a `StartServer` as msgpack, since the zygote may have loaded other classes of the same names
    """
    order = frames.parse(body, messages.StartServer)
    control, sandbox = socket.socket(fileno=descriptor), confined(order.policy)
    module, _, name = order.child.partition(":")
    child: Children = getattr(importlib.import_module(module), name)()
    sandbox.before_imports()
    child.warm_up(order.setting)
    isolation.gather_pages()
    sandbox.before_first_fork()
    BACKENDS[order.policy.backend].heed_sigterm(control)
    _ForkServer(control, child, sandbox).serve()


class _ForkServer:
    """Forks children, reports how they ended, and ends them."""

    def __init__(self, control: socket.socket, child: Children, sandbox: Students | Judges) -> None:
        self._control, self._prepared, self._sandbox = control, child, sandbox
        self._children: dict[int, Child] = {}
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
            self._children[message.number] = Child(pid, message.limits)
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
            frames.send(self._control, messages.Closed(message.number))
        else:
            with contextlib.suppress(Exception):  # it is raised again, and reported, when a child needs it
                self._prepared.prepare(message)

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
            if message.preparation:
                self._prepared.prepare(message.preparation)
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


def silence() -> None:
    """Redirect descriptors 0, 1 and 2 to /dev/null, so that printing from C code disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
