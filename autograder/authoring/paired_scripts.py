"""Generates files from `source/`: the paired scripts in `solutions/`, the releases in `assignments/`."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from autograder.authoring.visible_cases import visible_files
from autograder.course import CHECK, DISPLAY_TAG, Assignment, Course
from autograder.errors import CourseError
from autograder.submission import MODEL, grade_id


def sync(course: Course) -> Iterator[Path]:
    """Write every generated file that differs from what `source/` gives; yields each file written."""
    texts = ((path, text.encode()) for path, text in generated(course))
    for path, data in itertools.chain(texts, copies(course.assignments().values())):
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            yield path


def copies(assignments: Iterable[Assignment]) -> Iterator[tuple[Path, bytes]]:
    """The files beside the source notebooks, with their paths beside the releases, where students get them."""
    for assignment in assignments:
        for name, data in assignment.beside.items():
            if name != MODEL:  # running the notebook creates it
                yield assignment.root / "assignments" / assignment.name / name, data


def generated(course: Course) -> Iterator[tuple[Path, str]]:
    """Path and text of every generated file."""
    for assignment in course.assignments().values():
        yield assignment.solution, paired_script(assignment)
        yield from visible_files(assignment)
    with tempfile.TemporaryDirectory() as folder:
        for assignment in course.assignments().values():
            path = course.root / "assignments" / assignment.name / assignment.notebook.name
            yield path, release_text(assignment, Path(folder))


def paired_script(assignment: Assignment) -> str:
    """The source notebook as Python text (jupytext's percent format), by the settings in `pyproject.toml`.

    Check cells are left out, as are cells tagged `active-ipynb`: a script has nothing to check.
    """
    import jupytext
    from jupytext.config import load_jupytext_config

    notebook = nbformat.read(assignment.notebook, as_version=4)
    checks = {CHECK + exercise.name for exercise in assignment.by_suite}
    for cell in notebook.cells:
        if grade_id(cell) in checks:
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), DISPLAY_TAG})
    text: str = jupytext.writes(notebook, fmt="py:percent", config=load_jupytext_config(str(assignment.notebook)))
    return text


def release_text(assignment: Assignment, folder: Path) -> str:
    """The notebook that nbgrader releases to students, generated below `folder` without a gradebook."""
    from autograder.nbgrader import api, error_line

    shutil.copytree(assignment.notebook.parent, folder / "source" / assignment.name)
    result = api(folder).generate_assignment(assignment.name)
    if not result["success"]:
        raise CourseError(f"{assignment.notebook}: nbgrader cannot release it: {error_line(result)}")
    released = folder / "assignments" / assignment.name / assignment.notebook.name
    return released.read_text(encoding="utf-8")
