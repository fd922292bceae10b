"""Whose fault the end of a process is: a mark may be lower for the student's own doing, and for nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import nbformat
import psutil
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.errors import MachineError
from cellcage.outside import users
from cellcage.protocol import frames
from cellcage.protocol.calls import Failure
from cellcage.protocol.ending import MACHINE_SHORT, Ending
from cellcage.protocol.messages import Ended
from tests.helpers.calls import BACKENDS, Lost, ask, define, slowly
from tests.helpers.sandboxes import Marker, Sandbox
from tests.helpers.selection import one_in
from tests.helpers.small_course import EXERCISE, NAME, small_course, submit
from tests.helpers.terminal import grade

A1 = "a1_scaled_dot_product"
NOBODY = 65534
# Another program's process that has 250 descriptors in flight.
HOLDER = f"""
import os, socket, time
os.setgroups([]); os.setresgid(*[{NOBODY}] * 3); os.setresuid(*[{NOBODY}] * 3)
one, other = socket.socketpair()
socket.send_fds(one, [b"x"], [os.open("/dev/null", os.O_RDONLY)] * 250)
print("holding", flush=True)
time.sleep(60)
"""
# A submission that tries the same, and keeps trying.
SENDER = """
import os, socket
kept, sent = [], 0
for _ in range(4):
    one, other = socket.socketpair()
    kept += [one, other]
    try:
        sent += socket.send_fds(one, [b"x"], [os.open("/dev/null", os.O_RDONLY)] * 253)
    except OSError:
        pass
print(sent)
"""


@pytest.fixture(scope="module", params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    """With each backend."""
    return sandbox_of(request.param)


@pytest.fixture
def marker(sandbox, course):
    return Marker(course.assignment(A1), sandbox)


def marks(marker, count=2):
    """What a right submission gets, several times."""
    cells = list(model_answers(marker.assignment).values())
    reports = [marker.mark_cells("innocent", cells)[0] for _ in range(count)]
    return [(report.score, report.reason) for report in reports]


# ---------------------------------------------------------------- what the kernel counts by user


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_a_daemon_of_nobodys_holds_in_flight_costs_nobody_a_mark(marker):
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "holding\n"
        found = marks(marker)
        holder.kill()
    assert found == [(20, None)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_what_another_submission_holds_in_flight_costs_nobody_a_mark(course, sandbox_of, kind):
    """Two workers of one run."""
    with Sandbox(kind=kind, beside=sandbox_of(kind)) as other, other.open([SENDER]) as attack:
        assert attack.results[0].printed == "0\n"
        assert marks(Marker(course.assignment(A1), sandbox_of(kind))) == [(20, None)] * 2


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_every_host_has_a_user_that_nothing_else_has(sandbox):
    code = "import os\ndef who(): return os.getuid(), os.getgid()"
    with Sandbox(kind=sandbox.kind, beside=sandbox) as other, define(sandbox, code) as one, define(other, code) as two:
        found = [ask(running, "who") for running in (one, two)]
        assert all(user == group and user in users.CANDIDATES for user, group in found)
        assert found[0] != found[1]
        own = {process.pid for process in psutil.Process(sandbox.zygote._process.pid).children(recursive=True)}
        others = psutil.process_iter(["uids"])  # None if it has ended meanwhile
        theirs = {one.info["uids"].real for one in others if one.pid not in own and one.info["uids"] is not None}
        assert {user for user, _ in found}.isdisjoint(theirs)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_two_graders_never_have_the_same_user():
    """Nor does one that is held by an account, a process, or systemd; what is released may be had again."""
    kept = [users.Reserved() for _ in range(20)]
    assert len({one.number for one in kept}) == 20
    other = socket.socket(socket.AF_UNIX)
    with pytest.raises(OSError, match="in use"):
        other.bind(f"\0cellcage-user-{kept[0].number}")
    kept[0].release()
    other.bind(f"\0cellcage-user-{kept[0].number}")
    for one in (other, *kept[1:]):
        getattr(one, "close", getattr(one, "release", None))()


def test_no_user_that_somebody_has(monkeypatch):
    first, second, third, fourth = range(61184, 61188)
    monkeypatch.setattr(users, "CANDIDATES", range(first, fourth + 1))
    monkeypatch.setattr(users, "_of_processes", lambda: {first})
    monkeypatch.setattr(users, "_has_account", lambda number: number == second)
    monkeypatch.setattr(users, "_is_mapped", lambda number: number != third)
    found = users.Reserved()
    assert found.number == fourth
    with pytest.raises(Exception, match="no user is free among 61184 to 61187"):
        users.Reserved()
    found.release()


# ---------------------------------------------------------------- ends from outside


# Student code calls itself so while it may be ended.
ASLEEP = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'asleep', 0, 0, 0)\ntime.sleep(0.5)\n"


class Killer:
    """Ends processes from outside with a signal, as somebody short of memory would.

    which: of all that are below the process `pid`
    """

    def __init__(self, pid, which=lambda one: one.name() == "asleep", number=signal.SIGKILL, times=10**9):
        self._pid, self._which, self._number, self._left, self.killed = pid, which, number, times, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while self._left and not self._stop.is_set():
            with contextlib.suppress(psutil.NoSuchProcess):
                for process in psutil.Process(self._pid).children(recursive=True):
                    self._end(process)
            time.sleep(0.005)

    def _end(self, process):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            if self._left and process.status() != psutil.STATUS_ZOMBIE and self._which(process):
                process.send_signal(self._number)
                self._left, self.killed = self._left - 1, self.killed + 1


def ends(sandbox, **how):
    sandbox.students.warm_up()
    return Killer(sandbox.zygote._process.pid, **how)


SLEEPER = f"def right(x):\n{textwrap.indent(ASLEEP, '    ')}    return x"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_ended_from_outside_is_asked_once_more(sandbox, number):
    with define(sandbox, SLEEPER) as running, ends(sandbox, number=number, times=1) as killer:
        assert ask(running, "right", 3) == 3
    assert killer.killed == 1


@pytest.mark.slow
def test_a_process_ended_from_outside_twice_is_the_machines_fault(sandbox):
    by_whom = pytest.raises(MachineError, match="twice: it was ended by SIGKILL from outside")
    with define(sandbox, SLEEPER) as running, ends(sandbox), by_whom:
        ask(running, "right", 3)


@pytest.mark.slow
def test_cells_ended_from_outside_run_once_more_and_none_is_left_out(sandbox):
    code = f"{ASLEEP}def right(): return 1"
    with ends(sandbox, times=1) as killer, sandbox.open([code, "def other(): return 2"]) as running:
        assert (ask(running, "right"), ask(running, "other")) == (1, 2)
        assert [result.stopped for result in running.results] == [None, None]
    assert killer.killed == 1


@pytest.mark.slow
def test_who_is_ended_from_outside_again_and_again_fails_and_has_no_lower_mark(marker, sandbox):
    cells = list(model_answers(marker.assignment).values())
    with ends(sandbox):
        report, _ = marker.mark_cells("unlucky", [*cells, ASLEEP])
    assert report.status == "failed"
    assert "this machine could not run it" in report.reason and "SIGKILL from outside" in report.reason
    assert marks(marker, 1) == [(20, None)]


# ---------------------------------------------------------------- the student's own doing

OWN = """
import ctypes, os, resource, signal, subprocess, sys, threading
def right(x): return x
def leave(): os._exit(3)
def leave_by_a_thread(): threading.Thread(target=os._exit, args=(0,)).start(); threading.Event().wait()
def crash(): ctypes.string_at(0)
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
@pytest.mark.parametrize("how", ["leave", "leave_by_a_thread", "crash", "abort", "hang_up", "processor", "close"])
def test_an_end_of_its_own_costs_that_call_alone(sandbox, how):
    """It is told at once, and not tried again."""
    with define(sandbox, OWN) as running:
        start = time.monotonic()
        with pytest.raises(Lost, match="gone: the Python process ended during the call"):
            ask(running, how)
        assert time.monotonic() - start < 5
        assert ask(running, "right", 3) == 3


