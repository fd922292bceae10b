"""What the sandbox promises, each test named after its line in the docstring."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import psutil
import pytest

from autograder.judging.questions import Questions
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol.calls import Call, Failure, Instance, Kind, NoAnswer, Reply
from autograder.sandbox.protocol.values import Other
from tests.conftest import ROOT
from tests.wall import Marker, Wall, answered


class Lost(Exception):
    """No answer came."""


def ask(running, name, *args, seconds=None):
    """One call in a process of its own: its value, or how it failed."""
    answer = answered(running, name, *args, seconds=seconds)
    if isinstance(answer, NoAnswer):
        raise Lost(f"{answer.why.value}: {answer.text}")
    return answer.value if isinstance(answer, Reply) else answer


def define(sandbox, code):
    return sandbox.open([textwrap.dedent(code)])


def test_no_network(sandbox):
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
        def abstract():
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect("\\0autograder-test")
                    return "connected"
                except OSError as error:
                    return "refused"
    """
    import socket

    with socket.socket(socket.AF_UNIX) as listener, define(sandbox, code) as running:
        listener.bind("\0autograder-test")
        listener.listen()
        assert ask(running, "reach", "192.0.2.1") == "OSError101"  # network unreachable
        assert ask(running, "reach", "127.0.0.1") in ("OSError101", "ConnectionRefusedError111")
        assert ask(running, "abstract") == "refused"


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
        def everything(word):
            return [os.path.join(d, f) for d, _, files in os.walk("/") for f in files if word in f
                    and not d.startswith(("/usr", "/sys"))]
    """
    with define(sandbox, code) as running:
        for place in (
            ROOT,
            ROOT / "solutions",
            ROOT / "autograder" / "attention",
            tmp_path,
            "/home",
            "/var",
            "/etc/passwd",
        ):
            assert ask(running, "look", str(place)) in ("FileNotFoundError", [], "NotADirectoryError"), place
        assert set(ask(running, "environment")) <= {
            "PATH", "LANG", "TZ", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MPLBACKEND", "HOME", "TMPDIR",
            "PWD",
        }  # fmt: skip
        found = ask(running, "everything", "scaled_dot_product", seconds=30)  # walks all there is
        assert [path for path in found if "site-packages/torch" not in path] == []


def test_no_other_process(sandbox):
    code = """
        import os, signal
        def alive():
            seen = []
            for pid in range(1, 3000):
                try:
                    os.kill(pid, 0)
                    seen.append(pid)
                except ProcessLookupError:
                    pass
                except PermissionError:
                    seen.append(pid)
            return len(seen)
        def proc():
            return os.listdir("/proc")
    """
    with define(sandbox, code) as running:
        assert ask(running, "alive") <= 2  # the state process and the test itself
        assert ask(running, "proc") == []


def test_it_cannot_outlive_its_end():
    code = """
        import contextlib, ctypes, os, time
        unbound = ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # from the process whose end is its own
        with contextlib.suppress(OSError): os.setsid()
        os._exit = lambda code: time.sleep(1000)
        def answer(): return unbound
    """
    with Wall(kind="bubblewrap") as own:
        with own.open([]):
            pass
        before = len(psutil.Process().children(recursive=True))
        with define(own, code) as running:
            assert ask(running, "answer") == -1
        assert len(psutil.Process().children(recursive=True)) == before


def test_private_scratch(sandbox):
    code = """
        import os
        def leave():
            for place in ("/tmp/x", "/dev/shm/x"):
                open(place, "w").write("here")
            return os.getcwd()
        def find():
            return [p for p in ("/tmp/x", "/dev/shm/x") if os.path.exists(p)]
        def fill():
            try:
                for number in range(1000):
                    open(f"/tmp/{number}", "wb").write(bytes(1024 * 1024))
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
        assert ask(running, "leave") == "/tmp"
        assert ask(running, "fill") <= sandbox.limits.scratch // 2**20
        assert ask(running, "write_elsewhere") == []
    with define(sandbox, code) as running:
        assert ask(running, "find") == []


