"""Landlock: a sandbox that each process builds around itself, for machines where bubblewrap does not work.

There are no mounts, no private users and no private process numbers, so:

- a submission's scratch is a folder, which the fork server watches (`scratch_watch`), and removes when all has ended;
- a submission is one process group, which it cannot leave (`seccomp`), so one signal ends all of it;
- started by root, each fork server has a user of its own, so that limits on processes are its own, too.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path

from autograder.sandbox.backends.base import Backend, Child, Judges, Students
from autograder.sandbox.backends.places import KIT, SYSTEM, open_to_all, python_places
from autograder.sandbox.backends.process import empty, plain_python, remove_scratch
from autograder.sandbox.linux import isolation, landlock, scratch_watch, seccomp
from autograder.sandbox.linux.exercises import ByDescriptor, InOwnGroup, InScope
from autograder.sandbox.protocol.messages import Policy

BECOME_ANOTHER = {0, 6, 7}  # capabilities: CHOWN, SETGID, SETUID
READ_ALL = {1, 2}  # DAC_OVERRIDE, DAC_READ_SEARCH
STOP_SECONDS = 5.0  # for the zygote to end what it has forked
SERVER_STOP_SECONDS = 4.0  # for a fork server to do so


class StudentsUnderLandlock(Students):
    """Each child writes in a folder of its own, which the fork server watches and clears away."""

    def enter(self) -> None:
        """Its own folder is where it writes."""
        isolation.write_in(self.policy.scratch)

    def before_first_fork(self, removed: isolation.Removed) -> None:
        """It looks at what its children hold, and runs nobody's code; they get none of these rules."""
        super().before_first_fork(removed)
        self._rules = [*landlock.reading(self.policy.readable), *landlock.DEVICES.items()]
        own = [*landlock.reading(self.policy.readable, removed.paths), *landlock.DEVICES.items()]
        own += [("/proc", landlock.READ | landlock.WRITE_FILE), (self.policy.scratch, landlock.WRITE)]
        self.leave_nothing()  # of warming up, while it is still root's
        isolation.adopt_orphans()
        _leave_root(self.policy)
        _stand_for(removed.emptied)
        landlock.no_new_privileges()
        landlock.restrict(own, self.policy.abi)
        self._watch = scratch_watch.Watch(self.policy.scratch)

    def tasks_of_user(self) -> int:
        """Without a private user, limits on processes come on top of what is there."""
        tasks = 0
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                    tasks += os.stat(f"/proc/{name}/task").st_nlink - 2
        return tasks

    def restrict(self) -> None:
        """It reads the libraries, writes in its scratch, and reaches nothing else."""
        folder = self._folder(os.getpid())
        os.mkdir(folder, 0o700)
        os.chdir(folder)
        isolation.write_in(folder)
        landlock.restrict([*self._rules, (folder, landlock.WRITE)], self.policy.abi)
        if self._keeps_signals_in():
            _cannot_signal(os.getppid())  # before anything relies on it

    def filter(self) -> seccomp.Filter:
        """What namespaces would have kept in is refused."""
        return seccomp.students_without_namespaces(signals=self._keeps_signals_in())

    def exercises(self) -> InOwnGroup:
        """How far a signal reaches depends on the kernel."""
        return InScope() if self._keeps_signals_in() else ByDescriptor()

    def watch(self, control: socket.socket, children: Iterable[Child], look: Callable[[], None] | None) -> None:
        """Look at the disk until there is a message, or no child."""
        left = list(children)
        while left and not select.select([control], [], [], scratch_watch.GLANCE)[0]:
            if look:
                look()
            for child in left if self._watch.is_due() else ():
                if child.pid and (words := self._watch.over_limit(child.pid, int(child.limits.scratch))):
                    child.over_limit = words
                    self.end(child)

    def clear_away(self, pid: int) -> None:
        """Wait for all of the group, which have been killed, and remove their folder."""
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-pid, 0)
        folder = os.fsencode(self._folder(pid))
        with contextlib.suppress(OSError):
            empty(folder)
            os.rmdir(folder)

    def leave_nothing(self) -> None:
        """Remove all scratch there is."""
        with contextlib.suppress(OSError):
            empty(os.fsencode(self.policy.scratch))

    def _folder(self, pid: int) -> str:
        """The scratch folder of the submission whose first process this is."""
        return os.path.join(self.policy.scratch, str(pid))

    def _keeps_signals_in(self) -> bool:
        return self.policy.abi >= landlock.SCOPE_ABI


class JudgesUnderLandlock(Judges):
    """They read the course, and write nowhere. Their fork server has a folder, for the solution's code."""

    def enter(self) -> None:
        """Its own folder is where it writes."""
        isolation.write_in(self.policy.scratch)
        os.chdir(self.policy.scratch)

    def restrict(self) -> None:
        """Reading alone, and that folder."""
        rules = [*landlock.reading(self.policy.readable), *landlock.DEVICES.items()]
        rules.append((self.policy.scratch, landlock.WRITE))
        landlock.no_new_privileges()
        landlock.restrict(rules, self.policy.abi)

    def leave_root(self) -> None:
        """Become the fork server's own user."""
        _leave_root(self.policy)

    def filter(self) -> seccomp.Filter:
        """What namespaces would have kept in is refused."""
        return seccomp.judges_without_namespaces(signals=self.policy.abi >= landlock.SCOPE_ABI)

    def leave_nothing(self) -> None:
        """Remove what the solution's code has left."""
        shutil.rmtree(self.policy.scratch, ignore_errors=True)


