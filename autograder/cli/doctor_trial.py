"""A trial on this machine: a few notebooks run in the sandbox that `autograder grade` would use.

A sandbox that starts may still be unfit, such as where student code cannot read a part of Python's library.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from autograder.cli.check_notebook import open_sandbox
from autograder.cli.doctor import GOOD, UNSAFE, Condition
from autograder.course.assignments import Course
from autograder.errors import CourseError, MachineError, SubmissionError
from autograder.judge.notebook import JudgedNotebook
from autograder.report import CellResult
from autograder.reports.rubric import points
from autograder.text import one_line
from autograder.worker.executors import first_loss, model_answer
from autograder.worker.worker import Worker, one_worker
from cellcage import ForkServer, Limits
from cellcage.notebook_calls import Terms, read
from cellcage.protocol.calls import Call, Reply

ANSWER = "def doubled(numbers):\n    return [2 * number for number in numbers]"
# The loop survives an interrupt, so its process must be ended from outside.
LOOP = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
LOOP_SECONDS = 0.5  # until it is interrupted; one second later its process is ended


def trial(course: Course | None) -> Iterator[Condition]:
    """Try an endless loop and an answer. With a course, the answer is its first assignment's model answer."""
    try:
        with contextlib.ExitStack() as opened:
            worker = opened.enter_context(one_worker(course)) if course else None
            students = worker.students if worker else opened.enter_context(open_sandbox())
            yield _loop(students)
            yield _model_answer(worker, course) if worker and course else _answer(students)
    except MachineError as error:
        yield _failed(
            "trial", str(error), "no submission can be run", "fix what the lines above say, then run this again"
        )


@contextlib.contextmanager
def _run(students: ForkServer, cells: Sequence[str], limits: Limits) -> Iterator[JudgedNotebook]:
    """A notebook whose cells have run in the sandbox."""
    with students.process(limits) as process, JudgedNotebook(cells, limits, process) as notebook:
        yield notebook


def _loop(students: ForkServer) -> Condition:
    limits = Limits(cell_seconds=LOOP_SECONDS, cell_seconds_again=LOOP_SECONDS)
    started = time.monotonic()
    with _run(students, [LOOP], limits) as notebook:
        (result,) = notebook.results
    if result.ran_out_of_time:
        took = f"ended after {time.monotonic() - started:.1f} seconds"
        return Condition("endless loop", GOOD, took, "a submission that does not end costs only its own marks")
    return _failed("endless loop", _outcome(result), "a submission may keep the machine busy", "report this as a fault")


def _answer(students: ForkServer) -> Condition:
    """Call a function as hidden tests do. It is used without a course, since there are no hidden tests then."""
    with _run(students, [ANSWER], Limits()) as notebook, contextlib.closing(notebook.begin(Terms())) as exercise:
        answer = read(next(exercise.ask([(Call("doubled", ([1, 2],)), None)])))
    if isinstance(answer, Reply) and answer.value == [2, 4]:
        return Condition("answer", GOOD, "right", "functions of a notebook can be called")
    return _failed("answer", one_line(f"{answer}")[:200], "right answers get no marks", "report this as a fault")


def _model_answer(worker: Worker, course: Course) -> Condition:
    """Grade the source notebook of the first assignment, which has the solutions in it."""
    means = "right answers do not get their marks"
    try:
        assignment = next(iter(course.assignments.values()), None)
        if assignment is None:
            return Condition("model answer", GOOD, "no assignment yet", "there is nothing to grade")
        report = worker.mark(model_answer(assignment, assignment.version)).report
    except (CourseError, SubmissionError) as error:
        return _failed("model answer", str(error), means, "autograder dev check")
    marks = f"{points(report.score)} of {points(report.max_score)} points in {assignment.name}"
    if loss := first_loss(report):
        remedy = f"fix what the lines above say; if there is nothing, autograder dev check {assignment.name}"
        return _failed("model answer", report.reason or f"{marks} ({loss})", means, remedy)
    return Condition("model answer", GOOD, marks, "right answers get full marks")


def _outcome(result: CellResult) -> str:
    return result.stopped or ": ".join(filter(None, (result.error, result.text))) or "it came to an end"


def _failed(what: str, found: str, means: str, remedy: str) -> Condition:
    return Condition(what, UNSAFE, one_line(found)[:300], means, remedy)
