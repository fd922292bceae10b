"""`autograder doctor`: which sandboxes, limits and packages this machine has, what that means, and what helps.

If nothing makes grading unsafe, the command runs a few notebooks as a trial, too (`doctor_trial`).
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
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.assignments import Course
from autograder.errors import MachineError
from cellcage import machine

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
