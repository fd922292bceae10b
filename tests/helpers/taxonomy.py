"""A published list of what goes wrong in transformers, as wrong answers to our exercises.

`tests/course/taxonomy/operators.toml` has the list, and a file beside it for each assignment has our reading of it: an
operator as edits of the solution. So the wrong answers are as many as somebody else thought of, not as we did.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from tests.helpers.wrong_answers import WrongAnswer

FOLDER = Path(__file__).parents[1] / "course" / "taxonomy"


def operators() -> dict[str, dict[str, str]]:
    """What each operator does to a transformer, and why some are nowhere in the exercises."""
    return tomllib.loads((FOLDER / "operators.toml").read_text())


def faults_of(assignment: Assignment) -> Iterator[WrongAnswer]:
    """The operators as wrong answers to this assignment's exercises, named by operator and number."""
    solution = assignment.solution.read_text()
    for exercise, found in tomllib.loads((FOLDER / f"{assignment.name}.toml").read_text()).items():
        for operator, faults in found.items():
            for number, fault in enumerate(faults, 1):
                accepted = frozenset(frozenset(one.split("+")) for one in fault["names"].split())
                code = _edited(solution, exercise, fault["edits"])
                yield WrongAnswer(f"{operator} {number}", exercise, accepted, form=False, code=code)


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
