"""Start the warm process: in bubblewrap if it works, else as a plain process with limits."""

from __future__ import annotations

import functools
import os
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.sandbox.outside.cgroup import ControlGroup

KIT = Path(__file__).resolve().parents[2]
INSIDE = "/kit"  # holds the sandbox's own code for hosts that run strangers' code, and nothing more of the kit
ENVIRONMENT_INSIDE = "/kit/environment"  # the virtual environment's place behind the wall, wherever it lies outside
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime",
)  # fmt: skip
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread a process: many submissions share the machine, and threads do not survive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}
PROGRAM = (
    "import sys; sys.path.insert(0, {path!r}); "
    "from autograder.sandbox.inside.host import main; main({fd}, {isolated}, {guest!r}, {setting!r})"
)
# What grading takes at the least: a limit, its least value, in words, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, "the number of processes", "-u"),
)
_KIB = ("-f", "-v", "-d")

# Joins the control group and becomes the warm process: nothing below it was ever outside.
JOIN = 'for file in {files}; do echo $$ > "$file" || exit 97; done; exec "$@"'


@dataclass
class Launch:
    """How a host is started.

    guest: module of what it forks
    places: what it may read beside Python and the system's libraries; if any, also the whole kit
    setting: what the guest's module is told, plain data
    """

    isolated: bool
    guest: str
    places: tuple[Path, ...] = ()
    setting: dict[str, Any] = field(default_factory=dict)
    _scratch: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)

    def start(self, control: socket.socket, group: ControlGroup | None) -> subprocess.Popen[bytes]:
        """Start the warm process with `control` as its control socket, in `group` if there is one."""
        if not self.isolated:
            self._scratch = tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
        place = self._scratch.name if self._scratch else "/tmp"  # noqa: S108
        command = self._command(control.fileno())
        if group is not None:
            join = JOIN.format(files=" ".join(map(shlex.quote, group.procs())))
            command = ["/bin/sh", "-c", join, "sh", *command]
        return subprocess.Popen(
            command,
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/" if self.isolated else place,
            env=ENVIRONMENT | {"HOME": place, "TMPDIR": place},
            start_new_session=True,
        )

    def clean_up(self) -> None:
        """Remove what a host without a wall has left."""
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _command(self, descriptor: int) -> list[str]:
        whole_kit = bool(self.places) or not self.isolated
        program = PROGRAM.format(
            path=str(KIT.parent) if whole_kit else INSIDE,
            fd=descriptor,
            isolated=self.isolated,
            guest=self.guest,
            setting=self.setting,
        )
        interpreter = _interpreter_inside() if self.isolated else sys.executable
        python = [interpreter, "-I", "-B", "-c", program]
        return [*bubblewrap_arguments(self.places), *python] if self.isolated else python


def bubblewrap_arguments(places: Sequence[Path] = ()) -> list[str]:
    """The walls: nothing of the machine but Python, its packages, the system's libraries, and `places`."""
    unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # Root needs no user namespace; the warm process, or its forks, then give root up themselves.
        capabilities = ["CAP_SETUID", "CAP_SETGID", *(["CAP_DAC_READ_SEARCH", "CAP_KILL"] if places else [])]
        unshare += ["--cap-drop", "ALL", *(word for one in capabilities for word in ("--cap-add", one))]
    else:
        unshare += ["--unshare-user"]
    # Not --die-with-parent: that is tied to the thread that starts it, and a server's threads come and go. The warm
    # process ends when its control socket closes, which the kernel does for a parent that is killed, too.
    arguments = ["bwrap", *unshare, "--new-session", "--hostname", "sandbox"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--dir", INSIDE]  # noqa: S108
    for place in (*SYSTEM, *_python_places()):
        arguments += _read_only(place)
    if _in_environment():
        arguments += ["--ro-bind", sys.prefix, ENVIRONMENT_INSIDE]
    if not places:
        return [*arguments, "--ro-bind", str(KIT / "sandbox"), f"{INSIDE}/autograder/sandbox", "--chdir", "/", "--"]
    for path in (KIT, *places):
        arguments += _read_only(str(path))
    # Nothing to write in: what one judge leaves, no other may find.
    read_only = [word for place in ("/tmp", "/dev", "/") for word in ("--remount-ro", place)]  # noqa: S108
    return [*arguments, *read_only, "--chdir", "/", "--"]


def _read_only(place: str) -> list[str]:
    path = Path(place)
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", os.readlink(place), place]
    # Folders on the way are made by name: those that bubblewrap makes itself, only root may enter.
    parents = [word for parent in reversed(path.parents[:-1]) for word in ("--dir", str(parent))]
    return [*parents, "--ro-bind-try", place, place]


def _in_environment() -> bool:
    return sys.prefix != sys.base_prefix


def _interpreter_inside() -> str:
    executable = Path(sys.executable)
    return str(Path(ENVIRONMENT_INSIDE, executable.relative_to(sys.prefix)) if _in_environment() else executable)


def _python_places() -> list[str]:
    """Where the base interpreter lives, outermost folders only, less what the system's folders hold."""
    link = Path(sys.base_prefix)
    places = sorted({str(link), str(link.resolve())})
    return [p for p in places if not any(_below(p, other) for other in ("/usr", *places) if other != p)]


def _below(place: str, other: str) -> bool:
    return place == other or place.startswith(other.rstrip("/") + "/")


def why_too_little() -> str | None:
    """None if this process may use what grading takes, else what it lacks and how to get it.

    Less than a submission's own limits is fine: the lower limit then holds.
    """
    for limit, least, what, option in NEEDS:
        allowed = resource.getrlimit(limit)[0]
        # Root may start as many processes as it likes, whatever its limit.
        if allowed != resource.RLIM_INFINITY and allowed < least and (option != "-u" or os.getuid()):
            unit = 1024 if option in _KIB else 1
            return (
                f"{what} is limited to {allowed // unit} here, and grading needs {least // unit}; "
                f"raise it with `ulimit {option} {least // unit}`, then run this again"
            )
    return None


@functools.cache
def why_no_bubblewrap() -> str | None:
    """None if bubblewrap works with all that is asked of it, else the reason in one sentence."""
    if sys.platform != "linux":
        return "bubblewrap is for Linux only"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian or Ubuntu: apt-get install bubblewrap)"
    probe = [*bubblewrap_arguments(), "/usr/bin/unshare", "--user", "--pid", "--mount", "--net", "--ipc", "true"]
    if os.getuid() == 0:
        probe[-7:] = ["true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        return f"bubblewrap does not work here ({done.stderr.strip()[:200]})"
    return None
