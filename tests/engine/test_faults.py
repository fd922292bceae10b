"""Faults of the machine: one sentence with the remedy, other students are graded, nothing is lost, no traceback."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.course.assignments import Course
from autograder.errors import MachineError
from autograder.reports.store import Store
from cellcage import choose_backend
from tests.helpers.classes import LOOP
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, book_of, command, small_course, submit
from tests.helpers.terminal import is_alive
from tools import faults

pytestmark = pytest.mark.slow
ANOTHER_USER = 1
# Without these two capabilities, file permissions apply to root as well.
PLAIN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--"] if not os.getuid() else []


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A small course with right submissions of three students."""
    return small_course(tmp_path_factory.mktemp("faults") / "course", students=("ann", "bob", "cy")).root


@pytest.fixture
def root(released, tmp_path):
    """A copy that a test may damage."""
    yield Path(shutil.copytree(released, tmp_path / "course"))
    subprocess.run(["chmod", "-R", "u+rwX", tmp_path], check=True)


def grade(root, *words, python=(sys.executable,), **settings):
    words = [*PLAIN, *python, "-m", "autograder", "grade", *words, "--quiet"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    done = subprocess.run(words, cwd=root, text=True, check=False, timeout=300, **streams)
    assert "Traceback" not in (done.stdout or "") + (done.stderr or "")
    return done, " ".join(((done.stdout or "") + (done.stderr or "")).split())


def close(path, mode=0o000):
    """Give a path to another user, with these permissions."""
    path.chmod(mode)
    if not os.getuid():
        os.chown(path, ANOTHER_USER, ANOTHER_USER)


def test_unreadable_submissions_are_listed_and_others_graded(root):
    shutil.copytree(root / "submitted" / "ann", root / "submitted" / "dan")
    for place in ("ann", f"bob/{NAME}", f"cy/{NAME}/{NOTEBOOK}"):
        close(root / "submitted" / place)
    done, output = grade(root, "submitted", "--json", "marks.json")
    assert f"ann, {NAME}: the folder ann cannot be read: Permission denied" in output
    assert f"bob, {NAME}: the folder {NAME} cannot be read: Permission denied" in output
    assert f"cy, {NAME}: {NOTEBOOK} cannot be read: Permission denied" in output
    assert "1 graded, 3 could not be graded" in output
    assert done.returncode == 1


@pytest.mark.catalogue
def test_folders_of_another_user_cost_one_student(root):
    """As after a first run in a container, or of a colleague: ann, cy and eve are reported, bob and dan are graded."""
    course = Course(root)
    for student in ("dan", "eve"):
        shutil.copytree(root / "submitted" / "ann", root / "submitted" / student)
    grade(root, "--gradebook", "--feedback")
    for student in ("ann", "bob", "cy", "dan", "eve"):
        submit(course, student, {EXERCISE: WRONG})
    for place, mode in (("autograded/ann", 0o000), ("feedback/cy", 0o555)):
        close(root / place, mode)
    close(root / "submitted" / "eve", 0o444)  # its files can be listed, and not opened
    done, output = grade(root, "--gradebook", "--feedback")
    assert done.returncode == 1
    joined = output.replace(" ", "")  # long lines are wrapped
    for student, place in (("ann", "autograded/ann"), ("cy", "feedback/cy")):
        assert re.search(rf"{student},{NAME}:[^/]*{root}/{place}\S*?:Permissiondenied;givethisuser", joined)
    assert f"eve, {NAME}: the folder eve cannot be read: Permission denied" in output
    with book_of(course) as book:
        marks = {one.student.id: one.score for one in book.assignment_submissions(NAME)}
    assert [student for student in marks if marks[student] < 3] == ["bob", "cy", "dan"]
    for words in (["submitted", "--json", "marks.json"], ["--gradebook", "--force"]):
        assert f"eve, {NAME}: the folder eve cannot" in grade(root, *words)[1]


RIGHTS, NOT_OPENED = "Permission denied; give this user permission", "cannot be used: unable to open database file"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("submitted", f": {RIGHTS}"), (".autograder.lock", f": {RIGHTS}"), ("marks.db", f" {NOT_OPENED}")],
)
def test_missing_permissions_end_the_run_with_the_remedy(root, name, reason):
    (root / name).touch()
    close(root / name)
    done, output = grade(root, "--gradebook")
    assert f"{root}/{name}{reason}" in output
    assert done.returncode == 2


def test_read_only_course_can_be_graded_into_a_report(root):
    for path in [root, *root.rglob("*")]:
        close(path, 0o555 if path.is_dir() else 0o444)
    _, output = grade(root, "submitted")
    assert "3 graded, 0 could not be graded" in output


SERVER = 'c.CourseDirectory.db_url = "postgresql+psycopg2://127.0.0.1:9/gradebook"\n'
GRADEBOOKS = {
    "not a database": ("gradebook.db", "this is not a database, and is long enough to show it", "not a database"),
    "server down": ("nbgrader_config.py", f"c = get_config()\n{SERVER}", "connection to server"),
}


