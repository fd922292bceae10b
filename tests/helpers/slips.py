"""The messages of `check` for slips, and whether they are right.

Slips are small edits of right code (`wrong_code.py`). In the first run, the first line was right for 85 % and 81 % of
the slips in two halves, and 2 % and 3 % passed. Visible tests were then added for the slips they had missed.
"""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any

import nbformat

from autograder.course.assignments import Assignment
from autograder.report import WENT_IN
from autograder.student.check import CheckResult, examine
from tests.helpers.in_process import ASSIGNMENTS, _compiled
from tests.helpers.wrong_code import WrongCode, model_code

BY_NAME = {assignment.name: assignment for assignment in ASSIGNMENTS}


@functools.cache
def cells(assignment: str) -> dict[str, str]:
    """The code of the solution cells in the source notebook, by exercise."""
    (path,) = BY_NAME[assignment].solution.parents[2].glob(f"source/{assignment}/*.ipynb")
    found = nbformat.read(path, as_version=4).cells
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in found
        if cell.cell_type == "code" and "nbgrader" in cell.metadata
    }


def names_of(assignment: Assignment) -> dict[str, Any]:
    """The names that a notebook with the solutions defines."""
    names: dict[str, Any] = {"__name__": "notebook", "__builtins__": builtins}
    exec(_compiled(assignment.solution), names)
    return names


def checked(slip: WrongCode) -> CheckResult:
    """The result of `check` for a slip."""
    names = names_of(BY_NAME[slip.assignment])
    slip.define(names)
    return examine(slip.exercise, names)


def first_line(result: CheckResult) -> str:
    """The first line a student reads: the diagnosis, or else the first failed test."""
    if not result.result.started or result._looks_like():
        return result._looks_like() or result._headline()
    failed = [test for test in result.result.tests if test.state != "passed"]
    return f"{failed[0].sentence} {failed[0].message}".split(WENT_IN)[0] if failed else ""


def judged(slip: WrongCode, result: CheckResult) -> str:
    """`right`, `wrong` (names another slip), `vague` (names none) or `green` (passed).

    A message that quotes the line with the slip is also right.
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
