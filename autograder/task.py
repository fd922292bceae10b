"""One submission's task for a worker, and what the worker and its judge say to each other about it.

The judge waits for a `Task` without a student's name. Then it sends `FromJudge` messages until one has a verdict, and
the worker answers each question in them. A judge reads what untrusted code sent, so it may have been deceived or taken
over: `read_message` trusts none of what it sends. msgspec checks types and sizes as `autograder.report` states them.
Texts that are too long are cut.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Struct, ValidationError, convert, structs

from autograder.course.assignments import Assignment, Exercise
from autograder.course.source_notebook import exercise_name
from autograder.discovery import notices
from autograder.errors import SubmissionError
from autograder.report import CellResult, ExerciseResult, Report, TestResult, Verdict
from autograder.submission import CodeCell, Submission, code_cells, read_notebook
from autograder.text import one_line
from cellcage.limits import Limits
from cellcage.wire import WireError

MAX_TEXT, MAX_PRINTED = 4_000, 25_000  # characters of a text on an exercise, and of a cell; messages have some hundred
MAX_ERROR = 500  # characters of the judge's own error
MAX_LINES, MAX_RICH, LARGEST_RICH = 8, 4, 300_000  # of a cell: lines of code, pictures and tables, and bytes of one
PNG = b"\x89PNG\r\n\x1a\n"


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
    python_version: with which the notebook was last run, if it says so
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
    python_version: str = ""
    limits: Limits = field(default_factory=Limits)

    def of(self, cells: Iterable[CodeCell]) -> Task:
        """The same task with these cells."""
        cells = list(cells)
        locked = tuple((number, cell.locked) for number, cell in enumerate(cells) if cell.locked)
        places = dict[str, int]()
        for number, cell in enumerate(cells):
            for check in cell.checks:
                places.setdefault(exercise_name(check), number)
        sources = tuple(cell.source for cell in cells)
        return replace(self, cells=sources, locked=locked, checks=tuple(places.items()))


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
        notebook = read_notebook(submission.path).with_kinds(assignment.source.kinds)
        cells = code_cells(notebook, assignment.source.locked_cells)
    except SubmissionError as error:
        return replace(task, problem=str(error))
    found = notices(submission, assignment, notebook.cells)
    return replace(task, files=submission.python.files, notices=found, python_version=notebook.python_version).of(cells)


def failed(task: Task, reason: str, max_score: float = 0.0) -> Report:
    """A report with the reason why there is no mark."""
    return Report(task.student, task.assignment, (), max_score, one_line(reason))


def newer_python(python: str, cells: Iterable[CellResult]) -> str:
    """Says which Python grades if a newer one ran the notebook and a cell has a syntax error here; else empty."""
    own = sys.version_info[:2]
    if not python or tuple(map(int, python.split(".")[:2])) <= own or not any(c.error == "SyntaxError" for c in cells):
        return ""
    return f"a cell has a syntax error in Python {own[0]}.{own[1]}, which grades; the notebook ran with Python {python}"


# ---------------------------------------------------------------- between worker and judge


class CourseSetting(Struct, frozen=True):
    """The course of a judges' fork server: its root, and the folder with its hidden tests."""

    root: str
    folder: str


class Preparation(Struct, frozen=True):
    """What the next judges will need: an assignment, and the exercises whose known mistakes should be loaded."""

    assignment: str
    exercises: tuple[str, ...] = ()


class FromJudge(Struct, frozen=True, omit_defaults=True):
    """A judge's message. Exactly one field is set.

    marks: the verdict so far: bare as soon as the marks are fixed, and again when each exercise is explained. If no
        verdict follows, the worker uses the last one
    open: asks for a fresh notebook; the answer is `Opened`
    verdict: the last message
    broken: the last message if there is no verdict: the kind of the error, and its text
    """

    open: bool = False
    marks: Verdict | None = None
    verdict: Verdict | None = None
    broken: tuple[str, str] | None = None


class Opened(Struct, frozen=True):
    """A fresh notebook's two sockets come with this (see `cellcage.Process`); or `failed` says why there are none.

    On the second one the students' fork server says how that notebook ended, grew and computed.
    """

    failed: str = ""


NOTHING = FromJudge()


def read_message(data: object, exercises: Sequence[Exercise], cells: int) -> FromJudge:
    """A judge's message in `data`. A verdict must be on exactly these exercises and this number of cells.

    Raises `WireError`, and nothing else, if `data` is anything else.
    """
    try:
        message = convert(data, FromJudge)
    except (ValidationError, RecursionError) as error:
        raise WireError(str(error)) from None
    if sum(value != getattr(NOTHING, name) for name, value in structs.asdict(message).items()) != 1:
        raise WireError("it does not say one thing")
    verdicts = {"marks": message.marks, "verdict": message.verdict}
    checked = {name: found and _verdict(found, exercises, cells) for name, found in verdicts.items()}
    broken = _with_texts(message.broken, lambda text: text[:MAX_ERROR])
    return structs.replace(message, broken=broken, **checked)


def _verdict(found: Verdict, exercises: Sequence[Exercise], cells: int) -> Verdict:
    if len(found.exercises) != len(exercises) or len(found.cells) != cells:
        raise WireError("it is not on these exercises and cells")
    for one, expected in zip(found.exercises, exercises, strict=True):
        _check_exercise(one, expected)
    results = _with_texts(found.exercises, lambda text: one_line(text[:MAX_TEXT]))
    return Verdict(results, _with_texts(tuple(map(_shown, found.cells)), lambda text: text[:MAX_PRINTED]))


def _with_texts(value: Any, make: Callable[[str], str]) -> Any:
    """The value with `make` applied to every text in it."""
    if isinstance(value, str):
        return make(value)
    if isinstance(value, tuple):
        return tuple(_with_texts(one, make) for one in value)
    if isinstance(value, Struct):
        fields = structs.asdict(value).items()
        return structs.replace(value, **{name: _with_texts(one, make) for name, one in fields})
    return value


def _check_exercise(found: ExerciseResult, expected: Exercise) -> None:
    if found.name != expected.name or found.max_score != expected.points:
        raise WireError(f"it is not about {expected.name} and its points")
    points = sum(test.max_score for test in found.tests)
    if not found.tests or not math.isfinite(points) or abs(points - expected.points) > 1e-3 * len(found.tests):
        raise WireError(f"the tests of {expected.name} do not add up to its points")
    if not all(map(_fits_its_state, found.tests)):
        raise WireError("a test's points do not go with its state")


def _fits_its_state(test: TestResult) -> bool:
    is_partial = test.state == "failed" and test.score < test.max_score
    return is_partial or test.score == (test.max_score if test.state == "passed" else 0)


def _shown(cell: CellResult) -> CellResult:
    """The cell without what a page must not show: anything but pictures, and texts that the page cleans."""
    rich = tuple(one for one in cell.rich[:MAX_RICH] if _may_be_shown(*one))
    return structs.replace(cell, lines=cell.lines[:MAX_LINES], rich=rich)


def _may_be_shown(kind: str, form: bytes) -> bool:
    return len(form) <= LARGEST_RICH and (kind == "text/html" or (kind == "image/png" and form.startswith(PNG)))
