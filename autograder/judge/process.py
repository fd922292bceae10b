"""Child of the judges' fork server: one submission judged in a process of its own.

The fork server has loaded the course (suite, reference, known mistakes) and has seen no submission. A fork gets one,
talks to the student's process, and gives back one verdict of a fixed form. It may start no process, open no socket,
write nowhere; when it is done it ends, with all that it has read.

What the worker and a judge say to each other is in `autograder.messages`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec import structs

from autograder import content
from autograder.assert_cells import AssertCell
from autograder.course import Assignment, Course
from autograder.diagnosis import fingerprints
from autograder.diagnosis.catalogue import read_catalogue
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.errors import CourseError, MachineError
from autograder.judge.assert_cells import judge_assert_cells
from autograder.judge.display_cells import DisplayCell, display_cells
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.judge.notebook import Notebook
from autograder.judge.results import with_cell_errors
from autograder.messages import Ended, FromJudge, Grown, Opened, Order, Setting
from autograder.report import CellResult, ExerciseResult, Verdict
from autograder.sandbox.backends import Judges, Students
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.ending import Ending
from autograder.sandbox.protocol.messages import Files, Preparation
from autograder.sandbox.sandboxed.fork_server import silence
from autograder.source_notebook import ModelPlan
from autograder.testing import forbidden
from autograder.testing.example import Example, example_in
from autograder.testing.recording import Recording, record, variants
from autograder.testing.session import Suite
from autograder.testing.variants import variant_of
from autograder.text import one_line

PRINTED = 1_000_000  # characters of all cells together; four bytes each, they are half of what a verdict may have
CUT = "... (the output was cut: the notebook's cells printed too much)"
FILES_SECONDS = 60.0  # until a notebook has read its files; it may still begin
WORDS = 200  # characters of what went wrong in the kit itself


@dataclass(frozen=True)
class _Ready:
    """An assignment, loaded with all that a fork needs, which may have no right to read the course's files."""

    assignment: Assignment
    material: Material
    plan: ModelPlan | None
    reference: ModuleType
    showing: Mapping[str, DisplayCell]
    assert_cells: Mapping[str, AssertCell]
    files: Mapping[str, bytes]
    prepared: set[str] = field(default_factory=set)


def material_of(assignment: Assignment, keeps: bool = True) -> Material:
    """What the hidden tests judges with. Raises `CourseError`.

    keeps: may what hypotheses answer come from the file beside the catalogue?
    """
    module = assignment.reference()
    suite = Suite(assignment.suites)
    names = vars(module)
    _check_names(assignment, suite, names)
    recording = record(suite, names)
    kept = fingerprints.read(assignment.content) if keeps else {}
    hypotheses = Hypotheses(read_catalogue(assignment.mistakes), names, recording.plans, kept)
    examples = dict[str, Example]()
    for path in assignment.files("picture.toml"):
        with contextlib.suppress(CourseError):  # no mark depends on it, and `dev check` says it
            if example := example_in(path):
                examples[path.parent.name] = example
    relations = content.course_relations(assignment.content.parent)
    return Material(suite, names, recording, hypotheses, assignment.prerequisites, examples, relations)


def _load(assignment: Assignment, secret: str) -> _Ready:
    showing, material, names = display_cells(assignment.display_cells), material_of(assignment), assignment.reference()
    others = variants(material.suite, material.reference, material.recording, secret)
    for one in others:
        assert one.plans is not None and one.right is not None  # known from now on, in every fork
    plan, asserts = assignment.saved_model, assignment.assert_cells
    return _Ready(assignment, replace(material, variants=others), plan, names, showing, asserts, assignment.beside)


def _must_be_in_order(assignment: Assignment, recording: Recording) -> None:
    """A suite that its own reference fails would cost every student marks. Raises `CourseError`.

    Of an exercise that is withdrawn everybody has all points.
    """
    broken = [one for one in recording.broken if one[0].exercise not in assignment.withdrawn]
    if not broken:
        return
    (test, where, said), *more = broken
    others = f", and {len(more)} more" if more else ""
    raise CourseError(
        f"{assignment.content / test.exercise}: the solution itself fails {test.exercise}, {test.name} "
        f"({where}, {one_line(said):.200}){others}. "
        f"Nothing was graded; `autograder dev check {assignment.name}` says what to mend, and "
        f"`autograder withdraw {test.exercise}` goes on without it"
    )


def _check_names(assignment: Assignment, suite: Suite, names: Mapping[str, object]) -> None:
    """The notebook's exercises have tests, and what it asks students to bring has a reference."""
    if not assignment.exercises:
        raise CourseError(f"{assignment.notebook}: no graded cell that tests judge")
    missing = [exercise.name for exercise in assignment.by_suite if exercise.name not in suite.exercises()]
    if missing:
        raise CourseError(
            f"{suite.folder}: no tests for {', '.join(missing)}; {assignment.notebook} has check cells of those names"
        )
    unknown = [name for name in assignment.prerequisites if name not in names]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
    plan = assignment.saved_model
    if plan and plan.made_of not in names:
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.saved_model: there is no {plan.made_of}")


