"""Skeletons of what authors write: a course, an assignment, an exercise.

`autograder dev new-course`, `dev new-assignment` and `dev new` begin what works, so that `autograder dev check` passes
before the first edit and shows what an edit broke.

A course is a folder with `nbgrader_config.py`, `source/`, and a Python package with `course.toml`, such as
`statistics_course/`, from which students' package is built. An exercise consists of cells in the source notebook and a
folder with hidden tests, a visible test, three known mistakes and a hint.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring.generated_files import sync
from autograder.course.assignments import CONFIG, Course
from autograder.course.content import course_folder
from autograder.course.loading import COURSE
from autograder.course.source_notebook import CHECK_PREFIX
from autograder.errors import CourseError
from autograder.nbgrader.hardening.restore import KERNEL
from autograder.reading import is_handed_in
from autograder.submission import grade_id

TEMPLATES = Path(__file__).parent / "templates"
COURSE_FILES = {
    CONFIG: "nbgrader_config.txt",
    "my_course/course.toml": "course.txt",
    "my_course/pyproject.toml": "pyproject.txt",
    "my_course/__init__.py": "package.txt",
    "jupytext.toml": "jupytext.txt",
    ".gitignore": "gitignore.txt",
}
LIKE = ("function", "class", "module", "words")  # skeletons, each in a folder of templates/exercise; and "minimal"
IMPORTS_OF = {"module": "import torch\nfrom torch import nn"}  # what a skeleton needs in a notebook's first code cell
EXERCISE_FILES = ("hidden_tests.py", "mistakes.py", "visible_tests.py", "hint.toml")
POINTS = 3
NUMBERED = re.compile(r"^## (\d+)\. ", re.MULTILINE)  # an exercise's heading
IMPORTS = "import math\n\nimport numpy as np\n\nfrom autograder import check, heatmap, hint"


def begin_course(folder: Path, assignment: str, exercise: str) -> Iterator[Path]:
    """Create a course with one assignment in `folder`; yields each file written.

    Raises `CourseError` if `folder` is not empty or a name is invalid.
    """
    _must_be_names(assignment, exercise)
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is there already; name an empty or new folder")
    if is_handed_in(folder):
        raise CourseError(f"{folder} is among submissions, where no course is looked for; choose another folder")
    package = _package(folder.name)
    names = {"my_course": package, "my-course": package.replace("_", "-")}
    for name, template in COURSE_FILES.items():
        path = folder / name.replace("my_course", package)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(f"course/{template}", names), encoding="utf-8")
        yield path
    (folder / "source").mkdir()
    yield from begin_assignment(Course(folder), assignment, exercise)


def _package(name: str) -> str:
    """The name of the course's package: `statistics_course` in a folder `statistics`."""
    words = re.sub(r"\W+", "_", name.lower()).strip("_").removesuffix("_course")
    return f"{words}_course" if words.isidentifier() else f"a_{words}_course".replace("__", "_")


def begin_assignment(course: Course, assignment: str, exercise: str, like: str = "function") -> Iterator[Path]:
    """Add `assignment` with one exercise, its paired script and its release; yields each file written.

    like: see `add_exercise`

    Raises `CourseError` if the assignment exists or a name is invalid.
    """
    if assignment in course.assignments:
        raise CourseError(
            f"there is an assignment {assignment!r} already; `autograder dev new {assignment} {exercise}` "
            "adds an exercise to it"
        )
    yield from add_exercise(course, assignment, exercise, like)
    yield from sync(course)


