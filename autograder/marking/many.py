"""Many submissions over worker processes, each with a sandbox of its own. Reports come back in the order asked."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from autograder.course import Course
from autograder.errors import MachineError
from autograder.marking.mark import Marker
from autograder.marking.report import Report
from autograder.sandbox.client import Sandbox
from autograder.submission import Submission


def worker_count(jobs: int, submissions: int) -> int:
    """`jobs`, or one a core where 0; never more than there is work for."""
    return max(1, min(jobs or len(os.sched_getaffinity(0)), submissions))


def grade_many(submissions: Sequence[Submission], root: Path, jobs: int, kind: str = "auto") -> Iterator[Report]:
    """One report a submission, as they are ready, in order."""
    if jobs == 1:
        with contextlib.closing(_Worker(root, kind)) as worker:
            yield from map(worker.grade, submissions)
        return
    # A fresh interpreter each: a fork of this process would share its threads' locks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(root, kind)) as pool:
        yield from pool.map(_grade, submissions)


class _Worker:
    """One sandbox, and one marker for each assignment met."""

    def __init__(self, root: Path, kind: str) -> None:
        self.course = Course(root)
        self.sandbox = Sandbox(kind=kind)
        self.sandbox.warm_up()
        self.markers: dict[str, Marker] = {}

    def grade(self, submission: Submission) -> Report:
        name = submission.assignment
        if name not in self.markers:
            self.markers[name] = Marker(self.course.assignment(name), self.sandbox)
        marker = self.markers[name]
        try:
            return marker.mark(submission)
        except MachineError as error:
            return marker.failed(submission.student, f"this machine could not run it: {error}")
        except Exception as error:
            # A bug of the kit's. It is shown in full, and costs this submission its mark but not the class its run.
            traceback.print_exc()
            reason = f"the grader itself failed ({type(error).__name__}: {error}); not the student's fault"
            return marker.failed(submission.student, reason)

    def close(self) -> None:
        for marker in self.markers.values():
            marker.close()
        self.sandbox.close()


_worker: _Worker | None = None


def _begin(root: Path, kind: str) -> None:
    global _worker
    _worker = _Worker(root, kind)
    atexit.register(_worker.close)


def _grade(submission: Submission) -> Report:
    assert _worker is not None
    return _worker.grade(submission)