class _FromTheWorker:
    """Fresh notebooks' processes, which the worker opens."""

    def __init__(self, sock: socket.socket, files: Mapping[str, bytes]) -> None:
        self._sock, self._files = sock, dict(files)

    def open(self) -> socket.socket:
        """The socket of a fresh one, which finds the course's files. Raises `MachineError`."""
        frames.send(self._sock, FromJudge(open=True))
        opened, descriptors = frames.receive_with_descriptors(self._sock, Opened)
        if not descriptors:
            raise MachineError(opened.failed or "no sandbox could be opened")
        notebook = socket.socket(fileno=descriptors[0])
        if self._files:
            with contextlib.suppress(frames.Closed, frames.Deadline):  # whoever uses it meets that again
                frames.send(notebook, Files(self._files), time.monotonic() + FILES_SECONDS)
        return notebook

    def ending(self, ends: bool = True) -> Ending:
        """How the last one ended."""
        frames.send(self._sock, FromJudge(ending=ends))
        return frames.receive(self._sock, form=Ended).ending

    def grown(self, begins: bool) -> int:
        """How many bytes the last one's processes have grown by."""
        frames.send(self._sock, FromJudge(memory=begins))
        return frames.receive(self._sock, form=Grown).bytes


def _readable(results: Sequence[CellResult]) -> Iterator[CellResult]:
    """As much of what cells printed and raised as a person would read, and a verdict may hold."""
    left = PRINTED
    for result in results:
        words = len(result.printed) + sum(len(text) for _, _, text in result.lines) + len(result.text)
        yield result if words <= left else structs.replace(result, printed=CUT, text="", lines=())
        left -= words


class Judge:
    """What the judges' fork server keeps, and each judge starts with: a course, and the assignments it has loaded."""

    def __init__(self) -> None:
        self._course: Course | None = None
        self._secret = ""
        self._answered: dict[str, forbidden.Answered] = {}
        self._ready: dict[str, _Ready] = {}

    def warm_up(self, setting: Mapping[str, object]) -> None:
        """Remember which course it is."""
        at = msgspec.convert(setting, Setting)
        self._course, self._secret = Course(Path(at.root), Path(at.folder)), at.secret
        self._answered = forbidden.answered_in(content.sandbox_setting(self._course.folder)["forbidden"])

    def prepare(self, needed: Preparation) -> None:
        """Load an assignment, and know what its known mistakes answer in the exercises named. Raises `CourseError`."""
        assert self._course is not None
        if needed.assignment not in self._ready:
            self._ready[needed.assignment] = _load(self._course.assignment(needed.assignment), self._secret)
            # Kept for good: no fork's collector need look through it, which would copy its pages.
            gc.collect()
            gc.freeze()
            isolation.gather_pages()
        ready = self._ready[needed.assignment]
        for exercise in set(needed.exercises) - ready.prepared - ready.assert_cells.keys():
            ready.prepared.add(exercise)
            assert ready.material.hypotheses is not None
            ready.material.hypotheses.prepare(exercise)

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Students | Judges) -> None:
        """Judge one submission."""
        gc.disable()  # it is gone before there is anything to collect
        silence()
        sys.stdin = open(os.devnull)  # noqa: SIM115
        try:
            message = FromJudge(verdict=self.verdict(sock, frames.receive(sock, form=Order)))
        except frames.Exhausted as error:
            message = FromJudge(broken=(MachineError.__name__, str(error)))
        except (CourseError, MachineError) as error:
            message = FromJudge(broken=(type(error).__name__, str(error)))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}, line {place.lineno}"
            message = FromJudge(broken=(type(error).__name__, f"{error!s:.{WORDS}} ({where})"))
        frames.send(sock, message)

    def verdict(self, sock: socket.socket, order: Order) -> Verdict:
        """What comes of a submission. Raises `CourseError` and `MachineError`."""
        ready = self._ready[order.assignment]
        if not order.by_author:
            _must_be_in_order(ready.assignment, ready.material.recording)
        material = ready.material if order.for_page else replace(ready.material, examples={})
        material = replace(material, recording=material.variants[variant_of(order.cells, self._secret)])
        fresh, results = _FromTheWorker(sock, ready.files), dict[str, ExerciseResult]()
        cells = tuple(CellResult() for _ in order.cells)
        if order.for_page or len(ready.assert_cells) < len(order.exercises):
            by_suite, cells = self._by_suite(ready, material, order, fresh)
            results |= {one.name: one for one in by_suite}
        if ready.assert_cells:
            results |= judge_assert_cells(ready.assert_cells, order, fresh, self._answered)
        extra = ""
        if order.model is not None and ready.plan is not None:
            assert self._course is not None
            said = content.saved_model_policy(self._course.folder)
            extra = said(order.model, ready.plan, ready.reference)
        return Verdict(tuple(results[exercise.name] for exercise in order.exercises), cells, extra)

    def _by_suite(
        self, ready: _Ready, material: Material, order: Order, fresh: _FromTheWorker
    ) -> tuple[tuple[ExerciseResult, ...], tuple[CellResult, ...]]:
        """Results of the exercises that the suite judges, and what running each cell gave."""
        exercises = [exercise for exercise in order.exercises if exercise.name not in ready.assert_cells]
        shows = ready.showing, order.for_page
        with Notebook(order.cells, order.limits, fresh, material.suite.watched, self._answered, *shows) as notebook:
            results = with_cell_errors(judge(material, notebook, exercises), notebook.cells, notebook.results)
            if notebook.machine_failed:
                raise notebook.machine_failed
            return results, tuple(_readable(notebook.results))
