"""What a worker gets for one submission and hands to its judge, and what it returns."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from autograder.course.assignments import CHECK, Assignment, Exercise
from autograder.errors import SubmissionError
from autograder.report import CellResult, Report
from autograder.student_folder import notices
from autograder.submission import Cell, Submission, code_cells, read_notebook
from autograder.text import one_line
from cellcage.limits import Limits


@dataclass(frozen=True)
class Task:
    """One submission for a worker, and then for its judge, who does not learn whose it is.

    version: the course's; a worker with another version refuses the task
    problem: why there is nothing to grade, if so
    exercises: those to judge; if empty, the assignment's own
    for_page: true if there will be a feedback page: then pictures are drawn, and display cells run, too
    by_author: true for the course's own notebooks, which are judged even if the suite fails its own solution
    locked: the cells that no student writes in: their places in `cells`, and their grade_ids
    checks: exercises whose check comes before a cell: the exercise, and the first such cell's place in `cells`
    files: the student's own Python files, by place beside the notebook
    notices: sentences on what was handed in, for the report
    python: the version of Python that the notebook was last run with, if it says so
    limits: the worker sets those of its judge
    """

    student: str
    assignment: str
    version: str
    cells: tuple[str, ...] = ()
    problem: str | None = None
    exercises: tuple[Exercise, ...] = ()
    for_page: bool = False
    by_author: bool = False
    locked: tuple[tuple[int, str], ...] = ()
    checks: tuple[tuple[str, int], ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    notices: tuple[str, ...] = ()
    python: str = ""
    limits: Limits = field(default_factory=Limits)

    def of(self, cells: Iterable[Cell]) -> Task:
        """The same task with these cells."""
        cells = list(cells)
        locked = tuple((number, cell.locked) for number, cell in enumerate(cells) if cell.locked)
        places = dict[str, int]()
        for number, cell in enumerate(cells):
            for check in cell.checks:
                places.setdefault(check.removeprefix(CHECK), number)
        sources = tuple(cell.source for cell in cells)
        return replace(self, cells=sources, locked=locked, checks=tuple(places.items()))


def newer_python(python: str, cells: Iterable[CellResult]) -> str:
    """Says which Python grades if a newer one ran the notebook and a cell has a syntax error here; else empty."""
    own = sys.version_info[:2]
    if not python or tuple(map(int, python.split(".")[:2])) <= own or not any(c.error == "SyntaxError" for c in cells):
        return ""
    return f"a cell has a syntax error in Python {own[0]}.{own[1]}, which grades; the notebook ran with Python {python}"


@dataclass(frozen=True)
class Marked:
    """A report, and the result of running each cell.

    machine_failed: true if only the machine is at fault
    refused: true if nobody is graded in this assignment; the report gives the reason
    """

    report: Report
    cells: tuple[CellResult, ...] = ()
    machine_failed: bool = False
    refused: bool = False


def as_task(submission: Submission, assignment: Assignment | None, version: str) -> Task:
    """The task for a submission. If it cannot be read, the task has a problem.

    assignment: None if the course is broken, which is reported when the submission is marked
    """
    task = Task(submission.student, submission.assignment, version, problem=submission.problem)
    if task.problem or assignment is None:
        return task
    try:
        notebook = read_notebook(submission.path).with_kinds(assignment.kinds)
        cells = code_cells(notebook, assignment.locked_cells)
    except SubmissionError as error:
        return replace(task, problem=str(error))
    found = notices(submission, assignment, notebook.cells)
    return replace(task, files=submission.python.files, notices=found, python=notebook.python).of(cells)


def failed(task: Task, reason: str, max_score: float = 0.0) -> Report:
    """A report with the reason why there is no mark."""
    return Report(task.student, task.assignment, (), max_score, one_line(reason))
