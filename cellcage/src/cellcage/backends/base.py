"""The interface of a backend, and the steps that all backends share."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from cellcage.backends.places import PACKAGE
from cellcage.limits import Limits
from cellcage.linux import landlock_rules, seccomp, system_calls
from cellcage.linux.call_process import InOwnGroup
from cellcage.protocol.messages import Policy

NEVER = 100  # as `Backend.rank`: it is taken only by its name
LOOK = 0.01  # seconds between two looks at memory; a process takes about as long to fill 16 MB


@dataclass
class Forked:
    """A fork server's child.

    pid: its first process; 0 if that was never forked, or has been reaped
    over_limit: which limit the child exceeded, in words; empty if none
    """

    pid: int
    limits: Limits
    over_limit: str = ""


class Confined(ABC):
    """The steps that one fork server and its children take, in this order. They only ever give up rights.

    This class has the steps that need no sandbox.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def enter(self) -> None:
        """Hide what the fork server must not see. This is the first step in its process."""
        system_calls.hide(self.policy.hidden, self.policy.read_only)

    def before_imports(self) -> None:
        """Run before the fork server imports what its children need."""

    def before_first_fork(self) -> None:
        """Run once everything is imported."""
        self._memory_before = system_calls.memory_in_use()

    def fork(self) -> int:
        """Fork a child, as `os.fork` does. Raises `OSError`."""
        return os.fork()

    @abstractmethod
    def in_child(self, limits: Limits) -> None:
        """Run in a child before it reads or runs anything. The limits hold from here on. Raises `OSError`."""

    def watch(
        self, sockets: Sequence[socket.socket], children: Sequence[Forked], looks: Sequence[Callable[[], None]]
    ) -> None:
        """Wait for a message, and end children that fill the disk; mounts of limited size make that impossible.

        looks: called every few milliseconds while waiting
        """
        while not select.select(sockets, [], [], LOOK if looks else None)[0]:
            for look in looks:
                look()

    def end(self, child: Forked) -> None:
        """Kill a child with all that it started, by its pid namespace or its process group."""
        if not child.pid:
            return
        for kill in (os.killpg, os.kill):  # it may not have a group yet
            with contextlib.suppress(ProcessLookupError):
                kill(child.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
        self.clear_away(child.pid)
        child.pid = 0

    def clear_away(self, pid: int) -> None:
        """Remove the files of the child with this pid."""

    def leave_nothing(self) -> None:
        """Remove the files of all children."""


class Untrusted(Confined):
    """A fork server of notebooks. Its children run untrusted code, so it gives up everything itself."""

    def in_child(self, limits: Limits) -> None:
        """Hide files, then drop rights, then refuse system calls. Limits come last: the steps before need some room."""
        tasks = self.tasks_of_user()  # while /proc can still be read
        os.setsid()  # a session and process group of its own, by which all that it starts is ended
        system_calls.die_with_parent()
        system_calls.prefer_for_oom_kill()
        self.make_places(limits)
        landlock_rules.no_new_privileges()  # Landlock and seccomp require it
        self.restrict()
        seccomp.apply(self.filter())
        seccomp.keep_from_ending_itself()
        system_calls.set_limits(limits, self._memory_before, tasks)

    def tasks_of_user(self) -> int:
        """How many tasks this user has already, if the limit on processes counts them; else 0."""
        return 0

    def make_places(self, limits: Limits) -> None:
        """Give the child its own places to write in."""

    def restrict(self) -> None:
        """Restrict this process to the files that it may use."""

    def filter(self) -> seccomp.Filter:
        """The system calls that are refused."""
        return seccomp.UNTRUSTED

    def call_process(self) -> InOwnGroup:
        """How a notebook process forks a call process, and ends it."""
        return InOwnGroup()


class Trusted(Confined):
    """A fork server of trusted processes. Only root may be able to read its places, so its children drop root."""

    def enter(self) -> None:
        """The fork server may have a folder for what it writes while loading. Landlock keeps its children out of it."""
        super().enter()
        if self.policy.scratch:
            system_calls.use_as_temporary(self.policy.scratch)
            os.chdir(self.policy.scratch)

    def before_first_fork(self) -> None:
        """Drop rights, except those that children need to drop root and to be ended."""
        super().before_first_fork()
        self.restrict()
        self._no_writing = landlock_rules.rules_without_writing(self.policy.abi) if self.policy.abi else -1
        system_calls.forbid_inspection()  # all children are one user, and must not read the fork server's memory

    def in_child(self, limits: Limits) -> None:
        """Each backend drops root before this, since root could undo these steps."""
        landlock_rules.no_new_privileges()
        if self.policy.abi:
            landlock_rules.restrict_to(self._no_writing)
        system_calls.forbid_inspection()  # dropping root made it readable again
        seccomp.apply(self.filter())
        # The kernel also limits a user's descriptors in flight by this number. A trusted process sends descriptors to
        # notebook processes, and these must get through, whatever the user's other processes have in flight.
        most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        system_calls.set_limits(replace(limits, open_files=most_files), self._memory_before, 0)

    def restrict(self) -> None:
        """Restrict this process and its children to the files that they may use."""
        if self.policy.abi:
            rules = [*landlock_rules.reading(self.policy.readable), (self.policy.scratch, landlock_rules.WRITE)]
            landlock_rules.restrict(rules, self.policy.abi)

    def filter(self) -> seccomp.Filter:
        """The system calls that are refused: a trusted process starts no process and opens no socket."""
        return seccomp.TRUSTED


class Backend(ABC):
    """One way to run untrusted code. The defaults are what a plain process does.

    name: by which it is chosen; no other backend has it
    rank: its place among those that `auto` tries; `NEVER` if it is taken only by its name
    isolates: whether there is a sandbox, rather than only limits
    mounts: whether each process gets mounts of its own; if not, a run needs a folder for what its processes write
    untrusted, trusted: what a fork server of each kind does, from its policy
    """

    name: ClassVar[str]
    isolates: ClassVar[bool] = True
    mounts: ClassVar[bool] = False
    rank: ClassVar[int] = NEVER
    untrusted: ClassVar[type[Untrusted]] = Untrusted
    trusted: ClassVar[type[Trusted]] = Trusted

    # ---------------------------------------------------------------- outside

    @abstractmethod
    def why_not(self) -> str | None:
        """None if this backend works here with everything it needs, else the reason in one sentence."""

    def what_is_lost(self) -> str | None:
        """What does not hold on an older kernel, in one sentence; None if everything holds."""
        return None

    @abstractmethod
    def summary(self) -> str:
        """The sandbox in a few words."""

    def path(self) -> list[str]:
        """The folders from which the zygote imports this package and the backend, as the zygote sees them."""
        own = Path(sys.modules[type(self).__module__.partition(".")[0]].__file__ or "")
        return [str(PACKAGE.parent), str(own.parents[own.name == "__init__.py"])]

    def command(self, places: Sequence[Path]) -> list[str]:
        """The command of the zygote, up to its Python code. It ignores the environment and the current folder.

        places: what trusted processes may read besides; empty if there are none
        """
        return [sys.executable, "-I", "-B", "-c"]

    @abstractmethod
    def policy(self, trusted: bool, places: Sequence[Path], scratch: str, user: int) -> Policy:
        """How a fork server sets up its sandbox.

        scratch: a folder for only this fork server, which does not exist yet; "" if there are mounts
        user: the number of a user that nothing else has; 0 if an ordinary user started this, or without a sandbox
        """

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End the zygote and all below it."""
        process.kill()
        process.wait()

    # ---------------------------------------------------------------- in the zygote

    def heed_sigterm(self, control: socket.socket) -> None:
        """Shut down cleanly on SIGTERM, in the zygote or a fork server, if nothing else ends what it forked."""

    def fork(self) -> int:
        """Fork a fork server, as `os.fork` does. Raises `OSError`."""
        return os.fork()

    def end(self, pid: int) -> None:
        """End a fork server and all that it forked."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def leave_nothing(self) -> None:
        """Remove the run's folder. Your side also does this, unless it was killed."""
        if not self.mounts:
            shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
