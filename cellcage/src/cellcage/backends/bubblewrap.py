"""bubblewrap: each fork server and each notebook has its own users, mounts, processes and network.

If the kernel has Landlock, its rules also hold inside the namespaces, so that a single fault opens nothing.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from cellcage.backends.base import Backend, Trusted, Untrusted
from cellcage.backends.places import PACKAGE, SYSTEM, outermost, python_places
from cellcage.limits import Limits
from cellcage.linux import landlock_rules, system_calls
from cellcage.linux.call_process import InPidNamespace
from cellcage.protocol.messages import Policy

INSIDE = "/cage"  # in the sandbox: this package, from which the processes in it import
ENVIRONMENT_INSIDE = "/cage/environment"  # in the sandbox: the virtual environment, wherever it is outside
PYTHON_INSIDE = f"{ENVIRONMENT_INSIDE}/bin/python"
IN_ENVIRONMENT = sys.prefix != sys.base_prefix
# Root needs these to give fork servers namespaces of their own, to drop root, to read places that only their owner may
# read, and to end fork servers.
ROOT_KEEPS = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH", "CAP_KILL")
# The trusted fork server needs these of root's: to read such places, to end its children, and to drop root in them.
TRUSTED_SERVER_KEEPS = (
    system_calls.CAP_DAC_READ_SEARCH | system_calls.CAP_KILL | system_calls.CAP_SETGID | system_calls.CAP_SETUID
)
TRUSTED_SERVER_WRITES = "/tmp/trusted"  # noqa: S108


class _UntrustedInNamespaces(Untrusted):
    """Each child gets namespaces below those of its fork server, and cannot uncover what is hidden there."""

    def before_imports(self) -> None:
        """Drop root at the start, since every user can read what the children import."""
        system_calls.leave_root(self.policy.user)
        system_calls.drop_capabilities()

    def before_first_fork(self) -> None:
        """The fork server itself runs without Landlock, since its children have to mount."""
        super().before_first_fork()
        written = [(place, landlock_rules.WRITE) for place in ("/tmp", "/dev/shm")]  # noqa: S108
        self._rules = [*landlock_rules.reading(self.policy.readable), *written]

    def fork(self) -> int:
        return system_calls.fork_into_namespaces()

    def make_places(self, limits: Limits) -> None:
        """Mount the child's own places, then drop the rights that this took."""
        system_calls.private_places(int(limits.scratch))
        system_calls.drop_capabilities()

    def restrict(self) -> None:
        if self.policy.abi:
            landlock_rules.restrict(self._rules, self.policy.abi)

    def call_process(self) -> InPidNamespace:
        """A signal to all processes stays in the pid namespace."""
        return InPidNamespace()


class _TrustedInNamespaces(Trusted):
    """All trusted processes share the namespaces of their fork server."""

    def enter(self) -> None:
        """Only Landlock keeps them from writing in the fork server's folder, so without it there is no folder."""
        if self.policy.scratch:
            os.makedirs(self.policy.scratch, exist_ok=True)
            system_calls.mount_empty(self.policy.scratch, int(Limits().scratch), "0755")
        super().enter()

    def restrict(self) -> None:
        """They see no process, neither each other's nor notebooks'."""
        system_calls.mount_empty("/proc")
        super().restrict()

    def before_first_fork(self) -> None:
        """Root keeps the rights that its children need; an ordinary user keeps none of the namespace's rights."""
        super().before_first_fork()
        system_calls.drop_capabilities(TRUSTED_SERVER_KEEPS if os.getuid() == 0 else 0)

    def in_child(self, limits: Limits) -> None:
        system_calls.leave_root(self.policy.user)
        super().in_child(limits)


