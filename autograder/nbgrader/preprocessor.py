"""Writes the marks of one notebook into it and into the gradebook, as two of nbgrader's preprocessors."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Enum

from autograder.course.assignments import Assignment
from autograder.course.source_notebook import check_cell, exercise_name
from autograder.errors import MachineError, SubmissionError
from autograder.nbgrader.gradebook_rows import CourseCell
from autograder.nbgrader.hardening.sanitise import cleaned
from autograder.nbgrader.history import Basis, Graded
from autograder.nbgrader.totals import extra_credit
from autograder.report import CellResult, ExerciseResult, Report
from autograder.reports import rubric
from autograder.reports.store import MadeOf, SetAside
from autograder.submission import NotebookFile, Submission, cell_id, code_cells, grade_id, read_notebook
from autograder.task import Marked
from autograder.text import shown_name

FAILED = "autograder_failed"  # the key of a result's metadata that holds the name of the first test that fails
FOR_GRADERS = "autograder_for_graders"  # the key of a result's metadata that holds words which students don't see
KEY = "autograder"  # of nbgrader's `resources`, through which a `GradingContext` is passed
MAX_OUTPUT = 20_000  # characters that a cell printed


@dataclass
class GradingContext:
    """Data that the preprocessors need about the notebook they grade.

    cells: the gradebook's cells, by grade_id
    report, results: of the workers; results of the submission's cells that ran, by the cell's id
    made: of what the marks are made; a preprocessor adds the scores
    unchanged: graded cells whose question is the same as when this submission was last graded
    left_empty: written questions that had no answer then, if all files of the student are the same
    set_aside: what cells of withdrawn exercises had before
    earlier: what a person graded before, if this is a newer submission; see `_written_answers`
    notices: sentences for the instructor; `notice` appends to it
    moved_pictures: by student, how many pictures were moved out of texts; a preprocessor adds to it
    """

    assignment: Assignment
    submission: Submission
    cells: Mapping[str, CourseCell]
    report: Report
    results: Mapping[str, CellResult]
    made: MadeOf
    unchanged: Collection[str]
    left_empty: Collection[str]
    set_aside: Mapping[str, SetAside]
    earlier: Mapping[str, object]
    notices: list[str]
    moved_pictures: dict[str, int]

    def notice(self, sentence: str) -> None:
        """Tell the instructor something about this submission."""
        self.notices.append(f"{shown_name(self.submission.student)}, {self.assignment.name}: {sentence}")


def context_of(
    submission: Submission,
    notebook: NotebookFile,
    marked: Marked,
    graded: Graded,
    basis: Basis,
    notices: list[str],
    moved_pictures: dict[str, int],
) -> GradingContext:
    """What the preprocessors need. notebook: the submission's; graded: before this run"""
    assignment, student = graded.assignment, submission.student
    made, before, is_entered = graded.now(submission), graded.made(student), graded.is_entered(student)
    is_lost, marks = not graded.is_known(student), graded.marks.get(student, {})
    same = student in graded.marks and before.work == made.work
    same_cells = {name for name, question in basis.questions.items() if before.cells.get(name) == question}
    answers = [name for name, cell in basis.cells.items() if cell.is_answer and (name in same_cells or is_lost)]
    empty = {name for name in answers if name in same_cells and name in marks and marks[name].auto == 0}
    has_earlier = not same and (is_entered or is_lost)
    cells = code_cells(notebook, assignment.source.locked_cells)  # those of the task; none has a result if it failed
    return GradingContext(
        assignment=assignment,
        submission=submission,
        cells=basis.cells,
        report=marked.report,
        results={cell_id(cell.index): result for cell, result in zip(cells, marked.cells, strict=False)},
        made=made,
        unchanged=same_cells if same else set(),
        left_empty=empty if same and before.files == made.files else (),
        set_aside=before.set_aside if is_entered else {},
        earlier=_written_answers(graded.notebook(student), answers) if has_earlier else {},
        notices=notices,
        moved_pictures=moved_pictures,
    )


def context_in(resources: Mapping[str, Any]) -> GradingContext:
    """The context of the notebook that is being converted."""
    context = resources[KEY]
    assert isinstance(context, GradingContext), "nbgrader_config.py calls autograder.nbgrader.configure"
    return context


def _written_answers(notebook: Path, names: Collection[str]) -> dict[str, object]:
    """The answers in an autograded notebook, by grade_id: text and pictures; empty if it cannot be read."""
    try:
        cells = read_notebook(notebook).cells
    except SubmissionError:
        return {}
    return {cell.grade_id: (cell.source, cell.attachments) for cell in cells if cell.grade_id in names}


class Mark(NbGraderPreprocessor):
    """Writes outputs, marks and rubrics of a notebook that ran in the sandbox into its cells."""

    sandbox = Enum(
        ["auto", "bubblewrap", "landlock", "process"],
        default_value="auto",
        help="bubblewrap, landlock: insist on it; process: limits only; auto: the best that works, or a refusal.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Write into one notebook in place. Raises `MachineError` if it could not be graded."""
        context = context_in(resources)
        if context.report.reason:
            raise MachineError(context.report.reason)
        graded = {check_cell(exercise.name, context.cells): exercise for exercise in context.report.exercises}
        for cell in nb.cells:
            if cell.cell_type != "code":
                continue
            if grade_id(cell) in graded:
                cell.outputs = [_rubric(graded[grade_id(cell)])]
            elif cell.id in context.results:  # restored cells have no results: there was nothing of the student's
                cell.outputs = _cell_outputs(context.results[cell.id])
        return nb, resources


def _rubric(exercise: ExerciseResult) -> NotebookNode:
    """An exercise's points as the result of its check cell, with the rubric beside them."""
    data = {"text/plain": f"{exercise.score:.15g}", "text/html": rubric.as_html(exercise)}
    repaired = exercise.correction
    metadata = {FOR_GRADERS: f"all tests pass with {repaired}"} if repaired else {}
    failed = [test.name for test in exercise.tests if test.state != "passed"]
    metadata |= {FAILED: failed[0]} if failed and exercise.started else {}
    return _output("execute_result", data=data, metadata=metadata, execution_count=None)


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
        withdrawn = exercise_name(name) in context.assignment.withdrawn
        super()._add_score(cell, resources)
        answer = cell.source, cell.get("attachments", {})
        same = name in context.unchanged or context.earlier.get(name) == answer
        if settled and (withdrawn or (grade.auto_score == score and same)):
            grade.needs_manual_grade = False
        elif grade.manual_score is not None:
            context.notice(
                f"{exercise_name(name)} has changed since a person gave {grade.manual_score:g} points; they count "
                "until somebody looks at it again"
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
