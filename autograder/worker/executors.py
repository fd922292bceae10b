"""Executors do a pool's work: threads of this process, or the workers of a Dask cluster. Both have the same methods.

Every run starts by grading the model answer of each assignment, in the same sandbox with the same limits. If it does
not get full marks, right submissions would lose marks, too. Then nobody is graded in that assignment.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import platform
import queue
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment, Course
from autograder.errors import CourseError, MachineError, SubmissionError
from autograder.report import Report
from autograder.submission import code_cells, read_notebook
from autograder.task import Marked, Task, failed
from autograder.worker.worker import Judges, Worker, backend_for

WINDOW = 64  # tasks submitted whose results were not taken, besides two for each worker
CLUSTER_WINDOW = 1000  # so that some hundred workers have the next task at hand
# Dask takes 4.1 ms for each message to a worker. With 50 tasks in each, that is 0.15 ms for a task.
MOST_TOGETHER = 50
WORKER_SECONDS, LAST_WORKER_SECONDS = 3, 57  # if a cluster has no worker: until a message, and then until an error
ANSWER_SECONDS = 20  # for a scheduler
MODEL_ANSWER = "the model answer"  # in place of a student
REFUSED = (
    "nobody is graded in {name}, and no mark has changed, because its model answer does not get full marks on the "
    "machine {machine} ({why}). `autograder doctor` looks for the cause on that machine, `autograder dev check {name}` "
    "in the course. Then run the same command again"
)
# So many submissions in a row that the machine could not run: then it may have broken down during the run.
MACHINE_FAILURES = 3


# ---------------------------------------------------------------- the model answer


class ModelAnswers:
    """The model answers that were graded in this process, for one course and all runs that share its workers."""

    def __init__(self) -> None:
        self._why_not: dict[tuple[str, str, str], str] = {}
        self._locks: dict[tuple[str, str, str], threading.Lock] = {}
        self._failures = 0  # of the machine, in a row

    def why_refused(self, worker: Worker, task: Task, run: str) -> str:
        """Why nobody is graded in a task's assignment; empty if the model answer gets full marks.

        It is graded once in each run, by one thread for which others wait. Raises `CourseError`.
        """
        key = run, task.assignment, task.version
        with self._locks.setdefault(key, threading.Lock()):
            if (known := self._why_not.get(key)) is not None:
                return known
            why = _loss(worker, task)
            refused = REFUSED.format(name=task.assignment, machine=platform.node(), why=why) if why else ""
            self._why_not[key] = refused
            return refused

    def note(self, marked: Marked) -> None:
        """Count the machine's failures. After some in a row, all model answers have to be graded once more.

        Three submissions could fail on purpose to end a run. The model answer could not.
        """
        self._failures = self._failures + 1 if marked.machine_failed else 0
        if self._failures >= MACHINE_FAILURES:
            self._why_not, self._failures = {}, 0


def model_answer(assignment: Assignment, version: str) -> Task:
    """The source notebook, which has the solutions in it, as a submission. Raises `SubmissionError`."""
    cells = code_cells(read_notebook(assignment.notebook), assignment.source.locked_cells)
    return Task(MODEL_ANSWER, assignment.name, version).of(cells)


def first_loss(report: Report) -> str:
    """What the first failed test says, with its exercise, or why nothing could be graded; empty for full marks."""
    if report.reason:
        return report.reason
    for exercise in report.exercises:
        if not exercise.is_full:
            test = next(test for test in exercise.tests if test.state != "passed")
            said = (test.message.rstrip("."), exercise.evidence.rstrip("."))
            return f"{exercise.name}, {test.sentence.rstrip('.')}: {'. '.join(filter(None, said))}"
    return ""


def _loss(worker: Worker, submitted: Task) -> str:
    """The first loss, with the exercises of a submission's task; what they count may be only a trial."""
    assignment = worker.judges.assignment(submitted)
    try:
        task = replace(model_answer(assignment, submitted.version), exercises=submitted.exercises)
    except SubmissionError as error:
        return str(error)
    return first_loss(worker.mark(task).report)


# ---------------------------------------------------------------- here


