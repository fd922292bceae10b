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
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError, UnfitMachine
from autograder.report import Report
from autograder.submission import Submission
from autograder.worker.executors import DaskExecutor, Executor, IdleWorkers, LocalExecutor
from autograder.worker.task import Marked, Task, as_task, failed

MANY = 60  # from this many submissions on, one worker for each core saves more time than starting them takes
MOST_WAITING = 100_000_000  # characters of code that wait for a worker; a thousand notebooks have half as many
LOSSES = 3  # a task is tried this often if its worker is lost
CHECK_SECONDS = 5  # between two looks at the workers while a result is awaited
# In a row. Then the course's own solution is graded. If that fails, too, the machine is not fit to grade.
MACHINE_FAILURES = 3
UNFIT = (
    "{count} submissions in a row could not be run, and neither could the course's own solution: {reason}. "
    "No mark is lower for it. What was graded before is kept: mend the machine (`autograder doctor` helps), then "
    "run the same command again"
)
LOST = "its grading process was ended from outside, three times; is the machine out of memory?"


def worker_count(jobs: int, submissions: int) -> int:
    """`jobs`; if that is 0, one for each core for `MANY` submissions, else one. Never more than submissions."""
    cores = len(os.sched_getaffinity(0)) if submissions >= MANY else 1
    return max(1, min(jobs or cores, submissions))


def grade_many(
    submissions: Sequence[Submission], root: Path, jobs: int, kind: str = "auto", scheduler: str = ""
) -> Iterator[Report]:
    """One report for each submission, in order, by workers here or by the Dask cluster at `scheduler`.

    jobs: see `worker_count`
    """
    course = Course(root)

    @functools.cache
    def known(name: str) -> tuple[str, dict[str, str]]:
        try:
            assignment = course.assignment(name)
            return assignment.version(), assignment.locked_cells
        except CourseError:  # it is reported when the submission is marked
            return "", {}

    tasks = (as_task(submission, *known(submission.assignment)) for submission in submissions)
    workers = worker_count(jobs, len(submissions))
    with contextlib.closing(open_pool(root, workers, kind, scheduler)) as pool:
        pool.skips_broken = len({submission.assignment for submission in submissions}) > 1
        yield from (marked.report for _, marked in pool.mark(tasks))


def open_pool(
    root: Path, jobs: int = 1, kind: str = "auto", scheduler: str = "", idle: IdleWorkers | None = None
) -> WorkerPool:
    """A pool for one course, of `jobs` workers here, or of those of the Dask cluster at `scheduler`.

    idle: keeps a worker here for the next pool
    """
    executor = DaskExecutor(root, kind, scheduler) if scheduler else LocalExecutor(root, kind, jobs, idle)
    return WorkerPool(root, executor)


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

    def __init__(self, root: Path, executor: Executor) -> None:
        self._executor = executor
        self._solution_of = functools.cache(lambda name: Course(root).assignment(name).solution)
        self._failures = 0  # of the machine, in a row
        self.skips_broken = False  # whether a broken assignment leaves only its own submissions ungraded
        self._broken = dict[str, str]()  # why an assignment is broken, by its name

    def close(self) -> None:
        """End the workers, and drop what they are doing."""
        self._executor.close()

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        """Each task with its result, in order. If a worker is lost, another does its tasks.

        Raises `UnfitMachine` if the machine fails again and again, also with the course's own solution.
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
        if task.assignment in self._broken:
            task = replace(task, problem=self._broken[task.assignment])
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
        self._count_failures(task, marked)
        return task, marked

    def _result(self, submitted: _Submitted) -> Marked | None:
        """The result of a task; None if its worker is lost. Raises `MachineError` if all workers are lost."""
        task = submitted.task
        # A cluster whose last worker is lost keeps the task, and would never report anything.
        while not wait([submitted.future], CHECK_SECONDS).done:
            self._executor.check()
        try:
            return submitted.future.result()
        except self._executor.losses:
            pass
        except CourseError as error:
            if not self.skips_broken:
                raise
            self._broken[task.assignment] = str(error)
            return Marked(failed(task, str(error)))
        except Exception as error:  # the worker's fault; it may have another version of the kit
            return Marked(failed(task, f"no worker could grade it: {error}"), machine_failed=True)
        self._executor.check()
        return None

    def _is_lost(self, future: Future[Marked]) -> bool:
        return future.done() and (future.cancelled() or isinstance(future.exception(), self._executor.losses))

    def _count_failures(self, task: Task, marked: Marked) -> None:
        """Count failures of the machine in a row, and check whether it is fit. Raises `UnfitMachine` if it is not.

        Three submissions could fail on purpose to end a run. The course's own solution could not.
        """
        self._failures = self._failures + 1 if marked.machine_failed else 0
        if self._failures < MACHINE_FAILURES:
            return
        solution = self._solution_of(task.assignment)  # an assignment without a suite need not have one
        cells = (solution.read_text(encoding="utf-8"),) if solution.is_file() else ()
        trial = Task("the solution", task.assignment, task.version, cells, by_author=True)
        tried = self._result(self._submit(trial))
        if tried is None or tried.machine_failed:
            reason = LOST if tried is None else tried.report.reason
            raise UnfitMachine(UNFIT.format(count=self._failures, reason=reason))
        self._failures = 0
