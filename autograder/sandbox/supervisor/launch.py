"""How the zygote is started, with the backend that is chosen here: bubblewrap if it works, else Landlock, else none."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import MachineError
from autograder.sandbox.backends import BACKENDS, BUBBLEWRAP, LANDLOCK, PROCESS, Backend
from autograder.sandbox.protocol.messages import Policy
from autograder.sandbox.supervisor.users import Reserved

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread a process: many submissions share the machine, and threads do not survive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}
PROGRAM = (
    "import sys; sys.path.insert(0, {path!r}); "
    "from autograder.sandbox.sandboxed.zygote import main; main({fd}, {backend!r}, {modules!r})"
)
# What grading takes at the least: a limit, its least value, in words, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, "the number of processes", "-u"),
)
_KIB = ("-f", "-v", "-d")


@dataclass
class Launch:
    """How the zygote is started.

    modules: what it imports
    places: what judges may read beside Python, the system's libraries and the kit; none if nobody judges
    """

    backend: Backend
    modules: tuple[str, ...] = ()
    places: tuple[Path, ...] = ()
    _scratch: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)
    _users: dict[int, Reserved] = field(default_factory=dict, init=False)  # by the number of the fork server

    def start(self, control: socket.socket) -> subprocess.Popen[bytes]:
        """Start the zygote with `control` as its control socket."""
        self._scratch = self.backend.scratch()
        place = self._scratch.name if self._scratch else "/tmp"  # noqa: S108
        return subprocess.Popen(
            self.backend.command(lambda path: self._program(path, control.fileno()), self.places),
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.backend.working_folder(place),
            env=ENVIRONMENT | {"HOME": place, "TMPDIR": place},
            start_new_session=True,
        )

    def _program(self, path: str, descriptor: int) -> str:
        return PROGRAM.format(path=path, fd=descriptor, backend=self.backend.name, modules=self.modules)

    def policy(self, judges: bool, number: int) -> Policy:
        """What the fork server of this number is told. Raises `MachineError` if root has no user for it."""
        scratch = os.path.join(self._scratch.name, str(number)) if self._scratch else ""
        return self.backend.policy(judges, self.places, scratch, lambda: self._user(number))

    def _user(self, number: int) -> int:
        return self._users.setdefault(number, Reserved()).number if os.getuid() == 0 else 0

    def release(self, number: int) -> None:
        """The fork server of this number has ended."""
        if number in self._users:
            self._users.pop(number).release()

    def clean_up(self) -> None:
        """Remove what a fork server without mounts of its own has left."""
        for number in list(self._users):
            self.release(number)
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None


def chosen(kind: str) -> tuple[Backend, str | None]:
    """The backend for a sandbox of this kind, and what to warn of; see `host.isolates`."""
    if kind in BACKENDS:
        backend = BACKENDS[kind]
        if why := backend.why_not():
            raise MachineError(why)
        return backend, backend.what_is_lost()
    reasons = []
    for backend in (BUBBLEWRAP, LANDLOCK):
        why = backend.why_not()
        if why is None:
            return backend, backend.what_is_lost()
        reasons.append(why)
    return PROCESS, ", and ".join(reasons)


def why_too_little() -> MachineError | None:
    """None if this process may use what grading takes, else what it lacks and how to get it.

    Less than a submission's own limits is fine: the lower limit then holds.
    """
    for limit, least, what, option in NEEDS:
        allowed = resource.getrlimit(limit)[0]
        # Root may start as many processes as it likes, whatever its limit.
        if allowed != resource.RLIM_INFINITY and allowed < least and (option != "-u" or os.getuid()):
            unit = 1024 if option in _KIB else 1
            return MachineError(
                f"{what} is limited to {allowed // unit} here, and grading needs {least // unit}",
                f"raise it with `ulimit {option} {least // unit}`, then run this again",
            )
    return None
