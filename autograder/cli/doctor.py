"""`autograder doctor`: which sandboxes, limits and packages this machine has, what that means, and what helps.

If nothing makes grading unsafe, a trial runs a few notebooks in the sandbox that `autograder grade` would use. One that
starts may still be unfit, such as where student code cannot read a part of Python's library.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.cli.check_notebook import open_sandbox
from autograder.course.assignments import Course
from autograder.errors import CourseError, MachineError, SubmissionError
from autograder.judge.notebook import JudgedNotebook
from autograder.report import CellResult
from autograder.reports.rubric import points
from autograder.text import one_line
from autograder.worker.executors import first_loss, model_answer
from autograder.worker.worker import Worker, one_worker
from cellcage import ForkServer, Limits, machine
from cellcage.notebook_calls import Terms, read
from cellcage.protocol.calls import Call, Reply

GOOD, LESS, UNSAFE = "good", "less", "unsafe"
STYLES = {GOOD: "green", LESS: "yellow", UNSAFE: "red"}
SANDBOX = "apt-get install bubblewrap, or a kernel with Landlock (Linux 5.13; all of it: 6.12)"
# What each package is for, and how to install it.
PACKAGES = {
    "numpy": ("every submission", "pip install numpy"),
    "torch": ("exercises in PyTorch", "pip install 'sandboxed-autograder[torch]'"),
    "nbgrader": ("the gradebook", "pip install 'sandboxed-autograder[course]'"),
    "jupyterlab": ("editing notebooks", "pip install 'sandboxed-autograder[lab]'"),
}
MEANS = {  # by whether the backend isolates
    True: "student code cannot read suites, marks or other students' work",
    False: "student code can read the suites and what you can read, and use the network",
}
# Known holes of bubblewrap: the first version without it, and whether only a setuid bubblewrap has it.
HOLES = (("CVE-2026-41163", (0, 11, 2), True), ("CVE-2026-87766", (0, 12), False))
WORKER_MEMORY = 1536  # MiB: half a GiB for a worker and its sandbox, the rest for a submission
ANSWER = "def doubled(numbers):\n    return [2 * number for number in numbers]"
# The loop survives an interrupt, so its process must be ended from outside.
LOOP = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
LOOP_SECONDS = 0.5  # until it is interrupted; one second later its process is ended


@dataclass(frozen=True)
class Condition:
    """One thing that was looked at on this machine.

    state: `GOOD`, `LESS` or `UNSAFE`
    found: what is here
    means: what that means for grading
    remedy: what helps if it is not good
    """

    what: str
    state: str
    found: str
    means: str
    remedy: str = ""


def findings(course: Course | None) -> list[Condition]:
    """Everything that is looked at without running a notebook, in the order in which it is shown."""
    return [
        *_sandboxes(),
        _course(course),
        *_limits(),
        _resources(),
        _user(),
        _python(),
        *(_package(name, purpose, how) for name, (purpose, how) in PACKAGES.items()),
    ]


def _sandboxes() -> Iterator[Condition]:
    landlock = machine.backend("landlock")
    no_bubblewrap, no_landlock = machine.backend("bubblewrap").why_not(), landlock.why_not()
    if no_bubblewrap is None:
        yield _bubblewrap()
    else:
        remedy = "" if no_landlock is None else SANDBOX
        yield Condition("bubblewrap", LESS, no_bubblewrap, "its sandbox is not used", remedy)
    lost = landlock.what_is_lost()
    if no_landlock is not None:
        also = "one sandbox instead of two" if no_bubblewrap is None else "its sandbox is not used"
        yield Condition("Landlock", LESS, no_landlock, also, "a kernel from 6.12 on, with Landlock")
    elif lost:
        yield Condition("Landlock", LESS, f"version {machine.landlock_version()}", lost, "a kernel from 6.12 on")
    else:
        yield Condition(
            "Landlock", GOOD, f"version {machine.landlock_version()}", "files, TCP and signals stay in the sandbox"
        )
    backend, _ = machine.best_backend()
    state, remedy = (GOOD, "") if backend.isolates else (UNSAFE, SANDBOX)
    yield Condition("sandbox", state, backend.summary(), MEANS[backend.isolates], remedy)


def _bubblewrap() -> Condition:
    """Its version, and which known holes that version has, unless the distribution has closed them in it."""
    path, means = shutil.which("bwrap") or "", "student code runs in namespaces of its own"
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=20).stdout.strip()
    found = tuple(map(int, re.findall(r"\d+", text)))
    setuid = os.stat(path).st_mode & stat.S_ISUID
    holes = [hole for hole, fixed, with_setuid in HOLES if found < fixed and (setuid or not with_setuid)]
    if not holes:
        return Condition("bubblewrap", GOOD, f"works, {text}", means)
    lacks = f"{means}; lacks the fix of {' and '.join(holes)}, if your distribution has not added it"
    return Condition("bubblewrap", LESS, f"works, {text}", lacks, "bubblewrap 0.12.0 or newer")


def _course(course: Course | None) -> Condition:
    """Whether student code can read the course: every sandbox shows the libraries, and what lies among them."""
    if course is None:
        means = "run this in a course's folder to see whether student code can reach it"
        return Condition("course", GOOD, "none here", means)
    if place := machine.shown_with(course.root):
        means = f"student code must read {place} for the libraries in it, and can read the course, too"
        return Condition("course", UNSAFE, str(course.root), means, "move the course, such as to /srv or a home folder")
    return Condition("course", GOOD, str(course.root), "out of student code's reach")


def _limits() -> Iterator[Condition]:
    if too_low := machine.why_too_little():
        yield Condition("limits", UNSAFE, too_low.found, "no submission could run", too_low.remedy)
    else:
        yield Condition("limits", GOOD, "high enough", "a submission's own limits hold")
    if not machine.can_limit_as_a_whole():
        remedy = "root, a systemd user session, or a container that was given its own control group"
        means = "memory is limited for each process, and fewer processes are allowed"
        yield Condition("control group", LESS, "cannot be created", means, remedy)
    else:
        means = "a submission's memory and processes are limited as a whole"
        yield Condition("control group", GOOD, "can be created", means)


def _user() -> Condition:
    """Whether student code has a user of its own: the kernel counts processes and open descriptors by user."""
    if os.getuid():
        means = "your other programs share the kernel's limits for this user"
        return Condition("user", LESS, f"an ordinary one ({os.getuid()})", means, "a user that runs nothing else")
    try:
        machine.reserve_a_user()
    except MachineError as error:
        return Condition("user", UNSAFE, error.found, "no submission could run", error.remedy)
    return Condition("user", GOOD, "root", "each process that forks student code or judges has a user of its own")


def _resources() -> Condition:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = _memory()
    workers = max(1, min(cores, memory // WORKER_MEMORY)) if memory else cores
    found = f"{cores} cores, {memory / 1024:.1f} GiB free" if memory else f"{cores} cores"
    if memory and memory < cores * WORKER_MEMORY:
        return Condition("machine", LESS, found, f"memory for {workers} of {cores} workers", f"--jobs {workers}")
    return Condition("machine", GOOD, found, f"up to {workers} workers at a time")


def _memory() -> int:
    """The available memory in MiB; 0 if it is not known."""
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo") as file:
        return int(next(line for line in file if line.startswith("MemAvailable")).split()[1]) // 1024
    return 0


def _python() -> Condition:
    found = f"{platform.python_version()} in {sys.prefix}"
    if os.getuid() == 0 and not machine.open_to_all(sys.base_prefix):
        means = "behind Landlock, student code keeps the right to look up paths that only root may"
        return Condition("Python", LESS, found, means, f"a Python outside {Path(sys.base_prefix).parents[-2]}")
    return Condition("Python", GOOD, found, "new enough")


def _package(name: str, purpose: str, how: str) -> Condition:
    try:
        return Condition(name, GOOD, version(name), purpose)
    except PackageNotFoundError:
        return Condition(name, UNSAFE if name == "numpy" else LESS, "not installed", f"no {purpose}", how)


def show(found: list[Condition], console: Console) -> None:
    """Print the table, and in one sentence whether grading is safe here."""
    table = Table(box=SIMPLE_HEAD)
    for head in ("", "here", "what it means", "what helps"):
        table.add_column(head, overflow="fold")
    for line in found:
        table.add_row(Text(line.what), Text(line.found, STYLES[line.state]), Text(line.means), Text(line.remedy))
    console.print(table)
    unsafe = "; ".join(f"{line.what}: {line.found}" for line in found if line.state == UNSAFE)
    console.print(Text(f"Grading is not safe here ({unsafe})." if unsafe else "Grading is safe here."))


def safe(found: list[Condition]) -> bool:
    """True if nothing makes grading unsafe."""
    return not any(line.state == UNSAFE for line in found)


# ---------------------------------------------------------------- a trial


def trial(course: Course | None) -> Iterator[Condition]:
    """Try an endless loop and an answer. With a course, the answer is its first assignment's model answer."""
    try:
        with contextlib.ExitStack() as opened:
            worker = opened.enter_context(one_worker(course)) if course else None
            students = worker.students if worker else opened.enter_context(open_sandbox())
            yield _loop(students)
            yield _model_answer(worker, course) if worker and course else _answer(students)
    except MachineError as error:
        yield _failed(
            "trial", str(error), "no submission can be run", "fix what the lines above say, then run this again"
        )