class Bubblewrap(Backend):
    """Namespaces. A process cannot reach what is not in them, whatever its name."""

    name = "bubblewrap"
    rank = 1
    mounts = True
    untrusted = _UntrustedInNamespaces
    trusted = _TrustedInNamespaces

    @functools.cache  # noqa: B019  # there is one object
    def why_not(self) -> str | None:
        """None if the sandbox can be set up here, else the reason in one sentence."""
        if sys.platform != "linux":
            return "bubblewrap is for Linux only"
        if shutil.which("bwrap") is None:
            return "bubblewrap is not installed (on Debian or Ubuntu: apt-get install bubblewrap)"
        own = ["/usr/bin/unshare", "--fork", "--pid", "--mount", "--net", "--ipc"]
        # A fork server has namespaces of its own, and a notebook in it has, too, after root was dropped.
        server = [*own, *(["--user", "--map-current-user"] if os.getuid() else [])]
        probe = [*_arguments(), *server, *own, "--user", _python(), "-I", "-S", "-c", ""]
        done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=20)
        if done.returncode:
            return f"bubblewrap does not work here ({done.stderr.strip()[:200]})"
        return None

    def summary(self) -> str:
        """Says whether Landlock is inside it."""
        return "bubblewrap, and Landlock inside it" if landlock_rules.abi() else "bubblewrap"

    def path(self) -> list[str]:
        """This package has a place of its own there."""
        return [INSIDE]

    def command(self, places: Sequence[Path]) -> list[str]:
        """Python in the outer sandbox."""
        return [*_arguments(places), _python(), "-I", "-B", "-c"]

    def policy(self, trusted: bool, places: Sequence[Path], scratch: str, user: int) -> Policy:
        """The zygote sees what any fork server may see, so each fork server hides the files of the others.

        Trusted processes write nowhere, so that none finds what another left. Notebooks get their own places.
        """
        abi = landlock_rules.abi()
        readable = (*SYSTEM, *python_places(), INSIDE, "/proc")  # by then /proc is covered
        if not trusted:
            hidden = tuple(outermost(_with_its_name(Path(place)) for place in _mounted(places)))
            return Policy(abi=abi, readable=readable, hidden=hidden, user=user)
        return Policy(
            trusted=True,
            abi=abi,
            readable=(*readable, *_mounted(places)),
            read_only=("/tmp",),  # noqa: S108
            scratch=TRUSTED_SERVER_WRITES if abi else "",
            user=user,
        )

    def fork(self) -> int:
        """Fork into namespaces. Root gets no user namespace, so that it can read places that only root may read."""
        return system_calls.fork_into_namespaces(own_user=os.getuid() != 0)


def _python() -> str:
    """Python in the sandbox, by the name that belongs to its environment."""
    return PYTHON_INSIDE if IN_ENVIRONMENT else os.path.realpath(sys.executable)


def _mounted(places: Iterable[Path]) -> list[str]:
    """Where places are in the sandbox: where they really are, and by their names.

    bubblewrap mounts nothing below a link in the sandbox, but a name that leads through such a link needs no mount.
    """
    found = dict[str, None]()
    for place in places:
        through = any(place.is_relative_to(shown) for shown in (*SYSTEM, *python_places()))
        real = os.path.realpath(place)
        found |= dict.fromkeys([real] if through else [str(place), real])
    return list(found)


def _with_its_name(place: Path) -> str:
    """The parent folder of a place, to hide its name, too; the place itself if the parent holds what code needs."""
    folder, needed = str(place.parent), (*SYSTEM, *python_places(), INSIDE)
    alone = not any(Path(path).is_relative_to(folder) or Path(folder).is_relative_to(path) for path in needed)
    return folder if alone else str(place)


def _arguments(places: Sequence[Path] = ()) -> list[str]:
    """The outer sandbox. It shows only Python, its packages, the system's libraries, this package and `places`.

    Only /tmp can be written to, and it is empty.
    """
    unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # Root needs no user namespace; fork servers, or their forks, drop root themselves.
        unshare += ["--cap-drop", "ALL", *(option for right in ROOT_KEEPS for option in ("--cap-add", right))]
    else:
        unshare += ["--unshare-user"]
    # Not --die-with-parent: it is tied to the thread that starts the process, and a server's threads come and go. The
    # zygote ends when its control socket closes, and the kernel closes that even if the parent is killed.
    arguments = ["bwrap", *unshare, "--new-session", "--hostname", "sandbox"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--dir", INSIDE]  # noqa: S108
    for place in (*SYSTEM, *python_places()):
        arguments += _read_only(place)
    if IN_ENVIRONMENT:
        arguments += ["--dir", ENVIRONMENT_INSIDE, "--dir", f"{ENVIRONMENT_INSIDE}/bin"]
        for entry in sorted(os.listdir(sys.prefix)):
            if entry != "bin":
                arguments += ["--ro-bind-try", f"{sys.prefix}/{entry}", f"{ENVIRONMENT_INSIDE}/{entry}"]
        # Its own link may lead through links that are not in the sandbox.
        arguments += ["--symlink", os.path.realpath(sys.executable), PYTHON_INSIDE]
    arguments += ["--ro-bind", str(PACKAGE), f"{INSIDE}/{PACKAGE.name}"]
    for path in _mounted(places):
        arguments += _read_only(path)
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]


def _read_only(place: str) -> list[str]:
    path = Path(place)
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", os.readlink(place), place]
    # Parent folders are made by name: only root may enter those that bubblewrap makes by itself.
    parents = [option for parent in reversed(path.parents[:-1]) for option in ("--dir", str(parent))]
    return [*parents, "--ro-bind-try", place, place]
