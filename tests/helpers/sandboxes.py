"""Opens notebooks and marks submissions in the real sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment, Course
from autograder.course.content import course_folder, sandbox_setting
from autograder.judge.notebook import JudgedNotebook
from autograder.report import CellResult, Report
from autograder.task import Task
from autograder.worker.worker import Judges, Worker
from cellcage import choose_backend
from cellcage.limits import Limits
from cellcage.outside.fork_server_client import ForkServer

ROOT = Path(__file__).resolve().parents[2]


class Sandbox:
    """Fork servers that tests share: one for students, and one for the judges of each course.

    beside: another sandbox in this session, whose zygote and judges are shared
    """

    def __init__(self, limits: Limits | None = None, kind: str = "bubblewrap", beside: Sandbox | None = None) -> None:
        self.backend, _ = choose_backend(kind)
        self.limits, self._own = limits or Limits(), beside is None
        # As in a real run, the zygote sees the course, but its forks for students do not.
        self._judges = {ROOT: Judges(ROOT, self.backend)} if beside is None else beside._judges
        self.zygote = self._judges[ROOT].zygote
        self.students = ForkServer(self.zygote, setting=sandbox_setting(course_folder()))

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.students.end()
        if self._own:
            for judges in self._judges.values():
                judges.end()
            self.zygote.end()

    @contextlib.contextmanager
    def open(self, cells: Sequence[str], limits: Limits | None = None) -> Iterator[JudgedNotebook]:
        """A notebook of these cells."""
        limits = limits or self.limits
        with self.students.process(limits) as process, JudgedNotebook(cells, limits, process) as notebook:
            yield notebook

    def worker(self, course: Course) -> Worker:
        judges = self._judges.get(course.root) or Judges(course.root, self.backend)
        self._judges[course.root] = judges
        worker = Worker(judges, self.limits)
        worker.students = self.students
        return worker


class Marker:
    """Marks submissions of one assignment."""

    def __init__(self, assignment: Assignment, sandbox: Sandbox) -> None:
        self.assignment = assignment
        self._worker = sandbox.worker(Course(assignment.root))
        self._version = assignment.version

    def mark_cells(self, student: str, cells: Sequence[str], **more: Any) -> tuple[Report, list[CellResult]]:
        marked = self._worker.mark(Task(student, self.assignment.name, self._version, tuple(cells), **more))
        return marked.report, list(marked.cells)
