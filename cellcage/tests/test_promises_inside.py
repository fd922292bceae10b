"""Promises about the process in the sandbox: scratch, rights, system calls, its end.

The test of a promise has its name.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import pytest
from sandboxes import BACKENDS, Sandbox

from cellcage.linux import landlock_rules, seccomp
from cellcage.notebook import CallFailed
from cellcage.protocol.messages import Policy


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

    def fill(deleted):
        """A full mount raises an exception. In a plain folder, the code is ended."""
        watched = pytest.raises(CallFailed, match="over limit: it wrote more than 64 MB of files")
        with watched if sandbox.kind == "landlock" else contextlib.nullcontext():
            assert notebook.call("fill", deleted) <= 64

    with sandbox.open(code) as notebook:
        left = notebook.call("leave", word)
        assert len(left) >= 3 and "/var/tmp" not in left
        assert notebook.call("write_elsewhere") == []
        fill(False)
    for folder in (*left, tempfile.gettempdir()):
        assert not os.path.exists(os.path.join(folder, word))
    with sandbox.open(code) as notebook:
        assert notebook.call("find", word, left) == []
        fill(True)  # files without a name
    scratch = sandbox.zygote._scratch
    assert not scratch or list(Path(scratch.name).glob("*/*")) == []


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
    with sandbox.open(code) as notebook:
        assert notebook.call("who") != 0
        assert notebook.call("rise") == [-1, -1, -1]
        # Without mounts, a Python that only root can reach needs one capability. Landlock still limits reading.
        base = Path(sys.base_prefix).resolve()
        private = os.getuid() == 0 and not all(os.stat(path).st_mode & 0o001 for path in (base, *base.parents))
        assert notebook.call("rights") == (4 if private and sandbox.kind == "landlock" else 0)


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
    column = seccomp.MACHINES[os.uname().machine][0]
    calls = sandbox.backend.untrusted(Policy(abi=landlock_rules.abi())).filter().refused
    with sandbox.open(code) as notebook:
        refused = {n: notebook.call("call", c[column], 0, 0, 0, 0) for n, c in calls.items() if c[column] is not None}
        assert set(refused.values()) == {"EPERM"}, refused
        landlock = sandbox.kind == "landlock"
        for number in (16, 17, 38, 40):  # netlink, packet, kernel cryptography, vsock
            assert notebook.call("family", number) == ("EPERM" if landlock else "EAFNOSUPPORT")
        for number in (1, 2, 10):
            assert notebook.call("family", number) == ("EPERM" if landlock else "allowed")
        assert notebook.call("call", 56, 0x10000000 | 17) == "EPERM"  # clone with a new user namespace
        assert notebook.call("threads") == 1
        assert notebook.call("shell") == "hello\n"


def test_landlock_also_applies_with_bubblewrap(sandbox_of):
    """It blocks what namespaces allow: listing the root folder, listening on loopback."""
    code = """
        import os, socket
        def look():
            return os.listdir("/")
        def listen():
            return socket.create_server(("127.0.0.1", 0)).getsockname()
    """
    if not landlock_rules.abi():
        pytest.skip("this kernel has no Landlock")
    with sandbox_of("bubblewrap").open(code) as notebook:
        for name in ("look", "listen"):
            with pytest.raises(CallFailed, match="Permission denied"):
                notebook.call(name)


@pytest.mark.slow
def test_landlock_version_1_is_completed_by_seccomp(monkeypatch):
    """Version 1 does not cover signals, so code can send none. Its processes are still ended."""
    monkeypatch.setattr(landlock_rules, "abi", lambda: 1)
    code = """
        import os, signal, subprocess
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
        def look(path): return os.listdir(path)
        def cut(path): os.truncate(path, 0)
    """
    with Sandbox("landlock") as own:
        with own.open(code, call_seconds=0.5) as notebook:
            with pytest.raises(CallFailed, match="too slow"):
                notebook.call("loop")
            left = notebook.call("leave")
            for pid in (left, os.getpid(), own.zygote._process.pid, -1):
                assert notebook.call("send", pid) == 2
            for act, path in (("look", str(Path(__file__).parent)), ("cut", __file__)):
                with pytest.raises(CallFailed, match=r"Permission denied|Operation not permitted"):
                    notebook.call(act, path)
            assert notebook.call("right", 2) == 3
            assert os.path.exists(f"/proc/{left}")
        assert not os.path.exists(f"/proc/{left}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_no_process_outlives_the_notebook(sandbox_of, kind):
    code = """
        import contextlib, ctypes, os, time
        unbound = ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # no longer ends with its parent
        for leave in (os.setsid, os.setpgrp):
            with contextlib.suppress(OSError): leave()
        for _ in range(2):  # orphans, in a session of their own and not
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
    with own.open():
        pass
    before = len(own.processes())
    with own.open(code) as notebook:
        assert notebook.call("answer") == -1
    assert len(own.processes()) == before