def test_it_can_not_be_made_to_look_like_somebody_elses(sandbox):
    with define(sandbox, OWN) as running:
        found = ask(running, "refused")
        if isinstance(found, Failure):  # an older Landlock, behind which no signal is sent
            assert "PermissionError" in found.error
        else:
            assert found == ["refused"] * 12
        assert ask(running, "child") == [-signal.SIGKILL, -signal.SIGTERM]
        assert ask(running, "right", 3) == 3


@pytest.mark.catalogue
@pytest.mark.slow
def test_a_limit_on_memory_that_the_whole_submission_meets_is_its_own(sandbox):
    code = """
        import os, time
        def fill():
            children = []
            for _ in range(4):
                children.append(os.fork())
                if children[-1] == 0:
                    kept = bytearray(600 * 2**20)
                    for place in range(0, len(kept), 4096):
                        kept[place] = 1
                    time.sleep(30); os._exit(0)
            kept = bytearray(900 * 2**20)
            for place in range(0, len(kept), 4096):
                kept[place] = 1
            time.sleep(2)
            return "held"
        def right(x): return x
    """
    with define(sandbox, code) as running:
        if sandbox.students._group is None:
            pytest.skip("this machine lets this user make no control group")
        with contextlib.suppress(Lost):  # the kernel may have ended its children instead
            ask(running, "fill", seconds=20)
        assert ask(running, "right", 3) == 3


def test_processes_that_cells_left_behind_leave_room_for_an_exercise(sandbox):
    """They take the submission's own share, so they are ended, and nothing is the machine's fault."""
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
    with define(sandbox, code) as running:
        assert ask(running, "right", 3) == 3


# ---------------------------------------------------------------- what is said of an end


