"""What our `Autograde` passes to its preprocessors for one notebook, through nbgrader's own `resources`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import Assignment, Exercise, check_cell
from autograder.submission import Submission
from autograder.worker.task import Marked, Task, as_task

KEY = "autograder"


@dataclass(frozen=True)
class CourseCell:
    """A cell as the gradebook has it. `points` is None if it is not graded; `source` is the course's text."""

    grade_id: str
    cell_type: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    checksum: str
    points: float | None
    source: str

    @property
    def is_answer(self) -> bool:
        """True for a written answer, which a person grades."""
        return self.grade and self.solution and self.cell_type == "markdown"

    def metadata(self) -> dict[str, object]:
        """The cell's nbgrader metadata, as a notebook holds it."""
        omitted = {"source"} if self.points is not None else {"source", "points"}
        return {name: value for name, value in vars(self).items() if name not in omitted} | {"schema_version": 3}


def course_cells(coursedir: Any, assignment: Assignment) -> dict[str, CourseCell]:
    """The gradebook's cells of a released notebook, by grade_id. Raises `MissingEntry` if it was not released."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        notebook = book.find_notebook(assignment.notebook.stem, assignment.name)
        points = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
        grades, solutions, tasks = (
            {cell.name for cell in cells}
            for cells in (notebook.grade_cells, notebook.solution_cells, notebook.task_cells)
        )
        return {
            cell.name: CourseCell(
                grade_id=cell.name,
                cell_type=cell.cell_type,
                grade=cell.name in grades,
                solution=cell.name in solutions,
                task=cell.name in tasks,
                locked=cell.locked,
                checksum=cell.checksum,
                points=points.get(cell.name),
                source=cell.source,
            )
            for cell in notebook.source_cells
        }


def points_of(cells: Mapping[str, CourseCell]) -> dict[str, float]:
    """The gradebook's points of each graded cell, by grade_id."""
    return {name: cell.points or 0.0 for name, cell in cells.items() if cell.grade}


def task_with_points(submission: Submission, assignment: Assignment, points: Mapping[str, float]) -> Task:
    """A submission as a task, with the gradebook's points in place of the source notebook's.

    points: by grade_id
    """
    exercises = (
        Exercise(exercise.name, points.get(check_cell(exercise.name, points), exercise.points))
        for exercise in assignment.exercises
    )
    task = as_task(submission, assignment.version(), assignment.locked_cells)
    return replace(task, exercises=tuple(exercises))


@dataclass(frozen=True)
class GradingContext:
    """What the preprocessors need to know of the notebook that is being graded.

    cells: the gradebook's cells, by grade_id
    task, marked: what the workers were given of this submission, and their result
    metadata: goes into the autograded notebook: what was graded, and by which tests
    digests: of hidden tests and submission, for the history
    unchanged: graded cells whose question is the same as when this submission was last graded
    notices: sentences for the instructor; preprocessors append to it
    """

    assignment: Assignment
    submission: Submission
    cells: Mapping[str, CourseCell]
    task: Task
    marked: Marked
    metadata: Mapping[str, object]
    digests: Mapping[str, str]
    unchanged: Collection[str]
    notices: list[str]


def context_in(resources: Mapping[str, Any]) -> GradingContext:
    """The context of the notebook that is being converted."""
    context = resources[KEY]
    assert isinstance(context, GradingContext), "nbgrader_config.py calls autograder.nbgrader.configure"
    return context
