"""A host from outside: start it, open guests in it, end it. It moves sockets, and reads nothing that a guest says."""

from __future__ import annotations

import itertools
import select
import socket
import subprocess
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from autograder.errors import MachineError
from autograder.sandbox.limits import Limits
from autograder.sandbox.outside import cgroup, launch
from autograder.sandbox.protocol import frames

START_SECONDS = 60.0  # importing PyTorch on a busy machine
FORK_SECONDS = 10.0  # a fork takes milliseconds; past this the host is lost
PREPARE_SECONDS = 90.0  # loading an assignment's suite and reference on a busy machine
ATTEMPTS = 2  # a host that was lost is started again once

OWN_PROCESSES = 8  # bubblewrap's, the warm process, the one that makes a submission's namespaces

STUDENTS = "autograder.sandbox.inside.notebook"
JUDGES = "autograder.judging.serve"


def isolates(kind: str) -> tuple[bool, str | None]:
    """Does a sandbox of this kind have a wall here? And what to warn of, if it has none though it should.

    kind: "bubblewrap", "process" (limits only, for machines without bubblewrap) or "auto"
    Raises `MachineError` if "bubblewrap" is asked for and does not work, or if a limit that somebody has set for this
    process is too low for any submission.
    """
    if too_low := launch.why_too_little():
        raise MachineError(too_low)
    if kind == "process":
        return False, None
    reason = launch.why_no_bubblewrap()
    if kind == "bubblewrap" and reason:
        raise MachineError(reason)
    return reason is None, reason


class Host:
    """One warm process, started when it is needed, and again if it was lost. Threads may share it.

    guest: module of what it forks; places: what it may read beside Python, the system's libraries and the kit
    """

    def __init__(
        self,
        isolated: bool,
        guest: str = STUDENTS,
        places: tuple[Path, ...] = (),
        setting: dict[str, Any] | None = None,
    ) -> None:
        self._launch = launch.Launch(isolated, guest, places, setting or {})
        self._grouped = guest == STUDENTS
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._group: cgroup.ControlGroup | None = None
        self._ready = False
        self._ended = False
        self._held = 0

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def warm_up(self) -> None:
        """Begin to start the warm process, and do not wait for it."""
        with self._lock:
            if self._ended:
                raise MachineError("the run was ended")
            if self._process is None or self._process.poll() is not None:
                self.close()
                self._control, inside = socket.socketpair()
                self._group = cgroup.create() if self._grouped else None
                with inside:
                    self._process = self._launch.start(inside, self._group)
                self._ready = False

    def prepare(self, **message: Any) -> None:
        """Tell it what the next guests will need, and do not wait."""
        with self._lock:
            try:
                frames.send(self._started(), {"op": "prepare", **message}, time.monotonic() + PREPARE_SECONDS)
            except (frames.Closed, frames.Deadline):
                self.close()

    def open(self, limits: Limits, **message: Any) -> Guest:
        """A guest of its own. Raises `MachineError` if no host can be started."""
        with self._lock:
            for _ in range(ATTEMPTS):
                control = self._started()
                outer, inner = socket.socketpair()
                number = next(self._ids)
                asked = {"op": "open", "id": number, "limits": asdict(self._within(limits)), **message}
                try:
                    with inner:
                        frames.send_with_descriptor(control, asked, inner, time.monotonic() + PREPARE_SECONDS)
                    return Guest(self, number, outer)
                except (frames.Closed, frames.Deadline):
                    outer.close()
                    self.close()
        raise MachineError("the sandbox's warm process ends again and again; is the machine out of memory?")

    def end(self) -> None:
        """End it for good, at once: whoever waits for it in another thread is told that it is gone."""
        self._ended = True
        if (process := self._process) is not None:
            process.kill()
        self.close()

    def close(self) -> None:
        """End the warm process and all below it; the next guest starts another."""
        with self._lock:
            if self._control is not None:
                self._control.close()
                self._control = None
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                if self._process.stderr:
                    self._process.stderr.close()
                self._process = None
                self._launch.clean_up()
            if self._group is not None:
                self._group.close()
                self._group = None

    def _started(self) -> socket.socket:
        self.warm_up()
        assert self._control is not None
        if not self._ready:
            try:
                frames.receive(self._control, time.monotonic() + START_SECONDS)
            except (frames.Closed, frames.Deadline):
                text = self._last_words()
                self.close()
                raise MachineError(f"the sandbox did not start: {text}") from None
            self._ready = True
            self._held = self._group.held() if self._group else 0
        return self._control

    def _last_words(self) -> str:
        stream = self._process.stderr if self._process else None
        if stream is None or not select.select([stream], [], [], 1)[0]:
            return "no message"
        return stream.read1(2000).decode(errors="replace").strip()[-500:] or "no message"  # type: ignore[attr-defined]

    def _within(self, limits: Limits) -> Limits:
        """Limits of the whole, put on the control group; if there is none, fewer processes."""
        if self._group is None:
            return replace(limits, processes=min(limits.processes, limits.processes_uncounted))
        # One process meets its own limit first, and a MemoryError says more than a process that is gone.
        memory = self._held + limits.memory + 2 * limits.scratch
        self._group.limit(memory, limits.processes + OWN_PROCESSES)
        return limits

    def let_go(self, number: int) -> None:
        """End a guest and wait until it has."""
        with self._lock:
            if self._control is None:
                return
            try:
                frames.send(self._control, {"op": "close", "id": number}, time.monotonic() + FORK_SECONDS)
                # Behind the answer there may be a whole assignment to load for another guest.
                frames.receive(self._control, time.monotonic() + PREPARE_SECONDS)
            except (frames.Closed, frames.Deadline, frames.WireError):
                self.close()


class Guest:
    """One fork of a host, and the socket that it talks on."""

    def __init__(self, host: Host, number: int, sock: socket.socket) -> None:
        self._host, self._number = host, number
        self.sock = sock

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process of this guest; its scratch space goes with them."""
        self.sock.close()
        if self._number:
            self._host.let_go(self._number)
            self._number = 0
