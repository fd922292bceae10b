"""A published list of what goes wrong in transformers, as wrong answers to our exercises.

`tests/course/taxonomy/operators.toml` has the list, and a file beside it for each assignment has our reading of it: an
operator as edits of the solution. So the wrong answers are as many as somebody else thought of, not as we did.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from tests.helpers.wrong_answers import SAME

FOLDER = Path(__file__).parents[1] / "course" / "taxonomy"


@dataclass(frozen=True)
class Fault:
    """An operator as one wrong answer.

    accepted: names that a teacher would accept for it; `one+other` where both have to be told
    right: why it is a right answer here; empty if it is none
    """

    operator: str
    number: int
    exercise: str
    accepted: tuple[str, ...]
    code: Any
    right: str = ""

    def __str__(self) -> str:
        return f"{self.exercise}: {self.operator} {self.number}"

    def is_right(self, name: str) -> bool:
        """Are these words a teacher's?"""
        return _words(name) in map(_words, self.accepted)


def _words(name: str) -> set[str]:
    """Each of the names joined by a plus, as the first of those that say the same."""
    return {next((line.split()[0] for line in SAME if one in line.split()), one) for one in name.split("+")}


def operators() -> dict[str, dict[str, str]]:
    """What each operator does to a transformer, and why some are nowhere in the exercises."""
    return tomllib.loads((FOLDER / "operators.toml").read_text())


def faults_of(assignment: Assignment) -> Iterator[Fault]:
    """The operators as wrong answers to this assignment's exercises."""
    solution = assignment.solution.read_text()
    for exercise, found in tomllib.loads((FOLDER / f"{assignment.name}.toml").read_text()).items():
        for operator, faults in found.items():
            for number, fault in enumerate(faults, 1):
                code = _edited(solution, exercise, fault["edits"])
                names, right = fault.get("names", "").split(), fault.get("right", "")
                yield Fault(operator, number, exercise, tuple(names), code, right)


def _edited(solution: str, exercise: str, edits: list[tuple[str, str]]) -> Any:
    """The exercise's function or class from a solution in which some of its text is replaced."""
    definition = text = _definition(solution, exercise)
    for old, new in edits:
        if old not in text:
            raise ValueError(f"{exercise}: {old!r} is not in the solution")
        text = text.replace(old, new)
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(solution.replace(definition, text), names)
    return names[exercise]


def _definition(solution: str, name: str) -> str:
    """The text of what defines `name`."""
    defines = (ast.FunctionDef, ast.ClassDef)
    (found,) = (node for node in ast.parse(solution).body if isinstance(node, defines) and node.name == name)
    return ast.get_source_segment(solution, found) or ""
