"""Limits scratch where no mount does: the notebooks' fork server watches the folders that notebooks write in.

The disk's free space shows within milliseconds, for one system call, that somebody writes. After a sudden large write
the notebook is stopped while its files are counted, so that nothing moves meanwhile. After a small one it is counted
while it runs. Once a second it is counted in any case, since files that others remove at the same time hide what one
writes. If space becomes free between two looks, that is the new baseline, so what an ended notebook frees hides
nothing, either.

Blocks on disk count, also those of removed files that a process still holds. Untrusted code cannot hide a file in a
socket, allocate blocks without writing them, or leave its session (`seccomp`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Iterator

from cellcage.limits import MIB

GLANCE = 0.005  # seconds between two looks at free space: two processors write some 25 MB in that time
SOME_SECONDS = 0.1  # between two counts while somebody writes
LOOK = 1.0  # seconds between two counts if nothing is written; a count takes some milliseconds
SUDDEN = 16 * MIB  # bytes by which free space fell since the last look: somebody writes fast
SOME = MIB  # bytes, or
FILES = 500  # files: somebody writes
MOST_FILES = 4096  # as in the mounts of the other backend
BLOCK = 512  # bytes, the unit of st_blocks


class ScratchWatch:
    """The scratch folders of one fork server. folder: holds a folder for each notebook's first process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._free = _free(folder)
        self._looked = 0.0
        self._sudden = False

    def is_due(self) -> bool:
        """True if it is time to count."""
        free, since = _free(self._folder), time.monotonic() - self._looked
        written, made = self._free[0] - free[0], self._free[1] - free[1]
        self._sudden = written > SUDDEN
        some = written > SOME or made > FILES or free[0] == 0
        due = self._sudden or since > LOOK or (some and since > SOME_SECONDS)
        if due:
            self._free, self._looked = free, time.monotonic()
        self._free = max(self._free[0], free[0]), max(self._free[1], free[1])
        return due

    def over_limit(self, pid: int, limit: int) -> str:
        """Which limit the notebook with this first process exceeds, in words; empty if none. limit: bytes"""
        if self._sudden:
            _send(pid, signal.SIGSTOP)
        try:
            return _over_limit(os.path.join(self._folder, str(pid)), pid, limit)
        except _Unlistable as error:
            return f"it made {error} that cannot be looked into"
        finally:
            if self._sudden:
                _send(pid, signal.SIGCONT)


class _Unlistable(Exception):
    """Something cannot be counted; the text says what."""


def _over_limit(folder: str, pid: int, limit: int) -> str:
    files, size = _count(folder, limit)
    if files > MOST_FILES:
        return f"it made more than {MOST_FILES} files"
    members = _members(pid) if size <= limit else ()
    if size + sum(_removed_and_held(member, folder) for member in members) > limit:
        return f"it wrote more than {limit // MIB} MB of files"
    return ""


def _count(folder: str, enough: int) -> tuple[int, int]:
    """Files below a folder, and their bytes on disk; counting ends past `enough` bytes. Raises `_Unlistable`."""
    files = size = 0
    waiting = [os.fsencode(folder)]
    while waiting and files <= MOST_FILES and size <= enough:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(os.fsencode(entry.path))
                    if files > MOST_FILES:
                        break
        except (FileNotFoundError, NotADirectoryError):  # it was moved
            continue
        except OSError:  # no right to read it, or the path is too long
            raise _Unlistable("a folder") from None
    return files, size


def _members(pid: int) -> Iterator[int]:
    """The processes of a notebook: those of its first process's session, which none can leave."""
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.getsid(int(name)) == pid:
                yield int(name)


def _removed_and_held(pid: int, scratch: str) -> int:
    """Bytes of removed files that a process still has open or mapped.

    Raises `_Unlistable` for a process that has made itself unreadable.
    """
    for last in (False, True):
        try:
            return _by_descriptors(pid) + _by_maps(pid, os.fsencode(scratch))
        except PermissionError:
            if last:
                raise _Unlistable("a process") from None
            time.sleep(0.01)  # it may be about to end
        except OSError:  # it has ended
            break
    return 0


def _by_descriptors(pid: int) -> int:
    size = 0
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(f"/proc/{pid}/fd/{number}")
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                size += status.st_blocks * BLOCK
    return size


def _by_maps(pid: int, scratch: bytes) -> int:
    size = 0
    with open(f"/proc/{pid}/maps", "rb") as file:
        for line in file:
            if b"(deleted)" in line and scratch in line:
                first, end = (int(address, 16) for address in line.split(b" ", 1)[0].split(b"-"))
                size += end - first
    return size


def _send(pid: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a notebook."""
    with contextlib.suppress(OSError):
        os.killpg(pid, number)


def _free(folder: str) -> tuple[int, int]:
    """Bytes and files for which there is room on a folder's disk; 0 if that is not known."""
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bfree * found.f_frsize, found.f_ffree
    return 0, 0