@pytest.mark.parametrize("what", GRADEBOOKS)
def test_unusable_gradebook_is_reported(root, what):
    name, text, sentence = GRADEBOOKS[what]
    (root / name).write_text(text)
    code, output = command(Course(root), "grade", "--gradebook", "--quiet")
    assert code == 2
    assert "the gradebook cannot be used" in output and sentence in output


def test_read_only_gradebook_loses_no_marks(root):
    close(root / "gradebook.db", 0o444)
    done, output = grade(root, "--gradebook")
    assert "0 graded, 3 could not be graded" in output
    assert "the gradebook cannot be used: attempt to write a readonly database" in output
    assert done.returncode == 1
    os.chmod(root / "gradebook.db", 0o666)
    assert "3 graded, 0 could not be graded" in command(Course(root), "grade", "--gradebook", "--quiet")[1]


TOO_LOW = {
    resource.RLIMIT_FSIZE: (10_240, "ulimit -f 8192"),
    resource.RLIMIT_NOFILE: (20, "ulimit -n 32"),
    resource.RLIMIT_AS: (10**9, "ulimit -v 2097152"),
    resource.RLIMIT_DATA: (5 * 10**8, "ulimit -d 1048576"),
}


@pytest.mark.parametrize("low", TOO_LOW)
def test_low_resource_limits_are_reported_with_the_remedy(monkeypatch, low):
    most, remedy = TOO_LOW[low]
    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda which: (most, most) if which == low else real(which))
    with pytest.raises(MachineError, match=f"raise it with `{remedy}`"):
        choose_backend("auto")


def test_full_disk_behind_stdout_keeps_the_report(root):
    with open("/dev/full", "w") as full:
        done, output = grade(root, "submitted", "--json", "marks.json", stdout=full)
    assert "could not be written: No space left on device" in output
    assert done.returncode == 2
    assert {report["student"] for report in json.loads((root / "marks.json").read_text())} == {"ann", "bob", "cy"}


def looping(root, students):
    for student in students:
        submit(Course(root), student, {EXERCISE: LOOP})


@pytest.fixture
def left_over():
    """A function that finds the processes a test left behind. Orphans become children of this process."""
    prctl, subreaper = ctypes.CDLL(None).prctl, 36
    before = set(psutil.Process().children(recursive=True))
    prctl(subreaper, 1, 0, 0, 0)

    def found():
        after = set(psutil.Process().children(recursive=True)) - before
        return {p for p in after if is_left(p)}

    def is_left(process):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            # A running browser starts processes by itself.
            return is_alive(process) and before.isdisjoint(process.parents())
        return False

    yield found
    prctl(subreaper, 0, 0, 0, 0)


@pytest.mark.catalogue
def test_deadlines_hold_without_a_sandbox(root, left_over):
    looping(root, ["loop-1", "loop-2"])
    _, output = grade(root, "submitted", "--sandbox", "process", "--jobs", "2")
    assert "5 graded, 0 could not be graded" in output
    time.sleep(1)
    assert left_over() == set()  # no loop goes on


def test_ctrl_c_ends_a_run_in_seconds_and_keeps_finished_marks(root, left_over):
    looping(root, [f"loop-{number}" for number in range(8)])  # after ann, bob and cy
    command = [sys.executable, "-m", "autograder", "grade", "submitted", "--json", "marks.json", "--jobs", "2"]
    running = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while len(Store(root).unfinished()) < 3:
        assert running.poll() is None
        time.sleep(0.05)
    interrupted = time.monotonic()
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert time.monotonic() - interrupted < 20  # on a busy machine; otherwise less than a second
    assert "Traceback" not in output
    assert running.returncode not in (0, 2)
    time.sleep(1)
    assert left_over() == set()
    assert len(Store(root).unfinished()) >= 3
    assert re.search(r"interrupted: [3-9] of 11 were graded; the same command goes on there", output)


@pytest.mark.catalogue
def test_random_faults_lose_nothing(tmp_path):
    """`make faults` with two faults; it continues an earlier run and keeps that run's findings."""
    kept = {"seed": 1, "number": 0, "fault": "kept from before", "wrong": ["a traceback: seen before"]}
    (tmp_path / "kept").write_text(json.dumps(kept) + "\n")
    found = faults.tried(count=2, seed=1, keep=tmp_path / "kept", size=4)
    assert [one.what for one in found.values()] == [["a traceback: seen before"], []]
    written = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    assert [(one["number"], one["wrong"]) for one in written] == [(0, kept["wrong"]), (1, [])]


def test_ctrl_c_during_import_ends_the_command_silently():
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


SIGNAL_IN_COMMAND = """
import atexit, logging, os, signal, time
from autograder.cli import main as cli

def send():
    os.kill(os.getpid(), signal.{name})

class Thing:
    def __del__(self):
        send()

def app():
    Thing()
    time.sleep(30)

cli.app = app
cli.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", -signal.SIGINT)])
def test_signal_during_garbage_collection_ends_the_run(name, code):
    """Python ignores exceptions raised in `__del__`, so the run would continue."""
    source = SIGNAL_IN_COMMAND.format(name=name)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == code
    assert "Exception ignored" not in done.stderr
