"""Slips of students: small edits of right code, written from the notebooks alone, and what `check` says of each.

They were written before anybody had looked at the visible tests or at the known mistakes. Then the halves were run:
85 % and 81 % right, 1 % wrong, 2.1 and 3.2 % green before names came to the check, and 93 % and 91 % after that. What
the words missed was read by a person: 28 first lines gave the mistake's name in other words, which were added. Eight
edits were taken out that the hidden tests give full marks for. Then the six of the second half that were green were
read for their kind: no batch axis was asked, no length between two others, no scores far apart, no small numbers, and
only means of even numbers. Visible tests ask for these now; it is 98 % and 96 % right, 0.3 % wrong in all, none green.

`tests/course/slips/` has a file for each assignment, and there for each exercise rows of three: what stands in the
solution, what stands there after the slip, and a pattern of words. The first line is right if it has one of them.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import linecache
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Assignment
from autograder.report import WENT_IN
from autograder.student.check import examine
from autograder.student.check_result import CheckResult
from tests.helpers.in_process import ASSIGNMENTS, _compiled

FOLDER = Path(__file__).parents[1] / "course" / "slips"
BY_NAME = {assignment.name: assignment for assignment in ASSIGNMENTS}


@dataclass(frozen=True)
class Slip:
    """One edit of an exercise's solution.

    words: a pattern that the first line of `check` holds if it names the slip or its place
    """

    assignment: str
    exercise: str
    old: str
    new: str
    words: str

    @property
    def half(self) -> int:
        """0 is looked at while the checks are written; 1 is not."""
        return hashlib.sha256(f"{self.exercise} {self.old} {self.new}".encode()).digest()[0] % 2

    @property
    def source(self) -> str:
        """The exercise's cell with the slip in it; what its docstring says stays, if it can."""
        cell = cells(self.assignment)[self.exercise]
        stub, begin, solution = cell.partition("### BEGIN SOLUTION")
        if self.old in solution:
            return stub + begin + solution.replace(self.old, self.new, 1)
        assert self.old in cell, f"{self.exercise}: {self.old!r} is not in its cell"
        return cell.replace(self.old, self.new, 1)


def slips(half: int | None = None) -> list[Slip]:
    """Those of one half, or all."""
    found = [
        Slip(path.stem, exercise, *row)
        for path in sorted(FOLDER.glob("*.toml"))
        for exercise, rows in tomllib.loads(path.read_text(encoding="utf-8")).items()
        for row in rows
    ]
    return [slip for slip in found if half is None or slip.half == half]


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


def checked(slip: Slip) -> CheckResult:
    """What `check` says of it."""
    names, file = names_of(BY_NAME[slip.assignment]), f"<cell of {slip.exercise}>"
    linecache.cache[file] = len(slip.source), None, slip.source.splitlines(keepends=True), file  # as in a kernel
    exec(compile(slip.source, file, "exec"), names)
    return examine(slip.exercise, names)


def first_line(result: CheckResult) -> str:
    """What a student reads first: what is wrong in a sentence, else the first check that fails."""
    if not result.result.started or result._looks_like():
        return result._looks_like() or result._headline()
    failed = [test for test in result.result.tests if test.state != "passed"]
    return f"{failed[0].sentence} {failed[0].message}".split(WENT_IN)[0] if failed else ""


def judged(slip: Slip, result: CheckResult) -> str:
    """`right`, `vague`, `wrong` or `green`. Wrong is what names another slip, vague what names none.

    What names the very line with the slip in it is right, too.
    """
    if result.passed:
        return "green"
    line = first_line(result)
    quoted = re.findall(r"In \w+, line \d+: `(.*?)`", line)
    new = slip.new.strip()
    its_lines = [" ".join(one.split()) for one in slip.source.splitlines() if new and new in one]
    if re.search(rf"(?<![A-Za-z])(?:{slip.words})", line, re.IGNORECASE) or any(one in its_lines for one in quoted):
        return "right"
    return "wrong" if result._looks_like() else "vague"
