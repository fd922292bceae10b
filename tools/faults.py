"""Disturb grading runs at random moments, and write docs/reliability.md: `make faults`.

Each run grades a small class, is disturbed by one fault, and is started again. Then the marks must equal those of an
undisturbed run, no process, folder or control group may be left over, and no traceback may be printed. The printed seed
determines the moments, so that a result can be reproduced. `--keep FILE` records every outcome, and an interrupted
series continues after the last recorded one.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import operator
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path

import psutil

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.course.assignments import Course
from tools.busy import HEADING, PAGE

NAME = "a1_first"
WRONG = "def row_centred(X):\n    return X - X.mean()\n"
KINDS = ("right", "wrong", "untouched", "unreadable")
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
TIMES, BUSY = 5, 4  # undisturbed runs of each kind, and busy loops beside half of them
ACCEPTED = {
    "grade --json": ("submitted", "--json", "marks.json"),
    "grade --gradebook": ("--gradebook",),
}
MARKS = """
    SELECT student.id, grade.auto_score FROM grade
    JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
    JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
    JOIN student ON submitted_assignment.student_id = student.id
"""

Fault = Callable[[subprocess.Popen[str]], object]  # takes the running grader


@dataclass
class Found:
    """Counts of problems in the runs with one kind of fault."""

    tried: int = 0
    other_marks: int = 0
    tracebacks: int = 0
    left_over: int = 0
    what: list[str] = field(default_factory=list)

    def __add__(self, other: Found) -> Found:
        return Found(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


class Day:
    """A small class, graded without faults first, for comparison."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.begun = folder / "begun"
        self._class(size)
        self.pids: set[int] = set()  # of the graders that were started here
        self.undisturbed: dict[str, object] = {}
        self.seconds: dict[str, float] = {}
        for way in ACCEPTED:
            root = self.course()
            before = time.monotonic()
            self.run(root, way, 1)
            self.seconds[way] = time.monotonic() - before
            self.undisturbed[way] = marks(root, way)

    def _class(self, size: int) -> None:
        for command, *words in (
            ("autograder", "dev", "new-course", self.begun),
            ("nbgrader", "generate_assignment", NAME),
        ):
            cwd = self.begun if self.begun.is_dir() else self.folder
            line = [Path(sys.executable).with_name(command), *words]
            subprocess.run(line, cwd=cwd, check=True, env=self.env(), capture_output=True)
        assignment = Course(self.begun).assignment(NAME)
        answers = {"right": model_answers(assignment), "wrong": {"row_centred": WRONG}}
        for number in range(size):
            kind = KINDS[number % len(KINDS)]
            notebook = fill(assignment.released, answers.get(kind, {}))
            path = hand_in(notebook, self.begun / "submitted", f"{kind}-{number}", assignment)
            if kind == "unreadable":
                path.write_text("{")

    def env(self) -> dict[str, str]:
        return os.environ | {"TMPDIR": str(self.scratch)}

    def course(self) -> Path:
        """A fresh copy of the class."""
        return Path(shutil.copytree(self.begun, tempfile.mkdtemp(dir=self.folder) + "/course"))

    def start(self, root: Path, way: str, jobs: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "autograder", "grade", *ACCEPTED[way], "--jobs", str(jobs), "--quiet"]
        started = subprocess.Popen(
            words, cwd=root, env=self.env(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.pids.add(started.pid)
        return started

    def run(self, root: Path, way: str, jobs: int) -> str:
        return self.start(root, way, jobs).communicate(timeout=300)[0]

    def disturb(self, way: str, jobs: int, fault: Fault, wait: float) -> list[str]:
        """Disturb a run, start it again, and return a list of problems, which is empty if there are none."""
        root = self.course()
        before = set(psutil.Process().children(recursive=True))
        running = self.start(root, way, jobs)
        time.sleep(wait)
        fault(running)
        output = running.communicate(timeout=300)[0]
        output += self.run(root, way, jobs)
        wrong = ["a traceback: " + output[output.index("Traceback") :]] if "Traceback" in output else []
        if marks(root, way) != self.undisturbed[way]:
            wrong.append(f"other marks: {marks(root, way)}")
        deadline = time.monotonic() + 5
        while (left := left_over(before, self.scratch, self.pids)) and time.monotonic() < deadline:
            time.sleep(0.1)
        shutil.rmtree(root.parent)
        return wrong + [f"left over: {one}" for one in left]


def marks(root: Path, way: str) -> object:
    """Each student's mark."""
    if way == "grade --json":
        path = root / "marks.json"
        return path.is_file() and {
            one["student"]: (one["score"], one["status"]) for one in json.loads(path.read_text())
        }
    with sqlite3.connect(root / "gradebook.db") as book:
        return Counter(book.execute(MARKS).fetchall())


def left_over(before: set[psutil.Process], scratch: Path, pids: set[int]) -> list[str]:
    """New processes, folders in `scratch`, and control groups of the graders `pids`."""
    left = []
    for one in set(psutil.Process().children(recursive=True)) - before:
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if one.status() != psutil.STATUS_ZOMBIE:
                left.append(f"process {' '.join(one.cmdline())[:80]}")
    left += [f"folder {path.name}" for path in scratch.iterdir()]
    # `os.walk` ignores folders that vanish meanwhile, as those of another grader do.
    groups = {name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith("cellcage-")}
    return left + [f"control group {name}" for name in sorted(groups) if int(name.split("-")[1]) in pids]


def a_zygote_is_killed(running: subprocess.Popen[str]) -> None:
    """Kill a zygote of the sandbox, as the kernel does if memory runs out."""
    with contextlib.suppress(psutil.NoSuchProcess):  # the run or the zygote has already ended
        below = psutil.Process(running.pid).children(recursive=True)
        if zygote := [one for one in below if one.name().startswith("python")]:
            random.choice(zygote).kill()


def faults(day: Day) -> Iterator[tuple[str, str, Fault]]:
    """Each fault's name, the way of grading that it disturbs, and a function that does it."""

    def a_second_grader(running: subprocess.Popen[str]) -> None:
        if running.poll() is None:
            day.run(Path(psutil.Process(running.pid).cwd()), "grade --gradebook", 1)

    for way in ACCEPTED:
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            yield f"{number.name} in `{way}`", way, operator.methodcaller("send_signal", number)
        yield f"a zygote killed in `{way}`", way, a_zygote_is_killed
    yield "a second grader beside `grade --gradebook`", "grade --gradebook", a_second_grader


def tried(count: int, seed: int, keep: Path | None = None, size: int = 8, times: int = 0) -> dict[str, Found]:
    """Try `count` faults at moments drawn from `seed`, except those whose outcome is in the file `keep`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored in the background
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)  # orphans become children of this process, so they are found
    draw = random.Random(seed)
    random.seed(seed)
    found: dict[str, Found] = {}
    done = _kept(keep, seed)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        day = Day(Path(folder), size)
        kinds = list(faults(day))
        for number in range(count):
            name, way, fault = kinds[number % len(kinds)]
            jobs, moment = draw.choice((1, 2)), draw.uniform(0.1, 1.1)
            wrong = done.get(number)
            if wrong is None:
                wrong = day.disturb(way, jobs, fault, moment * day.seconds[way])
                _keep(keep, {"seed": seed, "number": number, "fault": name, "wrong": wrong})
            one = found.setdefault(name, Found())
            one.tried += 1
            one.other_marks += any(text.startswith("other marks") for text in wrong)
            one.tracebacks += any(text.startswith("a traceback") for text in wrong)
            one.left_over += any(text.startswith("left over") for text in wrong)
            one.what += wrong
            for text in wrong:
                print(f"fault {number} ({name}): {text}", flush=True)
            if number % 50 == 49:
                print(f"{number + 1} of {count}", flush=True)
        without_faults(day, found, times)
    return found


def _kept(keep: Path | None, seed: int) -> dict[int, list[str]]:
    """The recorded problems of each fault of a seed, by the fault's number."""
    lines = keep.read_text().splitlines() if keep is not None and keep.is_file() else []
    return {one["number"]: one["wrong"] for one in map(json.loads, lines) if one["seed"] == seed}


def _keep(keep: Path | None, outcome: dict[str, object]) -> None:
    if keep is not None:
        with open(keep, "a") as file:  # one short write, so lines of several processes do not mix
            file.write(json.dumps(outcome) + "\n")


def without_faults(day: Day, found: dict[str, Found], times: int) -> None:
    """Grade the class `times` times with one and with two workers, and again beside four busy loops."""
    for loops in (0, BUSY) if times else ():
        beside = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
        one = found[f"none, {loops} busy loops beside" if loops else "none"] = Found()
        for way in ACCEPTED:
            for jobs in (1, 2) * times:
                root = day.course()
                output = day.run(root, way, jobs)
                one.tried += 1
                one.tracebacks += "Traceback" in output
                one.other_marks += marks(root, way) != day.undisturbed[way]
                shutil.rmtree(root.parent)
        for busy in beside:
            busy.kill()
            busy.wait()
        one.what += ["other marks"] * one.other_marks


def tried_at_once(count: int, seed: int, at_once: int, keep: Path | None) -> dict[str, Found]:
    """Share the faults among `at_once` processes. The first draws from `seed`, the next from `seed + 1`, and so on."""
    shares = [len(range(number, count, at_once)) for number in range(at_once)]
    with ProcessPoolExecutor(at_once) as pool:
        parts = [pool.submit(tried, share, seed + number, keep) for number, share in enumerate(shares)]
        found: dict[str, Found] = {}
        for name, one in (pair for part in parts for pair in part.result().items()):
            found[name] = found.get(name, Found()) + one
    return found | tried(0, seed, times=TIMES)


def page(found: dict[str, Found], seed: int) -> str:
    """The page."""
    problems = sum(one.other_marks + one.tracebacks + one.left_over for one in found.values())
    names = ", ".join(name for name in found if not name.startswith("none"))
    total = sum(one.tried for name, one in found.items() if not name.startswith("none"))
    lines = [
        "# Reliability",
        "",
        f"`python -m tools.faults` disturbed {total} runs at random moments (seeds from {seed}) and restarted them. A",
        "problem is a mark that is lost or differs from an undisturbed run's, a traceback, or a process, folder or",
        f"control group left behind. There were {problems} problems. The faults were: {names}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Try the faults and write the page. The exit code is 1 if there was a problem."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--at-once", type=int, default=2, help="faults tried beside each other")
    parser.add_argument("--keep", type=Path, help="a file for every outcome; if it is there, go on after its last")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    found = tried_at_once(options.count, options.seed, options.at_once, options.keep)
    # What `tools.busy` has written below stays.
    _, heading, below = PAGE.read_text(encoding="utf-8").partition(f"\n{HEADING}")
    PAGE.write_text(page(found, options.seed) + heading + below, encoding="utf-8")
    print(page(found, options.seed))
    sys.exit(any(one.what for one in found.values()))


if __name__ == "__main__":
    main()
