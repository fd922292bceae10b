"""Every run starts by grading the model answer of each assignment, in the same sandbox with the same limits.

If it does not get full marks, right submissions would lose marks, too. Then nobody is graded in that assignment.
"""

from __future__ import annotations

import platform
import threading
from dataclasses import dataclass, field, replace

from autograder.course.assignments import Assignment
from autograder.errors import SubmissionError
from autograder.report import Report
from autograder.submission import code_cells, read_notebook
from autograder.task import Marked, Task
from autograder.worker.worker import Worker

MODEL_ANSWER = "the model answer"  # in place of a student
REFUSED = (
    "nobody is graded in {name}, and no mark has changed, because its model answer does not get full marks on the "
    "machine {machine} ({why}). `autograder doctor` looks for the cause on that machine, `autograder dev check {name}` "
    "in the course. Then run the same command again"
)
# So many submissions in a row that the machine could not run: then it may have broken down during the run.
MACHINE_FAILURES = 3


@dataclass
class _Check:
    """One model answer. Only one thread grades it; others wait for the lock. why_not: None until it was graded"""

    lock: threading.Lock = field(default_factory=threading.Lock)
    why_not: str | None = None


class ModelAnswers:
    """The model answers that were graded in this process, for one course and all runs that share its workers."""

    def __init__(self) -> None:
        self._checks: dict[tuple[str, str, str], _Check] = {}
        self._failures = 0  # of the machine, in a row

    def why_refused(self, worker: Worker, task: Task, run: str) -> str:
        """Why nobody is graded in a task's assignment; empty if the model answer gets full marks.

        It is graded once in each run. Raises `CourseError`.
        """
        check = self._checks.setdefault((run, task.assignment, task.version), _Check())
        with check.lock:
            if check.why_not is None:
                why = _loss(worker, task)
                check.why_not = REFUSED.format(name=task.assignment, machine=platform.node(), why=why) if why else ""
            return check.why_not

    def note(self, marked: Marked) -> None:
        """Count the machine's failures. After some in a row, all model answers have to be graded once more.

        Three submissions could fail on purpose to end a run. The model answer could not.
        """
        self._failures = self._failures + 1 if marked.machine_failed else 0
        if self._failures >= MACHINE_FAILURES:
            self._checks, self._failures = {}, 0


def model_answer(assignment: Assignment, version: str) -> Task:
    """The source notebook, which has the solutions in it, as a submission. Raises `SubmissionError`."""
    cells = code_cells(read_notebook(assignment.notebook), assignment.locked_cells)
    return Task(MODEL_ANSWER, assignment.name, version).of(cells)


def first_loss(report: Report) -> str:
    """What the first failed test says, with its exercise, or why nothing could be graded; empty for full marks."""
    if report.reason:
        return report.reason
    for exercise in report.exercises:
        if not exercise.is_full:
            failed = next(test for test in exercise.tests if test.state != "passed")
            said = (failed.message.rstrip("."), exercise.evidence.rstrip("."))
            return f"{exercise.name}, {failed.sentence.rstrip('.')}: {'. '.join(filter(None, said))}"
    return ""


def _loss(worker: Worker, submitted: Task) -> str:
    """The first loss, with the exercises of a submission's task; what they count may be only a trial."""
    assignment = worker.judges.assignment(submitted)
    try:
        task = replace(model_answer(assignment, submitted.version), exercises=submitted.exercises)
    except SubmissionError as error:
        return str(error)
    marked = worker.mark(task)
    if marked.machine_failed:  # such as a process that was ended from outside
        marked = worker.mark(task)
    return first_loss(marked.report)
