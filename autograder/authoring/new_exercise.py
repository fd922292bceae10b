"""`autograder dev new`: the skeleton of an exercise.

It consists of cells in the source notebook and a folder with hidden tests, a visible test, three known mistakes and a
hint. It works, so that `autograder dev check` passes before the first edit and shows what an edit broke.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.content import COURSE, course_folder
from autograder.course import CHECK, Course
from autograder.errors import CourseError
from autograder.submission import grade_id

TEMPLATES = Path(__file__).parent / "templates" / "exercise"
FILES = ("hidden_tests.py", "mistakes.py", "visible_tests.py", "hint.toml")
POINTS = 3
NUMBERED = re.compile(r"^## (\d+)\. ", re.MULTILINE)  # an exercise's heading
IMPORTS = "import math\n\nimport numpy as np\n\nfrom autograder import check, heatmap"


def add_exercise(course: Course, assignment: str, exercise: str, minimal: bool = False) -> Iterator[Path]:
    """Add `exercise` to `assignment`, which is created if needed; yields each file written.

    minimal: only its cells and one file of tests

    Raises `CourseError` if a name is invalid or taken, or the course has no folder of its own.
    """
    _must_be_possible(course, assignment, exercise)
    folder = course.root / "source" / assignment
    found = sorted(folder.glob("*.ipynb"))
    path = found[0] if found else folder / f"{re.sub('^a[0-9]+_', '', assignment)}.ipynb"
    notebook = nbformat.read(path, as_version=4) if found else _begin(assignment)
    fill = _filler(assignment, exercise, f"{_make_room(notebook)}. `{exercise}`")
    notebook.cells[_place(notebook) : _place(notebook)] = _cells(exercise, fill, "minimal_" if minimal else "")
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    yield path
    folder = _home(course) / assignment / exercise
    folder.mkdir(parents=True, exist_ok=True)
    templates = {"hidden_tests.py": "minimal.txt"} if minimal else {name: f"{Path(name).stem}.txt" for name in FILES}
    for name, template in templates.items():
        file = folder / name
        file.write_text(fill(template), encoding="utf-8")
        yield file


def _home(course: Course) -> Path:
    """The course's own folder. Raises `CourseError` if it has none."""
    folder = course_folder(course.root)
    if not folder.is_relative_to(course.root):
        raise CourseError(f"{course.root} has no folder with {COURSE} in it; `autograder dev new-course` makes one")
    return folder


def must_be_names(assignment: str, exercise: str) -> None:
    """Raise `CourseError` if a name is invalid, or the templates are not installed."""
    for name in (assignment, exercise):
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
            raise CourseError(f"{name!r} is no name for Python: letters, digits and _, and no digit in front")
    if not TEMPLATES.is_dir():
        raise CourseError("what students install cannot begin exercises; work with a copy of the kit's repository")


def _must_be_possible(course: Course, assignment: str, exercise: str) -> None:
    must_be_names(assignment, exercise)
    for path in [_home(course) / assignment / exercise / name for name in FILES]:
        if path.exists():
            raise CourseError(f"{path} is there already; take another name, or that folder away")
    for other in course.assignments().values():
        if exercise in [e.name for e in other.exercises]:
            raise CourseError(f"{other.notebook}: there is an exercise {exercise!r} already; take another name")


def _filler(assignment: str, exercise: str, heading: str) -> Callable[[str], str]:
    """A function that reads a template and inserts the names."""
    camel = "".join(part.capitalize() for part in exercise.split("_"))
    names = {"my_exercise": exercise, "MyExercise": camel, "my_assignment": assignment, "my_heading": heading}

    def fill(name: str) -> str:
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        for placeholder, value in names.items():
            text = text.replace(placeholder, value)
        return text

    return fill


def _begin(assignment: str) -> Any:
    from autograder.nbgrader.restore import KERNEL  # needs nbgrader, which whoever writes assignments has

    title = new_markdown_cell(f"# {assignment}\n\n(What this assignment is about.)", id="title")
    return new_notebook(cells=[title, new_code_cell(IMPORTS, id="imports")], metadata={"kernelspec": KERNEL})


def _make_room(notebook: Any) -> int:
    """The number for a heading at `_place`. Increments the numbers of the headings after it."""
    place, last = _place(notebook), 0
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            found = [int(number) for number in NUMBERED.findall(cell.source)]
            last = max([last, *found]) if index < place else last
            if index >= place:
                cell.source = NUMBERED.sub(lambda match: f"## {int(match[1]) + 1}. ", cell.source)
    return last + 1


def _place(notebook: Any) -> int:
    """The index after the last check cell, so that written questions stay at the end."""
    checks = [index for index, cell in enumerate(notebook.cells) if grade_id(cell).startswith(CHECK)]
    return checks[-1] + 1 if checks else len(notebook.cells)


def _cells(exercise: str, fill: Callable[[str], str], kind: str) -> list[Any]:
    slug = re.sub("[^a-z0-9]+", "-", exercise.lower())
    data = {"schema_version": 3, "task": False}
    solution = data | {"grade": False, "solution": True, "locked": False, "grade_id": exercise}
    check = data | {"grade": True, "solution": False, "locked": True, "grade_id": CHECK + exercise, "points": POINTS}
    return [
        new_markdown_cell(fill(f"{kind}text.md").rstrip(), id=f"{slug}-text"),
        new_code_cell(fill(f"{kind}solution.txt").rstrip(), id=f"{slug}-cell", metadata={"nbgrader": solution}),
        new_code_cell(
            fill("check.txt").rstrip(), id=f"{slug}-check", metadata={"nbgrader": check, "tags": ["active-ipynb"]}
        ),
    ]
