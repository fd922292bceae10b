"""What the sandbox promises of what runs in it: scratch, rights, system calls, its end.

Each promise has a test of its name.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from cellcage.limits import Limits
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.protocol.messages import Policy
from tests.conftest import ROOT
from tests.helpers.calls import BACKENDS, Lost, ask, define, slowly
from tests.helpers.sandboxes import Sandbox

LANDLOCK = backend("landlock")


@pytest.fixture(scope="module", params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    """Every promise is tried with each backend."""
    return sandbox_of(request.param)


@pytest.mark.slow
def test_private_scratch(sandbox):
    word = f"left-by-{os.getpid()}"
    code = """
        import os, tempfile
        def leave(word):
            left = []
            for folder in (os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~"), "/dev/shm", "/tmp", "/var/tmp"):
                try:
                    open(os.path.join(folder, word), "w").write("here")
                    left.append(folder)
                except OSError:
                    pass
            return left
        def find(word, folders):
            return [p for p in folders if os.path.exists(os.path.join(p, word))]
        def fill(deleted=False):
            import time
            held = []
            try:
                for number in range(1000):
                    held.append(open(str(number), "wb"))
                    if deleted:
                        os.unlink(str(number))
                    held[-1].write(bytes(1024 * 1024))
                    held[-1].flush()
                    time.sleep(0.01)  # a slow disk
            except OSError as error:
                return number
        def write_elsewhere():
            written = []
            for place in ("/", "/usr", "/cage", "/cage/cellcage", "/etc", "/root", "/dev"):
                try:
                    open(place + "/x", "w").close()
                    written.append(place)
                except OSError:
                    pass
            return written
    """
    with define(sandbox, code) as running:
        left = ask(running, "leave", word)
        assert len(left) >= 3 and "/var/tmp" not in left
        assert ask(running, "write_elsewhere") == []
        too_much(sandbox, running, "fill")
    for folder in (*left, tempfile.gettempdir()):
        assert not os.path.exists(os.path.join(folder, word))
    with define(sandbox, code) as running:
        assert ask(running, "find", word, left) == []
        too_much(sandbox, running, "fill", True)  # no folder has their names
    scratch = sandbox.zygote._scratch
    assert not scratch or list(Path(scratch.name).glob("*/*")) == []


def too_much(sandbox, running, *call):
    """A mount has no more room, which an exception says. Who writes in a folder is ended."""
    watched = pytest.raises(Lost, match="over limit: it wrote more than 64 MB of files")
    with watched if sandbox.backend is LANDLOCK else contextlib.nullcontext():
        assert ask(running, *call, seconds=10) <= sandbox.limits.scratch // 2**20


@pytest.mark.slow
def test_scratch_is_removed_whatever_is_in_it():
    code = """
        import os
        os.makedirs("a/b/c")
        open(b"\\xff\\n", "w").close()
        os.mkdir("closed", 0)
        os.symlink("/usr", "link")
        os.mkfifo("pipe")
        for _ in range(40):  # a path that no system call takes as a whole
            os.mkdir("deep" * 50)
            os.chdir("deep" * 50)
        os.mkdir("closed", 0)
        open("file", "w").close()
        def right(): return 1
    """
    with Sandbox(kind="landlock", bare=True) as own:
        with define(own, code) as running:
            assert running.results[0].error == ""
            scratch = Path(own.zygote._scratch.name)
            assert scratch.exists()
        assert list(scratch.glob("*/*")) == []
    assert not scratch.exists()


def test_not_root(sandbox):
    code = """
        import os, ctypes
        def who():
            return os.getuid()
        def rise():
            libc = ctypes.CDLL(None)
            return [libc.setuid(0), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.sethostname(b"x", 1)]
        def rights():
            header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
            assert ctypes.CDLL(None).capget(header, data) == 0
            return data[0] | data[1] | data[2] | data[3] | data[4] | data[5]
    """
    with define(sandbox, code) as running:
        assert ask(running, "who") != 0
        assert ask(running, "rise") == [-1, -1, -1]
        # Without mounts, a Python that root alone can get at is got at by right: Landlock still says what is read.
        private = os.getuid() == 0 and not reachable_for_all(sys.base_prefix)
        assert ask(running, "rights") == (4 if private and sandbox.backend is LANDLOCK else 0)


def reachable_for_all(path):
    return all(os.stat(parent).st_mode & 0o001 for parent in (Path(path).resolve(), *Path(path).resolve().parents))


def test_no_system_calls_that_only_an_attack_needs(sandbox):
    code = """
        import ctypes, errno, os, socket
        libc = ctypes.CDLL(None, use_errno=True)
        def call(number, *args):
            ctypes.set_errno(0)
            libc.syscall(number, *args)
            return errno.errorcode.get(ctypes.get_errno(), "allowed")
        def family(number):
            try:
                socket.socket(number, socket.SOCK_RAW if number == 16 else socket.SOCK_STREAM).close()
                return "allowed"
            except OSError as error:
                return errno.errorcode[error.errno]
        def threads():
            import threading
            done = []
            thread = threading.Thread(target=lambda: done.append(1))
            thread.start(); thread.join()
            return len(done)
        def shell():
            import subprocess
            return subprocess.run(["sh", "-c", "echo hello"], capture_output=True, text=True).stdout
    """
    from cellcage.linux import seccomp

    column = seccomp.MACHINES[os.uname().machine][0]
    calls = sandbox.backend.untrusted(Policy(abi=landlock_rules.abi())).filter().refused
    with define(sandbox, code) as running:
        refused = {n: ask(running, "call", c[column], 0, 0, 0, 0) for n, c in calls.items() if c[column] is not None}
        assert set(refused.values()) == {"EPERM"}, refused
        fenced = sandbox.backend is LANDLOCK
        for number in (
            16,
            17,
            38,
            40,
        ):  # netlink, packet, the kernel's own cryptography, a virtual machine's fork server
            assert ask(running, "family", number) == ("EPERM" if fenced else "EAFNOSUPPORT")
        for number in (1, 2, 10):
            assert ask(running, "family", number) == ("EPERM" if fenced else "allowed")
        assert ask(running, "call", 56, 0x10000000 | 17) == "EPERM"  # clone with a new user namespace
        assert ask(running, "threads") == 1
        assert ask(running, "shell") == "hello\n"


def test_behind_bubblewrap_landlock_stands_as_well(sandbox_of):
    """What namespaces leave open is shut: the root folder of one's own, and one's own network."""
    code = """
        import os, socket
        def look():
            return os.listdir("/")
        def listen():
            return socket.create_server(("127.0.0.1", 0)).getsockname()
    """
    if not landlock_rules.abi():
        pytest.skip("this kernel has no Landlock")
    with define(sandbox_of("bubblewrap"), code) as running:
        for name in ("look", "listen"):
            assert "Permission denied" in ask(running, name).text


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 5])
def test_an_older_landlock_keeps_what_it_knows_of_and_seccomp_the_rest(version, monkeypatch):
    """As on a kernel of that version: no scope for signals, so none may be sent, and all is ended all the same."""
    monkeypatch.setattr(landlock_rules, "abi", lambda: version)
    code = """
        import os, signal, subprocess, time
        def right(x): return x + 1
        def loop():
            while True: pass
        def leave():
            return subprocess.Popen(["sleep", "1000"]).pid
        def send(pid):
            refused = []
            for number in (0, signal.SIGKILL):
                try:
                    os.kill(pid, number)
                except PermissionError:
                    refused.append(number)
            return len(refused)
        def look(path):
            try:
                return len(os.listdir(path))
            except PermissionError:
                return "refused"
        def cut(path):
            try:
                os.truncate(path, 0)
            except PermissionError:
                return "refused"
    """
    with Sandbox(Limits(call_seconds=0.5), kind="landlock", bare=True) as own:
        with define(own, code) as running:
            with pytest.raises(Lost, match="too slow"):
                ask(running, "loop")
            assert ask(running, "right", 1) == 2
            left = ask(running, "leave")
            for pid in (left, os.getpid(), own.zygote._process.pid, -1):
                assert ask(running, "send", pid) == 2
            assert ask(running, "look", str(ROOT)) == "refused"
            assert ask(running, "cut", __file__) == "refused"
            assert ask(running, "right", 2) == 3
            assert os.path.exists(f"/proc/{left}")
        assert not os.path.exists(f"/proc/{left}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_it_cannot_outlive_its_end(sandbox_of, kind):
    code = """
        import contextlib, ctypes, os, time
        unbound = ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # from the process whose end is its own
        for leave in (os.setsid, os.setpgrp):
            with contextlib.suppress(OSError): leave()
        for _ in range(2):  # an orphan, and one that means to be
            if os.fork() == 0:
                with contextlib.suppress(OSError): os.setsid()
                if os.fork() == 0:
                    with contextlib.suppress(OSError): os.setpgrp()
                    time.sleep(1000)
                os._exit(0)
        os._exit = lambda code: time.sleep(1000)
        def answer(): return unbound
    """
    own = sandbox_of(kind)
    with own.open([]):
        pass
    before = len(psutil.Process().children(recursive=True))
    with define(own, code) as running:
        assert ask(running, "answer") == -1
    assert len(psutil.Process().children(recursive=True)) == before
