"""A process behind the wall that forks a guest for each submission, and runs nobody's code itself.

The warm process forks it (`inside.warm`). There are two kinds of host, which differ in the guest (a `GuestModule`): one
for student code (`inside.notebook`), one for judges (`judging.serve`). The control socket brings "open" with the
descriptor that the guest will talk on, "close", "ending" (how a guest ended), and "prepare"; messages travel on sockets
of their own, so what anybody prints disturbs nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
import socket
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.sandbox import landlock
from autograder.sandbox.inside import landlock_wall, scratch_watch, seccomp, walls
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.ending import END_SECONDS, MACHINE_SHORT, Ending, ending_of
from autograder.sandbox.wall import Wall

# Of root's: to give it up in the forks, to read a course that only its owner may read, to end the forks.
JUDGES_HOST_KEEPS = walls.CAP_DAC_READ_SEARCH | walls.CAP_KILL | walls.CAP_SETGID | walls.CAP_SETUID


class GuestModule(Protocol):
    """What a host's module has."""

    # Does it run strangers' code? Then each guest gets namespaces of its own, and the host gives up root at once. One
    # that only reads what strangers said may start no process, and gives up root in its forks: the course's files
    # may be readable to whoever started it alone.
    STRANGERS: bool

    def warm_up(self, setting: dict[str, Any]) -> None:
        """Import what every guest needs, once."""

    def prepare(self, message: dict[str, Any]) -> None:
        """Learn what the next guests will need, from the course alone. May raise."""

    def serve(self, sock: socket.socket, limits: dict[str, Any], wall: Wall) -> None:
        """In the fork: do the work."""


def main(descriptor: int, around: dict[str, Any], guest_name: str, setting: dict[str, Any]) -> None:
    """Serve the control socket on `descriptor` until its other end closes."""
    control, wall = socket.socket(fileno=descriptor), Wall(**around)
    guest: GuestModule = importlib.import_module(guest_name)  # type: ignore[assignment]
    if guest.STRANGERS and wall.in_namespaces:
        walls.leave_root(wall.user)
        walls.drop_capabilities()
    guest.warm_up(setting)
    walls.gather_pages()
    held = walls.held()
    if not guest.STRANGERS and wall.in_namespaces:
        walls.cover("/proc")  # judges see no process, neither of each other nor of students
    landlock_wall.around_host(wall, guest.STRANGERS)
    if not guest.STRANGERS:
        walls.keep_private()  # guests of its own user get at none of it
        if wall.in_namespaces:
            walls.drop_capabilities(JUDGES_HOST_KEEPS if os.getuid() == 0 else 0)
    forked: dict[int, _Forked] = {}
    watch = scratch_watch.Watch(wall)
    if wall.by_landlock:
        # Nothing but this process ends what guests have started. It is told so by its socket's end, at a good moment.
        signal.signal(signal.SIGTERM, lambda *_: control.shutdown(socket.SHUT_RDWR))
    try:
        frames.send(control, {"ready": True})
        while True:
            try:
                _watch(control, wall, watch, forked)
                message, descriptors = frames.receive_with_descriptors(control)
            except frames.Closed:
                break
            if message["op"] == "open":
                pid = _open(guest, control, descriptors[0], message, held, wall)
                forked[message["id"]] = _Forked(pid, int(message["limits"]["scratch"]))
                os.close(descriptors[0])
            elif message["op"] == "ending":
                frames.send(control, {"ending": _ending(forked.get(message["id"]), message["ends"]).as_message()})
            elif message["op"] == "close":
                _end(forked.pop(message["id"], None), wall)
                frames.send(control, {"closed": message["id"]})
            elif message["op"] == "prepare":
                with contextlib.suppress(Exception):  # said to the guest that needs it
                    guest.prepare(message)
    finally:
        for one in forked.values():
            _end(one, wall)
        landlock_wall.leave_nothing(wall)


@dataclass
class _Forked:
    """A guest's first process, 0 if there is none any more; the bytes it may have in scratch; which limit it met."""

    pid: int
    scratch: int
    over_limit: str = ""


def _watch(control: socket.socket, wall: Wall, watch: scratch_watch.Watch, forked: dict[int, _Forked]) -> None:
    """Until there is a message: nobody fills the disk. Where mounts keep scratch small, there is nothing to watch."""
    while wall.scratch and forked and not select.select([control], [], [], scratch_watch.GLANCE)[0]:
        for one in forked.values() if watch.is_due() else ():
            if one.pid and (words := watch.over_limit(one.pid, one.scratch)):
                one.over_limit = words
                _end(one, wall)


def _ending(one: _Forked | None, ends: bool) -> Ending:
    """How a guest ended; what it has started is still to be cleared away. ends: see `outside.host`."""
    if one is None or not (one.pid or one.over_limit):
        return Ending()
    return Ending(limit=one.over_limit) if one.over_limit else ending_of(one.pid, END_SECONDS if ends else 0)


def _open(
    guest: GuestModule,
    control: socket.socket,
    descriptor: int,
    message: dict[str, Any],
    held: dict[str, int],
    wall: Wall,
) -> int:
    """Fork a guest; 0 if there is none, and why has been said on its descriptor."""
    host = os.getpid()
    try:
        guest.prepare(message)
    except Exception as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        return 0
    in_namespaces = guest.STRANGERS and wall.in_namespaces
    try:
        pid = walls.fork_into_namespaces() if in_namespaces else os.fork()
        if pid:
            return pid
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        control.close()
        limits = message["limits"] | {"held": held, "around": landlock_wall.tasks_of_user() if wall.scratch else 0}
        if guest.STRANGERS:
            os.setsid()
            walls.die_with_parent()
            walls.first_to_go()
        elif wall.kind:
            landlock_wall.leave_root(wall)
        if in_namespaces:
            walls.private_places(int(limits["scratch"]))
            walls.drop_capabilities()
        landlock.no_new_privileges()
        if guest.STRANGERS:
            landlock_wall.around_notebook(wall)
        else:
            walls.keep_private()
        seccomp.apply(wall, alone=not guest.STRANGERS)
        if guest.STRANGERS:
            seccomp.keep_from_ending_itself()
        walls.set_limits(limits if guest.STRANGERS else limits | {"open_files": walls.most_open_files()})
    except BaseException as error:
        _say(descriptor, {"broken": [type(error).__name__, str(error)]})
        if os.getpid() == host:
            return 0
        os._exit(1)
    code = 1
    try:
        guest.serve(socket.socket(fileno=descriptor), limits, wall)
        code = 0
    except (OSError, frames.Exhausted):
        code = MACHINE_SHORT
    finally:
        os._exit(code)


def _say(descriptor: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(BaseException):
        frames.send(socket.socket(fileno=os.dup(descriptor)), message)


def _end(one: _Forked | None, wall: Wall) -> None:
    """Kill a guest with all that it started: of a pid namespace all end with its first, else of its process group."""
    if one is None or not one.pid:
        return
    for end in (os.killpg, os.kill):  # it may not have a group yet
        with contextlib.suppress(ProcessLookupError):
            end(one.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(one.pid, 0)
    if wall.scratch:
        landlock_wall.clear(wall, one.pid)
    one.pid = 0


def silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
