"""A warm process behind the wall that forks a guest for each submission, and runs nobody's code itself.

There are two kinds of host, which differ in the guest (a module, see `Guest`): one for student code
(`inside.notebook`), one for judges (`judging.serve`). The control socket brings "open" with the descriptor that the
guest will talk on, "close", and "prepare"; messages travel on sockets of their own, so what anybody prints disturbs
nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import socket
from typing import Any, Protocol

from autograder.sandbox.inside import walls
from autograder.sandbox.protocol import frames

MADV_COLLAPSE, HUGE_PAGE = 25, 2 << 20


class Guest(Protocol):
    """What a host's module has."""

    # Does it run strangers' code? Then each guest gets namespaces of its own, and the host gives up root at once. One
    # that only reads what strangers said may start no process, and gives up root in its forks: the course's files
    # may be readable to whoever started it alone.
    STRANGERS: bool

    def warm_up(self, setting: dict[str, Any]) -> None:
        """Import what every guest needs, once."""

    def prepare(self, message: dict[str, Any]) -> None:
        """Learn what the next guests will need, from the course alone. May raise."""

    def wall_in(self) -> None:
        """In the fork: give up what it must not have, beside what the host takes away."""

    def serve(self, sock: socket.socket, limits: dict[str, Any], isolated: bool) -> None:
        """In the fork: do the work."""


def main(descriptor: int, isolated: bool, guest_name: str, setting: dict[str, Any]) -> None:
    """Serve the control socket on `descriptor` until its other end closes."""
    control = socket.socket(fileno=descriptor)
    guest: Guest = importlib.import_module(guest_name)  # type: ignore[assignment]
    if guest.STRANGERS:
        walls.leave_root(isolated)
    guest.warm_up(setting)
    _gather_pages()
    held = walls.held()
    if not guest.STRANGERS:
        walls.keep_private()  # guests of its own user, which share its view of processes, get at none of it
    children: dict[int, int] = {}
    frames.send(control, {"ready": True})
    while True:
        try:
            message, descriptors = frames.receive_with_descriptor(control)
        except frames.Closed:
            break
        if message["op"] == "open":
            children[message["id"]] = _open(guest, control, descriptors[0], message, held, isolated)
            os.close(descriptors[0])
        elif message["op"] == "close":
            _end(children.pop(message["id"], 0))
            frames.send(control, {"closed": message["id"]})
        elif message["op"] == "prepare":
            with contextlib.suppress(Exception):  # said to the guest that needs it
                guest.prepare(message)
    for pid in children.values():
        _end(pid)


def _gather_pages() -> None:
    """Put this process's memory into huge pages, if the kernel can (Linux 6.1 and later).

    The table that every fork copies becomes three times shorter: 2.5 ms in place of 7 for a process with PyTorch.
    """
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps.readlines():
            span, access, _, _, inode = line.split()[:5]
            first, end = (int(address, 16) for address in span.split("-"))
            if access == "rw-p" and inode == "0" and end - first >= HUGE_PAGE:
                walls.libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_COLLAPSE)


def _open(
    guest: Guest,
    control: socket.socket,
    descriptor: int,
    message: dict[str, Any],
    held: dict[str, int],
    isolated: bool,
) -> int:
    """Fork a guest; 0 if there is none, and why has been said on its descriptor."""
    host = os.getpid()
    try:
        guest.prepare(message)
    except Exception as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        return 0
    in_namespaces = guest.STRANGERS and isolated
    try:
        pid = walls.fork_into_namespaces() if in_namespaces else os.fork()
        if pid:
            return pid
        control.close()
        limits = message["limits"] | {"held": held}
        if guest.STRANGERS:
            os.setsid()
            walls.die_with_parent()
            walls.first_to_go()
        else:
            walls.leave_root(isolated)
        if in_namespaces:
            walls.private_places(int(limits["scratch"]))
            walls.drop_capabilities()
        walls.no_new_privileges()
        guest.wall_in()
        walls.set_limits(limits)
    except BaseException as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        if os.getpid() == host:
            return 0
        os._exit(1)
    try:
        guest.serve(socket.socket(fileno=descriptor), limits, isolated)
    finally:
        os._exit(0)


def _say(descriptor: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), message)


def _end(pid: int) -> None:
    """Kill a guest with all that it started: of a pid namespace all end with its first."""
    if not pid:
        return
    for end in (os.killpg, os.kill):  # it may not have a group yet
        with contextlib.suppress(ProcessLookupError):
            end(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
