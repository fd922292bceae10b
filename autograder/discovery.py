"""Finds what to grade: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from autograder.course.assignments import Assignment, Course
from autograder.errors import SubmissionError
from autograder.student_folder import cells_at, names_in, of_another, unreadable, with_files
from autograder.submission import Submission, python_beside
from autograder.text import shown_name

# formgrader writes a student's id into its pages unescaped: between tags, in attributes, in scripts.
ACTS = re.compile(r'[<>"\\\x00-\x1f\x7f]')
ENDS_LINES = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories that break a line, a terminal or a text file


def find_submissions(paths: list[Path], course: Course, only: str | None = None) -> list[Submission]:
    """The submissions below `paths`: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.

    Raises `SubmissionError` if a path holds nothing that can be graded.
    """
    found: list[Submission] = []
    for path in paths:
        if path.is_dir():
            below = [each for each in _in_folder(path, course) if only in (None, each.assignment)]
            if not below:
                raise SubmissionError(f"{path}: no submission in it; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
            found += below
        elif path.exists() or path.is_symlink():
            found.append(_single(path, course, only))
        else:
            raise SubmissionError(f"{path}: no such file or folder")
    return found


def _single(path: Path, course: Course, only: str | None) -> Submission:
    """One notebook. The option, the folder or the file name gives its assignment; the folder gives its student."""
    folder = Path(os.path.abspath(path)).parent  # resolves `..` but no links
    names = course.assignments
    assignment = course.of_notebook(path.name)
    name = only or (folder.name if folder.name in names else assignment.name if assignment else None)
    if name is None:
        raise SubmissionError(f"{path}: which assignment is this? Pass --assignment, one of {', '.join(names)}")
    if folder.name == name:
        submission = Submission(_id(folder.parent.name), name, folder / path.name, folder=folder)
        return with_files(submission, names[name], is_named=True) if name in names else submission
    problem = of_another(path.name, cells_at(path), names[name]) if name in names else ""
    return Submission(_id(path.stem), name, path, problem or None, python=python_beside(path))


def _in_folder(folder: Path, course: Course) -> Iterator[Submission]:
    folder, names = Path(os.path.abspath(folder)), course.assignments  # so that `.` has a name
    if folder.name in names:  # STUDENT/ASSIGNMENT itself
        yield submission_in(folder.parent.name, folder, names[folder.name])
        return
    children = sorted(p for p in folder.iterdir() if p.is_dir())
    if work := [child for child in children if child.name in names]:  # one student's folder
        for child in work:
            yield submission_in(folder.name, child, names[child.name])
        return
    broken, closed = course.broken, dict(closed_folders(folder))
    handed_in = dict[str, Assignment]()
    for student in (child for child in children if child.name not in closed):
        for child in sorted(student.iterdir()):
            if child.name in names:
                handed_in[child.name] = names[child.name]
                yield submission_in(student.name, child, names[child.name])
            elif child.name in broken and child.is_dir():
                yield Submission(_id(student.name), child.name, child, broken[child.name])
    # An unreadable folder may hold anything, so it counts as one failed submission of each assignment found.
    for name, reason in closed.items():
        for assignment in handed_in.values():
            path = folder / name / assignment.name / assignment.notebook.name
            yield Submission(_id(name), assignment.name, path, reason)


def submission_in(student: str, folder: Path, assignment: Assignment) -> Submission:
    """The submission in a student's folder of an assignment."""
    problem = name_problem(student)
    if problem is None and folder.is_symlink():
        problem = f"the folder {folder.name} is a link; put the files themselves there"
    submission = Submission(_id(student), assignment.name, folder / assignment.notebook.name, problem, folder)
    return submission if problem else with_files(submission, assignment)


def _id(folder: str) -> str:
    return folder if name_problem(folder) is None else shown_name(folder)


def name_problem(student: str) -> str | None:
    """Why this folder's name is not a valid student's id; None if it is one.

    Invisible characters such as a non-breaking space, or the joiner in a Persian name, are valid.
    """
    shown = f"the folder's name '{shown_name(student)}'"
    if student.startswith("."):
        return f"{shown} begins with a dot, so nbgrader skips it; rename it"
    if any(unicodedata.category(character) in ENDS_LINES for character in student):
        return f"{shown} has a control character or half a character in it; rename it"
    if ACTS.search(student):
        return f'{shown} has one of < > " \\ in it, which formgrader would act on; rename it'
    return None


def closed_folders(submitted: Path) -> Iterator[tuple[str, str]]:
    """Students whose folder cannot be read, each with the reason. Raises `OSError` if `submitted` cannot be read."""
    for student in sorted(submitted.iterdir()) if submitted.is_dir() else ():
        try:
            if student.is_dir():
                names_in(student)
        except OSError as error:
            yield student.name, unreadable(student, error)
