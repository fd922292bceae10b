"""Many submissions over workers: processes of this machine, or any executor of the standard library's kind.

A task holds all that a worker needs of a submission, so a worker may be on another machine; the course must be there,
too, in the same place and in the same version. Results come back in the order of the tasks, at most `WINDOW` ahead of
who takes them, so that a class of any size takes the same memory.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.context import BaseContext
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.errors import CourseError, MachineError, SubmissionError
from autograder.marking.mark import Marker
from autograder.report import Report
from autograder.sandbox.outside.client import CellResult, Sandbox
from autograder.submission import ModelFile, Submission, code_cells, model_beside, read_notebook
from autograder.text import one_line

WINDOW = 64  # tasks handed out and not yet taken back, on top of two a worker
CLUSTER_WINDOW = 1000  # so that some hundred workers have the next task at hand
MANY = 60  # from this many submissions on, a process a core is worth the seconds it takes to start
BREAKS = 3  # a task that was under way when its worker was lost is tried this often
LOST = "its grading process was ended from outside, three times; is the machine out of memory?"


@dataclass(frozen=True)
class Task:
    """One submission on its way to a worker. `problem` is set where there is nothing to grade.

    `version` is the course's: a worker with another one refuses. `exercises` are the assignment's own where not given.
    `model` is the saved model that came with it, if any.
    """

    student: str
    assignment: str
    version: str
    cells: tuple[str, ...] = ()
    problem: str | None = None
    exercises: tuple[Exercise, ...] | None = None
    pictures: bool = False
    model: ModelFile | None = None


@dataclass(frozen=True)
class Marked:
    """What comes back: the report, and what running each cell gave."""

    report: Report
    cells: tuple[CellResult, ...] = ()


def worker_count(jobs: int, submissions: int) -> int:
    """`jobs`, or where 0 one a core, if there are enough to be worth their start; never more than there is work for."""
    cores = len(os.sched_getaffinity(0)) if submissions >= MANY else 1
    return max(1, min(jobs or cores, submissions))


def grade_many(
    submissions: Sequence[Submission], root: Path, jobs: int, kind: str = "auto", scheduler: str = ""
) -> Iterator[Report]:
    """One report a submission, in order, by `jobs` processes here or by the Dask cluster at `scheduler`."""
    course = Course(root)
    versions = functools.cache(lambda name: course.assignment(name).version())
    tasks = (as_task(submission, versions(submission.assignment)) for submission in submissions)
    with contextlib.closing(Workers(root, jobs, kind, scheduler)) as workers:
        if submissions:
            workers.get_ready()
        yield from (marked.report for _, marked in workers.mark(tasks))


def as_task(submission: Submission, version: str) -> Task:
    """Read a submission; one that cannot be read becomes a task with its problem."""
    task = Task(submission.student, submission.assignment, version, problem=submission.problem)
    if task.problem:
        return task
    try:
        cells = tuple(cell.source for cell in code_cells(read_notebook(submission.path)))
    except SubmissionError as error:
        return replace(task, problem=str(error))
    return replace(task, cells=cells, model=model_beside(submission))


class Workers:
    """Workers for one course; `mark` may be called many times.

    jobs: processes on this machine; with 1, a thread of this very process
    scheduler: address of a Dask cluster, in place of processes here
    """

    def __init__(self, root: Path, jobs: int = 1, kind: str = "auto", scheduler: str = "") -> None:
        self._work = _Work(str(root), kind)
        self._jobs, self._scheduler = jobs, scheduler
        self._make = functools.partial(_executor, jobs, scheduler)
        self._executor: Executor | None = None
        self._end: Callable[[], None] = lambda: None
        self._window = CLUSTER_WINDOW if scheduler else 2 if jobs == 1 else WINDOW + 2 * jobs

    def close(self) -> None:
        """End the workers; what they are doing is dropped."""
        self._executor = None
        self._end()
        self._end = lambda: None

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        """Each task with its result, in order. A lost worker's tasks are done by another."""
        waiting: deque[_Waiting] = deque()
        for task in tasks:
            waiting.append(self._submit(_Waiting(task)))
            if len(waiting) > self._window:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def get_ready(self) -> None:
        """Have the workers import what marking needs and start their sandboxes, while the first task is being read."""
        executor = self._hire()
        if not self._scheduler:
            with contextlib.suppress(BrokenExecutor):
                for _ in range(self._jobs):
                    executor.submit(self._work.get_ready)

    def _hire(self) -> Executor:
        if self._executor is None:
            self._executor, self._end = self._make()
        return self._executor

    def _submit(self, one: _Waiting) -> _Waiting:
        executor = self._hire()
        with contextlib.suppress(BrokenExecutor):  # noticed when its result is asked for
            one.future = executor.submit(self._work, one.task)
        return one

    def _next(self, waiting: deque[_Waiting]) -> tuple[Task, Marked]:
        one = waiting[0]
        while True:
            try:
                marked = one.result()
            except _Gone:
                one.breaks += 1
                if one.breaks >= BREAKS:
                    marked = Marked(failed(one.task, LOST))
                    break
                self._begin_again(waiting)
            except CourseError:
                raise
            except Exception as error:  # a worker's fault, such as a version of the kit that is not ours
                marked = Marked(failed(one.task, f"no worker could grade it: {error}"))
                break
            else:
                break
        waiting.popleft()
        return one.task, marked

    def _begin_again(self, waiting: deque[_Waiting]) -> None:
        """Hand out again what was lost; a pool of processes is broken as a whole, a cluster is not."""
        if isinstance(self._executor, ProcessPoolExecutor):
            self.close()
        for one in waiting:
            if one.future is None or one.lost():
                self._submit(one)


