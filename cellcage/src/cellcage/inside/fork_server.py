"""A process in the sandbox that forks children on request, and runs no untrusted code itself.

The zygote forks it (`inside.zygote`). Fork servers differ in their `Children`: those of untrusted code fork notebook
processes (`inside.notebook_process`); for trusted ones the caller brings a class. The control socket brings messages of
`protocol.messages`. With `Open` come the socket on which the child will communicate, and one for questions about it.
Messages have their own sockets, so printed output cannot disturb them. `cellcage.backends` says which rights are given
up, and when.

A child's holder is not trusted. It can ask about this child, and end it, and nothing else: after one question of each
child the control socket has its turn, and what is not a single whole question ends the child.
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NoReturn

from msgspec import structs

from cellcage.backends.base import Backend, Confined, Forked
from cellcage.child import Children
from cellcage.errors import MachineError
from cellcage.inside.processes import Usage, killed_for_memory
from cellcage.limits import Limits
from cellcage.linux import system_calls
from cellcage.protocol import frames, messages
from cellcage.protocol.ending import END_SECONDS, MACHINE_SHORT, Ending, ending_of

ANSWER_SECONDS = 0.1  # until an answer is in the socket's buffer, where there is room if earlier ones were read


def main(descriptors: Sequence[int], order: messages.StartServer, backend: Backend, sandbox: Confined) -> None:
    """Serve the control socket until its other end closes. descriptors: this socket, then see `killed_for_memory`"""
    control = socket.socket(fileno=descriptors[0])
    child: Children = pkgutil.resolve_name(order.child)()
    sandbox.before_imports()
    child.warm_up(order.setting)
    system_calls.gather_pages()
    sandbox.before_first_fork()
    backend.heed_sigterm(control)
    _ForkServer(control, descriptors[1:], child, sandbox).serve()


@dataclass
class _Child(Forked):
    """A child, and the socket for questions about it. killed: how many processes memory had killed before its fork"""

    _: KW_ONLY
    status: socket.socket
    killed: int
    usage: Usage = field(default_factory=Usage)

    def ended(self, ends: bool) -> Ending:
        """How it ended. Processes that it has started may still run."""
        if self.over_limit:
            return Ending(limit=self.over_limit)
        return ending_of(self.pid, END_SECONDS if ends else 0) if self.pid else Ending()


class _ForkServer:
    """Forks children, reports how they ended, and ends them."""

    def __init__(self, control: socket.socket, counting: Sequence[int], child: Children, sandbox: Confined) -> None:
        self._control, self._counting, self._prepared, self._sandbox = control, counting, child, sandbox
        self._children: list[_Child] = []

    def serve(self) -> None:
        try:
            frames.send(self._control, messages.Ready())
            with contextlib.suppress(frames.Closed):
                while True:
                    looks = [look for child in self._children for look in child.usage.looks]
                    self._sandbox.watch(self._sockets(), self._children, looks)
                    for child in list(self._children):  # first of all: an ended child makes room for the next
                        self._attend(child)
                    if frames.readable(self._control, 0):
                        self._do(*frames.receive_with_descriptors(self._control, messages.ToServer))
        finally:
            for child in self._children:
                self._sandbox.end(child)
            self._sandbox.leave_nothing()

    def _sockets(self) -> list[socket.socket]:
        return [self._control, *(child.status for child in self._children)]

    def _do(self, message: messages.ToServer, descriptors: list[int]) -> None:
        if isinstance(message, messages.Open):
            status, killed = socket.socket(fileno=descriptors[1]), killed_for_memory(self._counting)
            self._children.append(_Child(0, message.limits, status=status, killed=killed))
            self._children[-1].pid = self._open(message, descriptors[0])
            os.close(descriptors[0])
        else:
            with contextlib.suppress(Exception):  # it is raised again, and reported, when a child needs it
                self._prepared.prepare(message.needed)

    def _attend(self, child: _Child) -> None:
        """Answer a question about a child, if there is one. End the child if its holder is gone, or not honest."""
        try:
            question = frames.receive_whole(child.status, messages.MAX_STATUS, messages.AboutChild)
            frames.send(child.status, self._answer(child, question), time.monotonic() + ANSWER_SECONDS)
        except BlockingIOError:
            pass
        except (frames.Closed, frames.Deadline, frames.WireError, MachineError):
            self._children.remove(child)
            self._sandbox.end(child)
            child.status.close()

    def _answer(self, child: _Child, question: messages.AboutChild) -> Ending | messages.Used:
        if isinstance(question, messages.HowEnded):
            killed = killed_for_memory(self._counting) > child.killed
            return structs.replace(child.ended(question.ends), out_of_memory=killed)
        return child.usage.until_now(child.pid, question.measures)

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
            for sock in self._sockets():
                sock.close()
            for file in self._counting:
                os.close(file)
            self._sandbox.in_child(limits)
        except BaseException as error:
            _report(descriptor, error)
            os._exit(1)
        code = 1
        try:
            self._prepared.serve(socket.socket(fileno=descriptor), limits, self._sandbox)
            code = 0
        except (OSError, MachineError):
            code = MACHINE_SHORT
        finally:
            os._exit(code)


def _report(descriptor: int, error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), messages.Broken((type(error).__name__, str(error))))
