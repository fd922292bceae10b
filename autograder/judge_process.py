"""The judge: a child of the judges' fork server, which judges one submission.

The fork server has loaded the course (hidden tests, reference, known mistakes) and has seen no submission. A child gets
one submission, talks to the student's process, and returns one verdict of a fixed form. It may start no process, open
no socket and write no file. When it is done it ends, with everything that it has read.

`autograder.task` defines what worker and judge say to each other.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from autograder.course.assignments import Assignment, Course, Exercise
from autograder.course.loading import TimeIsUp
from autograder.errors import CourseError, MachineError
from autograder.explain import explaining
from autograder.explain.material import Material, material_of
from autograder.judge.assert_cells import judge_assert_cells
from autograder.judge.judging import bare, mark
from autograder.judge.notebook import DisplayCell, JudgedNotebook, display_cells
from autograder.report import CellResult, ExerciseResult, Verdict
from autograder.task import CourseSetting, FromJudge, Opened, Preparation, Task
from autograder.text import one_line
from cellcage import Limits, Process
from cellcage.child import gather_pages, silence
from cellcage.protocol import frames
from cellcage.protocol.messages import FROM_NOTEBOOK, Used

MAX_PRINTED = 1_000_000  # characters of all cells together; at four bytes each, half of a verdict's limit
MAX_RICH = 3_000_000  # bytes of all pictures and tables together
CUT = "... (the output was cut: the notebook's cells printed too much)"
MAX_ERROR = 200  # characters of an error of the engine itself


@dataclass(frozen=True)
class _Loaded:
    """An assignment with everything that a child needs, since a child may not be allowed to read the course's files.

    prepared: exercises whose hypotheses' answers are known
    """

    assignment: Assignment
    material: Material
    display_cells: Mapping[str, DisplayCell]
    prepared: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, assignment: Assignment) -> _Loaded:
        """The assignment, read from its files. Raises `CourseError`."""
        shown, material = display_cells(assignment.source.display_cells), material_of(assignment)
        # Read and computed here, once for all children.
        _ = assignment.source.assert_cells, assignment.beside
        _ = material.plan.by_exercise, material.plan.right, material.plan.watched
        return cls(assignment, material, shown)

    def require_passing_reference(self, exercises: Sequence[Exercise]) -> None:
        """Raises `CourseError` if the reference fails a hidden test, which would cost every student marks.

        Withdrawn exercises do not matter: everybody gets all their points.
        """
        withdrawn = {exercise.name for exercise in exercises if exercise.withdrawn}
        broken = [one for one in self.material.plan.broken if one[0].exercise not in withdrawn]
        if not broken:
            return
        (test, where, message), *more = broken
        others = f", and {len(more)} more" if more else ""
        raise CourseError(
            f"{self.assignment.content / test.exercise}: the solution itself fails {test.exercise}, {test.name} "
            f"({where}, {one_line(message):.200}){others}. "
            f"Nothing was graded; `autograder dev check {self.assignment.name}` says what to fix, and "
            f"`autograder withdraw {test.exercise}` goes on without it"
        )


def _opened(worker: socket.socket) -> tuple[socket.socket, socket.socket]:
    """The sockets of a notebook process that the worker opens, see `Process`. Raises `MachineError`."""
    frames.send(worker, FromJudge(open=True))
    opened, descriptors = frames.receive_with_descriptors(worker, Opened)
    if len(descriptors) != 2:
        raise MachineError(opened.failed or "no sandbox could be opened")
    return socket.socket(fileno=descriptors[0]), socket.socket(fileno=descriptors[1])


def _readable(results: Sequence[CellResult]) -> Iterator[CellResult]:
    """Cell output, cut to the size that a verdict may have."""
    left, rich_left = MAX_PRINTED, MAX_RICH
    for result in results:
        rich_left -= sum(len(form) for _, form in result.rich)
        result = result if rich_left >= 0 else structs.replace(result, rich=())
        size = len(result.printed) + sum(len(text) for _, _, text in result.lines) + len(result.text)
        yield result if size <= left else structs.replace(result, printed=CUT, text="", lines=())
        left -= size


class Judge:
    """What the fork server loads and every judge starts with: a course and some of its assignments."""

    def __init__(self) -> None:
        self._setting: CourseSetting | None = None
        self._loaded: dict[str, _Loaded] = {}

    def warm_up(self, setting: Mapping[str, object]) -> None:
        """Remember the course."""
        self._setting = msgspec.convert(setting, CourseSetting)
        frames.make_readers(Task, Opened, Used, *FROM_NOTEBOOK)

    def prepare(self, needed: object) -> None:
        """Load an assignment, and hypotheses' answers in some exercises. Raises `CourseError`.

        needed: a `Preparation`
        """
        assert self._setting is not None
        needed = msgspec.convert(needed, Preparation)
        if needed.assignment not in self._loaded:
            course = Course(Path(self._setting.root), Path(self._setting.folder))
            self._loaded[needed.assignment] = _Loaded.of(course.assignment(needed.assignment))
            # It stays for good. A child's garbage collector need not go through it, which would copy its pages.
            gc.collect()
            gc.freeze()
            gather_pages()
        loaded = self._loaded[needed.assignment]
        for exercise in set(needed.exercises) - loaded.prepared - loaded.assignment.source.assert_cells.keys():
            loaded.prepared.add(exercise)
            assert loaded.material.hypotheses is not None
            loaded.material.hypotheses.table(exercise)

    def serve(self, sock: socket.socket, limits: Limits, sandbox: object) -> None:
        """Judge one submission."""
        gc.disable()  # the process ends before there is much to collect
        silence()
        sys.stdin = open(os.devnull)  # noqa: SIM115
        try:
            message = FromJudge(verdict=self.verdict(sock, frames.receive(sock, form=Task)))
        except (CourseError, MachineError) as error:
            message = FromJudge(broken=(type(error).__name__, str(error)))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}, line {place.lineno}"
            message = FromJudge(broken=(type(error).__name__, f"{error!s:.{MAX_ERROR}} ({where})"))
        frames.send(sock, message)

    def verdict(self, sock: socket.socket, task: Task) -> Verdict:
        """The verdict on a submission. Raises `CourseError` and `MachineError`."""
        loaded = self._loaded[task.assignment]
        assignment = loaded.assignment
        if not task.by_author:
            loaded.require_passing_reference(task.exercises)
        process = Process(partial(_opened, sock), assignment.beside, dict(task.files))
        by_asserts = dict[str, ExerciseResult]()
        if assignment.source.assert_cells:
            by_asserts = judge_assert_cells(assignment.source.assert_cells, task, process, loaded.material.terms)
        if not task.for_page and len(by_asserts) == len(task.exercises):
            return _verdict(task, by_asserts.values(), [CellResult()] * len(task.cells), loaded.material)
        material = loaded.material
        others = [exercise for exercise in task.exercises if exercise.name not in by_asserts]
        checks, shows = dict(task.checks), task.for_page and assignment.source.is_classic
        with JudgedNotebook(task.cells, task.limits, process, loaded.display_cells, checks, shows) as notebook:
            judged = mark(material, notebook, others)
            if notebook.machine_failed:
                raise notebook.machine_failed
            results = bare(judged)
            for steps in explaining.GRADING_FOR_PAGE if task.for_page else explaining.GRADING:
                known = _verdict(task, [*by_asserts.values(), *results], notebook.results, material)
                frames.send(sock, FromJudge(marks=known))
                results = explaining.explain(material, notebook, judged, results, steps, explaining.SUBMISSION_SECONDS)
            if task.for_page:
                with contextlib.suppress(Exception, TimeIsUp), explaining.in_time():
                    notebook.show()
            return _verdict(task, [*by_asserts.values(), *results], notebook.results, material)


def _verdict(task: Task, results: Iterable[ExerciseResult], cells: Sequence[CellResult], material: Material) -> Verdict:
    """The results in the order of the task, with what a person should look at in the cells, and the cells' output."""
    found = {one.name: one.adding(*(material.in_text(task.cells, one.name) if one.score else ())) for one in results}
    return Verdict(tuple(found[exercise.name] for exercise in task.exercises), tuple(_readable(cells)))