def add_exercise(course: Course, assignment: str, exercise: str, like: str = "function") -> Iterator[Path]:
    """Add `exercise` to `assignment`, which is created if needed; yields each file written.

    like: one of `LIKE`, or "minimal" for only its cells and one file of tests

    Raises `CourseError` if a name is invalid or taken, or the course has no folder of its own.
    """
    _must_be_possible(course, assignment, exercise)
    folder = course.root / "source" / assignment
    found = sorted(folder.glob("*.ipynb"))
    path = found[0] if found else folder / f"{re.sub('^a[0-9]+_', '', assignment)}.ipynb"
    notebook = nbformat.read(path, as_version=4) if found else _begin(assignment)
    camel = "".join(part.capitalize() for part in exercise.split("_"))
    heading = f"{_make_room(notebook)}. `{exercise}`"
    names = {"my_exercise": exercise, "MyExercise": camel, "my_assignment": assignment, "my_heading": heading}
    notebook.cells[_place(notebook) : _place(notebook)] = _cells(exercise, names, like)
    _import(notebook, IMPORTS_OF.get(like, ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    yield path
    folder = _home(course) / assignment / exercise
    folder.mkdir(parents=True, exist_ok=True)
    for name in EXERCISE_FILES:
        template = f"exercise/{like}/{Path(name).stem}.txt"
        if (TEMPLATES / template).is_file():
            (folder / name).write_text(_filled(template, names), encoding="utf-8")
            yield folder / name


def _import(notebook: Any, lines: str) -> None:
    """Add imports in front of a notebook's first code cell, unless it has them."""
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    if lines not in first.source:
        first.source = f"{lines}\n{first.source}"


def _home(course: Course) -> Path:
    """The course's own folder. Raises `CourseError` if it has none."""
    folder = course_folder(course.root)
    if not folder.is_relative_to(course.root):
        raise CourseError(f"{course.root} has no folder with {COURSE} in it; `autograder dev new-course` makes one")
    return folder


def _must_be_names(assignment: str, exercise: str) -> None:
    """Raise `CourseError` if a name is invalid, or the templates are not installed."""
    for name in (assignment, exercise):
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
            raise CourseError(f"{name!r} is not a Python name: letters, digits and _, and no digit in front")
    if not (TEMPLATES / "exercise").is_dir():
        raise CourseError("what students install cannot begin exercises; work with a copy of the kit's repository")


def _must_be_possible(course: Course, assignment: str, exercise: str) -> None:
    _must_be_names(assignment, exercise)
    for path in [_home(course) / assignment / exercise / name for name in EXERCISE_FILES]:
        if path.exists():
            raise CourseError(f"{path} exists already; choose another name, or remove that folder")
    for other in course.assignments.values():
        if exercise in [e.name for e in other.exercises]:
            raise CourseError(f"{other.notebook}: there is an exercise {exercise!r} already; choose another name")


def _filled(template: str, names: Mapping[str, str]) -> str:
    """A template's text with the names in place of its placeholders."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for placeholder, value in names.items():
        text = text.replace(placeholder, value)
    return text


def _begin(assignment: str) -> Any:
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
    checks = [index for index, cell in enumerate(notebook.cells) if grade_id(cell).startswith(CHECK_PREFIX)]
    return checks[-1] + 1 if checks else len(notebook.cells)


def _cells(exercise: str, names: Mapping[str, str], like: str) -> list[Any]:
    slug = re.sub("[^a-z0-9]+", "-", exercise.lower())
    text, stub, check = (
        _filled(f"exercise/{name}", names).rstrip() for name in (f"{like}/text.md", f"{like}/solution.txt", "check.txt")
    )
    data: dict[str, object] = {"schema_version": 3, "task": False}
    solution = data | {"grade": False, "solution": True, "locked": False, "grade_id": exercise}
    graded = data | {"grade": True, "solution": False, "locked": True, "points": POINTS}
    graded["grade_id"] = CHECK_PREFIX + exercise
    return [
        new_markdown_cell(text, id=f"{slug}-text"),
        new_code_cell(stub, id=f"{slug}-cell", metadata={"nbgrader": solution}),
        new_code_cell(check, id=f"{slug}-check", metadata={"nbgrader": graded, "tags": ["active-ipynb"]}),
    ]
