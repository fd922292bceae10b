"""Numbers in a notebook's text: which there are, and which its own code gives.

`tests/course/numbers/` has a file an assignment, with a table for each cell of text:

    [rotate-by-hand]
    given = ["10000"]                                   # what the text chooses, and what the code is called with
    computed = ["rotate(np.array([[1.0, 0, 0, 2]] * 3), np.arange(3))"]
    trained = ["100"]                                   # what only a whole training gives; another test asks for it

Each of `computed` is evaluated where all cells of the solved notebook have run, but for what is left out of grading.
"""

from __future__ import annotations

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
from autograder.course import Assignment

FOLDER = Path(__file__).parents[1] / "course" / "numbers"
# What is no claim: addresses, code blocks and code, years beside a name, sections and tables of a paper.
NO_CLAIM = (
    r"\]\([^)]*\)",
    r"```.*?```",
    r"`[^`\n]*`",
    r"\b(19|20)\d\d\b",
    r"\b(sections?|tables?|exercises?|assignments?) [\d.]+( (and|to) [\d.]+)?",
    r"\*\*Time:\*\* about \d+ minutes",
)
NUMBER = re.compile(r"(?<![\w.,{])\d+(?:\{?,\}?\d{3})*(?:\.\d+)?(?![\w])")


def told(source: str) -> list[str]:
    """The numbers of a text that have a point or three digits, as they are written, without sign and commas."""
    for pattern in NO_CLAIM:
        source = re.sub(pattern, " ", source, flags=re.DOTALL)
    found = [number.translate({ord(sign): None for sign in ",{}"}) for number in NUMBER.findall(source)]
    return [number for number in found if "." in number or len(number) > 2]


def table_of(assignment: Assignment) -> Mapping[str, Mapping[str, list[str]]]:
    """The assignment's file: for each cell what is given, computed and trained."""
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


def values(expression: str, names: dict[str, Any]) -> Iterator[float]:
    """The sizes of all numbers that an expression gives."""
    found = eval(expression, dict(names))
    for part in found if isinstance(found, tuple) else (found,):
        part = part.detach().numpy() if hasattr(part, "detach") else part
        yield from np.abs(np.asarray(part, dtype=float)).ravel().tolist()


def is_among(number: str, found: list[float]) -> bool:
    """Is one of them the number, to the digits that are written?"""
    digits = len(number.partition(".")[2])
    return any(math.isclose(float(number), value, abs_tol=0.5001 * 10**-digits, rel_tol=0) for value in found)
