"""What `check` says of slips, and whether that is right; and what a notebook with the solutions holds.

Slips are small edits of right code (`wrong_code.py`). When they were first run, 85 % and 81 % of two halves had a right
first line, and 2 % and 3 % passed. Visible tests grew by what they missed.
"""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any

import nbformat

from autograder.course.assignments import Assignment
from autograder.report import WENT_IN
from autograder.student.check import examine
from autograder.student.check_result import CheckResult
from tests.helpers.in_process import ASSIGNMENTS, _compiled
from tests.helpers.wrong_code import WrongCode, model_code

BY_NAME = {assignment.name: assignment for assignment in ASSIGNMENTS}


@functools.cache
def cells(assignment: str) -> dict[str, str]:
    """The code of each solution's cell in the source notebook."""
    (path,) = BY_NAME[assignment].solution.parents[2].glob(f"source/{assignment}/*.ipynb")
    found = nbformat.read(path, as_version=4).cells
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in found
        if cell.cell_type == "code" and "nbgrader" in cell.metadata
    }


def names_of(assignment: Assignment) -> dict[str, Any]:
    """What a notebook with the solutions defines."""
    names: dict[str, Any] = {"__name__": "notebook", "__builtins__": builtins}
    exec(_compiled(assignment.solution), names)
    return names


def checked(slip: WrongCode) -> CheckResult:
    """What `check` says of it."""
    names = names_of(BY_NAME[slip.assignment])
    slip.define(names)
    return examine(slip.exercise, names)


def first_line(result: CheckResult) -> str:
    """What a student reads first: what is wrong in a sentence, else the first check that fails."""
    if not result.result.started or result._looks_like():
        return result._looks_like() or result._headline()
    failed = [test for test in result.result.tests if test.state != "passed"]
    return f"{failed[0].sentence} {failed[0].message}".split(WENT_IN)[0] if failed else ""


def judged(slip: WrongCode, result: CheckResult) -> str:
    """`right`, `vague`, `wrong` or `green`. Wrong is what names another slip, vague what names none.

    What names the very line with the slip in it is right, too.
    """
    if result.passed:
        return "green"
    line = first_line(result)
    quoted = re.findall(r"In \w+, line \d+: `(.*?)`", line)
    own = set(slip.code.splitlines()).difference(model_code(_solution(slip.assignment), slip.exercise).splitlines())
    its_lines = [" ".join(one.split()) for one in own]
    if re.search(rf"(?<![A-Za-z])(?:{slip.words})", line, re.IGNORECASE) or any(one in its_lines for one in quoted):
        return "right"
    return "wrong" if result._looks_like() else "vague"


@functools.cache
def _solution(assignment: str) -> str:
    return BY_NAME[assignment].solution.read_text(encoding="utf-8")
