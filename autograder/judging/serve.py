"""Guest of the judges' host: one submission judged in a process of its own.

The host has loaded the course (suite, reference, known mistakes) and has seen no submission. A fork gets one,
talks to the student's process, and gives back one verdict of a fixed form. It may start no process, open no socket,
write nowhere; when it is done it ends, with all that it has read.

    worker -> judge   the task: cells, points; and, each time it asks for one, a socket to a fresh notebook
    judge -> worker   {"open": true}, {"ending": ...} if it wants to know how that ended, and last {"verdict": ...}
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import content
from autograder.course import Assignment, Course, Exercise, ModelPlan
from autograder.diagnosis import prints
from autograder.diagnosis.catalogue import read_catalogue
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.errors import CourseError, MachineError
from autograder.judging.judge import Material, judge
from autograder.judging.notebook import Notebook
from autograder.judging.showing import Showing, showing_cells
from autograder.report import CellResult, Verdict
from autograder.sandbox.inside import walls
from autograder.sandbox.inside.host import silence
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.ending import Ending, ending_in
from autograder.sandbox.wall import Wall
from autograder.submission import ModelFile
from autograder.suites import ready_made
from autograder.suites.rehearsal import Rehearsal, rehearse
from autograder.suites.suite import Suite
from autograder.text import one_line

STRANGERS = False
PRINTED = 1_000_000  # characters of all cells together; four bytes each, they are half of what a verdict may have
CUT = "... (the output was cut: the notebook's cells printed too much)"
WORDS = 200  # characters of what went wrong in the kit itself


@dataclass(frozen=True)
class _Ready:
    """An assignment, loaded with all that a fork needs, which may have no right to read the course's files."""

    assignment: Assignment
    material: Material
    plan: ModelPlan | None
    reference: ModuleType
    prepared: set[str]
    showing: Mapping[str, Showing]


_ready: dict[str, _Ready] = {}
_course: Course
_answered: dict[str, ready_made.Answered] = {}


def warm_up(setting: dict[str, Any]) -> None:
    """Remember which course it is."""
    global _course, _answered
    _course = Course(Path(setting["root"]), Path(setting["folder"]))
    _answered = ready_made.answered_in(content.sandbox_setting(_course.folder)["ready_made"])


def prepare(message: dict[str, Any]) -> None:
    """Load an assignment, and know what its known mistakes answer in the exercises named. Raises `CourseError`."""
    name = message["assignment"]
    if name not in _ready:
        _ready[name] = _load(_course.assignment(name))
        # Kept for good: no fork's collector need look through it, which would copy its pages.
        gc.collect()
        gc.freeze()
        walls.gather_pages()
    ready = _ready[name]
    for exercise in set(message["prepare"]) - ready.prepared:
        ready.prepared.add(exercise)
        assert ready.material.hypotheses is not None
        ready.material.hypotheses.prepare(exercise)


def material_of(assignment: Assignment, keeps: bool = True) -> Material:
    """What the hidden suite judges with. Raises `CourseError`.

    keeps: may what hypotheses answer come from the file beside the catalogue?
    """
    module = assignment.reference()
    suite = Suite(assignment.suites)
    names = vars(module)
    _check_names(assignment, suite, names)
    rehearsal = rehearse(suite, names)
    kept = prints.read(assignment.content) if keeps else {}
    hypotheses = Hypotheses(read_catalogue(assignment.mistakes), names, rehearsal.plans, kept)
    examples = {p.parent.name: content.load(p).PICTURE for p in assignment.files("picture.py") if p.is_file()}
    relations = content.course_relations(assignment.content.parent)
    return Material(suite, names, rehearsal, hypotheses, assignment.brought, examples, relations)


def _load(assignment: Assignment) -> _Ready:
    showing = showing_cells(assignment.only_shows)
    return _Ready(assignment, material_of(assignment), assignment.saved_model, assignment.reference(), set(), showing)


