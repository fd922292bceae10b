"""The interface of a backend, and the steps that all backends share."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from autograder.sandbox.backends.promises import PROMISES, Promise
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation, landlock, seccomp
from autograder.sandbox.linux.exercises import InOwnGroup
from autograder.sandbox.protocol.messages import Policy

LOOK = 0.01  # seconds between two looks at memory; to fill 16 MB takes a process about as long
SEEN = "student code cannot read suites, marks or other students' work"


@dataclass
class Child:
    """A fork server's child: its process, 0 if there is none any more; its limits; which of them it met, in words."""

    pid: int
    limits: Limits
    over_limit: str = ""


class Confined(ABC):
    """The steps of one fork server and of its children, in the order in which they are taken.

    This class takes those that need no sandbox.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._held = isolation.Held()
        self._removed = isolation.Removed()

    def enter(self) -> None:
        """First of all, in the fork server's process: it loses sight of what is not for it."""

    def before_imports(self) -> None:
        """Before the fork server loads what its children need."""

    def before_first_fork(self, removed: isolation.Removed) -> None:
        """Once all is loaded. removed: files that no child may read."""
        self._held, self._removed = isolation.held(), removed

    def fork(self) -> int:
        """A child, as `os.fork` does. Raises `OSError`."""
        return os.fork()

    @abstractmethod
    def in_child(self, limits: Limits) -> None:
        """In a child, before it reads or runs anything: from here on it has its limits. Raises `OSError`."""

    def watch(self, control: socket.socket, children: Iterable[Child], look: Callable[[], None] | None) -> None:
        """Until there is a message: end children that fill the disk. Where mounts keep scratch small, none can.

        look: what is to be done now and then meanwhile
        """
        while look and not select.select([control], [], [], LOOK)[0]:
            look()

    def end(self, child: Child) -> None:
        """Kill a child with all that it started: of a pid namespace all end with its first, else of its group."""
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
        """Remove what the child with this number has left."""

    def leave_nothing(self) -> None:
        """Remove what all children have left."""


class Students(Confined):
    """A fork server of notebooks: its children run untrusted code, and so it gives up everything itself."""

    def in_child(self, limits: Limits) -> None:
        """Lose sight first, then rights, then system calls; limits last, for the steps before need some room."""
        tasks = self.tasks_of_user()  # as long as /proc can be read
        os.setsid()  # a group and a session of its own, by which all that it starts is ended
        isolation.die_with_parent()
        isolation.first_to_go()
        self.change_view(limits)
        landlock.no_new_privileges()  # Landlock and seccomp ask for it, and no program gains a right by being started
        self.restrict()
        seccomp.apply(self.filter())
        seccomp.keep_from_ending_itself()
        isolation.set_limits(limits, self._held, tasks)

    def tasks_of_user(self) -> int:
        """How many tasks the kernel counts for this user already, if limits on processes come on top of them."""
        return 0

    def change_view(self, limits: Limits) -> None:
        """Put places of the child's own over those of the machine."""

    def restrict(self) -> None:
        """Keep this process to the files that it may have."""

    def filter(self) -> seccomp.Filter:
        """The system calls that are refused."""
        return seccomp.STUDENTS

    def exercises(self) -> InOwnGroup:
        """How a notebook forks the process of an exercise, and ends it."""
        return InOwnGroup()


class Judges(Confined):
    """A fork server of judges: it reads the course, which may be readable to root alone, so children give up root."""

    def before_first_fork(self, removed: isolation.Removed) -> None:
        """Lose sight first, then rights. What is kept is what children need to give root up, and to be ended."""
        super().before_first_fork(removed)
        self.restrict()
        self._no_writing = landlock.no_writing(self.policy.abi) if self.policy.abi else -1
        isolation.keep_private()  # judges are of one user, and get at nothing of the fork server
        self.drop_rights()

    def in_child(self, limits: Limits) -> None:
        """Root first, since the steps after it are no root's to undo."""
        self.leave_root()
        landlock.no_new_privileges()
        if self.policy.abi:
            landlock.keep_to(self._no_writing)
        isolation.keep_private()  # becoming another user has made it readable again
        seccomp.apply(self.filter())
        isolation.set_limits(replace(limits, open_files=isolation.most_open_files()), self._held, 0)

    def restrict(self) -> None:
        """Keep this process and its children to the files that they may have."""

    def drop_rights(self) -> None:
        """Give up the capabilities that are of no more use."""

    def leave_root(self) -> None:
        """Become a user that owns nothing."""

    def filter(self) -> seccomp.Filter:
        """The system calls that are refused: a judge starts no process, and opens no socket."""
        return seccomp.JUDGES


class Backend(ABC):
    """One way to run code that nobody trusts. What is not overridden is what a plain process does.

    name: as on the command line; title: as a person reads it
    isolates: is there a sandbox, or limits alone?
    keeps: what holds here; means: what that comes to, in words
    students, judges: what a fork server of each kind does, from its policy
    """

    name: ClassVar[str]
    title: ClassVar[str]
    isolates: ClassVar[bool] = True
    keeps: ClassVar[tuple[Promise, ...]] = PROMISES
    means: ClassVar[str] = SEEN
    students: ClassVar[type[Students]] = Students
    judges: ClassVar[type[Judges]] = Judges

    # ---------------------------------------------------------------- the supervisor's side

    @abstractmethod
    def why_not(self) -> str | None:
        """None if it works here with all that is asked of it, else the reason in one sentence."""

    def what_is_lost(self) -> str | None:
        """What does not hold on an older kernel, in one sentence; None if all does."""
        return None

    def summary(self) -> str:
        """The sandbox in a few words."""
        return self.title

    def scratch(self) -> TemporaryDirectory[str] | None:
        """A folder for what is written in a run; None if each process gets mounts of its own."""
        # Who has given root up goes through it to a folder of its own.
        folder = TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
        os.chmod(folder.name, 0o711)  # noqa: S103
        return folder

    def working_folder(self, scratch: str) -> str:
        """Where the zygote starts."""
        return "/"

    @abstractmethod
    def command(self, program: Callable[[str], str], places: Sequence[Path]) -> list[str]:
        """How the zygote is started.

        program: its Python, for the folder that the engine is in
        places: what judges may read of the course; none if nobody judges
        """

    @abstractmethod
    def policy(self, judges: bool, places: Sequence[Path], scratch: str, user: Callable[[], int]) -> Policy:
        """What a fork server is told.

        scratch: a folder for this fork server alone, not made yet; "" if there are mounts
        user: gives the number of a user that nobody else has, 0 if an ordinary user grades
        """

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End the zygote and all below it."""
        process.kill()
        process.wait()

    # ---------------------------------------------------------------- in the zygote

    def heed_sigterm(self, control: socket.socket) -> None:
        """In the zygote or a fork server: end in order if SIGTERM comes, where nothing else ends what was forked."""

    def fork(self) -> int:
        """A fork server's process, as `os.fork` does. Raises `OSError`."""
        return os.fork()

    def end(self, pid: int) -> None:
        """End a fork server, and with it all that it has forked."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def leave_nothing(self) -> None:
        """Remove the zygote's own scratch, also if whoever made it was killed."""
