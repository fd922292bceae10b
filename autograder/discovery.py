"""Finding what there is to grade: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from autograder.course import CHECK, Assignment, Course
from autograder.errors import SubmissionError
from autograder.submission import Submission, read_notebook
from autograder.text import printable, shown_name

# A student's id stands in formgrader's pages as it is: between tags, in an attribute, in a script's text.
ACTS = re.compile(r'[<>"\\\x00-\x1f\x7f]')
ENDS_LINES = ("Cc", "Cs", "Zl", "Zp")  # Unicode's categories of what breaks a line, a terminal or a file of text
MAX_NOTEBOOKS = 20  # of other names that are looked into for the one that is ours


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
    broken = course.broken()
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
            elif child.name in broken and child.is_dir() and only in (None, child.name):
                yield Submission(_id(student.name), child.name, child, broken[child.name])
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
        return any(cell.grade_id in names for cell in read_notebook(path).cells)
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
