"""Results of a class that workers have marked ahead of nbgrader."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.report import Report
from autograder.worker.pool import WorkerPool
from autograder.worker.task import Marked, Task


class Ahead:
    """Results of a whole class, marked by workers while nbgrader writes down those before."""

    def __init__(self, workers: WorkerPool, tasks: Iterable[Task]) -> None:
        self._results = workers.mark(tasks)
        self._next: tuple[Task, Marked] | None = None

    def look(self) -> None:
        """Wait for the first result. Raises `CourseError` if the course is not in order."""
        self._next = next(self._results, None)

    def result_of(self, student: str) -> Report:
        """What a student's result will be, for whom `take` comes next; without exercises if there is none."""
        return self._next[1].report if self._go_on_to(student) and self._next else Report(student, "")

    def take(self, task: Task) -> Marked | None:
        """The result of a task; None if the workers were given another, and it has to be done here."""
        if not self._go_on_to(task.student) or self._next is None:
            return None
        given, marked = self._next
        self._next = None
        return marked if given == task or marked.report.reason else None

    def _go_on_to(self, student: str) -> bool:
        """Are there results of this student? Those before are passed over."""
        while self._next is None or self._next[0].student != student:
            self._next = next(self._results, None)
            if self._next is None:
                return False
        return True
