"""A process that a fork server has forked, from outside. What it says is not read here."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from cellcage.errors import MachineError
from cellcage.protocol import frames
from cellcage.protocol.ending import Ending
from cellcage.protocol.messages import MAX_STATUS, HowEnded, HowMuch, Used

ANSWER_SECONDS = 90.0  # the fork server may be loading a lot for another child, on a busy machine
LOST = (frames.Closed, frames.Deadline, frames.WireError, MachineError)  # then a fork server says no more
Status = TypeVar("Status", Ending, Used)


class Process(AbstractContextManager["Process"]):
    """One process at a time, each fresh: opening one ends the one before.

    sock: on which it talks; status: on which its fork server answers about it, and no other. Both can be passed on to
    another program, which can then ask and end it, too

    opened: opens these two. Raises `MachineError`
    files: what a notebook in it has in its folder, read-only; modules among them come before all others
    own: the notebook's own files, which its cells may change; modules among them come after all others
    lost: called if its fork server does not end it in time
    """

    sock: socket.socket
    status: socket.socket | None = None

    def __init__(
        self,
        opened: Callable[[], tuple[socket.socket, socket.socket]],
        files: Mapping[str, bytes] | None = None,
        own: Mapping[str, bytes] | None = None,
        lost: Callable[[], None] | None = None,
    ) -> None:
        self._opened, self.files, self.own, self._lost = opened, files or {}, own or {}, lost

    def __exit__(self, *exc: object) -> None:
        self.close()

    def open(self) -> tuple[socket.socket, socket.socket]:
        """Both sockets of a fresh process; no untrusted code has run in it. Raises `MachineError`."""
        self.close()
        self.sock, self.status = self._opened()
        return self.sock, self.status

    def ended(self, ends: bool = True) -> Ending:
        """How its first process ended; an empty `Ending` if the fork server is lost, too.

        ends: whether it is about to end, so that the fork server waits a moment for that
        """
        return self._ask(HowEnded(ends), Ending) or Ending()

    def used(self, measures: bool | None = None) -> Used:
        """What its processes have used. measures: see `HowMuch`"""
        return self._ask(HowMuch(measures), Used) or Used(-1.0)

    def _ask(self, question: HowEnded | HowMuch, form: type[Status]) -> Status | None:
        """None if there is no answer. Then it is ended, since the next question could get a late answer to this one."""
        until = time.monotonic() + ANSWER_SECONDS
        try:
            if self.status is not None:
                frames.send(self.status, question, until)
                return frames.receive(self.status, until, frames.Allowance(MAX_STATUS, MAX_STATUS), form=form)
        except LOST:
            self.begin_to_end()
        return None

    def begin_to_end(self) -> None:
        """Have all its processes ended, without waiting; `close` waits."""
        if self.status is not None:
            self.sock.close()
            with contextlib.suppress(OSError):  # the fork server has ended
                self.status.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End all its processes; its scratch space goes with them."""
        self.begin_to_end()
        if self.status is None:
            return
        until = time.monotonic() + ANSWER_SECONDS
        try:
            while True:  # what is still on its way answers a question of an earlier holder
                frames.receive_body(self.status, until)
        except frames.Closed:
            pass
        except frames.Deadline:
            if self._lost is not None:
                self._lost()
        self.status.close()
        self.status = None
