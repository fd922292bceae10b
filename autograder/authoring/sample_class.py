"""Sample submissions for the demo, the tests and the benchmark: released notebooks with code filled in."""

from __future__ import annotations

import builtins
import inspect
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.assignments import Assignment
from autograder.submission import grade_id
from autograder.testing.catalogue import Mistake, read_catalogue
from cellcage.calling.lookups import looked_up

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")


def model_answers(assignment: Assignment) -> dict[str, str]:
    """The source notebook's solution cells by exercise, as a student would hand them in."""
    notebook = nbformat.read(assignment.notebook, as_version=4)
    names = {exercise.name for exercise in assignment.exercises}
    return {
        grade_id(cell): "\n".join(line for line in cell.source.splitlines() if line.strip() not in MARKERS)
        for cell in notebook.cells
        if grade_id(cell) in names
    }


def mistake(assignment: Assignment, name: str, exercise: str | None = None) -> dict[str, str]:
    """A mistake's code by its exercise, as a student would hand it in.

    Raises `KeyError` if no mistake has that name, or it is a mutant, which has no text of its own.
    """
    for entry in read_catalogue(assignment.mistakes):
        if entry.name == name and exercise in (None, entry.exercise):
            if not is_written_out(entry):
                raise KeyError(f"{assignment.name}: {name!r} of {entry.exercise} is a mutant, without a text")
            return {entry.exercise: text_of(entry.code)}
    raise KeyError(f"{assignment.name} has no mistake {name!r}")


def text_of(code: Any) -> str:
    """The source of a function or class without its decorators. Raises `OSError` or `TypeError` if it has none."""
    lines = textwrap.dedent(inspect.getsource(code)).splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(("def ", "class "))), 0)
    return "\n".join(lines[start:])


def is_written_out(entry: Mistake) -> bool:
    """True if a mistake is a function or class with source text, not a generated mutant."""
    return getattr(entry.code, "__qualname__", "") == entry.exercise


def stands_alone(assignment: Assignment, text: str) -> bool:
    """True for code that looks up nothing but the notebook's own names and Python's, so no helper of its module."""
    return looked_up([text]) <= {*vars(assignment.reference()), *vars(builtins)}


def fill(released: Path, answers: Mapping[str, str]) -> Any:
    """The released notebook with `answers` in the cells of their exercises."""
    notebook = nbformat.read(released, as_version=4)
    left = dict(answers)
    for cell in notebook.cells:
        if grade_id(cell) in left:
            cell.source = left.pop(grade_id(cell))
    if left:
        raise KeyError(f"{released} has no cell for {', '.join(left)}")
    return notebook


def hand_in(notebook: Any, submitted: Path, student: str, assignment: Assignment) -> Path:
    """Write a notebook to the path that nbgrader's collect uses: STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""
    path = submitted / student / assignment.name / assignment.notebook.name
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path
