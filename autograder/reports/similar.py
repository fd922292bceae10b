"""Writes each student's code for each exercise as a `.py`, for programs that compare code:

    JPlag      java -jar jplag.jar -l python3 code/median/students -bc code/median/base
    Dolos      dolos run -l python code/median/students/*.py --ignore code/median/base/base.py
    compare50  compare50 code/median/students/* -d code/median/base/base.py

https://github.com/jplag/JPlag (--base-code), https://dolos.ugent.be/docs/running.html (--ignore),
https://cs50.readthedocs.io/projects/compare50 (--distro)
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.course import Assignment
from autograder.errors import SubmissionError
from autograder.reports.marks_file import as_csv
from autograder.submission import NotebookFile, Submission, read_notebook

FEW = 4  # students, at least: then lines that more than half of them have count as given code


def files(
    assignment: Assignment, submissions: Iterable[Submission], folder: Path, anonymous: bool
) -> Iterator[tuple[Path, str]]:
    """Path and text of every file below `folder`, without untouched stubs; if anonymous, also of a table of names.

    Raises `SubmissionError` if the release cannot be read. Submissions that cannot be read are left out.
    """
    handed_in = {entry.student: notebook for entry in submissions if (notebook := _readable(entry))}
    names = {student: _alias(student) if anonymous else student for student in handed_in}
    stubs = read_notebook(assignment.released)
    for exercise in assignment.exercises:
        stub = _code_of(stubs, exercise.name)
        code = {student: _code_of(notebook, exercise.name) for student, notebook in handed_in.items()}
        edited = {student: text for student, text in code.items() if text.strip() not in ("", stub.strip())}
        for student, text in edited.items():
            yield folder / exercise.name / "students" / f"{names[student]}.py", text.rstrip() + "\n"
        yield folder / exercise.name / "base" / "base.py", "\n".join([stub.rstrip(), *_shared(edited, stub)]) + "\n"
    if anonymous:
        rows = sorted((alias, student) for student, alias in names.items())
        yield folder.with_name(f"{folder.name}.names.csv"), as_csv(("file", "student"), rows)


def _readable(submission: Submission) -> NotebookFile | None:
    try:
        return None if submission.problem else read_notebook(submission.path)
    except SubmissionError:
        return None


def _alias(student: str) -> str:
    """The same alias in each exercise; its order reveals nothing."""
    return "student-" + hashlib.sha256(f"alias {student}".encode("utf-8", "replace")).hexdigest()[:8]


def _code_of(notebook: NotebookFile, exercise: str) -> str:
    """The source of the cell with the exercise's nbgrader id, else of the last cell that defines it."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    named = [cell.source for cell in cells if cell.grade_id == exercise]
    defined = [cell.source for cell in cells if exercise in _definitions(cell.source)]
    return (named or defined[-1:] or [""])[0]


def _definitions(source: str) -> set[str]:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _shared(code: Mapping[str, str], stub: str) -> list[str]:
    """Lines that more than half of the students have, such as code from the lecture."""
    if len(code) < FEW:
        return []
    counts = Counter(line for text in code.values() for line in dict.fromkeys(text.splitlines()) if line.strip())
    known = set(stub.splitlines())
    return [line for line, count in counts.items() if 2 * count > len(code) and line not in known]
