"""A control group around a fork server of notebooks and all below it: limits for a notebook as a whole.

`setrlimit` limits each process by itself, and thirty processes together may still use up the machine's memory. If
this user may make control groups (root; a systemd user session; a container with one of its own), each sandbox gets
one. Both versions work: version 2 with one tree, and version 1 with one tree for each controller.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
COUNTING = ("memory.events", "memory.oom_control", "memory.failcnt")  # of version 2, and two of version 1
_numbers = itertools.count(1)
_made_here = set[Path]()


@dataclass(frozen=True)
class ControlGroup:
    """The group's folders: one, or one for each controller in version 1."""

    folders: tuple[Path, ...]

    @contextlib.contextmanager
    def files(self) -> Iterator[list[int]]:
        """Open a file of each folder to which a process writes 0 to join, then those that count what memory has killed.

        An open file is enough, even in a sandbox.
        """
        joining = [(folder / "cgroup.procs", "wb") for folder in self.folders]
        counting = [(folder / name, "rb") for name in COUNTING for folder in self.folders if (folder / name).exists()]
        with contextlib.ExitStack() as opened:
            yield [opened.enter_context(open(file, mode, 0)).fileno() for file, mode in (*joining, *counting)]

    def memory_in_use(self) -> int:
        """Bytes in use now."""
        return int(self._read("memory.current", "memory.usage_in_bytes"))

    def limit(self, memory: int, processes: int) -> None:
        """At most `memory` bytes and `processes` tasks for all together, no swap, one processor."""
        self._limit_swap(memory)  # also before: in version 1, memory with swap is never less than memory
        self._write("memory.max", "memory.limit_in_bytes", str(memory))
        self._write("pids.max", "pids.max", str(processes))
        self._limit_swap(memory)
        with contextlib.suppress(OSError):  # if there is no controller for the processor
            self._write("cpu.max", "cpu.cfs_quota_us", "100000 100000", "100000")

    def _limit_swap(self, memory: int) -> None:
        with contextlib.suppress(OSError):  # if swap is not counted, or memory must be limited first
            self._write("memory.swap.max", "memory.memsw.limit_in_bytes", "0", str(memory))

    def close(self) -> None:
        """Remove the group, and those of programs that were killed. Its last processes may need a moment to end."""
        for folder in self.folders:
            _sweep(folder.parent)
        for _ in range(200):
            left = [folder for folder in self.folders if not _removed(folder)]
            if not left:
                return
            self._kill(left[0])
            time.sleep(0.01)

    @staticmethod
    def _kill(folder: Path) -> None:
        """Kill what is still in the group: a fork may outlive its parent for a moment, a starting one for longer."""
        with contextlib.suppress(OSError, ValueError):
            for pid in (folder / "cgroup.procs").read_text().split():
                if int(pid) > 1:  # 0 stands for a process that this one cannot see; to `kill` it is its own group
                    os.kill(int(pid), signal.SIGKILL)

    def _read(self, *names: str) -> str:
        return next((f / name).read_text() for f in self.folders for name in names if (f / name).exists())

    def _write(self, new: str, old: str, text: str, old_text: str | None = None) -> None:
        """Write to the file named `new` in version 2 and `old` in version 1."""
        for folder in self.folders:
            for name, value in ((new, text), (old, old_text or text)):
                if (folder / name).exists():
                    (folder / name).write_text(value)
                    return


def create() -> ControlGroup | None:
    """A new group that can limit memory and processes, or None if this user may not make one."""
    if not MOUNTS.exists() or not OWN.exists():
        return None
    name = f"cellcage-{os.getpid()}-{next(_numbers)}"
    return _create_in_one_tree(name) or _create_in_many(name)


def _create_in_one_tree(name: str) -> ControlGroup | None:
    """Version 2: in this process's group, or in the nearest group above it that may limit memory and processes."""
    if (found := _own_group()) is None:
        return None
    root, own = found
    for parent in (own, *own.parents):
        if root not in (parent, *parent.parents):
            return None
        if _hands_down(parent) and (folder := _made(parent / name)):
            return ControlGroup((folder,))
    return None


def _hands_down(folder: Path) -> bool:
    try:
        return {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False


def _create_in_many(name: str) -> ControlGroup | None:
    """Version 1: below this process's group in the tree of each controller."""
    folders: list[Path] = []
    for controller in ("memory", "pids", "cpu"):
        found = _own_group(controller)
        folder = _made(found[1] / name) if found else None
        if folder is not None:
            folders.append(folder)
        elif controller != "cpu":
            for made in folders:
                _removed(made)
            return None
    return ControlGroup(tuple(folders))


def _made(folder: Path) -> Path | None:
    _sweep(folder.parent)
    _made_here.add(folder)  # before it exists: a signal may end this process at any moment
    try:
        folder.mkdir()
    except OSError:
        return None
    if os.access(folder / "cgroup.procs", os.W_OK):
        return folder
    _removed(folder)
    return None


@atexit.register
def _leave_nothing() -> None:
    """Remove this process's groups that are still open, such as after a signal."""
    for folder in _made_here:
        with contextlib.suppress(OSError):
            if folder.exists() and f"-{os.getpid()}-" in folder.name:  # after a fork they belong to the parent
                ControlGroup((folder,)).close()


def _sweep(parent: Path) -> None:
    """Remove groups of programs that were killed."""
    for folder in parent.glob("cellcage-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not _lives(pid):
            _removed(folder)


def _lives(pid: str) -> bool:
    """True if the process has not ended. A zombie has: in many containers the first process never reaps any."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return not folder.exists()
    return True


def _own_group(controller: str = "") -> tuple[Path, Path] | None:
    """The root of the tree of version 2, or of a controller of version 1, and this process's group in that tree."""
    root = next(filter(None, (_root(line, controller) for line in MOUNTS.read_text().splitlines())), None)
    for line in OWN.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if root and controller in controllers.split(","):  # version 2 has no controllers here
            return root, root / path.lstrip("/")
    return None


def _root(mount: str, controller: str) -> Path | None:
    before, _, after = mount.partition(" - ")
    kind, _, options = after.split(" ", 2)
    is_root = kind == "cgroup" and controller in options.split(",") if controller else kind == "cgroup2"
    return Path(before.split()[4]) if is_root else None
