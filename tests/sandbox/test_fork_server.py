"""How notebooks are hosted: limits, messages, control groups, processes that end; and all that without bubblewrap."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from cellcage.limits import MIB, Limits
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.outside.fork_server_client import ForkServer
from cellcage.outside.zygote_client import Zygote
from tests.conftest import ROOT
from tests.helpers.calls import BACKENDS, Lost, ask, define, everywhere, lives, slowly
from tests.helpers.sandboxes import Sandbox

BUBBLEWRAP = backend("bubblewrap")
LANDLOCK = backend("landlock")
PROCESS = backend("process")


@pytest.fixture(scope="module", params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    """With each backend."""
    return sandbox_of(request.param)


@pytest.mark.slow
def test_who_makes_too_many_files_is_ended():
    code = """
        import time
        def fill():
            for number in range(20_000):
                open(str(number), "w").close()
            time.sleep(5)
    """
    watched = pytest.raises(Lost, match="more than 4096 files")
    with Sandbox(kind="landlock", bare=True) as own, define(own, code) as running, watched:
        ask(running, "fill", seconds=10)


@pytest.mark.slow
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
    size, limits = 125 * MIB, Limits(memory=256 * MIB)
    with define(sandbox, code, limits) as running:
        if sandbox.students._group is None:
            pytest.skip("this machine lets this user make no control group")
        assert ask(running, "hold", 1, size, seconds=20) == 1
        try:
            held = ask(running, "hold", 4, size, seconds=20)
        except Lost:
            held = 0
        assert held <= 2
        assert ask(running, "right", 1) == 1
    with define(sandbox, code, limits) as another:
        assert ask(another, "right", 1) == 1


@pytest.mark.slow
def test_one_submission_may_have_less_memory_than_the_next(sandbox):
    """Assignments state limits of their own."""
    for limits in (Limits(memory=300 * MIB), Limits(), Limits(memory=400 * MIB), Limits(memory=2048 * MIB)):
        with sandbox.open(["x = 1"], limits) as running:
            assert not running.results[0].error


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_no_control_group_means_fewer_processes(monkeypatch, kind):
    from cellcage.outside import cgroup

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
    with Sandbox(kind=kind, bare=True) as own, define(own, code) as running:
        assert 0 < ask(running, "children") < Limits().processes_uncounted


def test_a_control_group_that_nobody_closed_is_gone_with_its_process():
    """As if a signal had come while it was being made."""
    code = "from cellcage.outside import cgroup; group = cgroup.create(); print(*group.folders if group else ())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert [folder for folder in done.stdout.split() if os.path.exists(folder)] == []


def test_a_killed_graders_control_group_is_gone_when_the_next_is_made():
    """Also where nobody waits for a process that has ended, as in many containers."""
    from cellcage.outside import cgroup

    code = (
        "import time; from cellcage.outside import cgroup; group = cgroup.create()\n"
        "print(*group.folders if group else (), flush=True); time.sleep(60)"
    )
    killed = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    folders = [Path(one) for one in killed.stdout.readline().split()]
    assert all(folder.exists() for folder in folders)
    killed.kill()
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    group = cgroup.create()
    assert not any(folder.exists() for folder in folders)
    if group:
        group.close()
    killed.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*BACKENDS, "process"])
def test_a_cell_that_loops_or_ends_python_costs_itself_only(sandbox_of, kind):
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
    with sandbox_of(kind).open(cells, Limits(cell_seconds=0.5)) as running:
        assert ask(running, "f") == 2
        results = running.results
    assert results[1].error == "KeyboardInterrupt"
    assert results[3].stopped == "it ended the Python process"
    assert results[5].error == "SyntaxError"
    assert results[6].error == "ZeroDivisionError"
    assert results[7].printed == "hello\n2\n"


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


@everywhere
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_warm_process_that_is_killed_is_started_again(kind):
    """With a fork server that is known, and while one starts."""
    with Sandbox(kind=kind, bare=True) as own:
        for ready in (True, True, False):
            if ready:
                with own.open(["def right(): return 1"]) as running:
                    assert ask(running, "right") == 1
            else:
                own.students.warm_up()
            process = psutil.Process(own.zygote._process.pid)
            inside = process.children(recursive=True)
            for one in inside:
                with contextlib.suppress(psutil.NoSuchProcess):  # gone with its parent
                    one.kill()
            until = time.monotonic() + 10
            while any(lives(one.pid) for one in inside):
                assert time.monotonic() < until
                time.sleep(0.02)
        with own.open(["def right(): return 1"]) as running:
            assert ask(running, "right") == 1


def test_a_sandbox_that_cannot_start_says_why_and_leaves_no_control_group():
    from autograder.errors import MachineError

    with Zygote(BUBBLEWRAP, []) as zygote, ForkServer(zygote, "no.such.module") as server:
        with pytest.raises(MachineError, match="No module named 'no'"):
            server.open(Limits())
        assert server._group is None
        zygote.end()
        with pytest.raises(MachineError, match="the run was ended"):
            server.open(Limits())
        assert server._group is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_sandbox_outlives_the_thread_that_started_it_and_takes_its_control_group_along(kind):
    """A server grades in threads that come and go."""
    own = Sandbox(kind=kind, bare=True)
    pids = []

    def grade():
        with own.open(["def right(): return 1"]) as running:
            assert ask(running, "right") == 1
        pids.append(own.zygote._process.pid)

    for _ in range(2):
        thread = threading.Thread(target=grade)
        thread.start()
        thread.join()
    group = own.students._group
    own.close()
    assert pids[0] == pids[1]
    assert group is None or not any(folder.exists() for folder in group.folders)


def test_insisting_on_a_wall_where_it_is_not_says_why(monkeypatch):
    from autograder.errors import MachineError

    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: "bubblewrap is not installed")
    with pytest.raises(MachineError, match="not installed"):
        Sandbox(kind="bubblewrap")
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 7)
    opened = Sandbox(kind="auto")
    assert (opened.backend, opened.warning) == (LANDLOCK, None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 3)
    assert "version 3" in Sandbox(kind="auto").warning
    assert "signals" in Sandbox(kind="landlock").warning
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: "this kernel has no Landlock")
    with pytest.raises(MachineError, match="no Landlock"):
        Sandbox(kind="landlock")
    opened = Sandbox(kind="auto")
    assert opened.backend is PROCESS
    assert opened.warning == "bubblewrap is not installed, and this kernel has no Landlock"


@pytest.mark.slow
def test_without_bubblewrap_limits_and_deadlines_still_hold(sandbox_of):
    code = "def right(x): return x\ndef loop():\n    while True: pass\ndef leave():\n    import os; os._exit(1)"
    with sandbox_of("process").open([code], Limits(call_seconds=0.5)) as running:
        assert ask(running, "right", 3) == 3
        with pytest.raises(Lost, match="too slow"):
            ask(running, "loop")
        with pytest.raises(Lost, match="gone"):
            ask(running, "leave")
        assert ask(running, "right", 3) == 3


@pytest.mark.slow
def test_without_bubblewrap_what_a_cell_leaves_running_holds_up_nothing(sandbox_of):
    code = "import subprocess\nleft = subprocess.Popen(['sleep', '60'])\ndef right(x): return x"
    with sandbox_of("process").open([code]) as running:
        start = time.monotonic()
        assert [ask(running, "right", 3) for _ in range(3)] == [3, 3, 3]
        assert time.monotonic() - start < 5


@pytest.mark.slow
def test_who_closes_a_notebook_waits_until_its_processes_have_ended():
    with Sandbox(bare=True) as own:
        running = own.open(["x = 1"])
        below = psutil.Process(own.zygote._process.pid).children(recursive=True)
        closing = threading.Thread(target=running.__exit__, args=(None, None, None))
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):  # one that has just done its work
                process.suspend()
        try:
            closing.start()
            closing.join(0.5)
            assert closing.is_alive()
        finally:
            for process in below:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.resume()
        closing.join(20)
        assert not closing.is_alive()