@pytest.mark.parametrize(
    ("ending", "own"),
    [
        (Ending(exit_code=0), True),
        (Ending(exit_code=3), True),
        (Ending(exit_code=MACHINE_SHORT), False),
        (Ending(signal=signal.SIGSEGV), True),
        (Ending(signal=signal.SIGXCPU), True),
        (Ending(signal=signal.SIGKILL), False),
        (Ending(signal=signal.SIGTERM), False),
        (Ending(signal=signal.SIGKILL, out_of_memory=True), True),
        (Ending(signal=signal.SIGTERM, out_of_memory=True), False),
        (Ending(running=True), True),
        (Ending(limit="it wrote too much"), True),
        (Ending(), False),
        (Ending(out_of_memory=True), False),
    ],
)
def test_whose_end_it_is(ending, own):
    assert ending.is_own is own
    assert frames.parse(frames.body(Ended(ending)), Ended).ending == ending


@pytest.mark.parametrize("message", [None, 7, [], {"signal": 9.5}, {"signal": "9"}, {"exit_code": 1, "more": 1}])
def test_ending_of_another_form_is_refused(message):
    with pytest.raises(frames.WireError):
        frames.parse(frames.body({"ending": message}), Ended)


def test_a_machine_that_is_short_of_something_is_asked_again():
    tries = []

    def act():
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise OSError(23, "Too many open files in system")
        return "there"

    assert frames.retry_while_short(act) == "there"
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(frames.Exhausted, match="Too many open files in system"):
        frames.retry_while_short(act, time.monotonic() - 1)


# ---------------------------------------------------------------- many of them


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="whose a process is shows by its user")
@pytest.mark.parametrize("way", one_in(2, ["--json", "--gradebook"]))
def test_a_run_in_which_nothing_can_be_run_any_more_says_so_and_the_next_one_grades_everybody(tmp_path, way):
    """After the first submission not even the model answer can be run."""
    course = small_course(tmp_path / "course")
    slowly = f"import time\ntime.sleep(1)\n{model_answers(course.assignment(NAME))[EXERCISE]}"
    for number in range(5):
        submit(course, f"student-{number}", {EXERCISE: slowly})
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import time\ntime.sleep(1)"))
    nbformat.write(notebook, path)
    words = ["--gradebook"] if way == "--gradebook" else ["submitted", "--json", "marks.json"]
    running = grade(course, *words, "--jobs", "1", wait=False)
    first = "*.part" if way == "--json" else "autograded/*/*/*.ipynb"
    while not any(path.stat().st_size for path in course.root.glob(first)):
        assert running.poll() is None
        time.sleep(0.05)
    with Killer(running.pid, is_a_notebooks):
        out, _ = running.communicate(timeout=200)
    assert running.returncode == 1, out
    out = " ".join(out.split())
    assert f"nobody is graded in {NAME}, and no mark has changed, because its model answer" in out
    assert "this machine could not run it" in out and "run the same command again" in out
    assert way == "--json" or "1 graded, 4 could not be graded" in out
    done, out, _ = grade(course, *words, "--jobs", "1", "--quiet")
    assert done.returncode == 0, out
    assert "0 could not be graded" in out


def is_a_notebooks(process):
    """Hosts for students have a user of their own, and fork notebooks."""
    return process.uids().real in users.CANDIDATES and process.parent().uids().real == process.uids().real


@pytest.mark.slow
def test_submissions_that_end_themselves_oddly_stop_no_run(tmp_path):
    """They fail, each with its reason, and those after them are graded."""
    course = small_course(tmp_path / "course", students=["yan", "zoe"])
    odd = f"import os\nos._exit({MACHINE_SHORT})"
    for number in range(4):
        submit(course, f"odd-{number}", {EXERCISE: odd})
    done, out, _ = grade(course, "submitted", "--json", "marks.json", "--quiet")
    assert done.returncode == 1, out
    reports = {one["student"]: one for one in json.loads((course.root / "marks.json").read_text())}
    assert [reports[f"odd-{number}"]["status"] for number in range(4)] == ["failed"] * 4
    assert "the machine was short of something that it needs" in reports["odd-0"]["reason"]
    assert [reports[name]["score"] for name in ("yan", "zoe")] == [3, 3]


@pytest.mark.slow
def test_a_test_that_catches_every_exception_hides_no_failure_of_the_machine(tmp_path, sandbox):
    """A course's own suite may; then there is still no mark."""
    course = small_course(tmp_path / "course")
    suite = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    text = suite.read_text()
    caught = '''
    def test_catches(self, student):
        """Anything goes."""
        try:
            student.row_centred(np.ones((2, 3)) * float(np.random.default_rng(7).normal()))
        except Exception:
            pass
'''
    suite.write_text(text.rstrip("\n") + "\n" + caught)
    marker = Marker(course.assignment(NAME), sandbox)
    answer = f"def {EXERCISE}(X):\n{textwrap.indent(ASLEEP, '    ')}    return X - X.mean(axis=-1, keepdims=True)"
    with ends(sandbox):
        report, _ = marker.mark_cells("x", ["import numpy as np", answer])
    assert report.status == "failed" and "twice: it was ended by SIGKILL from outside" in report.reason
