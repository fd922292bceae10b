"""Who does a pool's work: threads of this process, or the workers of a Dask cluster. Both answer to the same names."""

from __future__ import annotations

import atexit
import contextlib
import logging
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.errors import CourseError, MachineError
from autograder.sandbox.supervisor.fork_server import isolates
from autograder.worker.task import Marked, Task, failed
from autograder.worker.worker import Judges, Worker

WINDOW = 64  # tasks handed out and not yet taken back, on top of two a worker
CLUSTER_WINDOW = 1000  # so that some hundred workers have the next task at hand
WORKER_SECONDS, LAST_WORKER_SECONDS = 3, 57  # until a word, and then until the end, if a cluster has no worker
ANSWER_SECONDS = 20  # for a scheduler


# ---------------------------------------------------------------- here


class Workers:
    """Workers of one course, which share the judges' fork server; as many as work at a time.

    Raises `MachineError` if the sandbox does not work here.
    """

    def __init__(self, root: Path, kind: str) -> None:
        backend, _ = isolates(kind)
        self._course, self._judges = Course(root), Judges(root, backend)
        self._all: list[Worker] = []
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def start(self, count: int, assignment: str) -> None:
        """Begin to start `count` workers, and what judging an assignment takes."""
        self._judges.warm_up(self._course.assignment(assignment))
        while len(self._all) < count:
            self._free.put(self._one_more())
        for worker in self._all:
            worker.students.warm_up()

    def mark(self, task: Task) -> Marked:
        """Mark a task by a worker that is free. Raises `CourseError`."""
        try:
            worker = self._free.get_nowait()
        except queue.Empty:
            worker = self._one_more()
        try:
            return worker.mark(task)
        except CourseError:
            raise
        except Exception as error:
            # A bug of the kit's. It is shown in full, and costs this submission its mark but not the class its run.
            traceback.print_exc()
            reason = f"the grader itself failed ({type(error).__name__}: {error}); not the student's fault"
            return Marked(failed(task, reason))
        finally:
            self._free.put(worker)

    @property
    def is_one_and_free(self) -> bool:
        """Is it a single worker, and has nothing to do?"""
        return len(self._all) == 1 and not self._free.empty()

    def end(self) -> None:
        """End all workers, and the judges' fork server."""
        for worker in self._all:
            worker.end()
        self._judges.end()

    def _one_more(self) -> Worker:
        worker = Worker(self._course, self._judges)
        self._all.append(worker)
        return worker


class IdleWorkers:
    """Workers between two pools: one for each course and kind of sandbox. They end with this process.

    For whoever marks one submission after another, each in a pool of its own, as formgrader's button does.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, str], Workers] = {}
        self._lock = threading.Lock()
        atexit.register(self.end)

    def take(self, root: Path, kind: str) -> Workers:
        """What was kept, or else new ones."""
        with self._lock:
            kept = self._kept.pop((root, kind), None)
        return kept or Workers(root, kind)

    def keep(self, root: Path, kind: str, workers: Workers) -> None:
        """Keep these for the next pool; if they are many, or have something to do, they end."""
        ends: Workers | None = workers
        if workers.is_one_and_free:
            with self._lock:
                ends, self._kept[root, kind] = self._kept.get((root, kind)), workers
        if ends is not None:
            ends.end()

    def end(self) -> None:
        """End all that is kept."""
        while self._kept:
            self._kept.popitem()[1].end()


class LocalExecutor:
    """Threads of this process, each with a worker. What a thread waits for ends with its worker.

    window: tasks that may be handed out and not yet taken back
    losses: errors that say that a worker was lost, and nothing of the task that it had
    work: marks a task
    """

    losses: tuple[type[Exception], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, root: Path, kind: str, jobs: int, idle: IdleWorkers | None = None) -> None:
        self.window = 2 if jobs == 1 else WINDOW + 2 * jobs
        self._key, self._jobs, self._idle = (root, kind), jobs, idle
        self._workers = idle.take(root, kind) if idle else Workers(root, kind)
        self.work = self._workers.mark
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="worker")

    def submit(self, task: Task) -> Future[Marked]:
        """A thread that has nothing to do marks it."""
        return self._threads.submit(self.work, task)

    def get_ready(self, assignment: str) -> None:
        """Begin to start a worker for each thread."""
        self._workers.start(self._jobs, assignment)

    def check(self) -> None:
        """There is always this process."""

    def close(self) -> None:
        """End the threads' work and the workers, or let one that is free wait for the next pool."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._idle is not None:
            self._idle.keep(*self._key, self._workers)
        else:
            self._workers.end()


# ---------------------------------------------------------------- on other machines


class DaskExecutor:
    """The workers of a Dask cluster. It is looked for when there is a first task."""

    window = CLUSTER_WINDOW
    losses: tuple[type[Exception], ...] = (BrokenExecutor, CancelledError)  # the scheduler forgot a task

    def __init__(self, root: Path, kind: str, address: str) -> None:
        self.work: Callable[[Task], Marked] = RemoteWorker(str(root), kind)
        self._address = address
        self._client: Any = None
        self._executor: Any = None

    def submit(self, task: Task) -> Future[Marked]:
        """A worker of the cluster marks it. Raises `MachineError` if there is no cluster, or none that works."""
        if self._client is None:
            self._client = connect(self._address)
            self._executor = self._client.get_executor(pure=False)
            from distributed import KilledWorker

            self.losses = (*self.losses, KilledWorker)
        future: Future[Marked] = self._executor.submit(self.work, task)
        return future

    def get_ready(self, assignment: str) -> None:
        """Each worker starts with its first task."""

    def check(self) -> None:
        """Is the cluster still there? Raises `MachineError`."""
        ends_at = time.monotonic() + LAST_WORKER_SECONDS
        while self._client.status != "closed" and time.monotonic() < ends_at:  # it looks for its scheduler by itself
            with contextlib.suppress(Exception):  # of many kinds, if the scheduler is gone
                if self._client.status == "running" and self._client.nthreads():
                    return
            time.sleep(0.2)
        raise MachineError(
            f"the Dask scheduler at {self._address}, or its last worker, is gone. What was graded is kept: "
            "the same command goes on from there"
        )

    def close(self) -> None:
        """Let go of the cluster. With the client go its tasks: what was not taken back is dropped by the workers."""
        if self._client is not None:
            self._client.close()
            self._client = None


Executor = LocalExecutor | DaskExecutor


def connect(address: str) -> Any:
    """A client of the Dask cluster at `address`. Raises `MachineError` if there is none, or none that works."""
    try:
        from distributed import Client
    except ImportError:
        raise MachineError("a cluster needs Dask: pip install 'sandboxed-autograder[cluster]'") from None
    for name in ("distributed", "distributed.client"):  # what is lost is said here, in one sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=f"{ANSWER_SECONDS}s")
    except (OSError, ValueError) as error:
        raise MachineError(f"no Dask scheduler answers at {address} ({error})") from None
    # A scheduler alone does nothing, and says nothing.
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
        return self._workers().mark(task)

    def _workers(self) -> Workers:
        """Those of this course on the Dask worker that this runs on; they end with its process."""
        from distributed import get_worker

        kept: dict[RemoteWorker, Workers] = vars(get_worker()).setdefault("autograder", {})
        if self not in kept:
            workers = Workers(Path(self.root), self.kind)
            if kept.setdefault(self, workers) is workers:
                atexit.register(workers.end)
        return kept[self]
