"""What the sandbox promises, each test named after its line in the docstring; nothing is read, written, reached or
outlived besides."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.content import imported_once
from autograder.judge.exercise_calls import read
from autograder.sandbox.backends import BUBBLEWRAP, LANDLOCK, PROCESS, PROMISES
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import landlock
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.calls import Call, Failure, Instance, Kind
from autograder.sandbox.protocol.messages import Policy
from autograder.sandbox.protocol.objects import Other, Record
from autograder.sandbox.supervisor.fork_server import ForkServer
from autograder.sandbox.supervisor.zygote import Zygote
from autograder.testing.callbacks import Questions
from autograder.testing.expect import kind_of
from tests.conftest import ROOT
from tests.helpers.calls import BACKENDS, Lost, ask, define, everywhere, lives, slowly
from tests.helpers.sandboxes import Marker, Sandbox


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
        for place in (
            ROOT,
            ROOT / "solutions",
            ROOT / "autograder" / "attention",
            tmp_path,
            "/home",
            "/var",
            "/etc/passwd",
        ):
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


def test_behind_bubblewrap_landlock_stands_as_well(sandbox_of):
    """What namespaces leave open is shut: the root folder of one's own, and one's own network."""
    code = """
        import os, socket
        def look():
            return os.listdir("/")
        def listen():
            return socket.create_server(("127.0.0.1", 0)).getsockname()
    """
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    with define(sandbox_of("bubblewrap"), code) as running:
        for name in ("look", "listen"):
            assert "Permission denied" in ask(running, name).text


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 5])
def test_an_older_landlock_keeps_what_it_knows_of_and_seccomp_the_rest(version, monkeypatch):
    """As on a kernel of that version: no scope for signals, so none may be sent, and all is ended all the same."""
    monkeypatch.setattr(landlock, "abi", lambda: version)
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
    with Sandbox(Limits(call_seconds=0.5), kind="landlock") as own:
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
            for place in ("/", "/usr", "/kit", "/kit/autograder/sandbox", "/etc", "/root", "/dev"):
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
    scratch = sandbox.zygote.launch._scratch
    assert not scratch or list(Path(scratch.name).glob("*/*")) == []


def too_much(sandbox, running, *call):
    """A mount has no more room, which an exception says. Who writes in a folder is ended."""
    watched = pytest.raises(Lost, match="over limit: it wrote more than 64 MB of files")
    with watched if sandbox.backend is LANDLOCK else contextlib.nullcontext():
        assert ask(running, *call, seconds=10) < sandbox.limits.scratch // 2**20


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
    with Sandbox(kind="landlock") as own:
        with define(own, code) as running:
            assert running.results[0].error == ""
            scratch = Path(own.zygote.launch._scratch.name)
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


@everywhere
def test_data_only(sandbox):
    code = """
        import numpy as np
        class Liar(np.ndarray):
            def __eq__(self, other): return True
        class Str(str): pass
        def objects(): return np.array([object()])
        def subclass(): return np.zeros(2).view(Liar)
        def function(): return lambda: 1
        def huge(): return np.zeros((1024, 1024, 32))
        def many(): return [np.zeros(1024 * 1024)] * 8
        def nested():
            x = []
            for _ in range(100): x = [x]
            return x
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: float
            tags: set
        class Twin(Point):
            __class__ = float
            def __eq__(self, other): return True
        def point(): return Point(1.5, {"a", "b"})
        def twin(): return Twin(1.5, {"a"})
    """
    with define(sandbox, code) as running:
        point, twin = ask(running, "point"), ask(running, "twin")
        assert (type(point), point.x, point.tags) == (Record, 1.5, {"a", "b"})
        assert (type(twin), twin == point) == (Record, False)
        assert isinstance(ask(running, "objects"), Other)
        assert isinstance(ask(running, "subclass"), Other)
        assert isinstance(ask(running, "function"), Other)
        assert kind_of(ask(running, "huge")) == "an array of 256 MB"
        with pytest.raises(Lost, match="size limit"):
            ask(running, "many")
        ask(running, "nested")


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_one_cause_one_loss(sandbox_of, kind):
    code = """
        import ctypes, os, signal, sys, itertools
        def right(x): return x + 1
        def loop():
            while True: pass
        def stubborn():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
            while True:
                try:
                    while True: pass
                except BaseException: pass
        def in_c(): return sum(itertools.repeat(1))
        def leave(): sys.exit(0)
        def vanish(): os._exit(0)
        def crash(): ctypes.string_at(0)
        def signal_parent(number):
            try: os.kill(os.getppid(), number)
            except PermissionError: pass
            return os.getppid()
        def kill_all(): os.kill(-1, signal.SIGKILL)
        def memory(): return len(bytearray(8 * 2**30))
        def deep(): return deep()
        def flood():
            for _ in range(10**6): print("x" * 100)
            return 1
        def raw_flood():
            for _ in range(1000): os.write(1, b"x" * 10**6)
            return 1
        def bomb():
            while True:
                try: os.fork()
                except OSError: pass
    """
    with define(sandbox_of(kind), code, Limits(call_seconds=10, call_seconds_again=10)) as running:
        for name in ("loop", "stubborn", "in_c", "bomb"):
            with pytest.raises(Lost):
                ask(running, name, seconds=0.7)
            assert ask(running, "right", 1) == 2, name
        for name in ("vanish", "crash"):
            with pytest.raises(Lost):
                ask(running, name)
            assert ask(running, "right", 1) == 2, name
        for number in (signal.SIGKILL, signal.SIGSTOP):
            assert ask(running, "signal_parent", int(number)) == ask(running, "signal_parent", 0), "it lives on"
        ask(running, "kill_all")  # there is nobody else
        assert ask(running, "right", 1) == 2
        assert ask(running, "leave").error == "SystemExit"
        assert ask(running, "memory").error == "MemoryError"
        assert ask(running, "deep").error == "RecursionError"
        assert ask(running, "flood") == 1
        assert ask(running, "raw_flood") == 1
        assert ask(running, "right", 1) == 2


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
    from autograder.sandbox.linux import seccomp

    column = seccomp.MACHINES[os.uname().machine][0]
    calls = sandbox.backend.students(Policy(sandbox.kind, abi=landlock.abi())).filter().refused
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


@everywhere
def test_no_state(sandbox):
    code = """
        import numpy as np
        calls = []
        def count():
            calls.append(1)
            np.exp = None
            return len(calls)
    """
    with define(sandbox, code) as running:
        assert [ask(running, "count") for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_every_promise_has_a_test_of_its_name_behind_each_wall(promise):
    """And without a sandbox, if it is said to hold there."""
    test = globals()["test_" + re.sub(r"\W+", "_", promise.name)]
    marks = {mark.args[0]: mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"}
    given = inspect.signature(test).parameters
    # A test of the trusted side alone is given no sandbox, for none comes in.
    default = BACKENDS if "sandbox" in given else [*BACKENDS, "process"]
    tried = marks.get("kind") or marks.get("sandbox") or default
    assert {getattr(one, "id", one) for one in tried} == {*BACKENDS, *(["process"] if promise in PROCESS.keeps else [])}


@everywhere
def test_size_of_what_comes_back(sandbox):
    """Each message, all of them together, and what they become."""
    code = """
        import sys
        import numpy as np
        from autograder.sandbox.protocol import calls, frames
        def big(): return np.zeros(2**20)
        def many_small_things():
            frames.framed = lambda answer: len(body).to_bytes(4, "big") + body
            return 1
        body = b"\\x81\\xa5reply\\xdd\\x00\\x98\\x96\\x80" + b"\\x90" * 10_000_000
        def endless_axis():
            calls.encode = lambda value, depth=0: ["array", "float64", [2**40, 0], [0, 1], False, b""]
            return 1
        def long_error(): raise ValueError("x" * 10**6)
    """
    limits = Limits(replies=20 * 2**20)
    with sandbox.open([textwrap.dedent(code)], limits) as running:
        for name in ("many_small_things", "endless_axis"):
            with pytest.raises(Lost, match="unreadable"):
                ask(running, name, seconds=20)
    with sandbox.open([textwrap.dedent(code)], limits) as running:
        assert len(ask(running, "long_error").text) == 400
        assert ask(running, "big").shape == (2**20,)
        assert ask(running, "big").shape == (2**20,)
        with pytest.raises(Lost, match="size limit"):
            ask(running, "big")


def test_nothing_ready_made(sandbox):
    """In a test it is known by name, in a thread and by its operator, too; in a cell it answers."""
    code = """
        import threading, subprocess, sys, torch
        import torch.nn.functional as F
        attend = torch.ops.aten.scaled_dot_product_attention.default
        q = torch.ones(1, 2, 4, requires_grad=True)
        whole = torch.nn.MultiheadAttention(4, 2)
        print(tuple(F.scaled_dot_product_attention(q, q, q).shape), whole(q, q, q)[0].shape[-1])
        def plain(q): return attend(q, q, q)
        def thread(q):
            found = []
            one = threading.Thread(target=lambda: found.append(F.scaled_dot_product_attention(q, q, q)))
            one.start(); one.join()
            return found[0]
        def module(q): return torch.nn.MultiheadAttention(4, 2).double()(q, q, q)[0]
        def elsewhere(q):
            program = "import torch; print(torch.__version__)"
            return subprocess.run([sys.executable, "-c", program], capture_output=True).returncode
    """
    import torch

    q = torch.ones(1, 2, 4, dtype=torch.float64)
    with define(sandbox, code) as running:
        assert running.results[0].printed == "(1, 2, 4) 4\n"
        for name, wanted in (
            ("plain", "scaled_dot_product_attention"),
            ("thread", "scaled_dot_product_attention"),
            ("module", "multi_head_attention_forward"),
        ):
            exercise = running.begin(Questions({}))
            answer = read(next(exercise.ask([(Call(name, [q]), None)])))
            exercise.close()
            assert answer == Failure(Kind.FORBIDDEN, wanted)
        assert ask(running, "elsewhere", q, seconds=30) != 0


def test_nothing_watched(sandbox):
    """If the suite forbids it, a test that asks for it is known by name, and a cell is answered; else it is there."""
    code = """
        import subprocess, sys, threading, torch
        import numpy as np
        import torch.nn.functional as F
        convolve, operator = np.convolve, torch.ops.aten.convolution
        x = torch.ones(1, 1, 4)
        print(np.convolve([1, 2], [1, 3]), F.conv1d(x, x[..., :2]).sum().item())
        def numpys(a): return convolve(a, a)
        def in_c(a): return np._core.multiarray.correlate(a, a, 2)
        def operators(a):
            found, t = [], torch.from_numpy(a)[None, None]
            one = threading.Thread(target=lambda: found.append(operator(t, t, None, [1], [0], [1], False, [0], 1)))
            one.start(); one.join()
            return found[0]
        def elsewhere(a):
            return subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode
    """
    a = np.arange(3.0)
    names = {"numpys": "convolve", "in_c": "correlate", "operators": "convolution"}
    with sandbox.open([textwrap.dedent(code)], watched=("conv",)) as running:
        assert running.results[0].printed == "[1 5 6] 6.0\n"
        for name, wanted in names.items():
            with contextlib.closing(running.begin(Questions({}))) as exercise:
                assert read(next(exercise.ask([(Call(name, [a]), None)]))) == Failure(Kind.FORBIDDEN, wanted)
        assert ask(running, "elsewhere", a, seconds=30) != 0
    with sandbox.open([textwrap.dedent(code)]) as running:
        assert running.results[0].printed == "[1 5 6] 6.0\n"
        assert all(np.size(ask(running, name, a)) for name in names)


def test_questions_cost_little():
    """What multiplies is refused before it is made; what a suite's calls lead to is answered."""
    from autograder.testing.callback_cost import is_small

    def question(*args, **kwargs):
        return Call("f", args, kwargs)

    assert is_small(question(np.ones((2, 3, 4, 6)), np.ones((2, 3, 5, 6)), np.ones((2, 3, 5, 3)), num_heads=3))
    assert is_small(question(512, 512))
    assert is_small(question([3, 7, 500] * 30, 512))
    assert not is_small(question(np.ones((256, 1, 256, 1)), np.ones((1, 256, 256, 1))))
    assert not is_small(question(np.ones((256, 256, 1, 1)), np.ones((1, 1, 256, 256))))
    assert not is_small(question(np.ones((1,) * 9)))
    assert not is_small(question(512, 512, d_head=512))
    assert not is_small(question(513))
    assert not is_small(question([[10**6]]))
    for size in (np.int64(28_000), np.float32(28_000), np.array(28_000), np.array([28_000]), 28_000.0, 10**400):
        assert not is_small(question(size)), size
    assert not is_small(question("x" * 1000))
    assert not is_small(question(Other("object")))
    decoder = {"vocab_size": 23, "d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_length": 30}
    assert is_small(Call("f", instance=Instance((), decoder), build=True))
    for name in ("d_model", "num_layers", "vocab_size"):
        assert not is_small(Call("f", instance=Instance((), decoder | {name: 400, "d_ff": 400}), build=True))


