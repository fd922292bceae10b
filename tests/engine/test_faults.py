"""A bad day on a real machine: one sentence with the remedy, everybody else graded, nothing lost, no traceback."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.course import Course
from autograder.errors import MachineError
from autograder.worker import executors
from tools import faults

pytestmark = pytest.mark.slow
NAME, NOTEBOOK = "a1_first", "first.ipynb"
SOMEBODY = 1  # a user that is not ours
# Root reads and writes everything; without these two rights it is a user like any other.
PLAIN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--"] if not os.getuid() else []


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A small course without PyTorch, its one assignment released, and three students' right work."""
    root = tmp_path_factory.mktemp("faults") / "course"
    for words in (("autograder", "dev", "new-course", root), ("nbgrader", "generate_assignment", NAME)):
        command = [Path(sys.executable).with_name(words[0]), *words[1:]]
        cwd = root if root.is_dir() else root.parent
        subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    assignment = Course(root).assignment(NAME)
    for student in ("ann", "bob", "cy"):
        hand_in(fill(released_notebook(root), model_answers(assignment)), root / "submitted", student, assignment)
    return root


def released_notebook(root):
    return root / "assignments" / NAME / NOTEBOOK


@pytest.fixture
def root(released, tmp_path):
    """A copy of it that a test may spoil."""
    yield Path(shutil.copytree(released, tmp_path / "course"))
    subprocess.run(["chmod", "-R", "u+rwX", tmp_path], check=True)


