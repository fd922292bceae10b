"""What starts the zygote, and which backend: bubblewrap if it works, else Landlock, else a plain process."""

from __future__ import annotations

import os
import resource

from autograder.errors import MachineError
from autograder.sandbox.backends import BACKENDS, BUBBLEWRAP, LANDLOCK, PROCESS, Backend

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread per process: many submissions share the machine, and threads do not survive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}
PROGRAM = (
    "import sys; sys.path.insert(0, {path!r}); "
    "from autograder.sandbox.sandboxed.zygote import main; main({fd}, {backend!r}, {modules!r})"
)
# The least that grading needs: a limit, its least value, its unit, what it limits, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, 1024, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, 1, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, 1024, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, 1024, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, 1, "the number of processes", "-u"),
)


def chosen(kind: str) -> tuple[Backend, str | None]:
    """The backend for a sandbox of this kind, and what to warn of; see `fork_server.isolates`."""
    if kind in BACKENDS:
        if reason := BACKENDS[kind].why_not():
            raise MachineError(reason)
        return BACKENDS[kind], BACKENDS[kind].what_is_lost()
    reasons = []
    for backend in (BUBBLEWRAP, LANDLOCK):
        reason = backend.why_not()
        if reason is None:
            return backend, backend.what_is_lost()
        reasons.append(reason)
    return PROCESS, ", and ".join(reasons)


def why_too_little() -> MachineError | None:
    """None if this process may use what grading needs, else what it lacks and how to get it.

    A limit below a submission's own limits is fine: then the lower one holds.
    """
    for limit, least, unit, what, option in NEEDS:
        allowed = resource.getrlimit(limit)[0]
        # Root may start any number of processes, whatever its limit.
        if allowed != resource.RLIM_INFINITY and allowed < least and (option != "-u" or os.getuid()):
            return MachineError(
                f"{what} is limited to {allowed // unit} here, and grading needs {least // unit}",
                f"raise it with `ulimit {option} {least // unit}`, then run this again",
            )
    return None