@contextlib.contextmanager
def _run(students: ForkServer, cells: Sequence[str], limits: Limits) -> Iterator[JudgedNotebook]:
    """A notebook whose cells have run in the sandbox."""
    with students.process(limits) as process, JudgedNotebook(cells, limits, process) as notebook:
        yield notebook


def _loop(students: ForkServer) -> Condition:
    limits = Limits(cell_seconds=LOOP_SECONDS, cell_seconds_again=LOOP_SECONDS)
    started = time.monotonic()
    with _run(students, [LOOP], limits) as notebook:
        (result,) = notebook.results
    if result.ran_out_of_time:
        took = f"ended after {time.monotonic() - started:.1f} seconds"
        return Condition("endless loop", GOOD, took, "a submission that does not end costs only its own marks")
    return _failed("endless loop", _outcome(result), "a submission may keep the machine busy", "report this as a fault")


def _answer(students: ForkServer) -> Condition:
    """Call a function as hidden tests do. It is used without a course, since there are no hidden tests then."""
    with _run(students, [ANSWER], Limits()) as notebook, contextlib.closing(notebook.begin(Terms())) as exercise:
        answer = read(next(exercise.ask([(Call("doubled", ([1, 2],)), None)])))
    if isinstance(answer, Reply) and answer.value == [2, 4]:
        return Condition("answer", GOOD, "right", "functions of a notebook can be called")
    return _failed("answer", one_line(f"{answer}")[:200], "right answers get no marks", "report this as a fault")


def _model_answer(worker: Worker, course: Course) -> Condition:
    """Grade the source notebook of the first assignment, which has the solutions in it."""
    means = "right answers do not get their marks"
    try:
        assignment = next(iter(course.assignments.values()), None)
        if assignment is None:
            return Condition("model answer", GOOD, "no assignment yet", "there is nothing to grade")
        report = worker.mark(model_answer(assignment, assignment.version)).report
    except (CourseError, SubmissionError) as error:
        return _failed("model answer", str(error), means, "autograder dev check")
    marks = f"{points(report.score)} of {points(report.max_score)} points in {assignment.name}"
    if loss := first_loss(report):
        remedy = f"fix what the lines above say; if there is nothing, autograder dev check {assignment.name}"
        return _failed("model answer", report.reason or f"{marks} ({loss})", means, remedy)
    return Condition("model answer", GOOD, marks, "right answers get full marks")


def _outcome(result: CellResult) -> str:
    return result.stopped or ": ".join(filter(None, (result.error, result.text))) or "it came to an end"


def _failed(what: str, found: str, means: str, remedy: str) -> Condition:
    return Condition(what, UNSAFE, one_line(found)[:300], means, remedy)
