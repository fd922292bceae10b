"""A trial on this machine: a few notebooks run as `autograder grade` would run them, in the sandbox that it would use.

That there is a sandbox says nothing of what works in it. If student code may not read a part of Python's library, right
answers lose marks, and nothing else shows it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.cli.check_notebook import open_sandbox
from autograder.cli.condition import GOOD, UNSAFE, Condition
from autograder.course import Course
from autograder.errors import CourseError, MachineError
from autograder.judge.exercise_calls import read
from autograder.judge.notebook import Notebook
from autograder.report import CellResult, Report
from autograder.reports.plain_text import points
from autograder.sandbox.backends.places import open_to_all
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol.calls import Call, Reply
from autograder.sandbox.supervisor.fork_server import ForkServer, FreshChildren
from autograder.submission import code_cells, read_notebook
from autograder.testing.callbacks import Questions
from autograder.text import one_line
from autograder.worker.task import Task
from autograder.worker.worker import Worker, one_worker

# What students import: modules of Python itself, some of which load a compiled file, and the two libraries.
IMPORTED = (
    "collections", "copy", "dataclasses", "datetime", "decimal", "fractions", "functools", "hashlib", "heapq",
    "itertools", "json", "math", "operator", "random", "re", "statistics", "string", "time", "typing", "numpy", "torch",
)  # fmt: skip
LIBRARIES = ("numpy", "torch")  # they may be missing: that is another line's
ANSWER = "def doubled(numbers):\n    return [2 * number for number in numbers]"
# It goes on when it is interrupted, so it must be ended from outside.
LOOP = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
LOOP_SECONDS = 0.5  # before it is interrupted; one second later it is ended
SHOWN = 3  # modules that are named, if more cannot be imported


def trial(course: Course | None) -> Iterator[Condition]:
    """What came of imports, an endless loop and an answer: with a course, the model answer to its first assignment."""
    try:
        with contextlib.ExitStack() as opened:
            worker = opened.enter_context(one_worker(course)) if course else None
            students = worker.students if worker else opened.enter_context(open_sandbox())
            yield _imports(students)
            yield _loop(students)
            yield _model_answer(worker) if worker else _answer(students)
    except MachineError as error:
        yield _failed("trial", str(error), "no submission can be run", "see the lines above, then ask again")


@contextlib.contextmanager
def _run(students: ForkServer, cells: Sequence[str], limits: Limits) -> Iterator[Notebook]:
    """A notebook whose cells have run in the sandbox."""
    with FreshChildren(students, limits) as fresh, Notebook(cells, limits, fresh) as notebook:
        yield notebook


def _imports(students: ForkServer) -> Condition:
    names = [name for name in IMPORTED if name not in LIBRARIES or importlib.util.find_spec(name)]
    with _run(students, [f"import {name}" for name in names], Limits()) as notebook:
        failed = {
            name: _said(one) for name, one in zip(names, notebook.results, strict=True) if one.error or one.stopped
        }
    if not failed:
        return Condition("imports", GOOD, f"{len(names)} modules", "student code finds what it imports")
    first = next(iter(failed.values()))
    more = f", and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
    found = f"{', '.join(list(failed)[:SHOWN])}{more} cannot be imported ({first})"
    return _failed("imports", found, "right answers that import them lose marks", _reach())


def _reach() -> str:
    """How student code gets to Python's library."""
    if os.getuid() == 0 and not open_to_all(sys.base_prefix):
        outside = Path(sys.base_prefix).resolve().parents[-2]
        return f"a Python outside {outside}, an ordinary user, or in Docker --cap-add DAC_READ_SEARCH"
    return f"see that every user can read {sys.base_prefix} and {sys.prefix}"


def _loop(students: ForkServer) -> Condition:
    limits = Limits(cell_seconds=LOOP_SECONDS, cell_seconds_again=LOOP_SECONDS)
    started = time.monotonic()
    with _run(students, [LOOP], limits) as notebook:
        (result,) = notebook.results
    if result.ran_out_of_time:
        took = f"ended after {time.monotonic() - started:.1f} seconds"
        return Condition("endless loop", GOOD, took, "a submission that does not end costs its own marks alone")
    return _failed("endless loop", _said(result), "a submission may keep the machine busy", "report this as a fault")


def _answer(students: ForkServer) -> Condition:
    """A call as a suite makes it; there is no suite here."""
    with _run(students, [ANSWER], Limits()) as notebook, contextlib.closing(notebook.begin(Questions({}))) as exercise:
        got = read(next(exercise.ask([(Call("doubled", ([1, 2],)), None)])))
    if isinstance(got, Reply) and got.value == [2, 4]:
        return Condition("answer", GOOD, "right", "functions of a notebook can be called")
    return _failed("answer", one_line(f"{got}")[:200], "right answers get no marks", "report this as a fault")


def _model_answer(worker: Worker) -> Condition:
    """The first assignment's own notebook, which has the solutions in it."""
    means = "right answers do not get their marks"
    try:
        assignment = next(iter(worker.course.assignments().values()), None)
        if assignment is None:
            return Condition("model answer", GOOD, "no assignment yet", "there is nothing to grade")
        cells = code_cells(read_notebook(assignment.notebook), assignment.locked_cells)
        report = worker.mark(Task("doctor", assignment.name, assignment.version()).of(cells)).report
    except CourseError as error:
        return _failed("model answer", str(error), means, "autograder dev check")
    marks = f"{points(report.score)} of {points(report.max_score)} points in {assignment.name}"
    if report.reason or report.score < report.max_score:
        remedy = f"mend what the lines above say; if there is nothing, autograder dev check {assignment.name}"
        return _failed("model answer", report.reason or f"{marks} ({_first_loss(report)})", means, remedy)
    return Condition("model answer", GOOD, marks, "right answers get full marks")


def _first_loss(report: Report) -> str:
    """What the first test that failed says, or asks."""
    return next(
        f"{e.name}: {t.message or t.sentence}" for e in report.exercises for t in e.tests if t.state != "passed"
    )


def _said(result: CellResult) -> str:
    """What a cell ran into; nothing if it ended as it should."""
    return result.stopped or ": ".join(filter(None, (result.error, result.text))) or "it came to an end"


def _failed(what: str, found: str, means: str, remedy: str) -> Condition:
    return Condition(what, UNSAFE, one_line(found)[:300], means, remedy)
