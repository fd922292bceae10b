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
from typing import Any, NoReturn, Protocol

from autograder.sandbox.inside import walls
from autograder.sandbox.protocol import frames

MADV_COLLAPSE, HUGE_PAGE = 25, 2 << 20
END = (signal.SIGTERM, signal.SIGCHLD)  # the guest is to end, or has


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
            _end(children.pop(message["id"], 0), isolated and guest.STRANGERS)
            frames.send(control, {"closed": message["id"]})
        elif message["op"] == "prepare":
            with contextlib.suppress(Exception):  # said to the guest that needs it
                guest.prepare(message)
    for pid in children.values():
        _end(pid, isolated and guest.STRANGERS)


def _gather_pages() -> None:
    """Put this process's memory into huge pages, where the kernel can (Linux 6.1 and later).

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
    """Fork a guest; 0 if there is nothing to fork for, and why has been said on its descriptor."""
    try:
        guest.prepare(message)
    except Exception as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        return 0
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        limits = message["limits"] | {"held": held}
        if guest.STRANGERS:
            _enter_namespaces(descriptor, limits, isolated)
        else:
            walls.leave_root(isolated)
        walls.no_new_privileges()
        guest.wall_in()
        walls.set_limits(limits)
    except BaseException as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        os._exit(1)
    try:
        guest.serve(socket.socket(fileno=descriptor), limits, isolated)
    finally:
        os._exit(0)


def _say(descriptor: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), message)


def _enter_namespaces(descriptor: int, limits: dict[str, Any], isolated: bool) -> None:
    """Go on as the first process of a private pid namespace: when it ends, all below it end."""
    os.setsid()
    walls.die_with_parent()
    walls.first_to_go()
    if not isolated:
        return
    walls.enter_namespaces()
    signal.pthread_sigmask(signal.SIG_BLOCK, END)
    inner = os.fork()  # whoever makes a pid namespace is not in it; its first child is
    if inner:
        os.close(descriptor)
        _wait_for(inner)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END)
    walls.die_with_parent()
    walls.private_places(int(limits["scratch"]))
    walls.drop_capabilities()


def _wait_for(guest: int) -> NoReturn:
    """Wait until a guest ends or is to end, and see to it that it does: it may have left its group."""
    signal.sigwait(END)
    with contextlib.suppress(ProcessLookupError):
        os.kill(guest, signal.SIGKILL)
    os.waitpid(guest, 0)
    os._exit(0)


def _end(pid: int, waited_for: bool) -> None:
    """Kill a guest with all that it started."""
    if not pid:
        return
    if not waited_for:
        with contextlib.suppress(ProcessLookupError):  # it may not have a group yet
            os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        # What waits for the guest ends it, and its namespace with it.
        os.kill(pid, signal.SIGTERM if waited_for else signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
