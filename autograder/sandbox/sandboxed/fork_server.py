"""A process in the sandbox that forks a child for each submission, and runs nobody's code itself.

The zygote forks it (`sandboxed.zygote`). There are two kinds of fork server, which differ in the child (a
`GuestModule`): one for student code (`sandboxed.notebook`), one for judges (`judge.process`). The control socket brings
messages of `protocol.messages`; with `Open` comes the descriptor that the child will talk on. Messages travel on
sockets of their own, so what anybody prints disturbs nothing. Which rights are given up, and when, is in
`sandbox.backends`.
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
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.ending import END_SECONDS, MACHINE_SHORT, Ending, ending_of
from autograder.sandbox.protocol.messages import (
    Broken,
    Close,
    Closed,
    Ended,
    Grown,
    HowEnded,
    Measure,
    Open,
    Preparation,
    Ready,
    StartServer,
    ToServer,
)
from autograder.sandbox.sandboxed import isolation
from autograder.sandbox.sandboxed.memory_watch import MemoryWatch


class ChildModule(Protocol):
    """What a fork server's module has."""

    def warm_up(self, setting: Mapping[str, object]) -> isolation.Removed | None:
        """Import what every child needs, once; the files that no child may read."""

    def prepare(self, preparation: Preparation) -> None:
        """Learn what the next children will need, from the course alone. May raise."""

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Students | Judges) -> None:
        """In the fork: do the work."""


def main(descriptor: int, body: bytes) -> None:
    """Serve the control socket on `descriptor` until its other end closes.

    body: a `StartServer` as it travelled, since the zygote may have loaded other classes of the same names
    """
    order = frames.parse(body, StartServer)
    control, sandbox = socket.socket(fileno=descriptor), confined(order.policy)
    child: ChildModule = importlib.import_module(order.child)  # type: ignore[assignment]
    sandbox.before_imports()
    removed = child.warm_up(order.setting)
    isolation.gather_pages()
    sandbox.before_first_fork(removed or isolation.Removed())
    BACKENDS[order.policy.backend].heed_sigterm(control)
    _ForkServer(control, child, sandbox).serve()


class _ForkServer:
    """Forks children, says how they ended, and clears them away."""

    def __init__(self, control: socket.socket, child: ChildModule, sandbox: Students | Judges) -> None:
        self._control, self._child_module, self._sandbox = control, child, sandbox
        self._children: dict[int, Child] = {}
        self._memory: tuple[int, MemoryWatch] | None = None  # of one child during one call

    def serve(self) -> None:
        try:
            frames.send(self._control, Ready())
            with contextlib.suppress(frames.Closed):
                while True:
                    look = self._memory[1].look if self._memory else None
                    self._sandbox.watch(self._control, self._children.values(), look)
                    message, descriptors = frames.receive_with_descriptors(self._control, ToServer)
                    self._do(message, descriptors)
        finally:
            for child in self._children.values():
                self._sandbox.end(child)
            self._sandbox.leave_nothing()

    def _do(self, message: ToServer, descriptors: list[int]) -> None:
        if isinstance(message, Open):
            pid = self._open(message, descriptors[0])
            self._children[message.number] = Child(pid, message.limits)
            os.close(descriptors[0])
        elif isinstance(message, HowEnded):
            frames.send(self._control, Ended(self._ending(message)))
        elif isinstance(message, Measure):
            frames.send(self._control, Grown(self._grown(message)))
        elif isinstance(message, Close):
            self._memory = None
            if child := self._children.pop(message.number, None):
                self._sandbox.end(child)
            frames.send(self._control, Closed(message.number))
        else:
            with contextlib.suppress(Exception):  # said to the child that needs it
                self._child_module.prepare(message)

    def _ending(self, asked: HowEnded) -> Ending:
        """How a child ended; what it has started is still to be cleared away."""
        child = self._children.get(asked.number)
        if child is None or not (child.pid or child.over_limit):
            return Ending()
        if child.over_limit:
            return Ending(limit=child.over_limit)
        return ending_of(child.pid, END_SECONDS if asked.ends else 0)

    def _grown(self, asked: Measure) -> int:
        """What a child's processes have grown by; 0 if that cannot be told."""
        memory, self._memory = self._memory, None
        child = self._children.get(asked.number)
        with contextlib.suppress(OSError):
            if asked.begins and child and child.pid:
                self._memory = asked.number, MemoryWatch(child.pid)
            elif memory and memory[0] == asked.number:
                return memory[1].grown()
        return 0

    def _open(self, message: Open, descriptor: int) -> int:
        """Fork a child; 0 if there is none, and why has been said on its descriptor."""
        try:
            if message.preparation:
                self._child_module.prepare(message.preparation)
            pid = self._sandbox.fork()
        except Exception as error:
            _say(descriptor, error)
            return 0
        if pid == 0:
            self._child(message.limits, descriptor)
        return pid

    def _child(self, limits: Limits, descriptor: int) -> NoReturn:
        """In the fork: give up what it must not have, then do the work; and never return to the fork server's loop."""
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._control.close()
            self._sandbox.in_child(limits)
        except BaseException as error:
            _say(descriptor, error)
            os._exit(1)
        code = 1
        try:
            self._child_module.serve(socket.socket(fileno=descriptor), limits, self._sandbox)
            code = 0
        except (OSError, frames.Exhausted):
            code = MACHINE_SHORT
        finally:
            os._exit(code)


def _say(descriptor: int, error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), Broken((type(error).__name__, str(error))))


def silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
