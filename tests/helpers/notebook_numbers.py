"""Numbers in a notebook's text and captions, compared with the numbers that its code computes.

`tests/course/numbers/` has a file per assignment, with a table for each text cell, and for each code cell with numbers
in its captions or printed lines:

    [rotate-by-hand]
    given = ["10000"]                                   # chosen by the text, or arguments of the code
    first = "x = np.array([[1.0, 0, 0, 2]] * 3)"        # lines to run first, if one expression is not enough
    computed = ["rotate(x, np.arange(3))"]
    trained = ["100"]                                   # results of a whole training, which another test checks

The expressions in `computed` are evaluated after all cells of the solved notebook have run, except those left out of
grading. No entry is needed for single digits (counts, and examples small enough to follow by hand), references
(sections, exercises, years, addresses), and code.
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
# Not claims: addresses, code blocks and code, years, sections and tables of a paper, list numbers.
NO_CLAIM = (
    r"\]\([^)]*\)",
    r"```.*?```",
    r"`[^`\n]*`",
    r"\b(18\d|19\d|20[0-2])\d\b",
    r"\b(sections?|tables?|exercises?|assignments?)\s[\d.]+( (and|to) [\d.]+)?",
    r"^(#+ )?\d+\. ",
    r"\*\*Time:\*\* about \d+ minutes",
    r"^\*About \d+ minutes · \w+\*$",
)
NUMBER = re.compile(r"(?<![\w.,{])\d+(?:\{?,\}?\d{3})*(?:\.\d+)?(?![\w])")


def numbers_in(source: str) -> list[str]:
    """The numbers in a text with at least two characters, as written, without signs and commas."""
    for pattern in NO_CLAIM:
        source = re.sub(pattern, " ", source, flags=re.DOTALL | re.MULTILINE)
    found = [number.translate({ord(sign): None for sign in ",{}"}) for number in NUMBER.findall(source)]
    return [number for number in found if len(number) > 1]


def captions(source: str) -> str:
    """The string literals of a code cell, without format specifications."""
    return "\n".join(_texts(ast.parse(source)))


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    children = [node.value] if isinstance(node, ast.FormattedValue) else ast.iter_child_nodes(node)
    for child in children:
        yield from _texts(child)


def texts_of(assignment: Assignment) -> Mapping[str, str]:
    """The text that students read in each cell: a whole text cell, or the captions of a display cell."""
    return {
        name: cell.source if cell.cell_type == "markdown" else captions(cell.source)
        for name, cell in cells_of(assignment).items()
        if cell.cell_type == "markdown" or "nbgrader" not in cell.metadata
    }


def table_of(assignment: Assignment) -> Mapping[str, Mapping[str, Any]]:
    """The assignment's file: for each cell the keys `given`, `first`, `computed` and `trained`."""
    return tomllib.loads((FOLDER / f"{assignment.name}.toml").read_text(encoding="utf-8"))


@functools.cache
def cells_of(assignment: Assignment) -> Mapping[str, Any]:
    """The solved notebook's cells by id."""
    return {cell["id"]: cell for cell in nbformat.read(assignment.notebook, as_version=4).cells}


@functools.cache
def names_in(assignment: Assignment, left_out: frozenset[str] = frozenset(), grading: bool = True) -> dict[str, Any]:
    """The names defined after running the solved notebook without output.

    grading: whether to leave out the parts that are left out of grading
    """
    silent: dict[str, Any] = {"display": lambda *shown: None, "print": lambda *words, **more: None}
    names: dict[str, Any] = {"block_parts": block_parts, **silent}
    for name, cell in cells_of(assignment).items():
        if cell.cell_type == "code" and "check(" not in cell.source.splitlines()[-1] and name not in left_out:
            exec(compile(cell.source, name, "exec"), names)
            names |= silent | ({"grading": grading} if "grading" in names else {})
    return names


def computed(row: Mapping[str, Any], names: dict[str, Any]) -> list[float]:
    """The absolute values of all numbers that the expressions of a cell's table give."""
    names = dict(names)
    exec(row.get("first", ""), names)
    return [value for one in row.get("computed", ()) for value in _values(one, names)]


def _values(expression: str, names: dict[str, Any]) -> Iterator[float]:
    found = eval(expression, names)
    for part in found if isinstance(found, tuple) else (found,):
        part = part.detach().numpy() if hasattr(part, "detach") else part
        yield from np.abs(np.asarray(part, dtype=float)).ravel().tolist()


def is_among(number: str, found: list[float]) -> bool:
    """Whether one of the values equals the number, to the digits written."""
    digits = len(number.partition(".")[2])
    return any(math.isclose(float(number), value, abs_tol=0.5001 * 10**-digits, rel_tol=0) for value in found)
