"""A course as in nbgrader's documentation, built from text: `#% KIND GRADE_ID POINTS` begins each cell.

Kinds: text, code (not graded), given (locked, not graded), solution, tests; a person grades manual (code), written
(text) and task.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course.assignments import CONFIG, Course
from autograder.submission import grade_id
from tests.helpers.stock import stock

KINDS = {
    "given": {"locked": True},
    "solution": {"solution": True},
    "tests": {"grade": True, "locked": True},
    "manual": {"grade": True, "solution": True},
    "written": {"grade": True, "solution": True},
    "task": {"task": True, "locked": True},
}
TEXT = ("text", "written", "task")
_CELL = re.compile(r"^#% *(\w+) *([\w-]*) *([\d.]*)\n", re.MULTILINE)
KERNEL = {"name": "python3", "language": "python", "display_name": "Python 3"}


def notebook_of(text: str):
    """A notebook from such text."""
    _, *parts = _CELL.split(text)
    cells = []
    for number in range(0, len(parts), 4):
        kind, name, points, source = parts[number : number + 4]
        data = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
        data |= {"grade_id": name} | KINDS.get(kind, {}) | ({"points": float(points)} if points else {})
        make = new_markdown_cell if kind in TEXT else new_code_cell
        metadata = {"nbgrader": data} if kind in KINDS else {}
        cells.append(make(source.strip("\n"), id=f"cell-{number}", metadata=metadata))
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def classic_course(root: Path, **assignments: str) -> Course:
    """A course with these assignments, released by nbgrader's own command into `release/`, without any suite."""
    (root / CONFIG).parent.mkdir(parents=True, exist_ok=True)
    (root / CONFIG).write_text('c = get_config()\nc.CourseDirectory.course_id = "algorithms"\n')
    for name, text in assignments.items():
        path = root / "source" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook_of(text), path)
    stock(root, "generate_assignment", assignments)
    return Course(root)


def submit(course: Course, name: str, student: str, change=lambda cells: None, **answers: str) -> Path:
    """Submit the release with `answers` (cells by grade_id); `change` can edit its list of cells."""
    notebook = nbformat.read(course.root / "release" / name / f"{name}.ipynb", as_version=4)
    named = {grade_id(cell): cell for cell in notebook.cells}
    for cell, text in answers.items():
        named[cell].source = text
    change(notebook.cells)
    path = course.root / "submitted" / student / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return path
