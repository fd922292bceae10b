"""Start the warm process: in bubblewrap where it works, else as a plain process with limits."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.sandbox.outside.cgroup import ControlGroup

ROOM = Path(__file__).resolve().parents[1]
INSIDE = "/kit/autograder/sandbox"
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
    "from autograder.sandbox.inside.server import main; main({fd}, {isolated})"
)


# Joins the control group and becomes the warm process: nothing below it was ever outside.
JOIN = 'for file in {files}; do echo $$ > "$file" || exit 97; done; exec "$@"'


def start(control: socket.socket, isolated: bool, group: ControlGroup | None) -> subprocess.Popen[bytes]:
    """Start the warm process with `control` as its control socket, in `group` where there is one."""
    descriptor = control.fileno()
    scratch = None if isolated else tempfile.mkdtemp(prefix="autograder-")
    path = str(Path(INSIDE).parents[1] if isolated else ROOM.parents[1])
    interpreter = _interpreter_inside() if isolated else sys.executable
    python = [interpreter, "-I", "-B", "-c", PROGRAM.format(path=path, fd=descriptor, isolated=isolated)]
    command = [*bubblewrap_arguments(), *python] if isolated else python
    if group is not None:
        join = JOIN.format(files=" ".join(map(shlex.quote, group.procs())))
        command = ["/bin/sh", "-c", join, "sh", *command]
    return subprocess.Popen(
        command,
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/" if isolated else scratch,
        env=ENVIRONMENT | {"HOME": scratch or "/tmp", "TMPDIR": scratch or "/tmp"},  # noqa: S108
        start_new_session=True,
    )


def bubblewrap_arguments() -> list[str]:
    """The walls: nothing of the machine but Python, its packages, the system's libraries and this room."""
    unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # Root needs no user namespace; the warm process then gives root up itself.
        unshare += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        unshare += ["--unshare-user"]
    # Not --die-with-parent: that is tied to the thread that starts it, and a server's threads come and go. The warm
    # process ends when its control socket closes, which the kernel does for a parent that is killed, too.
    arguments = ["bwrap", *unshare, "--new-session", "--hostname", "sandbox"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--dir", "/kit"]  # noqa: S108
    for place in (*SYSTEM, *_python_places()):
        arguments += _read_only(place)
    if _in_environment():
        arguments += ["--ro-bind", sys.prefix, ENVIRONMENT_INSIDE]
    return [*arguments, "--ro-bind", str(ROOM), INSIDE, "--chdir", "/", "--"]


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


@functools.cache
def why_no_bubblewrap() -> str | None:
    """None where bubblewrap works with all that is asked of it, else the reason in one sentence."""
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