class Landlock(Backend):
    """Rules on files, TCP and signals, and a filter of system calls; it takes no rights and no namespaces."""

    name = "landlock"
    title = "Landlock"
    students = StudentsUnderLandlock
    judges = JudgesUnderLandlock

    def why_not(self) -> str | None:
        """Tried once in a run."""
        return _why_not()

    def what_is_lost(self) -> str | None:
        """What an older kernel's Landlock does not do."""
        lost = landlock.lost(landlock.abi())
        return f"this kernel's Landlock (version {landlock.abi()}) has " + "; ".join(lost) if lost else None

    def summary(self) -> str:
        """The filter of system calls is half of it."""
        return "Landlock and seccomp"

    def command(self, program: Callable[[str], str], places: Sequence[Path]) -> list[str]:
        """This very Python: each process builds the sandbox around itself."""
        return plain_python(program)

    def policy(self, judges: bool, places: Sequence[Path], scratch: str, user: Callable[[], int]) -> Policy:
        """Each fork server gets a folder. Judges write nowhere."""
        os.mkdir(scratch, 0o755 if judges else 0o700)
        readable = (*SYSTEM, *python_places(), sys.prefix, str(KIT / "sandbox"))
        if judges:
            readable = (*readable, str(KIT), *map(str, places))
            return Policy(self.name, True, abi=landlock.abi(), readable=readable, scratch=scratch, user=user())
        return Policy(self.name, abi=landlock.abi(), readable=readable, scratch=scratch, user=user())

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Nothing but itself ends what it has forked, so it is asked first."""
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        super().stop(process)

    def heed_sigterm(self, control: socket.socket) -> None:
        """It is told by its socket's end, at a good moment between two messages."""
        signal.signal(signal.SIGTERM, lambda *_: control.shutdown(socket.SHUT_RDWR))

    def end(self, pid: int) -> None:
        """Nothing but a fork server ends what it has forked, so it is asked first."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + SERVER_STOP_SECONDS
            while time.monotonic() < until:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.005)
        super().end(pid)

    def leave_nothing(self) -> None:
        """Remove the run's folder."""
        remove_scratch()


# ---------------------------------------------------------------- may it be used?


@functools.cache
def _why_not() -> str | None:
    """None if a process can put itself behind Landlock and seccomp here, else the reason in one sentence."""
    if sys.platform != "linux":
        return "Landlock is for Linux only"
    if os.uname().machine not in seccomp.MACHINES:
        return f"the list of refused system calls is not known for {os.uname().machine}"
    if landlock.abi() == 0:
        return "this kernel has no Landlock (it takes Linux 5.13, and `landlock` in /sys/kernel/security/lsm)"
    if os.getuid() == 0 and not _held_capabilities() >= BECOME_ANOTHER:
        return "root may not become another user here; start the grader as an ordinary user (docker run --user 1000)"
    private = next((place for place in (sys.prefix, sys.base_prefix) if not open_to_all(place)), None)
    if os.getuid() == 0 and private and READ_ALL.isdisjoint(_held_capabilities()):
        return (
            f"Python lies in {private}, where root alone may go, and this root may not hand on the right to it; "
            "put Python elsewhere, such as in /opt, or grant CAP_DAC_READ_SEARCH"
        )
    found: list[str | None] = []
    # A thread's own restriction ends with it.
    thread = threading.Thread(target=lambda: found.append(_tried()))
    thread.start()
    thread.join()
    return found[0]


def _held_capabilities() -> set[int]:
    """The numbers of this process's capabilities."""
    with open("/proc/self/status") as file:
        (bits,) = (int(line.split()[1], 16) for line in file if line.startswith("CapEff:"))
    return {number for number in range(64) if bits >> number & 1}


def _tried() -> str | None:
    """Put this thread behind Landlock, and see that it holds."""
    try:
        landlock.no_new_privileges()
        landlock.restrict([], landlock.abi())
        os.listdir("/")
    except PermissionError:
        return None
    except OSError as error:
        return f"Landlock does not work here ({error})"
    return "Landlock does not work here (a place that is out of reach can be read)"


# ---------------------------------------------------------------- steps in the sandbox


def _stand_for(files: Mapping[str, str]) -> None:
    """Texts in the place of files that cannot be read any more: for tracebacks, and for a module that is loaded again.

    No sandbox: who undoes this finds files that cannot be read.
    """
    for path, text in files.items():
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    read = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        return files[path].encode() if path in files else read(self, path)

    SourceFileLoader.get_data = get_data  # type: ignore[assignment,method-assign]


def _leave_root(policy: Policy) -> None:
    """Become the policy's user if root started this. If Python lies where root alone may go, it may look up paths."""
    if os.getuid() == 0 and not policy.judges:
        os.chown(policy.scratch, policy.user, policy.user)
    reachable = all(map(open_to_all, (sys.prefix, sys.base_prefix, os.path.dirname(policy.scratch))))
    # Docker's root lacks the right to read what others may not; it has the wider one, and Landlock says what is opened.
    has_it = isolation.permitted_capabilities() & isolation.CAP_DAC_READ_SEARCH
    look_up = isolation.CAP_DAC_READ_SEARCH if has_it else isolation.CAP_DAC_OVERRIDE
    isolation.leave_root(policy.user, keep=0 if reachable else look_up)


def _cannot_signal(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return
    raise OSError("landlock: signals are not kept in, though the kernel says that they are")
