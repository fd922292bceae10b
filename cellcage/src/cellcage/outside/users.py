"""User numbers that nothing else on this machine has.

The kernel limits many things for each user: processes, descriptors in flight, pages of pipes, queued signals. Two fork
servers of one user could use up each other's share, and so could any daemon that runs as `nobody`. Root can give each
fork server a user of its own. An ordinary user cannot, and shares these limits with its other programs.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import socket
from pathlib import Path

from cellcage.errors import MachineError

# systemd reserves these for dynamic users, so there is no account among them. https://systemd.io/UIDS-GIDS/
CANDIDATES = range(61184, 65520)
SYSTEMDS_OWN = Path("/run/systemd/dynamic-uid")  # one file for each that systemd uses
MAPS = ("/proc/self/uid_map", "/proc/self/gid_map")


class Reserved:
    """A user number that no account and no process on this machine has, until it is released."""

    def __init__(self) -> None:
        """Raises `MachineError` if there is none, as in a container that has few users."""
        taken = _of_processes()
        for number in random.sample(CANDIDATES, len(CANDIDATES)):
            if number not in taken and _is_mapped(number) and not _has_account(number) and self._lock(number):
                self.number = number
                return
        raise MachineError(
            f"no user is free among {CANDIDATES[0]} to {CANDIDATES[-1]}, and root runs no untrusted code",
            "start this as an ordinary user, or give its container these users",
        )

    def _lock(self, number: int) -> bool:
        """Bind a socket's name, as each of us does. It is free again when this process ends, however it ends."""
        self._name = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            self._name.bind(f"\0cellcage-user-{number}")
            return True
        self._name.close()
        return False

    def release(self) -> None:
        """Let others take the number."""
        self._name.close()


def _of_processes() -> set[int]:
    taken = set[int]()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit():
                taken.add(os.stat(f"/proc/{name}").st_uid)
    return taken


def _has_account(number: int) -> bool:
    with contextlib.suppress(KeyError):
        pwd.getpwuid(number)
        return True
    return (SYSTEMDS_OWN / str(number)).exists()


def _is_mapped(number: int) -> bool:
    """True if this process's user namespace has this user and group. A rootless container has only a few."""
    return all(
        any(int(first) <= number < int(first) + int(count) for first, _, count in map(str.split, lines))
        for lines in (Path(path).read_text().splitlines() for path in MAPS)
    )
