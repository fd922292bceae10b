"""What the sandbox promises of the machine around it: network, secrets, processes and files are out of reach.

Each promise has a test of its name.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time

import pytest

from autograder.course.content import imported_once
from cellcage.limits import Limits
from cellcage.machine import backend
from cellcage.outside.fork_server_client import ForkServer
from cellcage.outside.zygote_client import Zygote
from cellcage.protocol import frames
from tests.conftest import ROOT
from tests.helpers.calls import BACKENDS, ask, define, slowly

BUBBLEWRAP = backend("bubblewrap")
LANDLOCK = backend("landlock")


@pytest.fixture(scope="module", params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    """Every promise is tried with each backend."""
    return sandbox_of(request.param)


@pytest.mark.slow
def test_no_network(sandbox, tmp_path):
    code = """
        import socket
        def reach(host):
            try:
                with socket.create_connection((host, 9), timeout=1):
                    return "connected"
            except OSError as error:
                return type(error).__name__ + str(error.errno)
        def interfaces():
            return [name for _, name in socket.if_nameindex()]
        def local(name):
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(name)
                    return "connected"
            except OSError as error:
                return "refused"
        def letter(name):
            try:
                one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
                one.sendto(b"x", name)
                return "sent"
            except OSError as error:
                return "refused"
        def pair():
            one, other = socket.socketpair()
            one.sendall(b"x")
            return other.recv(1).decode()
    """
    # No network, or no route in one's own, or no socket at all.
    unreachable = {"OSError101", "PermissionError1", "PermissionError13"}
    names = ("\0autograder-test", str(tmp_path / "socket"))
    with contextlib.ExitStack() as stack:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for name in names:
                listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                listener.bind(f"{name}-{int(kind)}")
                if kind == socket.SOCK_STREAM:
                    listener.listen()
                if not name.startswith("\0"):
                    os.chmod(f"{name}-{int(kind)}", 0o777)
        running = stack.enter_context(define(sandbox, code))
        assert ask(running, "reach", "192.0.2.1") in unreachable
        assert ask(running, "reach", "127.0.0.1") in {*unreachable, "ConnectionRefusedError111"}
        for name in names:
            assert ask(running, "local", f"{name}-1") == "refused"
            assert ask(running, "letter", f"{name}-2") == "refused"
        assert ask(running, "pair") == "x"


def test_no_secrets(sandbox, monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("x")
    code = """
        import os
        def look(path):
            try:
                return sorted(os.listdir(path))
            except OSError as error:
                return type(error).__name__
        def environment():
            return dict(os.environ)
        def who():
            return os.getuid()
        def everything(word, roots):
            return [os.path.join(d, f) for root in roots for d, _, files in os.walk(root) for f in files if word in f
                    and not d.startswith(("/usr", "/sys"))]
        def read(path):
            found = []
            ways = [path, "/proc/self/root" + path, "/proc/self/cwd/../../.." + path]
            for link in (os.symlink, os.link):
                try:
                    link(path, link.__name__)
                    ways.append(link.__name__)
                except OSError:
                    pass
            for way in ways:
                try:
                    found.append(open(way).read())
                except OSError:
                    pass
            return found
        def change(path):
            done = []
            for change in (lambda: os.chmod(path, 0o777), lambda: os.utime(path), lambda: os.truncate(path, 0),
                           lambda: os.chown(path, os.getuid(), -1), lambda: os.unlink(path),
                           lambda: os.rename(path, path + "x"), lambda: os.setxattr(path, "user.x", b"x"),
                           lambda: open(path, "a").close()):
                try:
                    done.append(change())
                except OSError:
                    pass
            return done
    """
    # Even if the user that student code runs as owned it.
    (tmp_path / "secret").chmod(0o666)
    tmp_path.chmod(0o777)
    for folder in (parent for parent in tmp_path.parents if "pytest" in str(parent)):
        folder.chmod(0o755)  # other tests lie there, too, and a course that everybody can write to is not used
    with define(sandbox, code) as running:
        if os.getuid() == 0:
            os.chown(tmp_path / "secret", ask(running, "who"), -1)
        assert ask(running, "read", str(tmp_path / "secret")) == []
        suite = ROOT / "attention_course/a1_scaled_dot_product/softmax/hidden_tests.py"
        assert suite.is_file() and ask(running, "read", str(suite)) == []
        assert ask(running, "change", str(tmp_path / "secret")) == []
        assert (tmp_path / "secret").read_text() == "x"
        for place in (ROOT, ROOT / "solutions", ROOT / "attention_course", tmp_path, "/home", "/var", "/etc/passwd"):
            assert ask(running, "look", str(place)) in (
                "FileNotFoundError",
                [],
                "NotADirectoryError",
                "PermissionError",
            ), place
        assert set(ask(running, "environment")) <= {
            "PATH", "LANG", "TZ", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MPLBACKEND", "HOME", "TMPDIR",
            "PWD",
        }  # fmt: skip
        found = ask(
            running, "everything", "scaled_dot_product", ["/", str(ROOT), sys.prefix], seconds=30
        )  # all there is
        assert [path for path in found if "site-packages/torch" not in path] == []


@pytest.mark.slow
def test_no_right_uncovers_the_course():
    """The zygote has it in view; what is forked for students cannot take the cover off, whatever it may do."""
    root, names = ROOT, imported_once()
    places = [root / "source", root / "solutions"]
    with (
        Zygote(BUBBLEWRAP, [*names, "tests.helpers.no_sandbox"], [*places, root / "tests"]) as zygote,
        ForkServer(zygote, "tests.helpers.no_sandbox:Child") as server,
        server.open(Limits()) as child,
    ):
        frames.send(child.sock, {"places": [str(root)]})
        got = frames.receive(child.sock, time.monotonic() + 20)
    assert got["mounted"]  # it has the rights that it tries to use
    assert got["seen"] == [{str(root): []}] * 2


def test_no_other_process(sandbox):
    code = """
        import ctypes, os, resource, signal
        def alive():
            seen = []
            for pid in range(1, 40_000):
                try:
                    os.kill(pid, 0)
                    seen.append(pid)
                except ProcessLookupError:
                    pass
                except PermissionError:
                    seen.append(pid)
            return len(seen)
        def signalled():
            seen = []
            for pid in range(1, 40_000):
                try:
                    os.kill(pid, 0)
                    seen.append(pid)
                except OSError:
                    pass
            return len(seen)
        def proc():
            try:
                return os.listdir("/proc")
            except PermissionError:
                return []
        def reach(pid):
            libc = ctypes.CDLL(None)
            done = []
            for name, one in dict(
                kill=lambda: os.kill(pid, 0), limit=lambda: resource.prlimit(pid, resource.RLIMIT_CPU),
                nice=lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), group=lambda: os.killpg(pid, 0),
                affinity=lambda: os.sched_setaffinity(pid, [0]), memory=lambda: open(f"/proc/{pid}/mem", "rb"),
                environment=lambda: open(f"/proc/{pid}/environ").read(), descriptor=lambda: os.pidfd_open(pid),
                schedule=lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
            ).items():
                try:
                    one()
                    done.append(name)
                except OSError:
                    pass
            return done
    """
    with define(sandbox, code) as running:
        # The state process and the test itself. Without process numbers of its own, it can tell which are taken.
        assert ask(running, "signalled" if sandbox.backend is LANDLOCK else "alive") <= 2
        assert ask(running, "proc") == []
        for pid in (sandbox.zygote._process.pid, os.getpid()):
            assert ask(running, "reach", pid) == []


def test_no_file_of_the_hosts_is_left_open(sandbox):
    code = """
        import os, stat
        def files():
            found = []
            for number in range(256):
                try:
                    mode = os.fstat(number).st_mode
                except OSError:
                    continue
                if not (stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)):
                    found.append(number)
            return found
    """
    with define(sandbox, code) as running:
        assert ask(running, "files") == []
