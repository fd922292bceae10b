"""The zygote from outside: start it, have it fork fork servers, end it."""

from __future__ import annotations

import itertools
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.errors import MachineError
from autograder.sandbox.backends import Backend
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.messages import EndServer, StartServer
from autograder.sandbox.supervisor.launch import Launch
from autograder.sandbox.supervisor.shortage import short_of_something

SHELL = "IPython.core.interactiveshell"  # what cells run in
ATTEMPTS = 2  # a process that was lost is started again once
ASK_SECONDS = 10.0  # until a request is in the socket's buffer, where it may wait for the imports


class Zygote:
    """One zygote for all fork servers of a run, started when it is needed, and again if it was lost.

    backend: see `supervisor.fork_server.isolates`
    places: what the judges may read of the course; none if nobody judges here
    modules: what it imports beside the shell that cells run in, if that is installed
    """

    def __init__(self, backend: Backend, modules: Iterable[str], places: Sequence[Path] = ()) -> None:
        self.launch = Launch(backend, (*modules, SHELL), tuple(places))
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ended = False

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    @short_of_something()
    def start(self) -> None:
        """Begin to start it if it does not run, and do not wait.

        Raises `MachineError` after its end, or if the machine has no room for it.
        """
        with self._lock:
            if self._ended:
                raise MachineError("the run was ended")
            if self._process is None or self._process.poll() is not None:
                self._close()
                self._control, inside = frames.pair()
                with inside:
                    self._process = self.launch.start(inside)

    @short_of_something()
    def server(
        self, child: str, judges: bool, setting: Mapping[str, object], files: Sequence[int]
    ) -> tuple[int, socket.socket]:
        """Have it fork a fork server as soon as it can: the fork server's number and control socket.

        child: module and class of what the fork server forks; judges: may it see the course?
        files: descriptors of a control group's files, which it joins
        Raises `MachineError` if it cannot be started.
        """
        with self._lock:
            for _ in range(ATTEMPTS):
                self.start()
                assert self._control is not None
                number = next(self._ids)
                order = StartServer(number, child, dict(setting), self.launch.policy(judges, number))
                outer, inner = frames.pair()
                try:
                    with inner:
                        passed = [inner.fileno(), *files]
                        frames.send_with_descriptors(self._control, order, passed, time.monotonic() + ASK_SECONDS)
                    return number, outer
                except frames.Exhausted:
                    outer.close()
                    raise
                except (frames.Closed, frames.Deadline):  # it was lost, and its end not noticed until now
                    outer.close()
                    words = self.last_words()
                    self._close()
        raise MachineError(f"the sandbox did not start: {words}")

    def end_server(self, number: int) -> None:
        """Kill a fork server with all that it has forked, and do not wait."""
        with self._lock:
            self.launch.release(number)
            if self._control is not None:
                try:
                    frames.send(self._control, EndServer(number), time.monotonic() + ASK_SECONDS)
                except (frames.Closed, frames.Deadline, frames.Exhausted):
                    self._close()

    def last_words(self) -> str:
        """What it, or bubblewrap, last complained of."""
        stream = self._process.stderr if self._process else None
        if stream is None or not select.select([stream], [], [], 1)[0]:
            return "no message"
        return stream.read1(2000).decode(errors="replace").strip()[-500:] or "no message"  # type: ignore[attr-defined]

    def end(self) -> None:
        """End it with all fork servers, for good."""
        self._ended = True
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self.launch.backend.stop(self._process)
            if self._process.stderr:
                self._process.stderr.close()
            self._process = None
            self.launch.clean_up()