class Workers:
    """Workers of one course, which share the judges' fork server. There are as many as ever worked at one time.

    Raises `MachineError` if the sandbox does not work here.
    """

    def __init__(self, root: Path, sandbox: str) -> None:
        backend, _ = backend_for(sandbox)
        self.key = root, sandbox
        self._judges, self._model_answers = Judges(root, backend), ModelAnswers()
        self._all: list[Worker] = []
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def start(self, count: int, first: Task) -> None:
        """Start `count` workers, and what judging the first task takes, without waiting until they are ready."""
        self._judges.warm_up(first)
        while len(self._all) < count:
            self._free.put(self._new())
        for worker in self._all:
            worker.students.warm_up()

    def mark(self, task: Task, run: str = "") -> Marked:
        """Have a free worker mark a task, after the model answer in each run. Raises `CourseError`."""
        try:
            worker = self._free.get_nowait()
        except queue.Empty:
            worker = self._new()
        try:
            refused = "" if task.problem else self._model_answers.why_refused(worker, task, run)
            if refused:
                return replace(worker.mark(replace(task, problem=refused)), refused=True)
            marked = worker.mark(task)
            self._model_answers.note(marked)
            return marked
        except CourseError:
            raise
        except Exception as error:
            # A bug of the kit. Its traceback is shown, and only this submission gets no mark.
            traceback.print_exc()
            reason = f"the grader itself failed ({type(error).__name__}: {error}); not the student's fault"
            return Marked(failed(task, reason))
        finally:
            self._free.put(worker)

    @property
    def is_one_and_free(self) -> bool:
        """True if there is a single worker, and it has nothing to do."""
        return len(self._all) == 1 and not self._free.empty()

    def end(self) -> None:
        """End all workers, and the judges' fork server."""
        for worker in self._all:
            worker.end()
        self._judges.end()

    def _new(self) -> Worker:
        worker = Worker(self._judges)
        self._all.append(worker)
        return worker


class IdleWorkers:
    """Keeps a worker between two pools, for each course and sandbox, until this process ends.

    Formgrader's button marks one submission after another, each in a pool of its own.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, str], Workers] = {}
        self._lock = threading.Lock()
        atexit.register(self.end)

    def take(self, root: Path, sandbox: str) -> Workers:
        """The kept workers, or else new ones."""
        with self._lock:
            kept = self._kept.pop((root, sandbox), None)
        return kept or Workers(root, sandbox)

    def keep(self, workers: Workers) -> None:
        """Keep these for the next pool; end them if they are many or busy."""
        surplus: Workers | None = workers
        if workers.is_one_and_free:
            with self._lock:
                surplus = self._kept.get(workers.key)
                self._kept[workers.key] = workers
        if surplus is not None:
            surplus.end()

    def end(self) -> None:
        """End all kept workers."""
        while self._kept:
            self._kept.popitem()[1].end()


def _mark_each(work: Callable[[Task], Marked], tasks: Sequence[Task]) -> list[Marked | Exception]:
    """The result of each task. What `work` raises concerns one task only."""
    found: list[Marked | Exception] = []
    for task in tasks:
        try:
            found.append(work(task))
        except Exception as error:
            found.append(error)
    return found


class LocalExecutor:
    """Threads of this process, each with a worker. When a worker is ended, its thread stops waiting.

    window: how many tasks may be submitted before their results are taken
    together: how many tasks are submitted together now
    losses: errors that mean that a worker was lost, and that do not concern its tasks
    work: marks a task
    """

    together = 1
    losses: tuple[type[Exception], ...] = ()

    def __init__(self, root: Path, sandbox: str, jobs: int, idle: IdleWorkers | None = None) -> None:
        self.window = 2 if jobs == 1 else WINDOW + 2 * jobs
        self._jobs, self._idle = jobs, idle
        self._workers = idle.take(root, sandbox) if idle else Workers(root, sandbox)
        self.work = functools.partial(self._workers.mark, run=uuid.uuid4().hex)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="worker")

    def submit(self, tasks: Sequence[Task]) -> Future[Sequence[Marked | Exception]]:
        """Have a free thread mark tasks, one after another."""
        return self._threads.submit(_mark_each, self.work, tasks)

    def get_ready(self, first: Task) -> None:
        """Start a worker for each thread, without waiting until it is ready."""
        self._workers.start(self._jobs, first)

    def check(self) -> None:
        """Does nothing: the workers are in this process."""

    def close(self) -> None:
        """Drop what is not done, and end the workers or keep a free one for the next pool."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._idle is not None:
            self._idle.keep(self._workers)
        else:
            self._workers.end()


# ---------------------------------------------------------------- on other machines


