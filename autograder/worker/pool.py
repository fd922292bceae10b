"""The one way to grade: a pool of workers marks many submissions, and `grade` yields their results in order.

A worker's thread only waits for its notebook and its judge, which are processes, so threads are enough for any number
of cores. A task holds all that a worker needs of a submission, so a worker may be on another machine, if the course is
there in the same place and version. Only a window of tasks is submitted before results are taken, so a class of any
size takes the same memory. An executor does the work; see `worker.executors`.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from autograder.course.assignments import Assignment, Course, Exercise
from autograder.errors import CourseError
from autograder.report import Report
from autograder.submission import Submission
from autograder.task import Marked, Task, as_task, failed
from autograder.text import shown_name
from autograder.worker.executors import DaskExecutor, Executor, IdleWorkers, LocalExecutor
from autograder.worker.worker import backend_for
from cellcage.machine import shown_with

MANY = 60  # from this many submissions on, one worker for each core saves more time than starting them takes
MOST_WAITING = 100_000_000  # characters and bytes that wait for a worker; a thousand notebooks have half as many
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


def grade(
    submissions: Iterable[Submission],
    course: Course,
    workers: WorkerPool,
    exercises: tuple[Exercise, ...] = (),
    for_page: bool = False,
) -> Iterator[Marked]:
    """The result of each submission, in order. All marks of students are made here, whatever is done with them.

    exercises: of the one assignment, in place of those in the course's files; empty if they count
    for_page: true if there will be feedback pages; see `Task`
    """

    @functools.cache
    def known(name: str) -> tuple[Assignment | None, str]:
        try:
            assignment = course.assignment(name)
            _ = assignment.exercises  # raises if a check cell is invalid
            return assignment, assignment.version
        except CourseError:  # it is reported when the submission is marked
            return None, ""

    tasks = (
        replace(as_task(submission, *known(submission.assignment)), exercises=exercises, for_page=for_page)
        for submission in submissions
    )
    return workers.mark(tasks)


def open_pool(
    root: Path,
    submissions: int,
    jobs: int = 0,
    sandbox: str = "auto",
    scheduler: str = "",
    on_wait: OnWait = not_waiting,
    idle: IdleWorkers | None = None,
) -> WorkerPool:
    """A pool for that many submissions of one course, here or on the Dask cluster at `scheduler`.

    jobs: workers here; see `worker_count`
    idle: keeps a worker here for the next pool
    """
    count = worker_count(jobs, submissions)
    executor = DaskExecutor(root, sandbox, scheduler) if scheduler else LocalExecutor(root, sandbox, count, idle)
    return WorkerPool(executor, on_wait)


def what_is_unsafe(sandbox: str, root: Path) -> str | None:
    """One sentence if no sandbox was asked for, if it isolates less than it could, or if the course can be read in it.

    sandbox: see `backend_for`; root: the course's folder
    Raises `MachineError` as `backend_for` does.
    """
    backend, reason = backend_for(sandbox)
    if not backend.isolates:
        reason = "student code runs in a process with limits, but without a sandbox, since that was asked for"
    elif place := shown_with(root):
        reason = f"student code can read the course, since it lies in {place}, with the libraries"
    return reason and f"{reason} (`autograder doctor` says what helps)"


@dataclass
class _Submitted:
    """Tasks that were submitted together. losses: how often their worker was lost"""

    tasks: Sequence[Task]
    future: Future[Sequence[Marked | Exception]]
    losses: int = 0

    @functools.cached_property
    def size(self) -> int:
        """Characters of their cells, and bytes of their files."""
        return sum(sum(map(len, one.cells)) + sum(len(data) for _, data in one.files) for one in self.tasks)


def _as_marked(task: Task, result: Marked | Exception) -> Marked:
    if isinstance(result, Marked):
        return result
    if isinstance(result, CourseError):
        return Marked(failed(task, str(result)), refused=True)
    return Marked(failed(task, f"no worker could grade it: {result}"), machine_failed=True)


class WorkerPool:
    """Workers for one course; `mark` may be called many times."""

    def __init__(self, executor: Executor, on_wait: OnWait = not_waiting) -> None:
        self._executor, self._on_wait = executor, on_wait
        self._refused = dict[str, Report]()  # by assignment: the first report that says why nobody is graded in it

    def close(self) -> None:
        """End the workers, and drop what they are doing."""
        self._executor.close()

    def mark(self, tasks: Iterable[Task]) -> Iterator[Marked]:
        """The result of each task, in order. If a worker is lost, another does its tasks.

        If an assignment is broken, or its model answer does not get full marks, nobody is graded in it.
        """
        waiting, left, begun = deque[_Submitted](), iter(tasks), False
        while group := tuple(itertools.islice(left, self._executor.together)):
            first = next((task for task in group if not task.problem), None)
            if first and not begun:
                begun = True
                self._executor.get_ready(first)
            waiting.append(self._submit(group))
            while len(waiting) > 1 and self._are_enough(waiting):
                yield from self._next(waiting)
        while waiting:
            yield from self._next(waiting)

    def _are_enough(self, waiting: deque[_Submitted]) -> bool:
        """True if so many tasks wait that the first results are awaited before more are submitted."""
        count, size = sum(len(one.tasks) for one in waiting), sum(one.size for one in waiting)
        return count > self._executor.window or size > MOST_WAITING

    def _submit(self, tasks: Sequence[Task], losses: int = 0) -> _Submitted:
        if all(task.assignment in self._refused and not task.problem for task in tasks):
            known = Future[Sequence[Marked | Exception]]()
            known.set_result([self._refused_as(task) for task in tasks])
            return _Submitted(tasks, known)
        return _Submitted(tasks, self._executor.submit(tasks), losses)

    def _next(self, waiting: deque[_Submitted]) -> Iterator[Marked]:
        """The results of the first submitted tasks. If their worker is lost, they are submitted again, one by one."""
        while (found := self._results(waiting[0])) is None:
            first, *others = [waiting.popleft() for _ in range(len(waiting))]
            for task in first.tasks:
                waiting.append(self._submit([task], first.losses + 1))
            for other in others:
                is_lost = self._is_lost(other.future)
                waiting.append(self._submit(other.tasks, other.losses) if is_lost else other)
        for task, marked in zip(waiting.popleft().tasks, found, strict=True):
            if marked.refused:
                self._refused.setdefault(task.assignment, marked.report)
            yield marked

    def _refused_as(self, task: Task) -> Marked:
        return Marked(structs.replace(self._refused[task.assignment], student=task.student), refused=True)

    def _results(self, submitted: _Submitted) -> Sequence[Marked] | None:
        """The result of each task; None if their worker is lost. Raises `MachineError` if all workers are lost."""
        begun = checked = time.monotonic()
        while not wait([submitted.future], 1).done:
            now = time.monotonic()
            self._on_wait(submitted.tasks[0], now - begun)
            if now - checked > CHECK_SECONDS:
                # A cluster whose last worker is lost keeps the task, and would never report anything.
                self._executor.check()
                checked = time.monotonic()
        try:
            return [*map(_as_marked, submitted.tasks, submitted.future.result())]
        except self._executor.losses:
            pass
        except Exception as error:  # the worker's fault; it may have another version of the kit
            return [_as_marked(task, error) for task in submitted.tasks]
        self._executor.check()
        if submitted.losses + 1 < LOSSES:
            return None
        return [Marked(failed(task, LOST), machine_failed=True) for task in submitted.tasks]

    def _is_lost(self, future: Future[Sequence[Marked | Exception]]) -> bool:
        return future.done() and (future.cancelled() or isinstance(future.exception(), self._executor.losses))
