"""Marking one notebook inside nbgrader's autograde."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.course import Assignment, Exercise, check_cell
from autograder.errors import MachineError
from autograder.nbgrader.course_changes import KEPT
from autograder.nbgrader.resources import given
from autograder.report import CellResult
from autograder.reports import rubric
from autograder.submission import MODEL, NotebookFile, code_cells, grade_id
from autograder.worker.executors import IdleWorkers
from autograder.worker.pool import open_pool
from autograder.worker.task import Marked, Task

MAX_OUTPUT = 20_000


class Mark(NbGraderPreprocessor):
    """Run the notebook in the sandbox and write marks and rubrics into its check cells."""

    idle = IdleWorkers()  # nbgrader makes another of these for each notebook, and formgrader's button for each click
    sandbox = Enum(
        ["auto", "bubblewrap", "landlock", "process"],
        default_value="auto",
        help="bubblewrap, landlock: insist on it; process: limits only; auto: the best that works, or a warning.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Grade one notebook in place. Raises `MachineError` if it could not be graded."""
        own = given(resources)
        assignment = own.assignment
        cells = code_cells(NotebookFile.of(nb.cells), assignment.locked_cells)
        exercises = exercises_with_points(
            {grade_id(c): c.metadata.nbgrader.get("points") for c in nb.cells if grade_id(c)}, assignment
        )
        student, version = resources["nbgrader"]["student"], assignment.version()
        task = Task(student, assignment.name, version, (), None, exercises, for_page=True, model=own.model).of(cells)
        marked = own.ahead(task) or self._marked_now(task, assignment)
        if marked.report.reason:
            raise MachineError(marked.report.reason)
        for cell, result in zip(cells, marked.cells, strict=True):
            nb.cells[cell.index].outputs = _cell_outputs(result)
        graded = {check_cell(one.name, own.cells): one for one in marked.report.exercises}
        for cell in nb.cells:
            if grade_id(cell) in graded and cell.cell_type == "code":
                exercise = graded[grade_id(cell)]
                data = {"text/plain": f"{exercise.score:.15g}", "text/html": rubric.as_html(exercise)}
                cell.outputs = [new_output("execute_result", data=data, metadata={}, execution_count=None)]
        if marked.report.extra:
            _show_extra(nb, marked.report.extra)
        nb.metadata[KEPT] = dict(own.kept)
        own.keep(marked.report)
        return nb, resources

    def _marked_now(self, task: Task, assignment: Assignment) -> Marked:
        """The result, marked in this process."""
        with contextlib.closing(open_pool(assignment.root, 1, self.sandbox, idle=self.idle)) as workers:
            ((_, marked),) = workers.mark([task])
        return marked


def _show_extra(nb: NotebookNode, extra: str) -> None:
    """Show it below the last cell that names the saved model's file, or else below the last cell of code."""
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    below = ([cell for cell in cells if MODEL in cell.source] or cells)[-1]
    data = {"text/plain": extra, "text/html": rubric.extra_as_html(extra)}
    # Never a mark: that is an `execute_result`.
    below.outputs = [*below.outputs, new_output("display_data", data=data, metadata={})]


def exercises_with_points(points: Mapping[str, Any], assignment: Assignment) -> tuple[Exercise, ...]:
    """The course's exercises with the gradebook's points, by name of their check cell."""
    found = ((exercise, points.get(check_cell(exercise.name, points))) for exercise in assignment.exercises)
    return tuple(Exercise(e.name, e.points if worth is None else worth) for e, worth in found)


def _cell_outputs(result: CellResult) -> list[NotebookNode]:
    """What a student's cell printed, and how it ended: always text, never HTML."""
    outputs = []
    if result.printed:
        outputs.append(new_output("stream", name="stdout", text=result.printed[:MAX_OUTPUT]))
    if result.stopped:
        outputs.append(_error_output("Stopped", result.stopped, []))
    if result.error:
        lines = [f"{function}, line {number}: {text}" for function, number, text in result.lines]
        outputs.append(_error_output(result.error, result.text, lines))
    return outputs


def new_output(output_type: str, **fields: Any) -> NotebookNode:
    """An output of a cell's. nbformat's own checks each against its schema, which the whole notebook is in the end."""
    return from_dict({"output_type": output_type, **fields})


def _error_output(name: str, text: str, lines: list[str]) -> NotebookNode:
    return new_output("error", ename=name, evalue=text, traceback=[*lines, f"{name}: {text}"])
