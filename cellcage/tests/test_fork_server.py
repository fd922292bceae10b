"""Fork servers: memory limits, control groups, missing backends, killed processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from sandboxes import Sandbox, is_alive

from cellcage import ForkServer, Limits, MachineError, Zygote, choose_backend
from cellcage.errors import NoSandbox
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.notebook import CallFailed
from cellcage.outside import cgroup

RIGHT = "def right(): return 1"


@pytest.mark.slow
def test_memory_limit_covers_all_processes_of_a_notebook(sandbox):
    """Four processes share one limit. The next notebook has its own."""
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
            while holding < count and select.select([read], [], [], 2)[0]:
                holding += len(os.read(read, count))
            time.sleep(0.5)  # the kernel may take a moment to end a process
            return sum(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children) if holding else 0
        def right(): return 1
    """
    size, limits = 125 * 2**20, {"memory": 256 * 2**20, "idle_seconds": 10}
    with sandbox.open(code, **limits) as notebook:
        if sandbox.server._group is None:
            pytest.skip("this user can't create a control group here")
        assert notebook.call("hold", 1, size) == 1
        try:
            held = notebook.call("hold", 4, size)
        except CallFailed:
            held = 0
        assert held <= 2
        assert notebook.call("right") == 1
    with sandbox.open(code, memory=1024 * 2**20) as notebook:
        assert notebook.call("hold", 4, size) == 4


@pytest.mark.slow
def test_fewer_processes_without_control_group(monkeypatch):
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
    with Sandbox() as own, own.open(code) as notebook:
        assert 0 < notebook.call("children") < Limits().processes_uncounted


def test_control_group_of_killed_program_is_removed():
    """The next program removes it, even if nobody waits for the killed process, as in many containers."""
    code = (
        "import time; from cellcage.outside import cgroup; group = cgroup.create()\n"
        "print(*group.folders if group else (), flush=True); time.sleep(60)"
    )
    killed = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
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
@pytest.mark.parametrize("ready", [True, False])
def test_killed_fork_server_is_restarted(ready):
    """Whether it has opened a notebook or is still starting."""
    with Sandbox() as own:
        if ready:
            with own.open(RIGHT):
                pass
        else:
            own.server.warm_up()
        killed = own.processes()
        for one in killed:
            with contextlib.suppress(ProcessLookupError):  # it ended with its parent
                os.kill(one.pid, 9)
        until = time.monotonic() + 10
        while any(is_alive(one.pid) for one in killed):
            assert time.monotonic() < until
            time.sleep(0.02)
        with own.open(RIGHT) as notebook:
            assert notebook.call("right") == 1


def test_failed_start_is_reported_and_leaves_no_control_group():
    with Zygote(backend("bubblewrap"), []) as zygote, ForkServer(zygote, "no.such.module") as server:
        with pytest.raises(MachineError, match="No module named 'no'"):
            server.process(Limits()).open()
        assert server._group is None
        zygote.end()
        with pytest.raises(MachineError, match="the run was ended"):
            server.process(Limits()).open()
        assert server._group is None


@pytest.mark.slow
def test_sandbox_outlives_its_thread_and_removes_its_control_group():
    """Servers call it from short-lived threads."""
    pids = []

    def run():
        with own.open(RIGHT) as notebook:
            assert notebook.call("right") == 1
        pids.append(own.zygote._process.pid)

    with Sandbox() as own:
        for _ in range(2):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        group = own.server._group
    assert pids[0] == pids[1]
    assert group is None or not any(folder.exists() for folder in group.folders)


def test_missing_backend_is_reported(monkeypatch):
    bubblewrap, landlock = backend("bubblewrap"), backend("landlock")
    monkeypatch.setattr(bubblewrap, "why_not", lambda: "bubblewrap is not installed")
    with pytest.raises(MachineError, match="not installed"):
        choose_backend("bubblewrap")
    monkeypatch.setattr(landlock, "why_not", lambda: None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 7)
    assert choose_backend("auto") == (landlock, None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 3)
    for kind in ("auto", "landlock"):
        assert "version 3" in choose_backend(kind)[1] and "signals" in choose_backend(kind)[1]
    monkeypatch.setattr(landlock, "why_not", lambda: "this kernel has no Landlock")
    with pytest.raises(MachineError, match="no Landlock"):
        choose_backend("landlock")
    reason = "no sandbox works here: bubblewrap is not installed, and this kernel has no Landlock"
    with pytest.raises(NoSandbox, match=f'{reason}; the kind "process" runs code with limits only'):
        choose_backend("auto")
    assert choose_backend("process") == (backend("process"), None)
    with pytest.raises(MachineError, match="there is no sandbox 'moat'; there are bubblewrap, landlock, process"):
        choose_backend("moat")


@pytest.mark.slow
def test_closing_a_notebook_waits_until_its_processes_have_ended():
    with Sandbox() as own, contextlib.ExitStack() as stack:
        stack.enter_context(own.open(RIGHT))
        below = own.processes()
        closing = threading.Thread(target=stack.close)
        for process in below:
            process.suspend()
        try:
            closing.start()
            closing.join(0.5)
            assert closing.is_alive()
        finally:
            for process in below:
                with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended meanwhile
                    process.resume()
        closing.join(20)
        assert not closing.is_alive()
