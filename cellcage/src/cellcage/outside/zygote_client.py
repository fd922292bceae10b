"""The zygote, from outside: start it, have it fork fork servers, end it."""

from __future__ import annotations

import itertools
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from cellcage.backends.base import Backend
from cellcage.errors import MachineError
from cellcage.outside.users import Reserved
from cellcage.protocol import frames
from cellcage.protocol.messages import EndServer, Message, Policy, StartServer

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread per process: many notebooks share the machine, and threads do not survive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}
PROGRAM = (
    "import sys; sys.path[:0] = {path!r}; from cellcage.inside.zygote import main; main({fd}, {backend!r}, {modules!r})"
)
SHELL = "IPython.core.interactiveshell"  # what cells run in
ATTEMPTS = 2  # a zygote that was lost is started again once
ASK_SECONDS = 10.0  # until a request is in the socket's buffer, where it may wait for the imports


class Zygote(AbstractContextManager["Zygote"]):
    """One zygote for all fork servers of a run, started when it is needed, and again if it was lost.

    backend: see `choose_backend`
    modules: what it imports beside the shell that cells run in, as far as they are installed
    places: folders that trusted processes may read, and that are out of untrusted code's reach
    path: folders in which trusted processes look for modules first
    """

    def __init__(
        self, backend: Backend, modules: Iterable[str] = (), places: Sequence[Path] = (), path: Sequence[Path] = ()
    ) -> None:
        self.places, self.path = tuple(places), tuple(path)
        self._backend, self._modules = backend, (*modules, SHELL)
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch: TemporaryDirectory[str] | None = None
        self._users: dict[int, Reserved] = {}  # by the number of the fork server
        self._ended = False

    def __exit__(self, *exc: object) -> None:
        self.end()

    def server(
        self, child: str, trusted: bool, setting: Mapping[str, object], files: Sequence[int], joins: int
    ) -> tuple[int, socket.socket]:
        """Have it fork a fork server as soon as it can. Returns the fork server's number and control socket.

        child: module and class of what the fork server forks; setting: passed to it
        trusted: whether what it forks may read `places`
        files, joins: descriptors of files of its control group; it joins by so many, the first ones
        Raises `MachineError` after `end`, or if it cannot be started.
        """
        with self._lock:
            for _ in range(ATTEMPTS):
                self._start()
                assert self._control is not None
                number = next(self._ids)
                path = tuple(map(str, self.path)) if trusted else ()
                order = StartServer(number, child, dict(setting), path, self._policy(trusted, number), joins)
                try:
                    (sock,) = send_with_sockets(self._control, order, 1, time.monotonic() + ASK_SECONDS, files)
                    return number, sock
                except (frames.Closed, frames.Deadline):  # the zygote was lost, and that is noticed only now
                    error = self.last_words()
                    self._close()
        raise MachineError(f"the sandbox did not start: {error}")

    def _policy(self, trusted: bool, number: int) -> Policy:
        """How the fork server of this number sets up its sandbox. Raises `MachineError` if root has no user for it."""
        user = 0
        if self._backend.isolates and os.getuid() == 0:
            self._users[number] = Reserved()
            user = self._users[number].number
        scratch = os.path.join(self._scratch.name, str(number)) if self._scratch else ""
        return self._backend.policy(trusted, self.places, scratch, user)

    def _start(self) -> None:
        """Start it if it does not run, without waiting until it is ready."""
        if self._ended:
            raise MachineError("the run was ended")
        if self._process is None or self._process.poll() is not None:
            self._close()
            self._control, inside = frames.pair()
            with inside:
                self._process = self._launched(inside.fileno())

    def _launched(self, control: int) -> subprocess.Popen[bytes]:
        """A process of its own, with this descriptor as its control socket."""
        folder = "/tmp"  # noqa: S108
        if not self._backend.mounts:
            self._scratch = TemporaryDirectory(prefix="cellcage-", ignore_cleanup_errors=True)
            folder = self._scratch.name
            os.chmod(folder, 0o711)  # noqa: S103  # a process that has dropped root goes through it to its own folder
        kind = type(self._backend)
        backend = f"{kind.__module__}:{kind.__qualname__}"
        program = PROGRAM.format(path=self._backend.path(), fd=control, backend=backend, modules=self._modules)
        return subprocess.Popen(
            [*self._backend.command(self.places), program],
            pass_fds=[control],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/" if self._backend.isolates else folder,  # else cells would write in "/"
            env=ENVIRONMENT | {"HOME": folder, "TMPDIR": folder},
            start_new_session=True,
        )

    def end_server(self, number: int) -> None:
        """Kill a fork server with all that it has forked, without waiting."""
        with self._lock:
            if user := self._users.pop(number, None):
                user.release()
            if self._control is not None:
                try:
                    frames.send(self._control, EndServer(number), time.monotonic() + ASK_SECONDS)
                except (frames.Closed, frames.Deadline, MachineError):
                    self._close()

    def last_words(self) -> str:
        """The last error output of the zygote, or of bubblewrap."""
        with self._lock:  # another thread may close it
            stream = self._process.stderr if self._process else None
            said = stream.read1(2000) if stream and select.select([stream], [], [], 1)[0] else b""  # type: ignore[attr-defined]
            return said.decode(errors="replace").strip()[-500:] or "no message"

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
            self._backend.stop(self._process)
            if self._process.stderr:
                self._process.stderr.close()
            self._process = None
            while self._users:
                self._users.popitem()[1].release()
            if self._scratch is not None:
                self._scratch.cleanup()
                self._scratch = None


def send_with_sockets(
    control: socket.socket, order: Message, pairs: int, deadline: float, files: Sequence[int] = ()
) -> list[socket.socket]:
    """Send an order with one end of so many new pairs of sockets, and other descriptors. Returns the other ends.

    Raises as `frames.send_with_descriptors` does.
    """
    made = [frames.pair() for _ in range(pairs)]
    try:
        frames.send_with_descriptors(control, order, [*(inner.fileno() for _, inner in made), *files], deadline)
    except BaseException:
        for outer, _ in made:
            outer.close()
        raise
    finally:
        for _, inner in made:
            inner.close()
    return [outer for outer, _ in made]
