"""bubblewrap: users, mounts, processes and a network of one's own for each fork server and each submission.

If the kernel has Landlock, its rules stand inside the namespaces, so that one fault opens nothing.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.sandbox.backends.base import Backend, Confined, Judges, Students
from autograder.sandbox.backends.places import (
    ENVIRONMENT_INSIDE,
    INSIDE,
    KIT,
    SYSTEM,
    in_environment,
    interpreter_inside,
    outermost,
    python_places,
    with_its_name,
)
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation, landlock
from autograder.sandbox.linux.exercises import Alone
from autograder.sandbox.protocol.messages import Policy

# To give fork servers namespaces of their own; to give root up; to read a course that only its owner may read; to end
# fork servers.
ROOT_KEEPS = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH", "CAP_KILL")
# Of root's: to give it up in the forks, to read a course that only its owner may read, to end the forks.
JUDGES_SERVER_KEEPS = isolation.CAP_DAC_READ_SEARCH | isolation.CAP_KILL | isolation.CAP_SETGID | isolation.CAP_SETUID
JUDGES_SERVER_WRITES = "/tmp/solution"  # noqa: S108
OWN_PLACES = (("/tmp", landlock.WRITE), ("/dev/shm", landlock.WRITE), ("/proc", landlock.READ))  # noqa: S108


class _InNamespaces(Confined):
    def enter(self) -> None:
        """What a student's fork server must not see is covered; judges write nowhere, so that none finds anything."""
        isolation.narrow(self.policy.hidden, self.policy.read_only)


class StudentsInNamespaces(_InNamespaces, Students):
    """Each child gets namespaces below those of its fork server, and cannot uncover what is hidden there."""

    def before_imports(self) -> None:
        """It runs as nobody from the start: what its children are loaded with is read by every user."""
        isolation.leave_root(self.policy.user)
        isolation.drop_capabilities()

    def before_first_fork(self, removed: isolation.Removed) -> None:
        """The fork server goes without Landlock, for its children have mounts to make."""
        super().before_first_fork(removed)
        self._rules = [*landlock.reading(self.policy.readable), *landlock.DEVICES.items(), *OWN_PLACES]

    def fork(self) -> int:
        """The first process of its own pid namespace."""
        return isolation.fork_into_namespaces()

    def change_view(self, limits: Limits) -> None:
        """Mounts of its own; then the rights that it took to make them are given up."""
        isolation.private_places(int(limits.scratch), self._removed)
        isolation.drop_capabilities()

    def restrict(self) -> None:
        """Landlock's rules, if the kernel has them."""
        if self.policy.abi:
            landlock.restrict(self._rules, self.policy.abi)

    def exercises(self) -> Alone:
        """A signal to all stays in the pid namespace."""
        return Alone()


class JudgesInNamespaces(_InNamespaces, Judges):
    """All judges share the namespaces of their fork server. It has a folder, for the solution's code."""

    def enter(self) -> None:
        """Landlock keeps judges from writing there, so without it there is no such folder."""
        if self.policy.abi:
            isolation.own_folder(JUDGES_SERVER_WRITES, int(Limits().scratch))
            isolation.write_in(JUDGES_SERVER_WRITES)
        super().enter()
        if self.policy.abi:
            os.chdir(JUDGES_SERVER_WRITES)

    def restrict(self) -> None:
        """They see no process, neither of each other nor of students; Landlock, if the kernel has it."""
        isolation.cover("/proc")
        if self.policy.abi:
            rules = [*landlock.reading(self.policy.readable), *landlock.DEVICES.items(), ("/proc", landlock.READ)]
            rules.append((JUDGES_SERVER_WRITES, landlock.WRITE))
            landlock.no_new_privileges()
            landlock.restrict(rules, self.policy.abi)

    def drop_rights(self) -> None:
        """Root keeps what its children need; an ordinary user nothing of the namespace's rights."""
        isolation.drop_capabilities(JUDGES_SERVER_KEEPS if os.getuid() == 0 else 0)

    def leave_root(self) -> None:
        """Become the fork server's own user, without a capability."""
        isolation.leave_root(self.policy.user)


