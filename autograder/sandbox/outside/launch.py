"""How the warm process is started: in bubblewrap if it works, else behind Landlock, else as a plain process."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import MachineError
from autograder.sandbox import landlock
from autograder.sandbox.outside.users import Reserved
from autograder.sandbox.wall import BUBBLEWRAP, LANDLOCK, NONE, Wall, open_to_all

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
    "from autograder.sandbox.inside.warm import main; main({fd}, {wall!r}, {modules!r})"
)
# To give hosts namespaces of their own; to give root up; to read a course that only its owner may read; to end hosts.
ROOT_KEEPS = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH", "CAP_KILL")
# What grading takes at the least: a limit, its least value, in words, and the shell's option for it.
NEEDS = (
    (resource.RLIMIT_FSIZE, 8 * 2**20, "the size of a file in KiB", "-f"),
    (resource.RLIMIT_NOFILE, 32, "the number of open files", "-n"),
    (resource.RLIMIT_AS, 2 * 2**30, "the address space of a process in KiB", "-v"),
    (resource.RLIMIT_DATA, 2**30, "the memory of a process in KiB", "-d"),
    (resource.RLIMIT_NPROC, 16, "the number of processes", "-u"),
)
_KIB = ("-f", "-v", "-d")
MACHINES = ("x86_64", "aarch64")  # whose numbers of system calls `inside.seccomp` has
BECOME_ANOTHER = {0, 6, 7}  # capabilities: CHOWN, SETGID, SETUID
READ_ALL = {1, 2}  # DAC_OVERRIDE, DAC_READ_SEARCH
STOP_SECONDS = 5.0  # for a host to end what it has forked


@dataclass
class Launch:
    """How the warm process is started.

    wall: "bubblewrap", "landlock", or "" for none
    modules: what it imports
    places: what judges may read beside Python, the system's libraries and the kit; none if nobody judges
    """

    wall: str
    modules: tuple[str, ...] = ()
    places: tuple[Path, ...] = ()
    _scratch: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)
    _users: dict[int, Reserved] = field(default_factory=dict, init=False)  # by the number of the host

    def start(self, control: socket.socket) -> subprocess.Popen[bytes]:
        """Start the warm process with `control` as its control socket."""
        if self.wall != BUBBLEWRAP:
            self._scratch = tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
            os.chmod(self._scratch.name, 0o711)  # noqa: S103  a host that has given root up goes through it to its own
        place = self._scratch.name if self._scratch else "/tmp"  # noqa: S108
        return subprocess.Popen(
            self._command(control.fileno()),
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/" if self.wall else place,
            env=ENVIRONMENT | {"HOME": place, "TMPDIR": place},
            start_new_session=True,
        )

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End the warm process and all below it."""
        if self.wall == LANDLOCK:
            process.terminate()  # it ends what it has forked, and what that has started
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        process.kill()
        process.wait()

    def view(self, judges: bool, number: int) -> dict[str, Any]:
        """What a host is told of its wall. Raises `MachineError` if root has no user for it.

        around: the wall, see `Wall`
        kit: where the whole kit is, if it needs that and the warm process has the sandbox alone
        hidden: folders that it does not see; read_only: where it cannot write. Judges write nowhere: what one leaves,
        no other may find. Notebooks get places of their own to write in.
        """
        judging = self.wall == BUBBLEWRAP and judges
        students = self.wall == BUBBLEWRAP and not judges and bool(self.places)
        return {
            "around": vars(self._around(judges, number)),
            "kit": str(KIT.parent) if judging else "",
            "hidden": _outermost(_with_its_name(place) for place in (KIT, *self.places)) if students else [],
            "read_only": ["/tmp"] if judging else [],  # noqa: S108
        }

    def release(self, number: int) -> None:
        """The host of this number has ended."""
        if number in self._users:
            self._users.pop(number).release()

    def clean_up(self) -> None:
        """Remove what a host without mounts of its own has left."""
        for number in list(self._users):
            self.release(number)
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _command(self, descriptor: int) -> list[str]:
        in_bubblewrap = self.wall == BUBBLEWRAP
        path = INSIDE if in_bubblewrap else str(KIT.parent)
        program = PROGRAM.format(path=path, fd=descriptor, wall=self.wall, modules=self.modules)
        interpreter = _interpreter_inside() if in_bubblewrap else sys.executable
        python = [interpreter, "-I", "-B", "-c", program]
        return [*bubblewrap_arguments(self.places), *python] if in_bubblewrap else python

    def _around(self, judges: bool, number: int) -> Wall:
        if self.wall == NONE:
            return Wall()
        in_bubblewrap = self.wall == BUBBLEWRAP
        own = [INSIDE] if in_bubblewrap else [sys.prefix, str(KIT / "sandbox")]
        own += [str(KIT), *map(str, self.places)] if judges else []
        scratch = ""
        if self._scratch and not judges:
            scratch = os.path.join(self._scratch.name, str(number))
            os.mkdir(scratch, 0o700)
        user = self._users.setdefault(number, Reserved()).number if os.getuid() == 0 else 0
        return Wall(self.wall, landlock.abi(), (*SYSTEM, *_python_places(), *own), scratch, user)


