"""Reading what students hand in. Strangers' bytes: nothing here runs, follows a link, or waits.

`read_cells` raises `SubmissionError` with a reason a teacher can act on; it never raises anything else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import CHECK, Assignment, Course
from autograder.errors import SubmissionError
from autograder.reading import parse_json, read_bytes
from autograder.text import one_line, printable, shown_name

_PLAIN_CHECK = re.compile(r"check\(\s*[\w\"']+\s*\)|from \w+[\w.]* import check")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# A student's id stands in formgrader's pages as it is: between tags, in an attribute, in a script's text.
ACTS = re.compile(r'[<>"\\\x00-\x1f\x7f]')
ENDS_LINES = ("Cc", "Cs", "Zl", "Zp")  # Unicode's categories of what breaks a line, a terminal or a file of text
MAX_BYTES = 20 * 2**20  # a notebook full of plots has 5 MB
MODEL = "model.safetensors"  # beside the notebook, if an assignment takes one
MAX_MODEL = 4 * 2**20  # bytes; a small network's has 0.4 MB
MAX_NOTEBOOKS = 20  # of other names that are looked into for the one that is ours
MAX_CELLS = 5_000  # a long notebook has 200
OLD_KEYS = ("cell_type", "language", "level", "source", "input", "code", "text")  # of a cell, in formats 1 to 3


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one assignment, not yet read. `problem` is set if it cannot be found.

    `student` is the folder's name as it is, since names that look alike are two students. If no student can have that
    name, it is as `shown_name` writes it; see `name_problem`.

    `takes_model` is set if the assignment takes a saved model beside the notebook.
    """

    student: str
    assignment: str
    path: Path
    problem: str | None = None
    takes_model: bool = False


@dataclass(frozen=True)
class ModelFile:
    """A saved model as it was handed in: its bytes, or why they could not be read."""

    data: bytes = b""
    problem: str = ""


@dataclass(frozen=True)
class Cell:
    """A code cell that will be run; `index` is its place in the notebook, counted from 0."""

    index: int
    source: str


def read_notebook(path: Path) -> dict[str, Any]:
    """The notebook at `path` as nbformat 4.5, with whatever is no cell left out and what a cell lacks filled in.

    Plain data: nbformat, whose import takes a second, is needed for the formats of before 2015 alone.
    """
    name = path.name
    try:
        notebook = parse_json(_read_text(path))
        if notebook["nbformat"] < 4:
            import nbformat

            old = json.dumps(_old(notebook, name))
            notebook = nbformat.convert(nbformat.reader.reads(old), 4)
        cells = notebook["cells"]
        if not isinstance(cells, list):
            raise SubmissionError(f"{name} is not a Jupyter notebook (its cells are no list)")
        _count(len(cells), name)
        tidy = [_tidy(number, cell) for number, cell in enumerate(cells) if isinstance(cell, dict)]
        return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": tidy}
    except SubmissionError:
        raise
    except RecursionError:
        raise SubmissionError(f"{name} is nested too deeply to be a notebook") from None
    except Exception as error:
        said = one_line(str(error))[:120] or type(error).__name__
        raise SubmissionError(f"{name} is not a Jupyter notebook ({said})") from None


def _count(cells: int, name: str) -> None:
    """Refuses a notebook that would become gigabytes: a cell takes hundreds of times its two brackets."""
    if cells > MAX_CELLS:
        raise SubmissionError(f"{name} has {cells} cells; the limit is {MAX_CELLS}")


def _old(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """What matters of a notebook of formats 1 to 3, so that converting it takes no more memory than that."""
    sheets = [notebook.get("cells", []), *(sheet["cells"] for sheet in notebook.get("worksheets", []))]
    _count(max(len(sheets), sum(map(len, sheets))), name)
    own, *others = [list(map(_old_cell, cells)) for cells in sheets]
    version = {key: notebook.get(key, 0) for key in ("nbformat", "nbformat_minor")}
    return version | {"metadata": {"name": ""}, "cells": own, "worksheets": [{"cells": cells} for cells in others]}


def _old_cell(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id(cell)}}
    return {key: cell[key] for key in OLD_KEYS if key in cell} | {"metadata": metadata, "outputs": []}


