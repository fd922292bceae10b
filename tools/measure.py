"""Time, memory and scores of commands that grade a class, each in a new process; for `tools.benchmark`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
from nbgrader.api import Gradebook

from autograder.cli.grading import find_submissions
from autograder.course.assignments import CONFIG, Course
from autograder.course.source_notebook import CHECK_PREFIX, exercise_name
from autograder.report import Report
from autograder.submission import code_cells, read_notebook
from autograder.task import Marked, Task
from autograder.testing.plan import Plan
from autograder.worker.executors import DaskExecutor, LocalExecutor
from autograder.worker.pool import WorkerPool
from tools.drawn_class import GRADED
from tools.every_submission import ROOT

STOCK = 'c = get_config()\nc.CourseDirectory.release_directory = "assignments"\n'

Scores = dict[tuple[str, str, str], float]  # by student, assignment and exercise


@dataclass
class Timed:
    """Seconds a submission in each round, the largest memory of the whole process tree in MiB, and the scores."""

    seconds: list[float] = field(default_factory=list)
    memory: float = 0.0
    scores: Scores = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def timed(course: Course, *words: str, kit: Path = ROOT) -> tuple[float, float]:
    """Run a command of the kit in the folder `kit`. Returns its seconds and its process tree's peak PSS in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        words, cwd=course.root, env=environment(kit), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with watched(process.pid) as peak:
        process.wait()
    return time.perf_counter() - start, max(peak, default=0.0)


def environment(kit: Path) -> dict[str, str]:
    """Variables with which Python finds the packages of the kit in this folder before those that are installed."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(kit), str(kit / "cellcage" / "src")])}


def checked_out(commit: str, folder: Path) -> Path:
    """The files of a commit of this repository, written into `folder`. Raises `SystemExit` without that commit."""
    folder.mkdir(parents=True)
    archive = folder / "archive.tar"
    try:
        subprocess.run(["git", "archive", "--output", str(archive), commit], cwd=ROOT, check=True)
    except subprocess.CalledProcessError:
        raise SystemExit(f"{commit} is not here: fetch all commits, or leave it out with --release ''") from None
    subprocess.run(["tar", "--extract", "--file", str(archive), "--directory", str(folder)], check=True)
    return folder


def handed_in_to(kit: Path, course: Course, folder: Path) -> Course:
    """The course of another version of the kit, released by it, with the submissions of `course`."""
    for name in ("source", "solutions"):
        shutil.copytree(kit / name, folder / name)
    shutil.copy(kit / CONFIG, folder / CONFIG)
    shutil.copytree(course.root / "submitted", folder / "submitted")
    for name in GRADED:
        subprocess.run(
            ["nbgrader", "generate_assignment", name], cwd=folder, env=environment(kit), capture_output=True, check=True
        )
    return Course(folder)


@contextlib.contextmanager
def watched(pid: int) -> Iterator[list[float]]:
    """Sample the memory of a process tree twice a second, in MiB."""
    sizes: list[float] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            with contextlib.suppress(psutil.Error):
                tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
                total = 0
                for one in tree:
                    with contextlib.suppress(psutil.Error):
                        total += one.memory_full_info().pss
                sizes.append(total / 2**20)

    thread = threading.Thread(target=look)
    thread.start()
    yield sizes
    done.set()
    thread.join()


def stock(course: Course) -> list[tuple[str, ...]]:
    """Commands that grade the class with only nbgrader, in its kernel."""
    (course.root / CONFIG).write_text(STOCK)
    return [("nbgrader", "autograde", name, "--force") for name in GRADED]


def plugin(course: Course) -> list[tuple[str, ...]]:
    shutil.copy(ROOT / CONFIG, course.root / CONFIG)
    return [("nbgrader", "autograde", name, "--force") for name in GRADED]


def gradebook(jobs: int) -> list[tuple[str, ...]]:
    return [("autograder", "grade", "--gradebook", "--force", "--quiet", "--jobs", str(jobs))]


def as_json(jobs: int) -> list[tuple[str, ...]]:
    return [("autograder", "grade", "submitted", "--json", "marks.json", "--quiet", "--jobs", str(jobs))]


def floor(course: Course) -> float:
    """Seconds a submission if cells, reference and hidden tests all run in one process, without a sandbox."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tools.measure import floor_here; floor_here()"
    done = subprocess.run([sys.executable, "-c", code], cwd=course.root, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def floor_here() -> None:
    """Grade the class in this process for `floor`, and print the seconds a submission."""
    import numpy as np
    import torch

    from autograder.explain.explaining import judge
    from autograder.explain.material import material_of
    from autograder.testing.functions import Here

    torch.set_num_threads(1)
    course = Course(Path.cwd())
    found = find_submissions([Path("submitted")], course)
    materials = {name: replace(material_of(course.assignment(name)), plan=Plan(), hypotheses=None) for name in GRADED}
    start = time.perf_counter()
    for one in found:
        names = {"np": np, "torch": torch, "nn": torch.nn, "F": torch.nn.functional}
        for cell in code_cells(read_notebook(one.path)):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(None):
                exec(cell.source, names)
        judge(materials[one.assignment], Here(names), course.assignment(one.assignment).exercises)
    print((time.perf_counter() - start) / len(found))


def measure(course: Course, commands: list[tuple[str, ...]], count: int, rounds: int, kit: Path = ROOT) -> Timed:
    result = Timed()
    for _ in range(rounds):
        shutil.rmtree(course.root / "autograded", ignore_errors=True)
        took = [timed(course, *command, kit=kit) for command in commands]
        result.seconds.append(sum(seconds for seconds, _ in took) / count)
        result.memory = max(result.memory, *(memory for _, memory in took))
        result.scores = scores_in_json(course) if "--json" in commands[0] else scores_in_gradebook(course)
        print(" ".join(commands[0][:3]), f"{result.seconds[-1] * 1000:.0f} ms a submission", flush=True)
    return result


def scores_in_json(course: Course) -> Scores:
    reports = json.loads((course.root / "marks.json").read_text())
    return {(r["student"], r["assignment"], e["name"]): e["score"] for r in reports for e in r["exercises"]}


def scores_in_gradebook(course: Course) -> Scores:
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        return {
            (submission.student.id, assignment.name, exercise_name(grade.name)): grade.auto_score
            for assignment in gradebook.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.name.startswith(CHECK_PREFIX)
        }


def no_work(task: Task) -> Marked:
    """Replace marking by an empty report."""
    return Marked(Report(task.student, task.assignment))


def simulated(count: int, jobs: int, scheduler: str = "") -> tuple[float, float]:
    """Seconds for `count` empty tasks through the usual path, and the MiB that this process grows by."""
    executor = DaskExecutor(ROOT, "auto", scheduler) if scheduler else LocalExecutor(ROOT, "auto", jobs)
    executor.work = no_work
    workers = WorkerPool(executor)
    cells = ("x" * 20_000,)  # as much text as in a notebook of a4
    tasks = (Task(f"student-{number}", "a1_scaled_dot_product", "", cells) for number in range(count))
    before, start = psutil.Process().memory_info().rss, time.perf_counter()
    with contextlib.closing(workers):
        done = sum(1 for _ in workers.mark(tasks))
        assert done == count
        return time.perf_counter() - start, (psutil.Process().memory_info().rss - before) / 2**20
