"""Promises about the machine: the sandbox reaches no network, secrets, processes or files.

The test of a promise has its name.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from cellcage import ForkServer, Limits, Zygote
from cellcage.machine import backend
from cellcage.outside import zygote_client
from cellcage.protocol import frames

HERE = Path(__file__).resolve().parent


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
    # No route in its own network, or no socket at all.
    unreachable = {"OSError101", "PermissionError1", "PermissionError13"}
    names = ("\0cellcage-test", str(tmp_path / "socket"))
    with contextlib.ExitStack() as stack:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for name in names:
                listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                listener.bind(f"{name}-{int(kind)}")
                if kind == socket.SOCK_STREAM:
                    listener.listen()
                if not name.startswith("\0"):
                    os.chmod(f"{name}-{int(kind)}", 0o777)
        notebook = stack.enter_context(sandbox.open(code))
        assert notebook.call("reach", "192.0.2.1") in unreachable
        assert notebook.call("reach", "127.0.0.1") in {*unreachable, "ConnectionRefusedError111"}
        for name in names:
            assert notebook.call("local", f"{name}-1") == "refused"
            assert notebook.call("letter", f"{name}-2") == "refused"
        assert notebook.call("pair") == "x"


def test_no_secrets(sandbox, tmp_path):
    secret = tmp_path / "my-secret-words"
    secret.write_text("x")
    code = """
        import os
        def look(path):
            try:
                return sorted(os.listdir(path))
            except OSError as error:
                return []
        def environment():
            return dict(os.environ)
        def who():
            return os.getuid()
        def everything(word, roots):
            return [os.path.join(d, f) for root in roots for d, _, files in os.walk(root) for f in files if word in f]
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
    secret.chmod(0o666)
    tmp_path.chmod(0o777)
    for folder in (parent for parent in tmp_path.parents if "pytest" in str(parent)):
        folder.chmod(0o755)
    with sandbox.open(code, call_seconds=10) as notebook:
        if os.getuid() == 0:
            os.chown(secret, notebook.call("who"), -1)  # even if the sandbox's user owns the file
        assert notebook.call("read", str(secret)) == []
        assert notebook.call("read", __file__) == []
        assert notebook.call("change", str(secret)) == []
        assert secret.read_text() == "x"
        for place in (HERE, HERE.parent, tmp_path, "/home", "/var", "/etc/passwd"):
            assert notebook.call("look", str(place)) == [], place
        assert set(notebook.call("environment")) <= {
            "PATH", "LANG", "TZ", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MPLBACKEND", "HOME", "TMPDIR",
            "PWD",
        }  # fmt: skip
        for word in (secret.name, Path(__file__).name):
            assert notebook.call("everything", word, ["/", str(HERE), sys.prefix]) == []


@pytest.mark.slow
def test_hidden_folder_stays_hidden_from_any_capability(monkeypatch):
    """The zygote sees the folder. Forks for notebooks can't unmount what covers it, whatever capabilities they have."""
    place = HERE.parent / "src"
    found_here = f"import sys; sys.path.append({str(HERE)!r}); {zygote_client.PROGRAM}"
    monkeypatch.setattr(zygote_client, "PROGRAM", found_here)
    with (
        Zygote(backend("bubblewrap"), ["uncovering"], [HERE, place]) as zygote,
        ForkServer(zygote, "uncovering:Child") as server,
        server.process(Limits()) as child,
    ):
        frames.send(child.open()[0], {"places": [str(place)]})
        got = frames.receive(child.sock, time.monotonic() + 20)
    assert got["mounted"]  # it really has the capabilities
    assert got["seen"] == [{str(place): []}] * 2


def test_no_other_process(sandbox):
    code = """
        import ctypes, os, resource, signal
        def seen(error):
            found = []
            for pid in range(1, 40_000):
                try:
                    os.kill(pid, 0)
                    found.append(pid)
                except (ProcessLookupError, PermissionError) as failed:
                    if error in type(failed).__name__:
                        found.append(pid)
            return len(found)
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
    with sandbox.open(code) as notebook:
        # Itself and its parent. Without a PID namespace it can tell which numbers are taken.
        assert notebook.call("seen", "nothing" if sandbox.kind == "landlock" else "PermissionError") <= 2
        assert notebook.call("proc") == []
        for pid in (sandbox.zygote._process.pid, os.getpid()):
            assert notebook.call("reach", pid) == []


def test_no_host_file_is_open(sandbox):
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
    with sandbox.open(code) as notebook:
        assert notebook.call("files") == []