@dataclass
class _Waiting:
    task: Task
    future: Future[Marked] | None = None
    breaks: int = 0

    def lost(self) -> bool:
        return self.future is not None and self.future.done() and _is_lost(self.future.exception())

    def result(self) -> Marked:
        if self.future is None:
            raise _Gone
        try:
            return self.future.result()
        except Exception as error:
            if _is_lost(error):
                raise _Gone from None
            raise


class _Gone(Exception):
    """The worker that had a task is gone."""


def _is_lost(error: BaseException | None) -> bool:
    # Dask says KilledWorker, and CancelledError where the scheduler forgot a task.
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "CancelledError")


def failed(task: Task, reason: str, max_score: float = 0.0) -> Report:
    """A report that says why there is no mark."""
    return Report(task.student, task.assignment, (), max_score, one_line(reason))


# ---------------------------------------------------------------- executors


def _executor(jobs: int, scheduler: str) -> tuple[Executor, Callable[[], None]]:
    """An executor, and how to end it at once."""
    if scheduler:
        return _cluster(scheduler)
    if jobs == 1:
        # A thread, so that whoever takes the results writes one down while the next is marked.
        thread = ThreadPoolExecutor(1)
        return thread, functools.partial(_end_thread, thread)
    pool = ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_begin)
    return pool, functools.partial(pool.shutdown, wait=False, cancel_futures=True)


def _context() -> BaseContext:
    """How worker processes start: forks of one that has imported what all need, and has no threads to share locks with.

    Where there is no such thing (Windows), each is a fresh interpreter.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["autograder.marking.many", "torch"])
    return context


def expect_workers(jobs: int) -> None:
    """Begin to import what worker processes need, if there will be any; whoever calls has other things to do."""
    if jobs > 1 and _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver  # not on Windows

        forkserver.ensure_running()


def _cluster(address: str) -> tuple[Executor, Callable[[], None]]:
    try:
        from distributed import Client
    except ImportError:
        raise MachineError("a cluster needs Dask: pip install 'multi-head-attention-course[cluster]'") from None
    try:
        client = Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise MachineError(f"no Dask scheduler answers at {address} ({error})") from None
    # With the client go its tasks: what was not taken back is dropped by the workers.
    return client.get_executor(pure=False), client.close


def _end_thread(thread: ThreadPoolExecutor) -> None:
    """Drop what is waiting. What is being marked ends with its sandbox; a desk that is free is kept for the next."""
    thread.shutdown(wait=False, cancel_futures=True)
    if _desks_lock.locked():
        for desk in list(_desks.values()):
            desk.sandbox.close()


def _begin() -> None:
    """In a new process: leave Ctrl-C to the one that hired it, and end when that has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# ---------------------------------------------------------------- in a worker


@dataclass(frozen=True)
class _Work:
    """What is sent to a worker: which course, and how student code is run."""

    root: str
    kind: str

    def __call__(self, task: Task) -> Marked:
        with _desks_lock:  # a Dask worker may have several threads, and a desk is one person's
            return self._desk().mark(task)

    def get_ready(self) -> None:
        """Do what the first task would wait for; whatever is wrong will be said to that one."""
        with _desks_lock, contextlib.suppress(Exception):
            self._desk()

    def _desk(self) -> _Desk:
        if self not in _desks:
            _desks[self] = _Desk(Path(self.root), self.kind)
        return _desks[self]


class _Desk:
    """One sandbox, and one marker for each assignment met."""

    def __init__(self, root: Path, kind: str) -> None:
        self.course = Course(root)
        self.sandbox = Sandbox(kind=kind)
        self.sandbox.warm_up()
        self.markers: dict[str, tuple[str, Marker]] = {}

    def mark(self, task: Task) -> Marked:
        try:
            marker = self._marker(task)
            if task.problem:
                return Marked(marker.failed(task.student, task.problem))
            how = (task.exercises, task.pictures, task.model)
            report, cells = marker.mark_cells(task.student, list(task.cells), *how)
            return Marked(report, tuple(cells))
        except CourseError:
            raise
        except MachineError as error:
            return Marked(failed(task, f"this machine could not run it: {error}"))
        except Exception as error:
            # A bug of the kit's. It is shown in full, and costs this submission its mark but not the class its run.
            traceback.print_exc()
            reason = f"the grader itself failed ({type(error).__name__}: {error}); not the student's fault"
            return Marked(failed(task, reason))

    def _marker(self, task: Task) -> Marker:
        version, marker = self.markers.get(task.assignment, ("", None))
        if marker is not None and version == task.version:
            return marker
        if marker is not None:
            marker.close()
        if not (self.course.root / "source").is_dir():
            raise CourseError(f"{self.course.root} is not on this worker; the course must lie in the same place there")
        assignment = self.course.assignment(task.assignment)
        if assignment.version() != task.version:
            raise CourseError(
                f"{self.course.root} on this worker is another version of the course than the one asked for"
            )
        self.markers[task.assignment] = task.version, Marker(assignment, self.sandbox)
        # A suite, its reference and PyTorch are kept: the collector need not look through them for each submission.
        gc.unfreeze()  # a marker that was replaced is not kept
        gc.collect()
        gc.freeze()
        return self.markers[task.assignment][1]

    def close(self) -> None:
        for _, marker in self.markers.values():
            marker.close()
        self.sandbox.close()


_desks: dict[_Work, _Desk] = {}
_desks_lock = threading.Lock()


@atexit.register
def close_desks() -> None:
    """End the sandboxes of this process."""
    with _desks_lock:
        while _desks:
            _desks.popitem()[1].close()
