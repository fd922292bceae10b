"""Finds ready-made functions that an exercise's cell mentions. This costs no points; a person should look at it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autograder.report import Finding
from autograder.testing.cell_errors import defines


def mentions(cells: Sequence[str], exercise: str, listed: Sequence[str]) -> list[Finding]:
    """The listed functions that the cells which define `exercise` use as an attribute, or import by name."""
    found = {name for source in cells if defines(exercise, source) for name in _used_by_name(source)}
    names = dict.fromkeys(last for name in listed if (last := name.rpartition(".")[2]) in found)
    return [Finding("mention", name) for name in names]


def _used_by_name(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the cell has magics, or does not run
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
