"""Only the student's own code lowers a mark; a process killed from outside never does."""

from __future__ import annotations

import contextlib
import json
import os
import textwrap
import threading
import time

import nbformat
import psutil
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.reports.store import Store
from cellcage.outside import users
from cellcage.protocol.ending import MACHINE_SHORT
from tests.helpers.sandboxes import Marker
from tests.helpers.small_course import EXERCISE, NAME, small_course, submit
from tests.helpers.terminal import grade

pytestmark = pytest.mark.slow
# The process takes this name while the test may kill it.
ASLEEP = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'asleep', 0, 0, 0)\ntime.sleep(0.5)\n"


@contextlib.contextmanager
def killing(pid, which):
    """Kills these processes below the process `pid`, as the kernel does when memory is short."""
    stop = threading.Event()

    def run():
        while not stop.wait(0.005):
            with contextlib.suppress(psutil.NoSuchProcess):
                for process in psutil.Process(pid).children(recursive=True):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        if process.status() != psutil.STATUS_ZOMBIE and which(process):
                            process.kill()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def sleepers_killed(sandbox):
    sandbox.students.warm_up()
    return killing(sandbox.zygote._process.pid, lambda process: process.name() == "asleep")


def test_submission_killed_repeatedly_fails_without_a_mark(sandbox, course):
    marker = Marker(course.assignment("a1_scaled_dot_product"), sandbox)
    cells = list(model_answers(marker.assignment).values())
    with sleepers_killed(sandbox):
        report, _ = marker.mark_cells("unlucky", [*cells, ASLEEP])
    assert report.status == "failed"
    assert "this machine could not run it" in report.reason and "SIGKILL from outside" in report.reason
    report, _ = marker.mark_cells("innocent", cells)
    assert (report.score, report.reason) == (20, None)


@pytest.mark.catalogue
@pytest.mark.skipif(os.getuid() != 0, reason="processes are told apart by their users")
def test_run_stops_if_nothing_can_run_and_the_next_run_resumes(tmp_path):
    """After the first submission, even the model answer is killed."""
    course = small_course(tmp_path / "course")
    slow_answer = f"import time\ntime.sleep(1)\n{model_answers(course.assignment(NAME))[EXERCISE]}"
    for number in range(5):
        submit(course, f"student-{number}", {EXERCISE: slow_answer})
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import time\ntime.sleep(1)"))
    nbformat.write(notebook, path)
    words = ["submitted", "--json", "marks.json"]
    running = grade(course, *words, "--jobs", "1", wait=False)
    while not Store(course.root).unfinished():
        assert running.poll() is None
        time.sleep(0.05)
    with killing(running.pid, is_notebook_process):
        out, _ = running.communicate(timeout=200)
    assert running.returncode == 1, out
    out = " ".join(out.split())
    assert f"nobody is graded in {NAME}, and no mark has changed, because its model answer" in out
    assert "this machine could not run it" in out and "run the same command again" in out
    done, out, _ = grade(course, *words, "--jobs", "1", "--quiet")
    assert done.returncode == 0, out
    assert "0 could not be graded" in out


def is_notebook_process(process):
    """The students' fork server has its own user, and forks notebook processes."""
    return process.uids().real in users.CANDIDATES and process.parent().uids().real == process.uids().real


def test_submissions_with_odd_exit_codes_do_not_stop_the_run(tmp_path):
    """Each fails with its reason, and later submissions are graded."""
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


def test_hidden_test_cannot_swallow_a_machine_error(tmp_path, sandbox):
    """A hidden test that catches every exception doesn't turn it into a mark."""
    course = small_course(tmp_path / "course")
    suite = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    text = suite.read_text()
    caught = '''
    def test_catches(self, student):
        """Catches every exception."""
        try:
            student.row_centred(np.ones((2, 3)) * float(np.random.default_rng(7).normal()))
        except Exception:
            pass
'''
    suite.write_text(text.rstrip("\n") + "\n" + caught)
    marker = Marker(course.assignment(NAME), sandbox)
    answer = f"def {EXERCISE}(X):\n{textwrap.indent(ASLEEP, '    ')}    return X - X.mean(axis=-1, keepdims=True)"
    with sleepers_killed(sandbox):
        report, _ = marker.mark_cells("x", ["import numpy as np", answer])
    assert report.status == "failed" and "twice: it was ended by SIGKILL from outside" in report.reason
