"""Writes each student's code for each exercise as a `.py`, for programs that compare code:

    JPlag      java -jar jplag.jar -l python3 code/median/students -bc code/median/base
    Dolos      dolos run -l python code/median/students/*.py --ignore code/median/base/base.py
    compare50  compare50 code/median/students/* -d code/median/base/base.py

https://github.com/jplag/JPlag (--base-code), https://dolos.ugent.be/docs/running.html (--ignore),
https://cs50.readthedocs.io/projects/compare50 (--distro)
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.course import Assignment
from autograder.errors import SubmissionError
from autograder.reports.marks_file import as_csv
from autograder.submission import NotebookFile, Submission, read_notebook

MOST = 100_000  # characters of an exercise's code that are compared; an exercise has 2,000
FEW = 4  # students, at least: then lines that more than half of them have count as given code


def files(
    assignment: Assignment, submissions: Iterable[Submission], folder: Path, anonymous: bool
) -> Iterator[tuple[Path, str]]:
    """Path and text of every file below `folder`, without untouched stubs; if anonymous, also of a table of names.

    Raises `SubmissionError` if the release cannot be read. Submissions that cannot be read are left out.
    """
    stubs = _codes(read_notebook(assignment.released), assignment)
    codes = {entry.student: _codes(notebook, assignment) for entry in submissions if (notebook := _readable(entry))}
    names = {student: _alias(student) if anonymous else student for student in codes}
    for exercise, stub in stubs.items():
        code = {student: own[exercise] for student, own in codes.items()}
        edited = {student: text for student, text in code.items() if text.strip() not in ("", stub.strip())}
        for student, text in edited.items():
            yield folder / exercise / "students" / f"{names[student]}.py", text.rstrip() + "\n"
        yield folder / exercise / "base" / "base.py", "\n".join([stub.rstrip(), *_shared(edited, stub)]) + "\n"
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


def _codes(notebook: NotebookFile, assignment: Assignment) -> dict[str, str]:
    """The code of each exercise: the cell with its nbgrader id, else the last cell that defines it."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    named = {cell.grade_id: cell.source for cell in reversed(cells)}
    names = [exercise.name for exercise in assignment.exercises]
    defines = re.compile(rf"^(?:async )?(?:def|class) ({'|'.join(names)})\b", re.MULTILINE)
    defined = {name: cell.source for cell in cells for name in defines.findall(cell.source)}
    return {name: named.get(name, defined.get(name, ""))[:MOST] for name in names}


def _shared(code: Mapping[str, str], stub: str) -> list[str]:
    """Lines that more than half of the students have, such as code from the lecture."""
    if len(code) < FEW:
        return []
    counts = Counter(line for text in code.values() for line in dict.fromkeys(text.splitlines()) if line.strip())
    known = set(stub.splitlines())
    return [line for line, count in counts.items() if 2 * count > len(code) and line not in known]
