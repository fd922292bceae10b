"""A whole class: several workers, interrupted runs, two runs at once, a cluster."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future

import nbformat
import psutil
import pytest
from nbgrader.api import Gradebook

from autograder.course.assignments import Course
from autograder.errors import CourseError, MachineError
from autograder.nbgrader import api
from autograder.nbgrader.autograde import LOCK
from autograder.report import Report
from autograder.reports.store import Store
from autograder.submission import grade_id
from autograder.task import Marked, Task
from autograder.worker import executors, pool
from tests.conftest import ROOT
from tests.helpers.classes import class_of
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, command, nbgrader, said_by, submit
from tests.helpers.terminal import children_of, grade, is_alive, until

pytestmark = pytest.mark.slow


SLOW = 6  # submissions that take a second each; one more is unreadable


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """A right, a wrong, an unfinished and an unreadable submission. Each test gets a copy."""
    return class_of(tmp_path_factory.mktemp("four") / "course", 4)


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    return class_of(tmp_path_factory.mktemp("slow") / "course", SLOW + 1, slow=True)


@pytest.fixture
def course(four, tmp_path):
    return Course(shutil.copytree(four.root, tmp_path / "course"))


@pytest.fixture
def slow_course(slow, tmp_path):
    return Course(shutil.copytree(slow.root, tmp_path / "course"))


def scores(course):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        return {one.student.id: one.score for one in book.assignment_submissions(NAME)}


def autograded(course):
    """Each cell's source and outputs in the autograded notebooks."""
    found = {}
    for path in sorted((course.root / "autograded").glob("*/*/*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        found[path.parents[1].name] = [(grade_id(c), c.source, c.get("outputs")) for c in cells]
    return found


def test_grade_gives_the_same_result_as_nbgrader_autograde(course):
    done, out, _ = grade(course, "--gradebook", "--jobs", "2", "--feedback")
    assert done.returncode == 1, out
    assert "3 graded, 1 could not be graded" in out
    assert f"zoe, {NAME}: {NOTEBOOK} is not a Jupyter notebook" in out
    assert len(list((course.root / "feedback").glob("*/*/*.html"))) == 3
    together, marks = autograded(course), scores(course)
    assert len(marks) == 3
    assert not api(course.root).autograde(NAME, "*", force=True)["success"]
    assert scores(course) == marks
    assert autograded(course) == together
    assert marks["student-00"] == 3
    assert 0 < marks["student-01"] < 3
    assert marks["student-02"] == 0


def test_only_what_changed_is_graded_again(course):
    def graded(*words):
        return command(course, "grade", "--gradebook", "--jobs", 1, "--quiet", *words)[1]

    graded()
    assert "0 graded, 3 unchanged since they were graded, 1 could not be graded" in graded()
    submit(course, "student-02")
    assert "1 graded, 2 unchanged" in graded()
    assert scores(course)["student-02"] == 3
    solution = course.assignment(NAME).solution
    solution.write_text(solution.read_text() + "\n# another version of the course\n")
    assert "3 graded, 1 could" in graded()
    assert "3 graded, 1 could" in graded("--force")


@pytest.mark.catalogue
def test_slow_submission_is_named_while_it_runs(course, monkeypatch):
    monkeypatch.setattr(pool, "LONG", 1.5)
    submit(course, "bob", {EXERCISE: "import time\ntime.sleep(4)"})
    for student in ("student-01", "student-02", "zoe"):
        shutil.rmtree(course.root / "submitted" / student)
    still = rf"still marking bob, {NAME} \(\d s\)"
    assert re.search(still, said_by(course, "grade", "submitted", "--json", "-"))
    assert re.search(still, nbgrader(course, "autograde", NAME))


def finished(course):
    return [student for student, cells in _read(course) if any(outputs for name, _, outputs in cells if name)]


def _read(course):
    try:
        return list(autograded(course).items())
    except Exception:  # a notebook is being written
        return []


def kill_children(process):
    """Kill all, children before their parents, as a machine does that runs out of memory: one after the other."""
    for one in reversed(children_of(process)):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended with its parent
            one.kill()
            time.sleep(0.03)


def test_killed_run_resumes(slow_course):
    process = grade(slow_course, "--gradebook", "--jobs", "2", "--quiet", wait=False)
    until(lambda: len(finished(slow_course)) >= 2)
    children = children_of(process)
    process.kill()
    process.communicate(timeout=60)
    until(lambda: not any(map(is_alive, children)), 20)
    before = len(finished(slow_course))
    assert 2 <= before < SLOW
    _, out, _ = grade(slow_course, "--gradebook", "--jobs", "2", "--quiet")
    graded, unchanged = (
        int(word) for word in (out.split(" graded,")[0].split()[-1], out.split(" unchanged")[0].split()[-1])
    )
    assert graded + unchanged == SLOW
    assert unchanged >= before - 1
    marks = scores(slow_course)
    assert len(marks) == SLOW
    assert [marks[f"student-{n:02}"] for n in (0, 3)] == [3, 3]


@pytest.mark.catalogue
def test_second_run_is_refused_and_killed_processes_lose_nothing(slow_course):
    first = grade(slow_course, "--gradebook", "--jobs", "2", "--quiet", wait=False)
    until(lambda: len(finished(slow_course)) >= 2)
    kill_children(first)
    second, out, _ = grade(slow_course, "--gradebook")
    assert second.returncode == 2
    assert "another run is grading" in out
    assert "Traceback" not in out
    out, _ = first.communicate(timeout=240)
    assert f"{SLOW} graded, 1 could not be graded" in out
    assert len(scores(slow_course)) == SLOW
    assert (slow_course.root / LOCK).exists()


@pytest.mark.catalogue
def test_interrupted_report_resumes(slow_course):
    words = ("submitted", "--json", "marks.json", "--jobs", "2")
    process = grade(slow_course, *words, wait=False)
    store = Store(slow_course.root)
    until(lambda: len(store.unfinished()) >= 2)
    process.kill()
    process.communicate(timeout=60)
    assert not (slow_course.root / "marks.json").exists()
    done, out, _ = grade(slow_course, *words)
    assert done.returncode == 1, out
    assert "continuing: " in out
    assert not store.unfinished()
    marks = json.loads((slow_course.root / "marks.json").read_text())
    assert [entry["student"] for entry in marks] == [f"student-{n:02}" for n in range(SLOW)] + ["zoe"]
    whole = slow_course.root / "whole.json"
    command(slow_course, "grade", "submitted", "--json", whole.name, "--jobs", 1)
    assert json.loads(whole.read_text()) == marks


def test_conflicting_options_are_reported(course, monkeypatch):
    monkeypatch.setattr(executors, "ANSWER_SECONDS", 2)
    for words, sentence in (
        (("--gradebook", "submitted"), "leave out PATH and --json"),
        (("--force", "submitted"), "go with --gradebook"),
        (("submitted", "--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler answers"),
        (("--gradebook",), "nothing handed in"),
    ):
        if sentence == "nothing handed in":
            shutil.rmtree(course.root / "submitted")
        code, out = command(course, "grade", *words)
        assert code == 2, out
        assert sentence in out


@pytest.fixture
def cluster(tmp_path):
    """A real scheduler and two real workers, each with its own process and address."""
    file, processes = tmp_path / "scheduler.json", []

    def start(role, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--scheduler-file", str(file), *options]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment, cwd=tmp_path))

    start("scheduler", "--port", "0", "--dashboard-address", ":0", "--host", "127.0.0.2")
    until(lambda: file.exists() and file.stat().st_size)
    for host in ("127.0.0.3", "127.0.0.4"):
        start("worker", "--nthreads", "1", "--no-dashboard", "--host", host)
    yield json.loads(file.read_text())["address"], processes
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.catalogue
def test_cluster_continues_after_losing_a_worker(slow_course, cluster):
    address, processes = cluster
    grader = grade(slow_course, "--gradebook", "--scheduler", address, "--quiet", wait=False)
    until(lambda: len(finished(slow_course)) >= 2)
    kill_children(processes[1])
    processes[1].kill()
    out, _ = grader.communicate(timeout=240)
    assert f"{SLOW} graded, 1 could not be graded" in out
    assert len(scores(slow_course)) == SLOW
    _, out, _ = grade(slow_course, "--gradebook", "--scheduler", address, "--quiet")
    assert f"0 graded, {SLOW} unchanged" in out


@pytest.mark.catalogue
def test_cluster_without_workers_ends_the_run_and_keeps_marks(slow_course, cluster, monkeypatch):
    address, processes = cluster
    grader = grade(slow_course, "--gradebook", "--scheduler", address, "--quiet", wait=False)
    until(lambda: len(finished(slow_course)) >= 2)
    for process in processes[1:]:
        kill_children(process)
        process.kill()
    out, _ = grader.communicate(timeout=240)
    assert "its last worker, is gone" in out
    assert grader.returncode == 2
    monkeypatch.setattr(executors, "WORKER_SECONDS", 0.5)
    monkeypatch.setattr(executors, "LAST_WORKER_SECONDS", 0.5)
    with pytest.raises(MachineError, match=f"has no worker; start one there: dask worker {address}"):
        executors.connect(address)
    kept = len(finished(slow_course))
    _, out, _ = grade(slow_course, "--gradebook", "--quiet")
    assert f"{SLOW - kept} graded, {kept} unchanged" in out


def test_worker_with_another_course_version_refuses(course):
    task = Task("ana", NAME, "another version", ("x = 1",))
    with pytest.raises(CourseError, match="another version of the course"):
        executors.RemoteWorker(str(course.root), "auto")(task)


class Losing:
    """An executor of a cluster: one message holds three tasks. A worker that gets `deadly` is lost."""

    window, together, losses = 6, 3, (BrokenPipeError,)

    def __init__(self, deadly=""):
        self.deadly, self.messages = deadly, []

    def get_ready(self, assignment):
        pass

    def check(self):
        pass

    def submit(self, tasks):
        done = Future()
        self.messages.append([task.student for task in tasks])
        if self.deadly in self.messages[-1]:
            done.set_exception(BrokenPipeError())
        else:
            done.set_result([OSError("no disk") if task.student == "s5" else Marked(as_report(task)) for task in tasks])
        return done


def as_report(task):
    return Report(task.student, task.assignment)


@pytest.mark.parametrize("deadly", ["", "s4", "s5"])
def test_lost_worker_costs_the_submission_that_ends_it(deadly):
    executor = Losing(deadly)
    tasks = [Task(f"s{number}", NAME, "") for number in range(10)]
    found = [marked.report for marked in pool.WorkerPool(executor).mark(tasks)]
    assert [report.student for report in found] == [task.student for task in tasks]
    reasons = {report.student: report.reason for report in found if report.reason}
    expected = {"s5": "no worker could grade it: no disk"} | ({deadly: pool.LOST} if deadly else {})
    assert reasons == expected
    assert executor.messages.count([deadly]) == (pool.LOSSES - 1 if deadly else 0)
    assert max(map(len, executor.messages)) == 3