def test_no_state_reaches_the_next_test_of_an_exercise(sandbox, course):
    """Right from the second call on: the same call gives two answers, and that is found."""
    own = """
        import numpy as np
        calls = []
        def softmax(x, axis=-1):
            calls.append(1)
            right = np.exp(x - x.max(axis=axis, keepdims=True))
            right = right / right.sum(axis=axis, keepdims=True)
            return right if len(calls) > 1 else right * 0
    """
    with Marker(course.assignment("a1_scaled_dot_product"), sandbox) as marker:
        result = marker.mark_cells("one", [textwrap.dedent(own)])[0].exercises[0]
    assert result.score < result.max_score
    assert any("called again with the same arguments" in test.message for test in result.tests) or (
        result.tests[0].state == "failed"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*BACKENDS, "process"])
def test_deadlines_are_kept_by_the_trusted_side(sandbox_of, kind):
    code = "def slow():\n    import time\n    time.sleep(60)"
    with sandbox_of(kind).open([code], Limits(call_seconds=0.5)) as running:
        start = time.monotonic()
        with pytest.raises(Lost, match="too slow"):
            ask(running, "slow")
        assert time.monotonic() - start < 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_killed_grader_leaves_nothing_behind(tmp_path, kind):
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.helpers.sandboxes import Sandbox
cell = "import subprocess; left = subprocess.Popen(['sleep', '1234.{os.getpid()}'])"
with Sandbox(kind={kind!r}) as own, own.open([cell]) as running:
    print("ready", own.zygote._process.pid, flush=True)
    time.sleep(60)
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for folder in (tmp_path, *(parent for parent in tmp_path.parents if "pytest" in str(parent))):
        folder.chmod(0o755)
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    pid = int(grader.stdout.readline().split()[1])
    grader.kill()
    grader.wait()
    grader.stdout.close()
    until = time.monotonic() + 10
    while lives(pid):
        assert time.monotonic() < until, "the sandbox outlives its grader"
        time.sleep(0.1)
    asleep = [p for p in psutil.process_iter(["cmdline"]) if f"1234.{os.getpid()}" in (p.info["cmdline"] or [])]
    assert asleep == []
    assert list(tmp_path.glob("autograder-*")) == []
