"""Each exercise as a `.py` for each student, for programs that compare code; nobody is compared here.

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

FEW = 4  # from so many students on, lines that more than half of them have are nobody's own


def files(
    assignment: Assignment, released: Path, submissions: Iterable[Submission], folder: Path, anonymous: bool
) -> Iterator[tuple[Path, str]]:
    """Every file with its place below `folder`; if anonymous, who is who beside it. Stubs are left out.

    Raises `SubmissionError` if the release cannot be read; a submission that cannot be read is left out.
    """
    handed_in = {one.student: notebook for one in submissions if (notebook := _readable(one))}
    names = {student: _alias(student) if anonymous else student for student in handed_in}
    stubs = read_notebook(released)
    for exercise in assignment.exercises:
        stub = _code_of(stubs, exercise.name)
        code = {student: _code_of(notebook, exercise.name) for student, notebook in handed_in.items()}
        own = {student: text for student, text in code.items() if text.strip() and text.strip() != stub.strip()}
        for student, text in own.items():
            yield folder / exercise.name / "students" / f"{names[student]}.py", text.rstrip() + "\n"
        yield folder / exercise.name / "base" / "base.py", "\n".join([stub.rstrip(), *_shared(own, stub)]) + "\n"
    if anonymous:
        rows = sorted((alias, student) for student, alias in names.items())
        yield folder.with_name(f"{folder.name}.names.csv"), as_csv(("file", "student"), rows)


def _readable(submission: Submission) -> NotebookFile | None:
    try:
        return None if submission.problem else read_notebook(submission.path)
    except SubmissionError:
        return None


def _alias(student: str) -> str:
    """The same in each exercise, and in no order that tells something."""
    return "student-" + hashlib.sha256(f"alias {student}".encode("utf-8", "replace")).hexdigest()[:8]


def _code_of(notebook: NotebookFile, exercise: str) -> str:
    """The exercise's own cell, by its name for nbgrader, or else the last one that defines it."""
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
    """Lines that more than half of the students have, such as those of the lecture."""
    if len(code) < FEW:
        return []
    counts = Counter(line for text in code.values() for line in dict.fromkeys(text.splitlines()) if line.strip())
    known = set(stub.splitlines())
    return [line for line, count in counts.items() if 2 * count > len(code) and line not in known]
