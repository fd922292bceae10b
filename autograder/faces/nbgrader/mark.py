"""Marking one notebook inside nbgrader's autograde."""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.course import CHECK, Assignment, Exercise, find_course
from autograder.faces import rubric
from autograder.marking.mark import Marker
from autograder.sandbox.client import CellResult, Sandbox
from autograder.submission import code_cells, grade_id

MAX_OUTPUT = 20_000


class Mark(NbGraderPreprocessor):
    """Run the notebook in the sandbox and write marks and rubrics into its check cells."""

    sandbox = Enum(
        ["auto", "bubblewrap", "process"],
        default_value="auto",
        help="bubblewrap: insist on it; process: limits only; auto: bubblewrap, and a warning where it does not work.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Grade one notebook in place."""
        info = resources["nbgrader"]
        course = find_course(Path(resources["metadata"]["path"]))
        marker = _marker(course.assignment(info["assignment"]), self.sandbox)
        if marker.sandbox.warning:
            self.log.warning("Student code runs without a sandbox: %s", marker.sandbox.warning)
        cells = code_cells(nb)
        exercises = _exercises(nb, marker.assignment)
        report, results = marker.mark_cells(info["student"], [cell.source for cell in cells], exercises, pictures=True)
        for cell, result in zip(cells, results, strict=True):
            nb.cells[cell.index].outputs = _cell_outputs(result)
        graded = {CHECK + exercise.name: exercise for exercise in report.exercises}
        for cell in nb.cells:
            if grade_id(cell) in graded and cell.cell_type == "code":
                exercise = graded[grade_id(cell)]
                data = {"text/plain": rubric.points(exercise.score), "text/html": rubric.as_html(exercise)}
                cell.outputs = [new_output("execute_result", data=data, execution_count=None)]
        return nb, resources


def _exercises(nb: NotebookNode, assignment: Assignment) -> list[Exercise]:
    """The course's exercises with the points of the gradebook, which `RestoreCells` put into the cells."""
    points = {grade_id(cell): cell.metadata.nbgrader.get("points") for cell in nb.cells if grade_id(cell)}
    return [Exercise(e.name, points.get(CHECK + e.name, e.points)) for e in assignment.exercises]


def _cell_outputs(result: CellResult) -> list[NotebookNode]:
    """What a student's cell printed, and how it ended: always text, never HTML."""
    outputs = []
    if result.printed:
        outputs.append(new_output("stream", name="stdout", text=result.printed[:MAX_OUTPUT]))
    if result.stopped:
        outputs.append(_error_output("Stopped", result.stopped, []))
    if result.error:
        lines = [f"{function}, line {number}: {text}" for function, number, text in result.error["lines"]]
        outputs.append(_error_output(result.error["kind"], result.error["text"], lines))
    return outputs


def _error_output(name: str, text: str, lines: list[str]) -> NotebookNode:
    return new_output("error", ename=name, evalue=text, traceback=[*lines, f"{name}: {text}"])


# nbgrader makes a preprocessor for each notebook; what is expensive to start lives as long as this process.
_sandboxes: dict[str, Sandbox] = {}
_markers: dict[tuple[Any, ...], Marker] = {}


def _marker(assignment: Assignment, kind: str) -> Marker:
    key = (assignment, kind, assignment.solution.stat().st_mtime_ns, assignment.suite.stat().st_mtime_ns)
    if key not in _markers:
        if kind not in _sandboxes:
            _sandboxes[kind] = Sandbox(kind=kind)
        _markers[key] = Marker(assignment, _sandboxes[kind])
    return _markers[key]


@atexit.register
def _close() -> None:
    for marker in _markers.values():
        marker.close()
    for sandbox in _sandboxes.values():
        sandbox.close()
