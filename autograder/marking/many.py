"""Many submissions over desks: threads of this process, or any executor of the standard library's kind.

A desk's thread only waits for its notebook and its judge, which are processes; so threads are enough for any number of
cores. A task holds all that a desk needs of a submission, so a desk may be on another machine; the course must be
there, too, in the same place and in the same version. Results come back in the order of the tasks, at most `WINDOW`
ahead of who takes them, so that a class of any size takes the same memory.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import os
import queue
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.errors import CourseError, MachineError, UnfitMachine
from autograder.marking.desk import Desk, Judges
from autograder.marking.task import Marked, Task, as_task, failed
from autograder.report import Report
from autograder.sandbox.outside.host import isolates
from autograder.submission import Submission

WINDOW = 64  # tasks handed out and not yet taken back, on top of two a desk
CLUSTER_WINDOW = 1000  # so that some hundred workers have the next task at hand
MANY = 60  # from this many submissions on, a desk a core is worth the seconds it takes to start
BREAKS = 3  # a task that was under way when its worker was lost is tried this often
WORKER_SECONDS, LAST_WORKER_SECONDS = 10, 50  # until a word, and then until the end, if a cluster has no worker
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
    """One report for each submission, in order, by `jobs` desks here or by the Dask cluster at `scheduler`."""
    course = Course(root)
    versions = functools.cache(lambda name: course.assignment(name).version())
    tasks = (as_task(submission, versions(submission.assignment)) for submission in submissions)
    with contextlib.closing(Workers(root, jobs, kind, scheduler)) as workers:
        yield from (marked.report for _, marked in workers.mark(tasks))


class Workers:
    """Workers for one course; `mark` may be called many times.

    jobs: desks in this process, each in a thread of its own
    scheduler: address of a Dask cluster, in place of desks here
    """

    def __init__(self, root: Path, jobs: int = 1, kind: str = "auto", scheduler: str = "") -> None:
        self._office = None if scheduler else Office(root, kind)
        self._work: Callable[[Task], Marked] = self._office.mark if self._office else Abroad(str(root), kind)
        self._jobs = jobs
        self._hire = functools.partial(_cluster, scheduler) if scheduler else functools.partial(_threads, jobs)
        self._hired: _Hired | None = None
        self._solution_of = functools.cache(lambda name: Course(root).assignment(name).solution)
        self._failures = 0  # of the machine's, in a row
        self._window = CLUSTER_WINDOW if scheduler else 2 if jobs == 1 else WINDOW + 2 * jobs

    def close(self) -> None:
        """End the workers; what they are doing is dropped."""
        if self._hired is not None:
            hired, self._hired = self._hired, None
            hired.end()
        if self._office is not None:
            self._office.close()

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        """Each task with its result, in order. A lost worker's tasks are done by another.

        Raises `UnfitMachine` if the machine fails again and again, also with a solution of the course's own.
        """
        waiting: deque[_Waiting] = deque()
        begun = False
        for task in tasks:
            if not begun and not task.problem:
                begun = True
                self.get_ready(task.assignment)
            waiting.append(self._submit(_Waiting(task)))
            if len(waiting) > self._window:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def get_ready(self, assignment: str) -> None:
        """Begin to start what the first tasks will wait for, all at once."""
        if self._office is not None:
            self._office.get_ready(self._jobs, assignment)

    def _submit(self, one: _Waiting) -> _Waiting:
        if self._hired is None:
            self._hired = self._hire()
        with contextlib.suppress(BrokenExecutor):  # noticed when its result is asked for
            one.future = self._hired.executor.submit(self._work, one.task)
        return one

    def _next(self, waiting: deque[_Waiting]) -> tuple[Task, Marked]:
        one = waiting[0]
        while True:
            try:
                marked = one.result()
            except _Gone:
                assert self._hired is not None
                self._hired.look()
                one.breaks += 1
                if one.breaks >= BREAKS:
                    marked = Marked(failed(one.task, LOST), machine_failed=True)
                    break
                for other in waiting:  # hand out again what was lost
                    if other.future is None or other.lost():
                        self._submit(other)
            except CourseError:
                raise
            except Exception as error:  # a worker's fault, such as a version of the kit that is not ours
                marked = Marked(failed(one.task, f"no worker could grade it: {error}"), machine_failed=True)
                break
            else:
                break
        waiting.popleft()
        self._note(one.task, marked)
        return one.task, marked

    def _note(self, task: Task, marked: Marked) -> None:
        """Count failures of the machine in a row, and see whether it is fit. Raises `UnfitMachine` if it is not.

        Three submissions could fail so on purpose, and end a run. The course's own solution could not.
        """
        self._failures = self._failures + 1 if marked.machine_failed else 0
        if self._failures < MACHINE_FAILURES:
            return
        cells = (self._solution_of(task.assignment).read_text(encoding="utf-8"),)
        probe = self._submit(_Waiting(Task("the solution", task.assignment, task.version, cells, by_author=True)))
        try:
            tried = probe.result()
        except _Gone:
            raise UnfitMachine(UNFIT.format(count=self._failures, reason=LOST)) from None
        if tried.machine_failed:
            raise UnfitMachine(UNFIT.format(count=self._failures, reason=tried.report.reason))
        self._failures = 0


@dataclass
class _Waiting:
    task: Task
    future: Future[Marked] | None = None
    breaks: int = 0

    def lost(self) -> bool:
        if self.future is None or not self.future.done():
            return False
        return self.future.cancelled() or _is_lost(self.future.exception())

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
    # Dask says KilledWorker, and CancelledError if the scheduler forgot a task.
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "CancelledError")


# ---------------------------------------------------------------- executors


@dataclass(frozen=True)
class _Hired:
    """Who does the work, how to let go of them, and how to see that they are there; `look` raises `MachineError`."""

    executor: Executor
    end: Callable[[], None]
    look: Callable[[], None] = lambda: None


def _threads(jobs: int) -> _Hired:
    """Threads of this process; what they wait for is ended with their desks."""
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="desk")
    return _Hired(pool, functools.partial(pool.shutdown, wait=False, cancel_futures=True))


def _cluster(address: str) -> _Hired:
    """A Dask cluster. Raises `MachineError` if there is none, or none that works."""
    try:
        from distributed import Client
    except ImportError:
        raise MachineError("a cluster needs Dask: pip install 'sandboxed-autograder[cluster]'") from None
    for name in ("distributed", "distributed.client"):  # what is lost is said here, in one sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise MachineError(f"no Dask scheduler answers at {address} ({error})") from None
    _wait_for_a_worker(client, address)
    # With the client go its tasks: what was not taken back is dropped by the workers.
    return _Hired(client.get_executor(pure=False), client.close, functools.partial(_look_at, client, address))


def _wait_for_a_worker(client: Any, address: str) -> None:
    """A scheduler alone does nothing, and says nothing. Raises `MachineError` if no worker joins it in a minute."""
    for seconds in (WORKER_SECONDS, LAST_WORKER_SECONDS):
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=seconds)
            return
        if seconds == WORKER_SECONDS:
            print(f"waiting for a worker: the scheduler at {address} has none yet", file=sys.stderr)
    client.close()
    raise MachineError(f"the scheduler at {address} has no worker; start one there: dask worker {address}")


def _look_at(client: Any, address: str) -> None:
    """Is the cluster still there? Asked when it has lost something."""
    ends_at = time.monotonic() + LAST_WORKER_SECONDS
    while client.status != "closed" and time.monotonic() < ends_at:  # it tries by itself to find its scheduler again
        with contextlib.suppress(Exception):  # of many kinds, if the scheduler is gone
            if client.status == "running" and client.nthreads():
                return
        time.sleep(0.2)
    raise MachineError(
        f"the Dask scheduler at {address}, or its last worker, is gone. What was graded is kept: "
        "the same command goes on from there"
    )


# ---------------------------------------------------------------- desks


class Office:
    """Desks of one course, as many as work at a time; they share the judges' host.

    What is free when an office closes is kept for the next one of the same course: formgrader's button asks for one
    submission after another.
    """

    def __init__(self, root: Path, kind: str) -> None:
        self._key, self._course = (root, kind), Course(root)
        backend, _ = isolates(kind)
        with _lock:
            desk, judges = _kept.pop(self._key, (None, None))
        self._judges = judges or Judges(root, backend)
        self._free: queue.SimpleQueue[Desk] = queue.SimpleQueue()
        self._desks: list[Desk] = []
        if desk is not None:
            self._take_in(desk)

    def get_ready(self, count: int, assignment: str) -> None:
        """Begin to start `count` desks, and what judging an assignment takes."""
        self._judges.warm_up(self._course.assignment(assignment))
        while len(self._desks) < count:
            self._take_in(Desk(self._course, self._judges))
        for desk in self._desks:
            desk.students.warm_up()

    def mark(self, task: Task) -> Marked:
        """Mark a task at a desk that is free."""
        try:
            desk = self._free.get_nowait()
        except queue.Empty:
            desk = Desk(self._course, self._judges)
            self._desks.append(desk)
        try:
            return desk.mark(task)
        except CourseError:
            raise
        except Exception as error:
            # A bug of the kit's. It is shown in full, and costs this submission its mark but not the class its run.
            traceback.print_exc()
            reason = f"the grader itself failed ({type(error).__name__}: {error}); not the student's fault"
            return Marked(failed(task, reason))
        finally:
            self._free.put(desk)

    def close(self) -> None:
        """End all desks; one that was alone, and is free, waits for the next office."""
        ended: tuple[Desk | Judges, ...] = (*self._desks, self._judges)
        with contextlib.suppress(queue.Empty), _lock:
            desk = self._free.get_nowait()
            if len(self._desks) == 1:
                ended, _kept[self._key] = _kept.get(self._key, ()), (desk, self._judges)
        for one in ended:
            one.end()

    def _take_in(self, desk: Desk) -> None:
        self._desks.append(desk)
        self._free.put(desk)


_kept: dict[tuple[Path, str], tuple[Desk, Judges]] = {}
_lock = threading.Lock()


@atexit.register
def close_desks() -> None:
    """End what this process has kept."""
    while _kept:
        for one in _kept.popitem()[1]:
            one.end()


# ---------------------------------------------------------------- in a worker abroad


@dataclass(frozen=True)
class Abroad:
    """What is sent to a worker on another machine: which course, and how student code is run."""

    root: str
    kind: str

    def __call__(self, task: Task) -> Marked:
        """Mark a task there. Raises `CourseError` if the course is not there in the task's version."""
        course = Course(Path(self.root))
        if not (course.root / "source").is_dir():
            raise CourseError(f"{course.root} is not on this worker; the course must lie in the same place there")
        if course.assignment(task.assignment).version() != task.version:
            raise CourseError(f"{course.root} on this worker is another version of the course than the one asked for")
        return _office_here(self).mark(task)


@functools.cache
def _office_here(work: Abroad) -> Office:
    office = Office(Path(work.root), work.kind)
    atexit.register(office.close)
    return office
