"""The wall that needs no namespaces: Landlock around a host and each submission, and scratch space that is watched.

Where bubblewrap works, the same rules stand inside it, so that one fault opens nothing. Where it does not, there are no
mounts, no private users and no private process numbers, so:

- a submission's scratch is a folder, which the host watches (`scratch_watch`), and removes when all has ended;
- a submission is one process group, which it cannot leave (`seccomp`), so one signal ends all of it;
- started by root, each host has a user of its own, so that limits on processes are its own, too.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import tempfile
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader

from autograder.sandbox import landlock
from autograder.sandbox.inside import walls
from autograder.sandbox.wall import Wall, open_to_all

_rules: list[landlock.Rule] = []


def around_host(wall: Wall, of_strangers: bool) -> None:
    """Once a host is warm. Students' hosts in namespaces go without, for their forks have mounts to make."""
    _rules[:] = [*landlock.reading(wall.readable), *landlock.DEVICES.items()]
    if not wall.abi or (wall.in_namespaces and of_strangers):
        return
    rules = [*landlock.reading(wall.readable, walls.left_out()), *landlock.DEVICES.items()]
    if wall.in_namespaces:
        rules.append(("/proc", landlock.READ))  # of a pid namespace of its own
    if wall.by_landlock and of_strangers:
        # The host looks at what its forks hold, and runs nobody's code; they get none of this.
        rules += [("/proc", landlock.READ | landlock.WRITE_FILE), (wall.scratch, landlock.WRITE)]
        leave_nothing(wall)  # of warming up, while it is still root's
        walls.adopt_orphans()
        leave_root(wall)
        _stand_for(walls.emptied())
    landlock.no_new_privileges()
    landlock.restrict(rules, wall.abi)


def _stand_for(files: Mapping[str, str]) -> None:
    """Texts in the place of files that cannot be read any more: for tracebacks, and for a module that is loaded again.

    No wall: who undoes this finds files that cannot be read.
    """
    for path, text in files.items():
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    read = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        return files[path].encode() if path in files else read(self, path)

    SourceFileLoader.get_data = get_data  # type: ignore[assignment,method-assign]


def leave_root(wall: Wall) -> None:
    """Become the wall's user if root started this. If Python lies where root alone may go, it may look up paths."""
    if os.getuid() == 0 and wall.scratch:
        os.chown(wall.scratch, wall.user, wall.user)
    reachable = all(map(open_to_all, (sys.prefix, sys.base_prefix, os.path.dirname(wall.scratch))))
    # Docker's root lacks the right to read what others may not; it has the wider one, and Landlock says what is opened.
    has_it = walls.permitted_capabilities() & walls.CAP_DAC_READ_SEARCH
    look_up = walls.CAP_DAC_READ_SEARCH if has_it else walls.CAP_DAC_OVERRIDE
    walls.leave_root(wall.user, keep=look_up if wall.by_landlock and not reachable else 0)


def tasks_of_user() -> int:
    """How many the kernel counts for this user already: without a private user, limits on processes come on top."""
    tasks = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                tasks += os.stat(f"/proc/{name}/task").st_nlink - 2
    return tasks


def around_notebook(wall: Wall) -> None:
    """In a submission's fork: it reads the libraries, writes in its scratch, and reaches nothing else."""
    if wall.by_landlock:
        folder = scratch_of(wall, os.getpid())
        os.mkdir(folder, 0o700)
        os.chdir(folder)
        os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
        landlock.restrict([*_rules, (folder, landlock.WRITE)], wall.abi)
        if wall.abi >= landlock.SCOPE_ABI:
            _cannot_signal(os.getppid())  # before anything relies on it
    elif wall.in_namespaces and wall.abi:
        private = [("/tmp", landlock.WRITE), ("/dev/shm", landlock.WRITE), ("/proc", landlock.READ)]  # noqa: S108
        landlock.restrict([*_rules, *private], wall.abi)


def _cannot_signal(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return
    raise OSError("landlock: signals are not kept in, though the kernel says that they are")


def scratch_of(wall: Wall, pid: int) -> str:
    """The scratch folder of the submission whose first process this is."""
    return os.path.join(wall.scratch, str(pid))


def clear(wall: Wall, pid: int) -> None:
    """Wait for all processes of a submission, which have been killed, and remove its scratch folder."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-pid, 0)
    folder = os.fsencode(scratch_of(wall, pid))
    with contextlib.suppress(OSError):
        _empty(folder)
        os.rmdir(folder)


def leave_nothing(wall: Wall) -> None:
    """Remove all scratch there is."""
    if wall.scratch:
        with contextlib.suppress(OSError):
            _empty(os.fsencode(wall.scratch))


def _empty(folder: bytes) -> None:
    """Remove all in a folder, however deep: what lies deeper is first moved up, so that no path grows long."""
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)
                    os.rename(inner.path, os.path.join(folder, os.urandom(16).hex().encode()))
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)
