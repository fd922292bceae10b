"""Marks one notebook inside nbgrader's autograde, and holds the settings of our preprocessors."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Enum

from autograder.course.assignments import Assignment, check_cell
from autograder.course.source_notebook import CHECK
from autograder.errors import MachineError
from autograder.nbgrader.gradebook_rows import CourseCell
from autograder.nbgrader.hardening.sanitise import cleaned
from autograder.nbgrader.outcomes import FAILED, REPAIRED, answer_in
from autograder.nbgrader.totals import extra_credit
from autograder.report import CellResult
from autograder.reports import rubric
from autograder.reports.store import MadeOf, SetAside
from autograder.submission import NotebookFile, Submission, code_cells, grade_id
from autograder.task import Marked, Task
from autograder.text import shown_name
from autograder.worker.executors import IdleWorkers
from autograder.worker.pool import open_pool

KEY = "autograder"  # of nbgrader's `resources`, through which a `GradingContext` is passed
MAX_OUTPUT = 20_000  # characters that a cell printed


@dataclass
class GradingContext:
    """Data that the preprocessors need about the notebook they grade.

    cells: the gradebook's cells, by grade_id
    task, marked: what the workers were given of this submission, and their result; `Mark` may replace it
    made: of what the marks are made; a preprocessor adds the scores
    unchanged: graded cells whose question is the same as when this submission was last graded
    left_empty: written questions that had no answer then, if all files of the student are the same
    set_aside: what cells of withdrawn exercises had before
    earlier: what a person graded before, if this is a newer submission; see `answers_in`
    notices: sentences for the instructor; preprocessors append to it
    moved_pictures: by student, how many pictures were moved out of texts; a preprocessor adds to it
    """

    assignment: Assignment
    submission: Submission
    cells: Mapping[str, CourseCell]
    task: Task
    marked: Marked
    made: MadeOf
    unchanged: Collection[str]
    left_empty: Collection[str]
    set_aside: Mapping[str, SetAside]
    earlier: Mapping[str, object]
    notices: list[str]
    moved_pictures: dict[str, int]


def context_in(resources: Mapping[str, Any]) -> GradingContext:
    """The context of the notebook that is being converted."""
    context = resources[KEY]
    assert isinstance(context, GradingContext), "nbgrader_config.py calls autograder.nbgrader.configure"
    return context


class Mark(NbGraderPreprocessor):
    """Writes outputs, marks and rubrics of a notebook that ran in the sandbox into its cells."""

    idle = IdleWorkers()  # nbgrader makes another of these for each notebook, and formgrader's button for each click
    sandbox = Enum(
        ["auto", "bubblewrap", "landlock", "process"],
        default_value="auto",
        help="bubblewrap, landlock: insist on it; process: limits only; auto: the best that works, or a refusal.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Grade one notebook in place. Raises `MachineError` if it could not be graded."""
        context = context_in(resources)
        assignment, marked = context.assignment, context.marked
        cells = code_cells(NotebookFile.of(nb.cells), assignment.source.locked_cells)
        task = context.task.of(cells)
        if task != context.task and not marked.report.reason:  # restoring cells has changed what is to run
            context.marked = marked = self._marked_now(task, assignment)
        if marked.report.reason:
            raise MachineError(marked.report.reason)
        for cell, result in zip(cells, marked.cells, strict=True):
            nb.cells[cell.index].outputs = _cell_outputs(result)
        graded = {check_cell(exercise.name, context.cells): exercise for exercise in marked.report.exercises}
        for cell in nb.cells:
            if grade_id(cell) in graded and cell.cell_type == "code":
                exercise = graded[grade_id(cell)]
                data = {"text/plain": f"{exercise.score:.15g}", "text/html": rubric.as_html(exercise)}
                place = exercise.first("place")
                metadata = {REPAIRED: place.repaired} if place else {}
                failed = [test.name for test in exercise.tests if test.state != "passed"]
                metadata |= {FAILED: failed[0]} if failed and exercise.started else {}
                cell.outputs = [_output("execute_result", data=data, metadata=metadata, execution_count=None)]
        return nb, resources

    def _marked_now(self, task: Task, assignment: Assignment) -> Marked:
        """Mark a task by one worker of this process."""
        with contextlib.closing(open_pool(assignment.root, 1, self.sandbox, idle=self.idle)) as workers:
            ((_, marked),) = workers.mark([task])
        return marked


class SaveMarks(SaveAutoGrades):
    """nbgrader's own, but a manual grade stays settled if the answer, its question and the tests' score are the same.

    It also stays settled if the exercise is withdrawn. nbgrader lets each manual grade wait for a person again.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Write the marks of one notebook into the gradebook. Raises `MissingEntry` if it has no row for a cell."""
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = names["notebook"], names["assignment"], names["student"]
        with Gradebook(names["db_url"]) as self.gradebook:
            commit, self.gradebook.db.commit = self.gradebook.db.commit, self.gradebook.db.flush
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            commit()  # once, and not once for each cell
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        context = context_in(resources)
        settled = grade.manual_score is not None and not grade.needs_manual_grade
        score, extra = context.set_aside.get(name, (grade.auto_score, grade.extra_credit))
        withdrawn = name.removeprefix(CHECK) in context.assignment.withdrawn
        super()._add_score(cell, resources)
        same = name in context.unchanged or context.earlier.get(name) == answer_in(cell)
        if settled and (withdrawn or (grade.auto_score == score and same)):
            grade.needs_manual_grade = False
        elif grade.manual_score is not None:
            context.notices.append(
                f"{shown_name(self.student_id)}, {self.assignment_id}: {name.removeprefix(CHECK)} has changed since a "
                f"person gave {grade.manual_score:g} points; they count until somebody looks at it again"
            )
        context.made.scores[name] = grade.auto_score
        grade.extra_credit = extra_credit(grade.manual_score, extra, context.cells[name].points or 0.0, withdrawn)
        if withdrawn:
            context.made.set_aside[name] = (score, extra)
        self.gradebook.db.commit()


def _cell_outputs(result: CellResult) -> list[NotebookNode]:
    """What a student's cell printed and showed, and how it ended. HTML has only what a student's text may have."""
    outputs = []
    if result.printed:
        outputs.append(_output("stream", name="stdout", text=result.printed[:MAX_OUTPUT]))
    for kind, form in result.rich:
        shown = base64.b64encode(form).decode() if kind == "image/png" else cleaned(form.decode(errors="replace"))
        outputs.append(_output("display_data", data={kind: shown}, metadata={}))
    if result.stopped:
        outputs.append(_error_output("Stopped", result.stopped, []))
    if result.error:
        lines = [f"{function}, line {number}: {text}" for function, number, text in result.lines]
        outputs.append(_error_output(result.error, result.text, lines))
    return outputs


def _output(output_type: str, **fields: Any) -> NotebookNode:
    """A cell's output. No schema is checked, as nbformat's own constructor does: the whole notebook is, at the end."""
    return from_dict({"output_type": output_type, **fields})


def _error_output(name: str, text: str, lines: list[str]) -> NotebookNode:
    return _output("error", ename=name, evalue=text, traceback=[*lines, f"{name}: {text}"])
