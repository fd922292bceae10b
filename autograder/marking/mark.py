"""From one submission to one report.

with Marker(assignment, sandbox) as marker:
    report, printed = marker.mark_cells(student, cells)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from autograder import content
from autograder.course import Assignment, Exercise
from autograder.errors import CourseError
from autograder.judging import saved_model
from autograder.judging.catalogue import read_catalogue
from autograder.judging.diagnosis import Diagnoser
from autograder.judging.foresight import rehearse
from autograder.judging.judge import judge
from autograder.judging.picture import draw
from autograder.judging.suite import Suite
from autograder.judging.transport import Behind
from autograder.report import Report
from autograder.sandbox.limits import Limits
from autograder.sandbox.outside.client import CellResult, Sandbox
from autograder.submission import ModelFile
from autograder.text import one_line


class Marker:
    """Marks submissions of one assignment: the suite collected and the reference loaded once."""

    def __init__(self, assignment: Assignment, sandbox: Sandbox) -> None:
        self.assignment = assignment
        self.sandbox = sandbox
        self.limits = _limits(assignment, sandbox)
        sandbox.warm_up()  # while the reference is loaded
        self.module = assignment.reference()
        _one_thread()
        self.plan = assignment.saved_model
        self.pictures = content.pictures(assignment.content)
        self.suite = Suite(assignment.suite)
        self.foresight = rehearse(self.suite, self.module)
        self.diagnoser = Diagnoser(read_catalogue(assignment.suite), vars(self.module))
        _check_names(assignment, self.suite, self.module)

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the suite's session; the sandbox stays."""
        self.suite.close()

    def failed(self, student: str, reason: str) -> Report:
        """A report that says why there is no mark."""
        return Report(student, self.assignment.name, (), self.assignment.max_score, one_line(reason))

    def mark_cells(
        self,
        student: str,
        cells: list[str],
        exercises: Sequence[Exercise] | None = None,
        pictures: bool = False,
        model: ModelFile | None = None,
    ) -> tuple[Report, list[CellResult]]:
        """Run `cells`, then judge each exercise; also what running each cell gave.

        With `pictures`, an exercise's result holds what it gives on the visible example. `model` is the saved model
        that came with it; the report's `extra` says what it can do.
        """
        exercises = self.assignment.exercises if exercises is None else exercises
        with self.sandbox.open(cells, self.limits, self.suite.watch) as running:
            behind = Behind(running, self.module, self.foresight)
            results = judge(self.suite, behind, exercises, self.module, self.diagnoser, self.assignment.brought)
            if pictures:
                results = tuple(
                    replace(result, picture=draw(behind, result, self.pictures.get(result.name))) for result in results
                )
            printed = running.results
        points = sum(exercise.points for exercise in exercises)
        extra = saved_model.sentence(model, self.plan, self.module) if model and self.plan else ""
        return Report(student, self.assignment.name, results, points, extra=extra), printed


def _one_thread() -> None:
    """Submissions are what runs side by side: a suite's small tensors lose by threads that wait for one another."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _limits(assignment: Assignment, sandbox: Sandbox) -> Limits:
    try:
        return sandbox.limits.changed(assignment.limits)
    except ValueError as error:
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.limits: {error}") from None


def _check_names(assignment: Assignment, suite: Suite, module: ModuleType) -> None:
    """The notebook's exercises have tests, and what it asks students to bring has a reference."""
    missing = [exercise.name for exercise in assignment.exercises if exercise.name not in suite.exercises()]
    if missing:
        raise CourseError(
            f"{suite.path}: no tests for {', '.join(missing)}; {assignment.notebook} has check cells of those names"
        )
    unknown = [name for name in assignment.brought if not hasattr(module, name)]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
    plan = assignment.saved_model
    if plan and not hasattr(module, plan.decoder):
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.saved_model: there is no {plan.decoder}")
