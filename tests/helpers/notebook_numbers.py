"""Numbers in a notebook's text and captions: which there are, and which its own code gives.

`tests/course/numbers/` has a file an assignment, with a table for each cell of text, and for each cell whose pictures
or lines have a number in what they say:

    [rotate-by-hand]
    given = ["10000"]                                   # what the text chooses, and what the code is called with
    first = "x = np.array([[1.0, 0, 0, 2]] * 3)"        # lines to run before, if one expression is not enough
    computed = ["rotate(x, np.arange(3))"]
    trained = ["100"]                                   # what only a whole training gives; another test asks for it

Each of `computed` is evaluated where all cells of the solved notebook have run, but for what is left out of grading.

Three classes of numbers need no entry: one digit (counts, and examples small enough to be followed by hand, which the
visible tests have), where something stands (sections, exercises, years, a paper's address), and code.
"""

from __future__ import annotations

import ast
import functools
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

from autograder import block_parts
from autograder.course.assignments import Assignment

FOLDER = Path(__file__).parents[1] / "course" / "numbers"
# What is no claim: addresses, code blocks and code, years, sections and tables of a paper, the numbers of a list.
NO_CLAIM = (
    r"\]\([^)]*\)",
    r"```.*?```",
    r"`[^`\n]*`",
    r"\b(18\d|19\d|20[0-2])\d\b",
    r"\b(sections?|tables?|exercises?|assignments?)\s[\d.]+( (and|to) [\d.]+)?",
    r"^(#+ )?\d+\. ",
    r"\*\*Time:\*\* about \d+ minutes",
)
NUMBER = re.compile(r"(?<![\w.,{])\d+(?:\{?,\}?\d{3})*(?:\.\d+)?(?![\w])")


def told(source: str) -> list[str]:
    """The numbers of a text that have a point or two digits, as they are written, without sign and commas."""
    for pattern in NO_CLAIM:
        source = re.sub(pattern, " ", source, flags=re.DOTALL | re.MULTILINE)
    found = [number.translate({ord(sign): None for sign in ",{}"}) for number in NUMBER.findall(source)]
    return [number for number in found if len(number) > 1]


def captions(source: str) -> str:
    """What a cell of code has to say in words: its texts in quotation marks, without the forms of numbers."""
    return "\n".join(_texts(ast.parse(source)))


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    children = [node.value] if isinstance(node, ast.FormattedValue) else ast.iter_child_nodes(node)
    for child in children:
        yield from _texts(child)


def texts_of(assignment: Assignment) -> Mapping[str, str]:
    """What is read in each cell: all of a text, the captions of code that only shows something."""
    return {
        name: cell.source if cell.cell_type == "markdown" else captions(cell.source)
        for name, cell in cells_of(assignment).items()
        if cell.cell_type == "markdown" or "nbgrader" not in cell.metadata
    }


def table_of(assignment: Assignment) -> Mapping[str, Mapping[str, Any]]:
    """The assignment's file: for each cell what is given, computed and trained, and what to run first."""
    return tomllib.loads((FOLDER / f"{assignment.name}.toml").read_text(encoding="utf-8"))


@functools.cache
def cells_of(assignment: Assignment) -> Mapping[str, Any]:
    """The solved notebook's cells by id."""
    return {cell["id"]: cell for cell in nbformat.read(assignment.notebook, as_version=4).cells}


@functools.cache
def names_in(assignment: Assignment, left_out: frozenset[str] = frozenset(), grading: bool = True) -> dict[str, Any]:
    """What is defined once the solved notebook has run; nothing is shown.

    grading: is it left out what is left out of grading?
    """
    silent: dict[str, Any] = {"display": lambda *shown: None, "print": lambda *words, **more: None}
    names: dict[str, Any] = {"block_parts": block_parts, **silent}
    for name, cell in cells_of(assignment).items():
        if cell.cell_type == "code" and "check(" not in cell.source.splitlines()[-1] and name not in left_out:
            exec(compile(cell.source, name, "exec"), names)
            names |= silent | ({"grading": grading} if "grading" in names else {})
    return names


def computed(row: Mapping[str, Any], names: dict[str, Any]) -> list[float]:
    """The sizes of all numbers that the expressions of a cell's table give."""
    names = dict(names)
    exec(row.get("first", ""), names)
    return [value for one in row.get("computed", ()) for value in _values(one, names)]


def _values(expression: str, names: dict[str, Any]) -> Iterator[float]:
    found = eval(expression, names)
    for part in found if isinstance(found, tuple) else (found,):
        part = part.detach().numpy() if hasattr(part, "detach") else part
        yield from np.abs(np.asarray(part, dtype=float)).ravel().tolist()


def is_among(number: str, found: list[float]) -> bool:
    """Is one of them the number, to the digits that are written?"""
    digits = len(number.partition(".")[2])
    return any(math.isclose(float(number), value, abs_tol=0.5001 * 10**-digits, rel_tol=0) for value in found)