def bubblewrap_arguments(places: Sequence[Path] = ()) -> list[str]:
    """The walls: nothing of the machine but Python, its packages, the system's libraries, the kit and `places`.

    Nothing but /tmp can be written to, and that is empty.
    """
    unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # Root needs no user namespace; hosts, or their forks, then give root up themselves.
        unshare += ["--cap-drop", "ALL", *(word for one in ROOT_KEEPS for word in ("--cap-add", one))]
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


def shown_with(folder: Path) -> str | None:
    """The place that student code must read, and this folder with it; None if it is out of reach."""
    places = [str(Path(place).resolve()) for place in (*SYSTEM, *_python_places(), sys.prefix)]
    return next((place for place in places if folder.resolve().is_relative_to(place)), None)


def _in_environment() -> bool:
    return sys.prefix != sys.base_prefix


def _interpreter_inside() -> str:
    executable = Path(os.path.normpath(sys.executable))  # called as `../.venv/bin/python`, that stands in it
    return str(Path(ENVIRONMENT_INSIDE, executable.relative_to(sys.prefix)) if _in_environment() else executable)


def _python_places() -> list[str]:
    """Where the base interpreter lives, outermost folders only, less what the system's folders hold."""
    link = Path(sys.base_prefix)
    return [p for p in _outermost((str(link), str(link.resolve()))) if not Path(p).is_relative_to("/usr")]


def _with_its_name(place: Path) -> str:
    """The folder that a place is in, so that not even its name shows; the place itself if more is in that folder."""
    folder, needed = str(place.parent), (*SYSTEM, *_python_places(), INSIDE)
    alone = not any(Path(one).is_relative_to(folder) or Path(folder).is_relative_to(one) for one in needed)
    return folder if alone else str(place)


def _outermost(places: Iterable[str]) -> list[str]:
    """Those that are in no other."""
    found = sorted(set(places))
    return [place for place in found if not any(Path(place).is_relative_to(other) for other in found if other != place)]


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
    own = ["/usr/bin/unshare", "--fork", "--pid", "--mount", "--net", "--ipc"]
    # A host has namespaces of its own, and so has a notebook in it, once root has been left behind.
    host = [*own, *(["--user", "--map-current-user"] if os.getuid() else [])]
    probe = [*bubblewrap_arguments(), *host, *own, "--user", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        return f"bubblewrap does not work here ({done.stderr.strip()[:200]})"
    return None


@functools.cache
def why_no_landlock() -> str | None:
    """None if a process can put itself behind Landlock and seccomp here, else the reason in one sentence."""
    if sys.platform != "linux":
        return "Landlock is for Linux only"
    if os.uname().machine not in MACHINES:
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


def wall(kind: str) -> tuple[str, str | None]:
    """The wall for a sandbox of this kind, "" if none, and what to warn of; see `host.isolates`."""
    if kind == "process":
        return NONE, None
    no_bubblewrap = why_no_bubblewrap() if kind != LANDLOCK else None
    if kind == BUBBLEWRAP and no_bubblewrap:
        raise MachineError(no_bubblewrap)
    if kind != LANDLOCK and no_bubblewrap is None:
        return BUBBLEWRAP, None
    no_landlock = why_no_landlock()
    if no_landlock is None:
        return LANDLOCK, what_is_lost()
    if kind == LANDLOCK:
        raise MachineError(no_landlock)
    return NONE, f"{no_bubblewrap}, and {no_landlock}"


def what_is_lost() -> str | None:
    """What an older kernel's Landlock does not do, in one sentence; None if it does all that is asked of it."""
    lost = landlock.lost(landlock.abi())
    return f"this kernel's Landlock (version {landlock.abi()}) has " + "; ".join(lost) if lost else None