class DaskExecutor:
    """The workers of a Dask cluster. It connects when the first task is submitted."""

    window = CLUSTER_WINDOW
    losses: tuple[type[Exception], ...] = (CancelledError,)  # the scheduler forgot a task

    def __init__(self, root: Path, sandbox: str, address: str) -> None:
        self.work: Callable[[Task], Marked] = RemoteWorker(str(root), sandbox, uuid.uuid4().hex)
        self._address = address
        self._client: Any = None
        self._executor: Any = None
        self._submitted = 0

    @property
    def together(self) -> int:
        """One for small classes, so that all workers are busy and a lost one loses little; more for a large class."""
        if self._submitted < self.window:
            return 1
        workers: int = sum(self._client.nthreads().values())
        return max(1, min(MOST_TOGETHER, self.window // max(1, 2 * workers)))

    def submit(self, tasks: Sequence[Task]) -> Future[Sequence[Marked | Exception]]:
        """Have a worker of the cluster mark tasks. Raises `MachineError` as `connect` does."""
        if self._client is None:
            self._client = connect(self._address)
            self._executor = self._client.get_executor(pure=False)
            from distributed import KilledWorker

            self.losses = (*self.losses, KilledWorker)
        self._submitted += len(tasks)
        future: Future[Sequence[Marked | Exception]] = self._executor.submit(_mark_each, self.work, tasks)
        return future

    def get_ready(self, first: Task) -> None:
        """Does nothing: each worker starts with its first task."""

    def check(self) -> None:
        """Raises `MachineError` if the cluster is gone."""
        ends_at = time.monotonic() + LAST_WORKER_SECONDS
        while self._client.status != "closed" and time.monotonic() < ends_at:  # the client reconnects by itself
            with contextlib.suppress(Exception):  # of many kinds, if the scheduler is gone
                if self._client.status == "running" and self._client.nthreads():
                    return
            time.sleep(0.2)
        raise MachineError(
            f"the Dask scheduler at {self._address}, or its last worker, is gone. What was graded is kept; "
            "run the same command to continue"
        )

    def close(self) -> None:
        """Disconnect. Without their client, the workers drop tasks whose results were not taken."""
        if self._client is not None:
            self._client.close()
            self._client = None


Executor = LocalExecutor | DaskExecutor


def connect(address: str) -> Any:
    """A client of the Dask cluster at `address`. Raises `MachineError` if there is none, or if it has no worker."""
    try:
        from distributed import Client
    except ImportError:
        raise MachineError("a cluster needs Dask: pip install 'sandboxed-autograder[cluster]'") from None
    for name in ("distributed", "distributed.client"):  # errors are reported here, in one sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=f"{ANSWER_SECONDS}s")
    except (OSError, ValueError) as error:
        raise MachineError(f"no Dask scheduler answers at {address} ({error})") from None
    # A scheduler without workers accepts tasks silently and does nothing.
    for seconds in (WORKER_SECONDS, LAST_WORKER_SECONDS):
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=seconds)
            return client
        if seconds == WORKER_SECONDS:
            print(f"waiting for a worker: the scheduler at {address} has none yet", file=sys.stderr)
    client.close()
    raise MachineError(f"the scheduler at {address} has no worker; start one there: dask worker {address}")


@dataclass(frozen=True)
class RemoteWorker:
    """Marks a run's tasks on a Dask worker, to which it is sent: the course's folder there, and the sandbox."""

    root: str
    sandbox: str
    run: str = field(default="", compare=False)

    def __call__(self, task: Task) -> Marked:
        """Mark a task. Raises `CourseError` if the course is not there, or in another version than the task's."""
        course = Course(Path(self.root))
        if not (course.root / "source").is_dir():
            raise CourseError(f"{course.root} is not on this worker; the course must lie in the same place there")
        if course.assignment(task.assignment).version != task.version:
            raise CourseError(f"{course.root} on this worker is another version of the course")
        return self._workers().mark(task, self.run)

    def _workers(self) -> Workers:
        """This course's workers on the Dask worker that this runs on. They end with its process."""
        from distributed import get_worker

        kept: dict[RemoteWorker, Workers] = vars(get_worker()).setdefault("autograder", {})
        if self not in kept:
            workers = Workers(Path(self.root), self.sandbox)
            if kept.setdefault(self, workers) is workers:
                atexit.register(workers.end)
        return kept[self]
