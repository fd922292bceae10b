"""A pool of workers marks many submissions, and returns their reports in order.

A worker's thread only waits for its notebook and its judge, which are processes, so threads are enough for any number
of cores. A task holds all that a worker needs of a submission, so a worker may be on another machine, if the course is
there in the same place and version. Only a window of tasks is submitted before results are taken, so a class of any
size takes the same memory. An executor does the work; see `worker.executors`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from autograder.course.assignments import Course, Exercise
from autograder.errors import CourseError
from autograder.report import Report
from autograder.submission import Submission
from autograder.text import shown_name
from autograder.worker.executors import DaskExecutor, Executor, IdleWorkers, LocalExecutor
from autograder.worker.task import Marked, Task, as_task, failed
from cellcage.machine import choose_backend, shown_with

MANY = 60  # from this many submissions on, one worker for each core saves more time than starting them takes
MOST_WAITING = 100_000_000  # characters of code that wait for a worker; a thousand notebooks have half as many
LOSSES = 3  # a task is tried this often if its worker is lost
CHECK_SECONDS = 5  # between two looks at the workers while a result is awaited
LONG = 10.0  # seconds without a finished submission, after which a log says for whom the run waits
LOST = "its grading process was killed three times; is the machine out of memory?"


OnWait = Callable[[Task, float], None]  # gets the task for which a run waits, every second, and since when


def not_waiting(task: Task, seconds: float) -> None:
    """An `OnWait` that does nothing."""


def still_marking(say: Callable[[str], None]) -> OnWait:
    """An `OnWait` that says a line after `LONG` seconds, and again whenever that time has doubled."""
    following = LONG

    def on_wait(task: Task, seconds: float) -> None:
        nonlocal following
        if seconds < LONG:
            following = LONG
        elif seconds >= following:
            say(f"still marking {shown_name(task.student)}, {task.assignment} ({seconds:.0f} s)")
            following *= 2

    return on_wait


def worker_count(jobs: int, submissions: int) -> int:
    """`jobs`; if that is 0, one for each core for `MANY` submissions, else one. Never more than submissions."""
    cores = len(os.sched_getaffinity(0)) if submissions >= MANY else 1
    return max(1, min(jobs or cores, submissions))


def grade_many(
    submissions: Sequence[Submission],
    root: Path,
    jobs: int,
    sandbox: str = "auto",
    scheduler: str = "",
    on_wait: OnWait = not_waiting,
    exercises: tuple[Exercise, ...] | None = None,
) -> Iterator[Report]:
    """One report for each submission, in order, by workers here or by the Dask cluster at `scheduler`.

    jobs: see `worker_count`
    exercises: of the one assignment, in place of those in the course's files
    """
    course = Course(root)

    @functools.cache
    def known(name: str) -> tuple[str, dict[str, str]]:
        try:
            assignment = course.assignment(name)
            return assignment.version(), assignment.locked_cells
        except CourseError:  # it is reported when the submission is marked
            return "", {}

    tasks = (
        replace(as_task(submission, *known(submission.assignment)), exercises=exercises) for submission in submissions
    )
    workers = worker_count(jobs, len(submissions))
    with contextlib.closing(open_pool(root, workers, sandbox, scheduler)) as pool:
        pool.on_wait = on_wait
        yield from (marked.report for _, marked in pool.mark(tasks))


def open_pool(
    root: Path, jobs: int = 1, sandbox: str = "auto", scheduler: str = "", idle: IdleWorkers | None = None
) -> WorkerPool:
    """A pool for one course, of `jobs` workers here, or of those of the Dask cluster at `scheduler`.

    idle: keeps a worker here for the next pool
    """
    executor = DaskExecutor(root, sandbox, scheduler) if scheduler else LocalExecutor(root, sandbox, jobs, idle)
    return WorkerPool(executor)


def what_is_unsafe(sandbox: str, root: Path) -> str | None:
    """One sentence if there is no sandbox, if it isolates less than it could, or if student code can read the course.

    sandbox: see `choose_backend`; root: the course's folder
    Raises `MachineError` as `choose_backend` does.
    """
    backend, reason = choose_backend(sandbox)
    if not backend.isolates:
        reason = reason or "that is what was asked for"
        reason = f"student code runs in a process with limits, but without a sandbox: {reason}"
    elif place := shown_with(root):
        reason = f"student code can read the course, since it lies in {place}, with the libraries"
    return reason and f"{reason} (`autograder doctor` says what helps)"


@dataclass
class _Submitted:
    """A submitted task. losses: how often its worker was lost"""

    task: Task
    future: Future[Marked]
    losses: int = 0


def _characters(waiting: Iterable[_Submitted]) -> int:
    return sum(len(cell) for submitted in waiting for cell in submitted.task.cells)


class WorkerPool:
    """Workers for one course; `mark` may be called many times."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.on_wait: OnWait = not_waiting
        self._refused = dict[str, Report]()  # by assignment: the first report that says why nobody is graded in it

    def close(self) -> None:
        """End the workers, and drop what they are doing."""
        self._executor.close()

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        """Each task with its result, in order. If a worker is lost, another does its tasks.

        If an assignment is broken, or its model answer does not get full marks, nobody is graded in it.
        """
        waiting: deque[_Submitted] = deque()
        begun = False
        for task in tasks:
            if not begun and not task.problem:
                begun = True
                self._executor.get_ready(task.assignment)
            waiting.append(self._submit(task))
            while len(waiting) > self._executor.window or (len(waiting) > 1 and _characters(waiting) > MOST_WAITING):
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _submit(self, task: Task, losses: int = 0) -> _Submitted:
        if task.assignment in self._refused and not task.problem:
            known = Future[Marked]()
            known.set_result(self._refused_as(task))
            return _Submitted(task, known)
        return _Submitted(task, self._executor.submit(task), losses)

    def _next(self, waiting: deque[_Submitted]) -> tuple[Task, Marked]:
        while (marked := self._result(waiting[0])) is None:
            waiting[0].losses += 1
            if waiting[0].losses >= LOSSES:
                marked = Marked(failed(waiting[0].task, LOST), machine_failed=True)
                break
            for place, submitted in enumerate(waiting):
                if self._is_lost(submitted.future):
                    waiting[place] = self._submit(submitted.task, submitted.losses)
        task = waiting.popleft().task
        if marked.refused:
            self._refused.setdefault(task.assignment, marked.report)
        return task, marked

    def _refused_as(self, task: Task) -> Marked:
        return Marked(structs.replace(self._refused[task.assignment], student=task.student), refused=True)

    def _result(self, submitted: _Submitted) -> Marked | None:
        """The result of a task; None if its worker is lost. Raises `MachineError` if all workers are lost."""
        task = submitted.task
        begun = checked = time.monotonic()
        while not wait([submitted.future], 1).done:
            now = time.monotonic()
            self.on_wait(task, now - begun)
            if now - checked > CHECK_SECONDS:
                # A cluster whose last worker is lost keeps the task, and would never report anything.
                self._executor.check()
                checked = time.monotonic()
        try:
            return submitted.future.result()
        except self._executor.losses:
            pass
        except CourseError as error:
            return Marked(failed(task, str(error)), refused=True)
        except Exception as error:  # the worker's fault; it may have another version of the kit
            return Marked(failed(task, f"no worker could grade it: {error}"), machine_failed=True)
        self._executor.check()
        return None

    def _is_lost(self, future: Future[Marked]) -> bool:
        return future.done() and (future.cancelled() or isinstance(future.exception(), self._executor.losses))
