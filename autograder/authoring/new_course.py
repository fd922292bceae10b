"""`autograder dev new-course` and `dev new-assignment`: the skeleton of a course or an assignment.

A course is a folder with `nbgrader_config.py`, `source/`, and a Python package with `course.toml`, such as
`statistics_course/`, from which students' package is built. The skeleton has one working exercise, so that `autograder
dev check` passes before the first edit and shows what an edit broke.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring import new_exercise, paired_scripts
from autograder.authoring.new_exercise import add_exercise
from autograder.course import CONFIG, Course
from autograder.errors import CourseError
from autograder.reading import is_handed_in

TEMPLATES = new_exercise.TEMPLATES.parent / "course"
FILES = {
    CONFIG: "nbgrader_config.txt",
    "my_course/course.toml": "course.txt",
    "my_course/pyproject.toml": "pyproject.txt",
    "my_course/__init__.py": "package.txt",
    "jupytext.toml": "jupytext.txt",
    ".gitignore": "gitignore.txt",
}


def begin_course(folder: Path, assignment: str, exercise: str) -> Iterator[Path]:
    """Create a course with one assignment in `folder`; yields each file written.

    Raises `CourseError` if `folder` is not empty or a name is invalid.
    """
    new_exercise.must_be_names(assignment, exercise)
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is there already; name a folder that is empty or not there yet")
    if is_handed_in(folder):
        raise CourseError(f"{folder} is among submissions, where no course is looked for; take another place")
    package = _package(folder.name)
    for name, template in FILES.items():
        path = folder / name.replace("my_course", package)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        path.write_text(text.replace("my_course", package).replace("my-course", package.replace("_", "-")), "utf-8")
        yield path
    (folder / "source").mkdir()
    yield from begin_assignment(Course(folder), assignment, exercise)


def _package(name: str) -> str:
    """The name of the course's package: `statistics_course` in a folder `statistics`."""
    words = re.sub(r"\W+", "_", name.lower()).strip("_").removesuffix("_course")
    return f"{words}_course" if words.isidentifier() else f"a_{words}_course".replace("__", "_")


def begin_assignment(course: Course, assignment: str, exercise: str) -> Iterator[Path]:
    """Add `assignment` with one exercise, its paired script and its release; yields each file written.

    Raises `CourseError` if the assignment exists or a name is invalid.
    """
    if assignment in course.assignments():
        raise CourseError(
            f"there is an assignment {assignment!r} already; `autograder dev new {assignment} {exercise}` "
            "adds an exercise to it"
        )
    yield from add_exercise(course, assignment, exercise)
    yield from paired_scripts.sync(course)