def _must_be_in_order(assignment: Assignment, rehearsal: Rehearsal) -> None:
    """A suite that its own reference fails would cost every student marks. Raises `CourseError`."""
    if not rehearsal.broken:
        return
    (test, where, said), *more = rehearsal.broken
    others = f", and {len(more)} more" if more else ""
    raise CourseError(
        f"{assignment.content / test.exercise}: the solution itself fails {test.exercise}, {test.name} "
        f"({where}, {one_line(said):.200}){others}. "
        f"Nothing was graded; `autograder dev check {assignment.name}` says what to mend"
    )


def _check_names(assignment: Assignment, suite: Suite, names: Any) -> None:
    """The notebook's exercises have tests, and what it asks students to bring has a reference."""
    missing = [exercise.name for exercise in assignment.exercises if exercise.name not in suite.exercises()]
    if missing:
        raise CourseError(
            f"{suite.folder}: no tests for {', '.join(missing)}; {assignment.notebook} has check cells of those names"
        )
    unknown = [name for name in assignment.brought if name not in names]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
    plan = assignment.saved_model
    if plan and plan.made_of not in names:
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.saved_model: there is no {plan.made_of}")


def serve(sock: socket.socket, limits: dict[str, Any], wall: Wall) -> None:
    """Judge one submission."""
    gc.disable()  # it is gone before there is anything to collect
    silence()
    sys.stdin = open(os.devnull)  # noqa: SIM115
    try:
        message: dict[str, Any] = {"verdict": asdict(_judged(sock, frames.receive(sock)))}
    except frames.Exhausted as error:
        message = {"broken": [MachineError.__name__, str(error)]}
    except (CourseError, MachineError) as error:
        message = {"broken": [type(error).__name__, str(error)]}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        message = {"broken": [type(error).__name__, f"{error!s:.{WORDS}} ({where})"]}
    frames.send(sock, message)


def _judged(sock: socket.socket, task: dict[str, Any]) -> Verdict:
    ready = _ready[task["assignment"]]
    if not task["by_author"]:
        _must_be_in_order(ready.assignment, ready.material.rehearsal)
    exercises = [Exercise(name, points) for name, points in task["exercises"]]
    material = ready.material if task["for_page"] else replace(ready.material, examples={})
    limits = Limits(**task["limits"])

    fresh = _FromTheWorker(sock)
    with Notebook(task["cells"], limits, fresh, material.suite.watched, _answered, ready.showing) as notebook:
        results = judge(material, notebook, exercises)
        if notebook.machine_failed:
            raise notebook.machine_failed
        if task["for_page"]:
            notebook.show()
        cells = tuple(_readable(notebook.results))
    plan, model = ready.plan, task["model"]
    extra = ""
    if model is not None and plan is not None:
        said = content.saved_model_policy(_course.folder)
        extra = said(ModelFile(*model), plan, ready.reference)
    return Verdict(results, cells, extra)


class _FromTheWorker:
    """Fresh notebooks' processes, which the worker opens."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def open(self) -> socket.socket:
        """The socket of a fresh one. Raises `MachineError`."""
        frames.send(self._sock, {"open": True})
        message, descriptors = frames.receive_with_descriptors(self._sock)
        if not descriptors:
            raise MachineError(str(message.get("failed", "no sandbox could be opened")))
        return socket.socket(fileno=descriptors[0])

    def ending(self, ends: bool = True) -> Ending:
        """How the last one ended."""
        frames.send(self._sock, {"ending": ends})
        return ending_in(frames.receive(self._sock).get("ending"))


def _readable(results: Sequence[CellResult]) -> Iterator[CellResult]:
    """As much of what cells printed and raised as a person would read, and a verdict may hold."""
    left = PRINTED
    for result in results:
        words = len(result.printed) + sum(len(text) for _, _, text in result.lines) + len(result.text)
        yield result if words <= left else replace(result, printed=CUT, text="", lines=())
        left -= words
