"""Users of the kernel that nothing else has.

The kernel counts much for each user: processes, descriptors in flight, pages of pipes, signals that wait. Two fork
servers of one user could use up each other's share, and so could any daemon that runs as `nobody`. Root can give each
fork server a user of its own; whoever is not root cannot become another, and shares what is counted with its own other
programs.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import socket
from pathlib import Path

from autograder.errors import MachineError

# systemd sets these aside for users made on the fly, so no account is among them. https://systemd.io/UIDS-GIDS/
CANDIDATES = range(61184, 65520)
SYSTEMDS_OWN = Path("/run/systemd/dynamic-uid")  # one file for each that it has given to somebody
MAPS = ("/proc/self/uid_map", "/proc/self/gid_map")


class Reserved:
    """A user that no account, no process and no other grader of this machine has, until it is released."""

    def __init__(self) -> None:
        """Raises `MachineError` if there is none, as in a container that has few users."""
        taken = _of_processes()
        for number in random.sample(CANDIDATES, len(CANDIDATES)):
            if number not in taken and _is_mapped(number) and not _has_account(number) and self._lock(number):
                self.number = number
                return
        raise MachineError(
            f"no user is free among {CANDIDATES[0]} to {CANDIDATES[-1]}, and root runs no student code",
            "start the grader as an ordinary user, or give its container these users",
        )

    def _lock(self, number: int) -> bool:
        """A name that is gone with this process, however it ends. Other graders try to take the same one."""
        self._name = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            self._name.bind(f"\0autograder-user-{number}")
            return True
        self._name.close()
        return False

    def release(self) -> None:
        """Somebody else may have it."""
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
    """Is there such a user and group in this process's user namespace? In a rootless container there are few."""
    return all(
        any(int(first) <= number < int(first) + int(count) for first, _, count in map(str.split, lines))
        for lines in (Path(path).read_text().splitlines() for path in MAPS)
    )
