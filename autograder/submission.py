"""Reading what students hand in. Strangers' bytes: nothing here runs, follows a link, or waits.

`read_cells` raises `SubmissionError` with a reason a teacher can act on; it never raises anything else.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import CHECK, Assignment, Course
from autograder.errors import SubmissionError
from autograder.text import printable

MAX_BYTES = 20 * 2**20  # a notebook full of plots has 5 MB


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one assignment, not yet read. `problem` is set where it cannot be found."""

    student: str
    assignment: str
    path: Path
    problem: str | None = None


@dataclass(frozen=True)
class Cell:
    """A code cell that will be run; `index` is its place in the notebook, counted from 0."""

    index: int
    source: str


def read_notebook(path: Path) -> Any:
    """The notebook at `path`, in the form of nbformat 4, not validated: what is odd in it is passed over later."""
    text = _read_text(path)
    try:
        notebook = json.loads(text)
        if notebook["nbformat"] < 4:
            notebook = nbformat.convert(nbformat.reader.reads(text), 4)
        cells = notebook["cells"]
    except RecursionError:
        raise SubmissionError(f"{path.name} is nested too deeply to be a notebook") from None
    except Exception as error:
        raise SubmissionError(f"{path.name} is not a Jupyter notebook ({_short(error)})") from None
    if not isinstance(cells, list):
        raise SubmissionError(f"{path.name} is not a Jupyter notebook (its cells are no list)")
    return notebook


def code_cells(notebook: Any) -> list[Cell]:
    """The cells to run: all code cells but the course's check cells."""
    cells = []
    for index, cell in enumerate(notebook["cells"]):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code" or is_check(cell):
            continue
        source = cell.get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if text.strip():
            cells.append(Cell(index, text))
    return cells


def is_check(cell: Any) -> bool:
    """Is this one of the course's check cells?"""
    return grade_id(cell).startswith(CHECK)


def grade_id(cell: Any) -> str:
    """nbgrader's name of a cell; empty where it has none."""
    metadata = cell.get("metadata")
    data = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = data.get("grade_id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def find_submissions(paths: list[Path], course: Course, only: str | None = None) -> list[Submission]:
    """What there is to grade below `paths`: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.

    Raises `SubmissionError` where a path leads to nothing that can be graded.
    """
    found: list[Submission] = []
    for path in paths:
        if path.is_dir():
            below = list(_in_folder(path, course, only))
            if not below:
                raise SubmissionError(f"{path}: no submission in it; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
            found += below
        elif path.exists() or path.is_symlink():
            found.append(_single(path, course, only))
        else:
            raise SubmissionError(f"{path}: no such file or folder")
    return found


def _single(path: Path, course: Course, only: str | None) -> Submission:
    """One notebook: its assignment by option, by folder, or by file name; its student by folder."""
    folder = path.absolute().parent
    names = course.assignments()
    assignment = course.of_notebook(path.name)
    name = only or (folder.name if folder.name in names else assignment.name if assignment else None)
    if name is None:
        raise SubmissionError(f"{path}: which assignment is this? Pass --assignment, one of {', '.join(names)}")
    student = folder.parent.name if folder.name == name else path.stem
    return Submission(printable(student), name, path)


def _in_folder(folder: Path, course: Course, only: str | None) -> Iterator[Submission]:
    names = course.assignments()
    if folder.name in names:  # STUDENT/ASSIGNMENT itself
        yield from _of_assignment(folder.absolute().parent.name, folder, names[folder.name], only)
        return
    children = sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    if any(child.name in names for child in children):  # one student's folder
        for child in children:
            if child.name in names:
                yield from _of_assignment(folder.absolute().name, child, names[child.name], only)
        return
    for student in children:
        for child in sorted(student.iterdir()):
            if child.name in names and child.is_dir():
                yield from _of_assignment(student.name, child, names[child.name], only)


def _of_assignment(student: str, folder: Path, assignment: Assignment, only: str | None) -> Iterator[Submission]:
    if only is not None and assignment.name != only:
        return
    path = folder / assignment.notebook.name
    if path.exists() or path.is_symlink():
        yield Submission(printable(student), assignment.name, path)
        return
    there = sorted(p.name for p in folder.iterdir())
    seen = f"the folder holds {', '.join(there[:5])}" if there else "the folder is empty"
    yield Submission(printable(student), assignment.name, path, f"no {path.name}: {seen}")


def _read_text(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else error.strerror
        raise SubmissionError(f"{path.name} cannot be read: {reason}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise SubmissionError(f"{path.name} is not a file")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > MAX_BYTES:
            raise SubmissionError(
                f"{path.name} has {status.st_size / 2**20:.0f} MB; the limit is {MAX_BYTES // 2**20}. "
                "Were outputs left in it?"
            )
        data = file.read(MAX_BYTES + 1)
    if not data.strip():
        raise SubmissionError(f"{path.name} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SubmissionError(f"{path.name} is not UTF-8 text, so it is not a Jupyter notebook") from None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
