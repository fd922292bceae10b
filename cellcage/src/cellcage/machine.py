"""What this machine offers: which backends work, and the limits, users and control groups that it grants."""

from __future__ import annotations

import os
import resource
import sys

from cellcage.backends import installed
from cellcage.backends.base import NEVER, Backend
from cellcage.backends.places import open_to_all, shown_with
from cellcage.errors import MachineError, NoSandbox
from cellcage.linux import landlock_rules
from cellcage.outside import cgroup
from cellcage.outside.users import Reserved

__all__ = [
    "backend", "best_backend", "can_limit_as_a_whole", "choose_backend", "landlock_version", "open_to_all",
    "reserve_a_user", "shown_with", "why_too_little",
]  # fmt: skip
# The least that running code needs: a limit, its least value, its unit, what it limits, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, 1024, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, 1, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, 1024, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, 1024, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, 1, "the number of processes", "-u"),
)


def choose_backend(kind: str) -> tuple[Backend, str | None]:
    """The backend for a sandbox of this kind, and what to warn of if it could isolate more.

    kind: the name of an installed backend, such as "bubblewrap", "landlock" or "process" (limits only), or "auto", the
        best of them that works and isolates
    Raises `NoSandbox` if it is "auto" and none of them does. Raises `MachineError` if this is not Linux, if the caller
    chose a sandbox by name and it does not work, or if this process already has a limit that is too low for any code.
    """
    if sys.platform != "linux":
        raise MachineError("notebooks run in a sandbox only on Linux, or in a container with Linux")
    if too_low := why_too_little():
        raise too_low
    if kind == "auto":
        best, reason = best_backend()
        if not best.isolates:
            raise NoSandbox(f"no sandbox works here: {reason}", 'the kind "process" runs code with limits only')
        return best, reason
    found = backend(kind)
    if reason := found.why_not():
        raise MachineError(reason)
    return found, found.what_is_lost()


def backend(name: str) -> Backend:
    """The installed backend of this name. Raises `MachineError` if there is none."""
    if name not in installed():
        raise MachineError(f"there is no sandbox {name!r}; there are {', '.join(installed())}")
    return installed()[name]


def best_backend() -> tuple[Backend, str | None]:
    """The best backend that works here, even if it isolates nothing, and what to warn of."""
    reasons = list[str]()
    for found in installed().values():
        if found.rank >= NEVER:
            continue
        reason = found.why_not()
        if reason is None:
            return found, found.what_is_lost() if found.isolates else ", and ".join(reasons)
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


def landlock_version() -> int:
    """Version of the kernel's Landlock; 0 if it has none."""
    return landlock_rules.abi()


def can_limit_as_a_whole() -> bool:
    """Whether a control group can be made, which limits all processes of a notebook together."""
    group = cgroup.create()
    if group is not None:
        group.close()
    return group is not None


def reserve_a_user() -> None:
    """Try to reserve a user for a fork server, as root needs. Raises `MachineError` if none is free."""
    Reserved().release()