def _tidy(number: int, cell: dict[str, Any]) -> dict[str, Any]:
    """What matters of a cell: its kind, its text, nbgrader's name for it, and pictures pasted into its text."""
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    # Half a character would end in no file; it is no Python either.
    text = text.encode("utf-8", "replace").decode("utf-8")
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown") else "raw"
    name = grade_id(cell)
    metadata = {"nbgrader": {"grade_id": name}} if name else {}
    tidy: dict[str, Any] = {"id": f"cell-{number}", "cell_type": kind, "metadata": metadata, "source": text}
    if kind == "code":
        return tidy | {"outputs": [], "execution_count": None}
    return tidy | ({"attachments": pasted} if (pasted := _pictures(cell.get("attachments"))) else {})


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Pasted pictures of the kinds that only show something."""
    found = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        kinds = bundle.items() if isinstance(bundle, dict) else ()
        kept = {kind: data for kind, data in kinds if kind in PICTURES and isinstance(data, str)}
        if kept and isinstance(name, str):
            found[name] = kept
    return found


def model_beside(submission: Submission) -> ModelFile | None:
    """The saved model beside a notebook, not yet looked into; None if there is none, or none is taken."""
    path = submission.path.with_name(MODEL)
    if not submission.takes_model or not os.path.lexists(path):
        return None
    try:
        return ModelFile(read_bytes(path, MAX_MODEL, "Was something other than the weights saved?"))
    except SubmissionError as error:
        return ModelFile(problem=str(error))


def stamp(submission: Submission, *words: str) -> str:
    """A word that changes with what was handed in, and with `words`, such as the course's version."""
    try:
        content = b"" if submission.problem else read_bytes(submission.path, MAX_BYTES, "")
    except SubmissionError as error:
        content = str(error).encode("utf-8", "replace")
    told = (submission.student, submission.assignment, str(submission.problem), *words)
    model = model_beside(submission)
    parts = [*(word.encode("utf-8", "replace") for word in told), content]
    parts += [model.problem.encode(), model.data] if model else []
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def code_cells(notebook: Any) -> list[Cell]:
    """The cells to run: all code cells but checks, which are for the student's screen."""
    cells = []
    for index, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code" and cell["source"].strip() and not is_plain_check(cell["source"]):
            cells.append(Cell(index, cell["source"]))
    return cells


