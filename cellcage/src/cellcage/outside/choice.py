"""Which sandbox: bubblewrap if it works, else Landlock, else a plain process; and what is not safe in it."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from cellcage.errors import MachineError
from cellcage.backends import Backend, installed
from cellcage.backends.places import shown_with

# The least that running code needs: a limit, its least value, its unit, what it limits, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, 1024, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, 1, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, 1024, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, 1024, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, 1, "the number of processes", "-u"),
)


def isolates(kind: str) -> tuple[Backend, str | None]:
    """The backend for a sandbox of this kind, and what to warn of if it could isolate more.

    kind: the name of an installed backend, such as "bubblewrap", "landlock" or "process" (limits only), or "auto", the
        best of them that works
    Raises `MachineError` if this is not Linux, if a sandbox is asked for by name and does not work, or if a limit that
    somebody has set for this process is too low for any code.
    """
    if sys.platform != "linux":
        raise MachineError("notebooks run in a sandbox only on Linux, or in a container with Linux")
    if too_low := why_too_little():
        raise too_low
    return chosen(kind)


def what_is_unsafe(kind: str, root: Path) -> str | None:
    """One sentence if there is no sandbox, if it isolates less than it could, or if untrusted code can read `root`.

    Raises `MachineError` as `isolates` does.
    """
    backend, reason = isolates(kind)
    if not backend.isolates:
        reason = reason or "that is what was asked for"
        reason = f"untrusted code runs in a process with limits, but without a sandbox: {reason}"
    elif place := shown_with(root):
        reason = f"untrusted code can read {root}, since it lies in {place}, with the libraries"
    return reason


def chosen(kind: str) -> tuple[Backend, str | None]:
    """The backend for a sandbox of this kind, and what to warn of; see `isolates`."""
    backends = installed()
    if kind != "auto":
        if kind not in backends:
            raise MachineError(f"there is no sandbox {kind!r}; there are {', '.join(backends)}")
        if reason := backends[kind].why_not():
            raise MachineError(reason)
        return backends[kind], backends[kind].what_is_lost()
    reasons = []
    for backend in backends.values():
        reason = backend.why_not()
        if reason is None:
            return backend, backend.what_is_lost() if backend.isolates else ", and ".join(reasons)
        reasons.append(reason)
    raise MachineError("no backend of the sandbox is installed", "pip install --force-reinstall cellcage")


def why_too_little() -> MachineError | None:
    """None if this process may use what running code needs, else what it lacks and how to get it.

    A limit below a notebook's own limits is fine: then the lower one holds.
    """
    for limit, least, unit, what, option in NEEDS:
        allowed = resource.getrlimit(limit)[0]
        # Root may start any number of processes, whatever its limit.
        if allowed != resource.RLIM_INFINITY and allowed < least and (option != "-u" or os.getuid()):
            return MachineError(
                f"{what} is limited to {allowed // unit} here, and a sandbox needs {least // unit}",
                f"raise it with `ulimit {option} {least // unit}`, then run this again",
            )
    return None
