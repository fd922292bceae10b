"""Why a process ended: because of its own code, or because something else killed it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import textwrap
import threading
import time

import psutil
import pytest
from sandboxes import BACKENDS, Sandbox

from cellcage import MachineError
from cellcage.notebook import CallFailed
from cellcage.outside import users
from cellcage.protocol import frames
from cellcage.protocol.ending import MACHINE_SHORT, Ending

only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


# ---------------------------------------------------------------- users


@pytest.mark.slow
@only_root
@pytest.mark.parametrize("kind", BACKENDS)
def test_each_fork_server_has_its_own_user(sandbox_of, kind):
    code = "import os\ndef who(): return os.getuid(), os.getgid()"
    sandbox = sandbox_of(kind)
    with Sandbox(kind) as other, sandbox.open(code) as one, other.open(code) as two:
        found = [notebook.call("who") for notebook in (one, two)]
        assert all(user == group and user in users.CANDIDATES for user, group in found)
        assert found[0] != found[1]
        own = {process.pid for process in (*sandbox.processes(), *other.processes())}
        others = psutil.process_iter(["uids"])  # None if it has ended meanwhile
        theirs = {one.info["uids"].real for one in others if one.pid not in own and one.info["uids"] is not None}
        assert {user for user, _ in found}.isdisjoint(theirs)


@only_root
def test_reserved_user_is_unused_until_released(monkeypatch):
    """It belongs to no process and no account, and exists in the user namespace."""
    first, second, third, fourth = range(61184, 61188)
    monkeypatch.setattr(users, "CANDIDATES", range(first, fourth + 1))
    monkeypatch.setattr(users, "_of_processes", lambda: {first})
    monkeypatch.setattr(users, "_has_account", lambda number: number == second)
    monkeypatch.setattr(users, "_is_mapped", lambda number: number != third)
    found = users.Reserved()
    assert found.number == fourth
    with pytest.raises(MachineError, match="no user is free among 61184 to 61187"):
        users.Reserved()
    with socket.socket(socket.AF_UNIX) as other:
        with pytest.raises(OSError, match="in use"):
            other.bind(f"\0cellcage-user-{fourth}")
        found.release()
        other.bind(f"\0cellcage-user-{fourth}")


# ---------------------------------------------------------------- killed from outside

# The process takes this name while the test may kill it.
ASLEEP = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'asleep', 0, 0, 0)\ntime.sleep(0.5)\n"
SLEEPER = f"def right(x):\n{textwrap.indent(ASLEEP, '    ')}    return x"


@contextlib.contextmanager
def kill_sleepers(sandbox, number=signal.SIGKILL, times=10**9):
    """Sends a signal to sleeping code, as the kernel does when memory is short. Yields the processes it hit."""
    stop, hit = threading.Event(), []
    sandbox.server.warm_up()

    def run():
        while not stop.wait(0.005):
            with contextlib.suppress(psutil.NoSuchProcess):
                for one in sandbox.processes():
                    if len(hit) < times and one.name() == "asleep" and one.status() != psutil.STATUS_ZOMBIE:
                        one.send_signal(number)
                        hit.append(one)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield hit
    finally:
        stop.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_call_is_repeated_once(sandbox, number):
    with sandbox.open(SLEEPER) as notebook, kill_sleepers(sandbox, number, times=1) as hit:
        assert notebook.call("right", 3) == 3
    assert len(hit) == 1


@pytest.mark.slow
def test_call_killed_twice_raises_machine_error(sandbox):
    machine_error = pytest.raises(MachineError, match="twice: it was ended by SIGKILL from outside")
    with sandbox.open(SLEEPER) as notebook, kill_sleepers(sandbox), machine_error:
        notebook.call("right", 3)


@pytest.mark.slow
def test_killed_cells_all_run_again(sandbox):
    code = f"{ASLEEP}def right(): return 1"
    with kill_sleepers(sandbox, times=1) as hit, sandbox.open(code, "def other(): return 2") as notebook:
        assert (notebook.call("right"), notebook.call("other")) == (1, 2)
        assert [result.stopped for result in notebook.results] == [None, None]
    assert len(hit) == 1


# ---------------------------------------------------------------- ended by its own code

OWN = """
import ctypes, os, resource, signal, subprocess, sys, threading
def right(x): return x
def leave_by_a_thread(): threading.Thread(target=os._exit, args=(0,)).start(); threading.Event().wait()
def abort(): os.abort()
def hang_up(): os.kill(os.getpid(), signal.SIGHUP)
def processor():
    resource.setrlimit(resource.RLIMIT_CPU, (0, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    while True: pass
def close():
    os.closerange(3, 200)
    import time; time.sleep(1)
def refused():
    found = []
    for number in (signal.SIGKILL, signal.SIGTERM):
        ways = [lambda: os.kill(os.getpid(), number), lambda: os.kill(0, number),
                lambda: os.killpg(os.getpgrp(), number), lambda: signal.raise_signal(number),
                lambda: signal.pthread_kill(threading.get_ident(), number)]
        for way in ways:
            try:
                way(); found.append("sent")
            except PermissionError:
                found.append("refused")
        done = subprocess.run(["/bin/sh", "-c", f"kill -{int(number)} {os.getpid()}"], stderr=subprocess.DEVNULL)
        found.append("refused" if done.returncode else "sent")
    return found
def child():
    one = subprocess.Popen(["sleep", "30"]); one.kill(); other = subprocess.Popen(["sleep", "30"]); other.terminate()
    return [one.wait(5), other.wait(5)]
"""


@pytest.mark.slow
def test_call_that_ends_its_process_is_not_repeated(sandbox):
    with sandbox.open(OWN) as notebook:
        for how in ("leave_by_a_thread", "abort", "hang_up", "processor", "close"):
            start = time.monotonic()
            with pytest.raises(CallFailed, match="gone: the Python process ended during the call"):
                notebook.call(how)
            assert time.monotonic() - start < 5
            assert notebook.call("right", 3) == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_signals_end_code_of_a_run_that_ignores_them(sandbox_of, kind):
    """`nohup` makes a run ignore SIGHUP, and a shell makes its background jobs ignore SIGINT."""
    sandbox_of(kind)  # skips the test where there is no such sandbox
    code = """
        import os, signal
        def send(number): os.kill(os.getpid(), number); return "ignored"
    """
    ignored = signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (*ignored, signal.SIGINT)}
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    try:
        with Sandbox(kind) as own, own.open(code) as notebook:
            for number in (*ignored, signal.SIGUSR2):
                with pytest.raises(CallFailed, match="gone: the Python process ended during the call"):
                    notebook.call("send", int(number))
            with pytest.raises(CallFailed, match="KeyboardInterrupt"):
                notebook.call("send", int(signal.SIGINT))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
        for number, handler in before.items():
            signal.signal(number, handler)


def test_code_cannot_send_sigkill_or_sigterm_to_itself(sandbox):
    with sandbox.open(OWN) as notebook:
        with contextlib.suppress(CallFailed):  # with an older Landlock, code can't send any signal
            assert notebook.call("refused") == ["refused"] * 12
        assert notebook.call("child") == [-signal.SIGKILL, -signal.SIGTERM]
        assert notebook.call("right", 3) == 3


def test_leftover_processes_do_not_block_calls(sandbox):
    """They use up the notebook's process limit, so they are ended, and no machine error is raised."""
    code = """
        import subprocess
        left = []
        try:
            while True:
                left.append(subprocess.Popen(["sleep", "60"]))
        except OSError:
            pass
        def right(x): return x
    """
    with sandbox.open(code) as notebook:
        assert notebook.call("right", 3) == 3


@pytest.mark.parametrize(
    ("end", "own"),
    [
        (Ending(exit_code=3), True),
        (Ending(exit_code=MACHINE_SHORT), False),
        (Ending(signal=signal.SIGSEGV), True),
        (Ending(signal=signal.SIGKILL), False),
        (Ending(signal=signal.SIGTERM), False),
        (Ending(signal=signal.SIGKILL, out_of_memory=True), True),
        (Ending(signal=signal.SIGTERM, out_of_memory=True), False),
        (Ending(running=True), True),
        (Ending(limit="it wrote too much"), True),
        (Ending(), False),
    ],
)
def test_ending_tells_own_code_from_outside(end, own):
    assert end.is_own is own
    assert frames.parse(frames.body(end), Ending) == end


def test_shortage_is_retried_until_the_deadline():
    tries = []

    def act():
        tries.append(1)
        if len(tries) < 3:
            raise OSError(23, "Too many open files in system")
        return "there"

    assert frames.retry_while_short(act) == "there"
    tries.clear()
    with pytest.raises(MachineError, match="Too many open files in system"):
        frames.retry_while_short(act, time.monotonic() - 1)