class Bubblewrap(Backend):
    """Namespaces. What is not in them cannot be reached, whatever its name."""

    name = title = "bubblewrap"
    students = StudentsInNamespaces
    judges = JudgesInNamespaces

    def why_not(self) -> str | None:
        """Tried once in a run."""
        return _why_not()

    def summary(self) -> str:
        """Does Landlock stand inside it?"""
        return "bubblewrap, and Landlock inside it" if landlock.abi() else self.title

    def scratch(self) -> TemporaryDirectory[str] | None:
        """Each process has mounts of its own."""
        return None

    def command(self, program: Callable[[str], str], places: Sequence[Path]) -> list[str]:
        """Python behind the outer sandbox."""
        return [*arguments(places), interpreter_inside(), "-I", "-B", "-c", program(INSIDE)]

    def policy(self, judges: bool, places: Sequence[Path], scratch: str, user: Callable[[], int]) -> Policy:
        """The zygote sees what any fork server may see, so each loses what is not for it.

        Judges write nowhere: what one leaves, no other may find. Notebooks get places of their own to write in.
        """
        readable = (*SYSTEM, *python_places(), INSIDE)
        if judges:
            readable = (*readable, str(KIT), *map(str, places))
            kit, read_only = str(KIT.parent), ("/tmp",)  # noqa: S108
            return Policy(self.name, True, kit, landlock.abi(), readable, read_only=read_only, user=user())
        hidden = tuple(outermost(with_its_name(place) for place in (KIT, *places))) if places else ()
        return Policy(self.name, abi=landlock.abi(), readable=readable, hidden=hidden, user=user())

    def fork(self) -> int:
        """A process with namespaces of its own. Root keeps its users, to read a course that root alone may read."""
        return isolation.fork_into_namespaces(own_user=os.getuid() != 0)


def arguments(places: Sequence[Path] = ()) -> list[str]:
    """The outer sandbox: nothing of the machine but Python, its packages, the system's libraries, the kit and `places`.

    Nothing but /tmp can be written to, and that is empty.
    """
    unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # Root needs no user namespace; fork servers, or their forks, then give root up themselves.
        unshare += ["--cap-drop", "ALL", *(word for one in ROOT_KEEPS for word in ("--cap-add", one))]
    else:
        unshare += ["--unshare-user"]
    # Not --die-with-parent: that is tied to the thread that starts it, and a server's threads come and go. The warm
    # process ends when its control socket closes, which the kernel does for a parent that is killed, too.
    arguments = ["bwrap", *unshare, "--new-session", "--hostname", "sandbox"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--dir", INSIDE]  # noqa: S108
    for place in (*SYSTEM, *python_places()):
        arguments += _read_only(place)
    if in_environment():
        arguments += ["--ro-bind", sys.prefix, ENVIRONMENT_INSIDE]
    for part in ("__init__.py", "sandbox"):  # a package of its own, before any other of that name
        arguments += ["--ro-bind", str(KIT / part), f"{INSIDE}/autograder/{part}"]
    for path in (KIT, *places) if places else ():
        arguments += _read_only(str(path))
    read_only = [word for place in ("/dev", "/") for word in ("--remount-ro", place)]
    return [*arguments, *read_only, "--chdir", "/", "--"]


def _read_only(place: str) -> list[str]:
    path = Path(place)
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", os.readlink(place), place]
    # Folders on the way are made by name: those that bubblewrap makes itself, only root may enter.
    parents = [word for parent in reversed(path.parents[:-1]) for word in ("--dir", str(parent))]
    return [*parents, "--ro-bind-try", place, place]


@functools.cache
def _why_not() -> str | None:
    if sys.platform != "linux":
        return "bubblewrap is for Linux only"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian or Ubuntu: apt-get install bubblewrap)"
    own = ["/usr/bin/unshare", "--fork", "--pid", "--mount", "--net", "--ipc"]
    # A fork server has namespaces of its own, and so has a notebook in it, once root has been left behind.
    server = [*own, *(["--user", "--map-current-user"] if os.getuid() else [])]
    probe = [*arguments(), *server, *own, "--user", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        return f"bubblewrap does not work here ({done.stderr.strip()[:200]})"
    return None
