"""One submission on its way: what a worker is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from autograder.course import Exercise
from autograder.errors import SubmissionError
from autograder.report import CellResult, Report
from autograder.submission import Cell, ModelFile, Submission, code_cells, model_beside, read_notebook
from autograder.text import one_line


@dataclass(frozen=True)
class Task:
    """One submission on its way to a worker. `problem` is set if there is nothing to grade.

    `version` is the course's: a worker with another one refuses. `exercises` are the assignment's own if not given.
    `model` is the saved model that came with it, if any. `for_page` is set if somebody will look at its feedback page:
    then pictures are drawn, and cells that only show something run, too. `by_author` is set for the course's own
    notebooks, which are judged even by a suite that its own solution fails. `locked` are the places among `cells` of
    those that no student writes in, each with its grade_id.
    """

    student: str
    assignment: str
    version: str
    cells: tuple[str, ...] = ()
    problem: str | None = None
    exercises: tuple[Exercise, ...] | None = None
    for_page: bool = False
    model: ModelFile | None = None
    by_author: bool = False
    locked: tuple[tuple[int, str], ...] = ()

    def of(self, cells: Iterable[Cell]) -> Task:
        """The same with these cells."""
        found = list(cells)
        locked = tuple((number, cell.locked) for number, cell in enumerate(found) if cell.locked)
        return replace(self, cells=tuple(cell.source for cell in found), locked=locked)


@dataclass(frozen=True)
class Marked:
    """What comes back: the report, and what running each cell gave. Did the machine fail, and nothing else?"""

    report: Report
    cells: tuple[CellResult, ...] = ()
    machine_failed: bool = False


def as_task(submission: Submission, version: str, locked: Mapping[str, str]) -> Task:
    """Read a submission; one that cannot be read becomes a task with its problem.

    locked: the assignment's cells that no student writes in, see `Assignment.locked_cells`
    """
    task = Task(submission.student, submission.assignment, version, problem=submission.problem)
    if task.problem:
        return task
    try:
        cells = code_cells(read_notebook(submission.path), locked)
    except SubmissionError as error:
        return replace(task, problem=str(error))
    return replace(task.of(cells), model=model_beside(submission))


def failed(task: Task, reason: str, max_score: float = 0.0) -> Report:
    """A report that says why there is no mark."""
    return Report(task.student, task.assignment, (), max_score, one_line(reason))