def is_plain_check(source: str) -> bool:
    """Does a cell hold nothing but the course's own call of `check`?"""
    lines = [line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return all(_PLAIN_CHECK.fullmatch(line.strip()) for line in lines)


def grade_id(cell: Any) -> str:
    """nbgrader's name of a cell; empty if it has none."""
    metadata = cell.get("metadata")
    data = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = data.get("grade_id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def find_submissions(paths: list[Path], course: Course, only: str | None = None) -> list[Submission]:
    """What there is to grade below `paths`: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.

    Raises `SubmissionError` if a path leads to nothing that can be graded.
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
    folder = Path(os.path.abspath(path)).parent  # with `..` taken away, and links left alone
    names = course.assignments()
    assignment = course.of_notebook(path.name)
    name = only or (folder.name if folder.name in names else assignment.name if assignment else None)
    if name is None:
        raise SubmissionError(f"{path}: which assignment is this? Pass --assignment, one of {', '.join(names)}")
    student = folder.parent.name if folder.name == name else path.stem
    return Submission(_id(student), name, path, None, name in names and names[name].saved_model is not None)


def _in_folder(folder: Path, course: Course, only: str | None) -> Iterator[Submission]:
    folder, names = Path(os.path.abspath(folder)), course.assignments()  # `.` has a name, too
    if folder.name in names:  # STUDENT/ASSIGNMENT itself
        yield from of_assignment(folder.parent.name, folder, names[folder.name], only)
        return
    children = sorted(p for p in folder.iterdir() if p.is_dir())
    if any(child.name in names for child in children):  # one student's folder
        for child in children:
            if child.name in names:
                yield from of_assignment(folder.name, child, names[child.name], only)
        return
    handed_in, closed = dict[str, Assignment](), dict[Path, str]()
    for student in children:
        try:
            inside = sorted(student.iterdir())
        except OSError as error:
            closed[student] = _closed(student, error)
            continue
        for child in inside:
            if child.name in names and child.is_dir():
                handed_in[child.name] = names[child.name]
                yield from of_assignment(student.name, child, names[child.name], only)
    # What is in a folder that cannot be read, nobody knows: it counts as all that the others have handed in.
    for student, reason in closed.items():
        for assignment in handed_in.values():
            if only in (None, assignment.name):
                path = student / assignment.name / assignment.notebook.name
                yield Submission(_id(student.name), assignment.name, path, reason)


def of_assignment(student: str, folder: Path, assignment: Assignment, only: str | None = None) -> Iterator[Submission]:
    """The submission in a student's folder of an assignment; nothing if `only` asks for another assignment."""
    if only is not None and assignment.name != only:
        return
    path, problem = folder / assignment.notebook.name, name_problem(student)
    if problem is None and folder.is_symlink():
        problem = f"the folder {folder.name} is a link; put the work itself there"
    if problem is None:
        path, problem = notebook_in(folder, assignment)
    yield Submission(_id(student), assignment.name, path, problem, assignment.saved_model is not None)


def notebook_in(folder: Path, assignment: Assignment) -> tuple[Path, str | None]:
    """The notebook that a folder holds of an assignment, or why there is none.

    If none has the name it should have, it is the one that has cells of the assignment: what a browser has saved
    twice is called `first (1).ipynb`.
    """
    path = folder / assignment.notebook.name
    try:
        if os.path.lexists(path):
            return path, None
        there = sorted(p.name for p in folder.iterdir())
    except OSError as error:
        return path, _closed(folder, error)
    others = [folder / name for name in there if name.endswith(".ipynb")][:MAX_NOTEBOOKS]
    ours = [other for other in others if _has_cells_of(other, assignment)]
    if len(ours) == 1:
        return ours[0], None
    if ours:
        names = ", ".join(printable(one.name) for one in ours)
        return path, f"no {path.name}, and more than one notebook with its cells: {names}. Leave one of them"
    seen = f"the folder holds {', '.join(map(printable, there[:5]))}" if there else "the folder is empty"
    return path, f"no {path.name}: {seen}"


def _has_cells_of(path: Path, assignment: Assignment) -> bool:
    """Is a notebook one of the assignment, by the names of its cells?"""
    names = {name for exercise in assignment.exercises for name in (exercise.name, CHECK + exercise.name)}
    try:
        return any(grade_id(cell) in names for cell in read_notebook(path)["cells"])
    except SubmissionError:
        return False


def _id(folder: str) -> str:
    return folder if name_problem(folder) is None else shown_name(folder)


def name_problem(student: str) -> str | None:
    """Why nobody can have the name of this folder as an id; None if somebody can.

    A name may hold what cannot be seen, such as a space that does not break, or the joiner in a Persian name.
    """
    shown = f"the folder's name '{shown_name(student)}'"
    if student.startswith("."):
        return f"{shown} begins with a dot, and nbgrader passes it over; rename it"
    if any(unicodedata.category(character) in ENDS_LINES for character in student):
        return f"{shown} has a control character or half a character in it; rename it"
    if ACTS.search(student):
        return f'{shown} has one of < > " \\ in it, which formgrader would act on; rename it'
    return None


def closed_folders(submitted: Path) -> Iterator[tuple[str, str]]:
    """Students whose folder cannot be looked into, each with the reason. Raises `OSError` if `submitted` is such."""
    for student in sorted(submitted.iterdir()) if submitted.is_dir() else ():
        try:
            if student.is_dir():
                os.listdir(student)
        except OSError as error:
            yield student.name, _closed(student, error)


def _closed(folder: Path, error: OSError) -> str:
    return f"the folder {printable(folder.name)} cannot be read: {error.strerror}"


def _read_text(path: Path) -> str:
    data = read_bytes(path, MAX_BYTES, "Were outputs left in it?")
    if not data.strip():
        raise SubmissionError(f"{path.name} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SubmissionError(f"{path.name} is not UTF-8 text, so it is not a Jupyter notebook") from None