def grade(root, *arguments, **settings):
    command = [*PLAIN, sys.executable, "-m", "autograder", "grade", *arguments, "--quiet"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    done = subprocess.run(command, cwd=root, text=True, check=False, timeout=300, **streams)
    assert "Traceback" not in (done.stdout or "") + (done.stderr or "")
    return done, " ".join(((done.stdout or "") + (done.stderr or "")).split())


def close(path, mode=0o000):
    """Nobody but somebody else may use it."""
    path.chmod(mode)
    if not os.getuid():
        os.chown(path, SOMEBODY, SOMEBODY)


@pytest.mark.parametrize("how", [("submitted", "--json", "marks.json"), ("--gradebook",)], ids=["json", "gradebook"])
def test_what_cannot_be_read_has_its_row_and_costs_nobody_else(root, how):
    shutil.copytree(root / "submitted" / "ann", root / "submitted" / "dan")
    for place in ("ann", f"bob/{NAME}", f"cy/{NAME}/{NOTEBOOK}"):
        close(root / "submitted" / place)
    done, said = grade(root, *how)
    assert f"ann, {NAME}: the folder ann cannot be read: Permission denied" in said
    assert f"bob, {NAME}: the folder {NAME} cannot be read: Permission denied" in said
    assert f"cy, {NAME}: {NOTEBOOK} cannot be read: Permission denied" in said
    assert "1 graded, 3 could not be graded" in said
    assert done.returncode == 1


def test_submissions_that_cannot_be_read_at_all(root):
    close(root / "submitted")
    done, said = grade(root, "--gradebook")
    assert f"autograder: {root / 'submitted'}: Permission denied; give this user the right to it" in said
    assert done.returncode == 2


def test_a_lock_that_is_somebody_elses(root):
    (root / ".autograder.lock").touch()
    close(root / ".autograder.lock")
    done, said = grade(root, "--gradebook")
    assert f"{root / '.autograder.lock'}: Permission denied; give this user the right" in said
    assert done.returncode == 2


def test_a_course_that_cannot_be_written(root):
    for path in [root, *root.rglob("*")]:
        close(path, 0o555 if path.is_dir() else 0o444)
    done, said = grade(root, "--gradebook")
    assert "Permission denied; give this user the right" in said
    assert done.returncode == 2
    done, said = grade(root, "submitted")
    assert "3 graded, 0 could not be graded" in said


GRADEBOOKS = {
    "unreadable": (lambda path: close(path), "unable to open database file"),
    "no database": (lambda path: path.write_text("this is no database, and long enough to say so"), "not a database"),
}


@pytest.mark.parametrize("what", GRADEBOOKS)
def test_a_gradebook_that_does_not_answer(root, what):
    spoil, said_of_it = GRADEBOOKS[what]
    spoil(root / "gradebook.db")
    done, said = grade(root, "--gradebook")
    assert "the gradebook cannot be used" in said
    assert said_of_it in said
    assert "see whether it is there" in said
    assert done.returncode == 2


def test_a_server_that_is_away(root):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.db_url = "postgresql+psycopg2://127.0.0.1:9/gradebook"\n')
    done, said = grade(root, "--gradebook")
    assert "the gradebook cannot be used: connection to server" in said
    assert done.returncode == 2


def test_a_gradebook_that_cannot_be_written_loses_nothing(root):
    close(root / "gradebook.db", 0o444)
    done, said = grade(root, "--gradebook")
    assert "0 graded, 3 could not be graded" in said
    assert "the gradebook cannot be used: attempt to write a readonly database" in said
    assert done.returncode == 1
    os.chmod(root / "gradebook.db", 0o666)
    done, said = grade(root, "--gradebook")
    assert "3 graded, 0 could not be graded" in said


def limited(*limits):
    return {"preexec_fn": lambda: [resource.setrlimit(which, (most, most)) for which, most in limits]}


ENOUGH = [
    (resource.RLIMIT_NOFILE, 32),
    (resource.RLIMIT_FSIZE, 8 * 2**20),
    (resource.RLIMIT_AS, 4 * 2**30),
    (resource.RLIMIT_DATA, 2**30),
]
TOO_LOW = {
    "open files": (resource.RLIMIT_NOFILE, 20, "ulimit -n 32"),
    "size of a file": (resource.RLIMIT_FSIZE, 10_240, "ulimit -f 8192"),
    "address space": (resource.RLIMIT_AS, 10**9, "ulimit -v 2097152"),
    "memory": (resource.RLIMIT_DATA, 5 * 10**8, "ulimit -d 1048576"),
}


def test_lower_limits_that_are_enough_are_kept(root):
    _, said = grade(root, "submitted", **limited(*ENOUGH))
    assert "3 graded, 0 could not be graded" in said


@pytest.mark.parametrize("what", TOO_LOW)
def test_a_limit_that_is_too_low_is_said_before_the_run(root, what):
    which, most, remedy = TOO_LOW[what]
    done, said = grade(root, "submitted", **limited((which, most)))
    assert f"raise it with `{remedy}`" in said
    assert done.returncode == 2


def test_a_terminal_that_takes_nothing_more(root):
    with open("/dev/full", "w") as full:
        done, said = grade(root, "submitted", "--json", "marks.json", stdout=full)
    assert "could not be written: No space left on device" in said
    assert done.returncode == 2
    assert {report["student"] for report in json.loads((root / "marks.json").read_text())} == {"ann", "bob", "cy"}


def test_python_without_assertions(root):
    command = [sys.executable, "-O", "-m", "autograder", "grade", "submitted", "--quiet", "--json", "marks.json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert "3 graded" in done.stdout, done.stderr
    assert all(report["score"] == report["max_score"] for report in json.loads((root / "marks.json").read_text()))


@pytest.mark.parametrize("place", ["x" * 50 + "/" + "y" * 50 + "/" + "z" * 50, "that/is/not/there"])
def test_a_folder_for_temporary_files_that_is_odd(root, tmp_path, place):
    folder = tmp_path / place
    if not place.endswith("there"):
        folder.mkdir(parents=True)
    _, said = grade(root, "submitted", env=os.environ | {"TMPDIR": str(folder)})
    assert "3 graded, 0 could not be graded" in said


def test_signals_that_whoever_started_it_ignores(root):
    def ignore():
        for one in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(one, signal.SIG_IGN)

    _, said = grade(root, "submitted", preexec_fn=ignore)
    assert "3 graded, 0 could not be graded" in said


# To the grader it is a loop, and it takes no processor time from the tests beside it.
LOOPS = "def row_centred(X):\n    import time\n    while True:\n        time.sleep(1)\n"


def looping(root, students):
    assignment = Course(root).assignment(NAME)
    for student in students:
        hand_in(fill(released_notebook(root), {"row_centred": LOOPS}), root / "submitted", student, assignment)


@pytest.fixture
def left_over():
    """Processes that whatever this test starts leaves behind: orphans become this process's children."""
    prctl, subreaper = ctypes.CDLL(None).prctl, 36
    before = set(psutil.Process().children(recursive=True))
    prctl(subreaper, 1, 0, 0, 0)

    def found():
        after = {p for p in psutil.Process().children(recursive=True) if p.status() != "zombie"} - before
        return {p for p in after if before.isdisjoint(p.parents())}  # a browser that was there starts more by itself

    yield found
    prctl(subreaper, 0, 0, 0, 0)


@pytest.mark.catalogue
def test_deadlines_hold_without_a_wall(root, left_over):
    looping(root, ["loop-1", "loop-2"])
    _, said = grade(root, "submitted", "--sandbox", "process", "--jobs", "2")
    assert "5 graded, 0 could not be graded" in said
    time.sleep(1)
    assert left_over() == set()  # nothing goes on looping


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_a_run_in_seconds_and_what_was_done_is_kept(root, jobs, left_over):
    looping(root, [f"loop-{number}" for number in range(8)])  # after ann, bob and cy
    command = [sys.executable, "-m", "autograder", "grade", "submitted", "--json", "marks.json", "--jobs", jobs]
    running = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    run_log = root / "marks.json.part"
    while not run_log.is_file() or len(run_log.read_text().splitlines()) < 3:
        assert running.poll() is None
        time.sleep(0.05)
    asked = time.monotonic()
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert time.monotonic() - asked < 20  # a machine under load; an idle one takes less than one second
    assert "Traceback" not in said
    assert running.returncode not in (0, 2)
    time.sleep(1)
    assert left_over() == set()
    assert len(run_log.read_text().splitlines()) >= 3


@pytest.mark.catalogue
def test_faults_at_moments_that_nobody_chose_lose_nothing(tmp_path):
    """The short form of `make faults`, gone on with after the first: what that one found counts, and stays."""
    kept = {"seed": 1, "number": 0, "fault": "kept from before", "wrong": ["a traceback: seen before"]}
    (tmp_path / "kept").write_text(json.dumps(kept) + "\n")
    found = faults.tried(count=2, seed=1, keep=tmp_path / "kept", size=4)
    assert [one.what for one in found.values()] == [["a traceback: seen before"], []]
    written = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    assert [(one["number"], one["wrong"]) for one in written] == [(0, kept["wrong"]), (1, [])]


@pytest.fixture
def scheduler(tmp_path):
    """A Dask scheduler, and what starts a worker for it."""
    file, running = tmp_path / "scheduler.json", []

    def start(what, *words):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path))

    words = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0", "--scheduler-file", str(file))
    start("scheduler", *words)
    while not file.is_file() or not file.stat().st_size:
        time.sleep(0.05)
    yield json.loads(file.read_text())["address"], start, running
    for process in running:
        process.kill()
        process.wait()


