"""A pool of workers that marks many submissions, and gives back their reports in order.

A worker's thread only waits for its notebook and its judge, which are processes; so threads are enough for any number
of cores. A task holds all that a worker needs of a submission, so a worker may be on another machine; the course must
be there, too, in the same place and in the same version. Tasks are handed out a window ahead of who takes the results,
so that a class of any size takes the same memory. Who does the work is the executor's matter; see `worker.executors`.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError, UnfitMachine
from autograder.report import Report
from autograder.submission import Submission
from autograder.worker.executors import DaskExecutor, Executor, IdleWorkers, LocalExecutor
from autograder.worker.task import Marked, Task, as_task, failed

MANY = 60  # from this many submissions on, a worker a core is worth the seconds it takes to start
LOSSES = 3  # a task that was under way when its worker was lost is tried this often
# In a row. Then the course's own solution is graded: if it cannot be, either, the machine is not fit to grade.
MACHINE_FAILURES = 3
UNFIT = (
    "{count} submissions in a row could not be run, and neither could the course's own solution: {reason}. "
    "No mark is lower for it. What was graded before is kept: mend the machine (`autograder doctor` helps), then "
    "run the same command again"
)
LOST = "its grading process was ended from outside, three times; is the machine out of memory?"


def worker_count(jobs: int, submissions: int) -> int:
    """`jobs`, or if 0 one for each core, if so many are worth their start; never more than there is work for."""
    cores = len(os.sched_getaffinity(0)) if submissions >= MANY else 1
    return max(1, min(jobs or cores, submissions))


def grade_many(
    submissions: Sequence[Submission], root: Path, jobs: int, kind: str = "auto", scheduler: str = ""
) -> Iterator[Report]:
    """One report for each submission, in order, by `jobs` workers here or by the Dask cluster at `scheduler`."""
    course = Course(root)

    @functools.cache
    def known(name: str) -> tuple[str, dict[str, str]]:
        try:
            assignment = course.assignment(name)
            return assignment.version(), assignment.locked_cells
        except CourseError:  # which is said when it is marked
            return "", {}

    tasks = (as_task(submission, *known(submission.assignment)) for submission in submissions)
    with contextlib.closing(open_pool(root, jobs, kind, scheduler)) as pool:
        pool.goes_on = len({submission.assignment for submission in submissions}) > 1
        yield from (marked.report for _, marked in pool.mark(tasks))


def open_pool(
    root: Path, jobs: int = 1, kind: str = "auto", scheduler: str = "", idle: IdleWorkers | None = None
) -> WorkerPool:
    """A pool for one course, of `jobs` workers here, or of those of the Dask cluster at `scheduler`.

    idle: where a worker here comes from, and goes to, if the next pool may have use for it
    """
    executor = DaskExecutor(root, kind, scheduler) if scheduler else LocalExecutor(root, kind, jobs, idle)
    return WorkerPool(root, executor)


@dataclass
class _Submitted:
    """A task that was handed out; None for the future if the executor did not take it. losses: of its worker"""

    task: Task
    future: Future[Marked] | None = None
    losses: int = 0


class WorkerPool:
    """Workers for one course; `mark` may be called many times."""

    def __init__(self, root: Path, executor: Executor) -> None:
        self._executor = executor
        self._solution_of = functools.cache(lambda name: Course(root).assignment(name).solution)
        self._failures = 0  # of the machine's, in a row
        self.goes_on = False  # if an assignment is not in order: then its submissions alone are not graded
        self._broken = dict[str, str]()  # assignments that are not in order, and why

    def close(self) -> None:
        """End the workers; what they are doing is dropped."""
        self._executor.close()

    def get_ready(self, assignment: str) -> None:
        """Begin to start what the first tasks will wait for, all at once."""
        self._executor.get_ready(assignment)

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        """Each task with its result, in order. A lost worker's tasks are done by another.

        Raises `UnfitMachine` if the machine fails again and again, also with a solution of the course's own.
        """
        waiting: deque[_Submitted] = deque()
        begun = False
        for task in tasks:
            if not begun and not task.problem:
                begun = True
                self.get_ready(task.assignment)
            waiting.append(self._submit(_Submitted(task)))
            if len(waiting) > self._executor.window:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _submit(self, one: _Submitted) -> _Submitted:
        if one.task.assignment in self._broken:
            one.task = replace(one.task, problem=self._broken[one.task.assignment])
        with contextlib.suppress(BrokenExecutor):  # noticed when its result is asked for
            one.future = self._executor.submit(one.task)
        return one

    def _next(self, waiting: deque[_Submitted]) -> tuple[Task, Marked]:
        one = waiting[0]
        while (marked := self._result(one)) is None:
            one.losses += 1
            if one.losses >= LOSSES:
                marked = Marked(failed(one.task, LOST), machine_failed=True)
                break
            for other in waiting:
                if self._is_lost(other):
                    self._submit(other)
        waiting.popleft()
        self._count_failures(one.task, marked)
        return one.task, marked

    def _result(self, one: _Submitted) -> Marked | None:
        """What came of a task; None if its worker is lost. Raises `MachineError` if all workers are."""
        try:
            if one.future is not None:
                return one.future.result()
        except self._executor.losses:
            pass
        except CourseError as error:
            if not self.goes_on:
                raise
            self._broken[one.task.assignment] = str(error)
            return Marked(failed(one.task, str(error)))
        except Exception as error:  # a worker's fault, such as a version of the kit that is not ours
            return Marked(failed(one.task, f"no worker could grade it: {error}"), machine_failed=True)
        self._executor.check()
        return None

    def _is_lost(self, one: _Submitted) -> bool:
        if one.future is None:
            return True
        if not one.future.done():
            return False
        return one.future.cancelled() or isinstance(one.future.exception(), self._executor.losses)

    def _count_failures(self, task: Task, marked: Marked) -> None:
        """Count failures of the machine in a row, and see whether it is fit. Raises `UnfitMachine` if it is not.

        Three submissions could fail so on purpose, and end a run. The course's own solution could not.
        """
        self._failures = self._failures + 1 if marked.machine_failed else 0
        if self._failures < MACHINE_FAILURES:
            return
        solution = self._solution_of(task.assignment)  # where no suite judges, there need not be one
        cells = (solution.read_text(encoding="utf-8"),) if solution.is_file() else ()
        tried = self._result(
            self._submit(_Submitted(Task("the solution", task.assignment, task.version, cells, by_author=True)))
        )
        if tried is None or tried.machine_failed:
            reason = LOST if tried is None else tried.report.reason
            raise UnfitMachine(UNFIT.format(count=self._failures, reason=reason))
        self._failures = 0