def test_not_root(sandbox):
    code = """
        import os, ctypes
        def who():
            return os.getuid()
        def rise():
            libc = ctypes.CDLL(None)
            return [libc.setuid(0), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.sethostname(b"x", 1)]
    """
    with define(sandbox, code) as running:
        assert ask(running, "who") != 0
        assert ask(running, "rise") == [-1, -1, -1]


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
    """
    with define(sandbox, code) as running:
        assert isinstance(ask(running, "objects"), Other)
        assert isinstance(ask(running, "subclass"), Other)
        assert isinstance(ask(running, "function"), Other)
        assert ask(running, "huge").type_name == "array of 256 MB"
        with pytest.raises(Lost, match="size limit"):
            ask(running, "many")
        ask(running, "nested")


def test_one_cause_one_loss(sandbox):
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
        def kill_parent():
            os.kill(os.getppid(), signal.SIGKILL)
            while True: pass
        def stop_parent():
            os.kill(os.getppid(), signal.SIGSTOP)
            return 1
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
    with Wall(Limits(call_seconds=10)) as own, define(own, code) as running:
        for name in ("loop", "stubborn", "in_c", "bomb"):
            with pytest.raises(Lost):
                ask(running, name, seconds=0.7)
            assert ask(running, "right", 1) == 2, name
        for name in ("vanish", "crash", "kill_parent"):
            with pytest.raises(Lost):
                ask(running, name)
            assert ask(running, "right", 1) == 2, name
        assert ask(running, "kill_all").error == "OSError"  # there is nobody else
        assert ask(running, "leave").error == "SystemExit"
        assert ask(running, "memory").error == "MemoryError"
        assert ask(running, "deep").error == "RecursionError"
        assert ask(running, "stop_parent") == 1
        assert ask(running, "flood") == 1
        assert ask(running, "raw_flood") == 1
        assert ask(running, "right", 1) == 2


def test_the_whole_submission_has_one_limit_on_memory(sandbox):
    """Four processes that each stay below it do not get four times as much; scratch space counts, too."""
    code = """
        import os, select, time
        def hold(count, size):
            read, write = os.pipe()
            children = []
            for number in range(count):
                children.append(os.fork())
                if children[-1] == 0:
                    block = b"x" * size
                    os.write(write, b"1")
                    time.sleep(60)
                    os._exit(0)
            holding = 0
            while holding < count and select.select([read], [], [], 5)[0]:
                holding += len(os.read(read, count))
            return sum(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children) if holding else 0
        def right(x): return x
    """
    size = 500 * 2**20
    with define(sandbox, code) as running:
        if sandbox.students._group is None:
            pytest.skip("this machine lets this user make no control group")
        assert ask(running, "hold", 1, size, seconds=20) == 1
        try:
            held = ask(running, "hold", 4, size, seconds=20)
        except Lost:
            held = 0
        assert held <= 2
        assert ask(running, "right", 1) == 1
    with define(sandbox, code) as another:
        assert ask(another, "right", 1) == 1


def test_no_control_group_means_fewer_processes(monkeypatch):
    from autograder.sandbox.outside import cgroup

    monkeypatch.setattr(cgroup, "create", lambda: None)
    code = """
        import os, time
        def children():
            count = 0
            try:
                while True:
                    if os.fork() == 0:
                        time.sleep(60)
                    count += 1
            except OSError:
                return count
    """
    with Wall(kind="bubblewrap") as own, define(own, code) as running:
        assert ask(running, "children") < Limits().processes_uncounted


def test_a_control_group_that_nobody_closed_is_gone_with_its_process():
    """As if a signal had come while it was being made."""
    code = (
        "from autograder.sandbox.outside import cgroup; group = cgroup.create(); print(*group.folders if group else ())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert [folder for folder in done.stdout.split() if os.path.exists(folder)] == []


def test_a_control_group_is_gone_with_its_sandbox():
    own = Wall(kind="bubblewrap")
    with own.open(["x = 1"]):
        group = own.students._group
    own.close()
    assert group is None or not any(folder.exists() for folder in group.folders)


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
    from autograder.sandbox.inside.seccomp import MACHINES, REFUSED

    column = MACHINES[os.uname().machine][0]
    with define(sandbox, code) as running:
        refused = {name: ask(running, "call", numbers[column], 0, 0, 0, 0) for name, numbers in REFUSED.items()}
        assert set(refused.values()) == {"EPERM"}, refused
        for number in (16, 17, 38, 40):  # netlink, packet, the kernel's own cryptography, a virtual machine's host
            assert ask(running, "family", number) == "EAFNOSUPPORT"
        for number in (1, 2, 10):
            assert ask(running, "family", number) == "allowed"
        assert ask(running, "call", 56, 0x10000000 | 17) == "EPERM"  # clone with a new user namespace
        assert ask(running, "threads") == 1
        assert ask(running, "shell") == "hello\n"


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


def promises():
    """Short names of the docstring's lines."""
    import autograder.sandbox

    text = autograder.sandbox.__doc__.split("Limits.")[0]
    return [line[2:].split(":")[0] for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("promise", promises())
def test_every_promise_has_a_test_of_its_name(promise):
    name = "test_" + re.sub(r"\W+", "_", promise)
    assert callable(globals().get(name)), f"no {name}"


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


def test_no_ready_made_attention(sandbox):
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
            exercise = running.begin(name, Questions({}))
            answer = next(exercise.ask([Call(name, [q])]))
            exercise.close()
            assert answer == Failure(Kind.READY_MADE, wanted)
        assert ask(running, "elsewhere", q, seconds=30) != 0


def test_no_ready_made_convolution(sandbox):
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
            with contextlib.closing(running.begin(name, Questions({}))) as exercise:
                assert next(exercise.ask([Call(name, [a])])) == Failure(Kind.READY_MADE, wanted)
        assert ask(running, "elsewhere", a, seconds=30) != 0
    with sandbox.open([textwrap.dedent(code)]) as running:
        assert running.results[0].printed == "[1 5 6] 6.0\n"
        assert all(np.size(ask(running, name, a)) for name in names)


def test_questions_cost_little():
    """What multiplies is refused before it is made; what a suite's calls lead to is answered."""
    from autograder.judging.cost import is_small

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


def test_a_cell_that_loops_or_ends_python_costs_itself_only():
    cells = [
        "x = 1",
        "while True: pass",
        "y = x + 1",
        "import os; os._exit(0)",
        "def f(): return y",
        "def g(: pass",
        "1 / 0\nz = 1",
        "print('hello'); y",
    ]
    limits = Limits(cell_seconds=0.5)
    with Wall(limits) as own, own.open(cells) as running:
        assert ask(running, "f") == 2
        results = running.results
    assert results[1].error == "KeyboardInterrupt"
    assert results[3].stopped == "it ended the Python process"
    assert results[5].error == "SyntaxError"
    assert results[6].error == "ZeroDivisionError"
    assert results[7].printed == "hello\n2\n"


def test_deadlines_are_kept_by_the_trusted_side():
    code = "def slow():\n    import time\n    time.sleep(60)"
    with Wall(Limits(call_seconds=0.5)) as own, own.open([code]) as running:
        start = time.monotonic()
        with pytest.raises(Lost, match="too slow"):
            ask(running, "slow")
        assert time.monotonic() - start < 10


def test_messages_of_the_students_making_end_that_call_only(sandbox):
    code = """
        import os, socket
        def invent(data):
            for number in range(3, 128):
                try:
                    os.write(number, bytes(data))
                except OSError:
                    pass
            return 7
        def right(): return 1
    """
    for data in (b"", b"\xff\xff\xff\xff", b"\x00\x00\x00\x01\xc1", b"\x00\x00\x00\x03abc", b"\x00\x00"):
        with define(sandbox, code) as running:
            with pytest.raises(Lost) if data else pytest.MonkeyPatch.context():
                ask(running, "invent", list(data))
            assert ask(running, "right") == 1


def test_arrays_keep_dtype_shape_and_layout(sandbox):
    code = """
        def describe(x): return (str(x.dtype), x.shape, x.flags.c_contiguous)
        def back(x): return x
    """
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    views = [x, x.T, x[:, ::2], x[..., ::2], x[:0], np.array(3.0), x.swapaxes(0, 1), np.broadcast_to(x[0], (5, 3, 4))]
    with define(sandbox, code) as running:
        for view in views:
            dtype, shape, contiguous = ask(running, "describe", view)
            assert (dtype, shape) == (str(view.dtype), view.shape)
            assert contiguous == (view.flags.c_contiguous or view.size == 0)
            np.testing.assert_array_equal(ask(running, "back", view), view)


def test_a_killed_grader_leaves_no_process_behind(tmp_path):
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.wall import Wall
with Wall(kind="bubblewrap") as own, own.open(["marker_of_this_test = 1"]) as running:
    print("ready", own.students._process.pid, flush=True)
    time.sleep(60)
"""
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(grader.stdout.readline().split()[1])
    grader.kill()
    grader.wait()
    grader.stdout.close()
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.1)
    pytest.fail("the sandbox outlives its grader")


def test_a_sandbox_outlives_the_thread_that_started_it():
    """A server grades in threads that come and go."""
    own = Wall(kind="bubblewrap")
    pids = []

    def grade():
        with own.open(["def right(): return 1"]) as running:
            assert ask(running, "right") == 1
        pids.append(own.students._process.pid)

    for _ in range(2):
        thread = threading.Thread(target=grade)
        thread.start()
        thread.join()
    own.close()
    assert pids[0] == pids[1]


def test_insisting_on_bubblewrap_where_it_is_not_says_why(monkeypatch):
    from autograder.errors import MachineError
    from autograder.sandbox.outside import launch

    monkeypatch.setattr(launch, "why_no_bubblewrap", lambda: "bubblewrap is not installed")
    with pytest.raises(MachineError, match="not installed"):
        Wall(kind="bubblewrap")
    opened = Wall(kind="auto")
    assert not opened.isolated
    assert opened.warning == "bubblewrap is not installed"


def test_without_bubblewrap_limits_and_deadlines_still_hold():
    code = "def right(x): return x\ndef loop():\n    while True: pass\ndef leave():\n    import os; os._exit(1)"
    with Wall(Limits(call_seconds=0.5), kind="process") as own, own.open([code]) as running:
        assert ask(running, "right", 3) == 3
        with pytest.raises(Lost, match="too slow"):
            ask(running, "loop")
        with pytest.raises(Lost, match="gone"):
            ask(running, "leave")
        assert ask(running, "right", 3) == 3


def test_without_bubblewrap_what_a_cell_leaves_running_holds_up_nothing():
    code = "import subprocess\nleft = subprocess.Popen(['sleep', '60'])\ndef right(x): return x"
    with Wall(kind="process") as own, own.open([code]) as running:
        start = time.monotonic()
        assert [ask(running, "right", 3) for _ in range(3)] == [3, 3, 3]
        assert time.monotonic() - start < 5


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_can_grade(tmp_path):
    """The whole command, run by a user who owns nothing here, with an interpreter that user can reach."""
    shutil.copytree(ROOT, tmp_path / "kit", ignore=shutil.ignore_patterns(".venv", ".git", "demo", "__pycache__"))
    for folder in (tmp_path, *(parent for parent in tmp_path.parents if "pytest" in str(parent))):
        folder.chmod(0o755)
    packages = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    environment, base = tmp_path / "environment", tmp_path / "python"
    (environment / packages).mkdir(parents=True)
    (environment / "bin").mkdir()
    base.mkdir()
    (environment / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (environment / "bin" / "python").symlink_to(base / "bin" / "python3")
    script = f"""
        mount --bind {sys.base_prefix} {base}
        mount --bind {sys.prefix}/{packages} {environment}/{packages}
        cd {tmp_path}/kit
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \\
            env -i PATH=/usr/bin:/bin HOME=/nonexistent PYTHONDONTWRITEBYTECODE=1 \\
            {environment}/bin/python -m autograder grade source/a1_scaled_dot_product --sandbox bubblewrap
    """
    done = subprocess.run(["unshare", "--mount", "sh", "-e", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 / 20" in done.stdout