def test_a_cluster_without_workers_is_said_and_not_waited_for_without_end(scheduler, monkeypatch, capsys):
    assert executors.WORKER_SECONDS < 5  # until somebody who waits is told why
    monkeypatch.setattr(executors, "WORKER_SECONDS", 0.5)
    monkeypatch.setattr(executors, "LAST_WORKER_SECONDS", 0.5)
    address, _, _ = scheduler
    with pytest.raises(MachineError, match=f"has no worker; start one there: dask worker {address}"):
        executors.connect(address)
    assert "waiting for a worker" in capsys.readouterr().err


@pytest.mark.catalogue
def test_a_scheduler_that_goes_leaves_what_was_graded_and_a_second_run_completes_it(root, scheduler):
    address, start, running = scheduler
    start("worker", address, "--nthreads", "1", "--no-dashboard")
    looping(root, ["loop-1"])  # after ann, bob and cy
    command = [sys.executable, "-m", "autograder", "grade", "submitted", "--json", "marks.json", "--quiet"]
    grader = subprocess.Popen(
        [*command, "--scheduler", address], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    run_log = root / "marks.json.part"
    while not run_log.is_file() or len(run_log.read_text().splitlines()) < 3:
        assert grader.poll() is None, grader.communicate()
        time.sleep(0.05)
    running[0].kill()
    said, _ = grader.communicate(timeout=120)
    assert "Traceback" not in said
    assert f"the Dask scheduler at {address}, or its last worker, is gone. What was graded is kept" in said
    assert len(run_log.read_text().splitlines()) == 3
    _, said = grade(root, "submitted", "--json", "marks.json")
    assert "going on: 3 were graded before" in said
    assert len(json.loads((root / "marks.json").read_text())) == 4


def test_python_may_be_called_by_a_way_around(root):
    """`../.venv/bin/python -m autograder` was a traceback."""
    python = Path(sys.executable)
    around = python.parent / ".." / python.parent.name / python.name
    done = subprocess.run(
        [around, "-m", "autograder", "grade", "submitted/ann", "--quiet"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "1 graded" in done.stdout) == (0, True), done.stderr


def test_ctrl_c_before_anything_has_begun_ends_it_without_a_word():
    """While its modules are imported: a second, on a busy machine."""
    code = """
import os, runpy, signal, sys, threading

def interrupt():
    while "autograder.cli.options" not in sys.modules:
        pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
sys.argv = ["autograder", "--help"]
runpy.run_module("autograder", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


ASKED_WHILE = """
import atexit, logging, os, signal, time
from autograder.cli import main as cli

def ask():
    os.kill(os.getpid(), signal.{name})

class Thing:
    def __del__(self):
        ask()

def app():
    {what}

cli.app = app
cli.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", -signal.SIGINT)])
def test_asked_to_end_while_an_object_is_removed_it_ends(name, code):
    """Python drops what is raised then, and says so in a traceback; the run went on to its end."""
    done = asked_while(name, "Thing(); time.sleep(30)")
    assert done.returncode == code
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_asked_to_end_when_it_ends_anyway_it_says_nothing(name):
    done = asked_while(name, "atexit.register(ask)")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_asked_twice_it_ends_at_once(name):
    done = asked_while(name, "atexit.register(time.sleep, 30); atexit.register(ask); atexit.register(ask)")
    assert done.returncode == -getattr(signal, name)


def test_asked_to_end_it_does_not_tell_what_a_library_stumbles_over():
    """SQLAlchemy logs a traceback if it is interrupted while it closes a cursor."""
    done = asked_while(
        "SIGTERM",
        """try:
        ask(); time.sleep(30)
    finally:
        logging.getLogger("library").error("Error closing cursor")""",
    )
    assert done.returncode == 143
    assert "Error closing cursor" not in done.stderr


def asked_while(name, what):
    """The entry point with a command of the test's own."""
    code = ASKED_WHILE.format(name=name, what=what)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=20)
