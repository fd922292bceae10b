"""Tests that judge nothing: an assert that always holds, a test that no known mistake fails, numbers drawn anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring.findings import Finding
from autograder.course.assignments import Assignment

IN_BRACKETS = 'Write the message without parentheses: assert CONDITION, "message".'
LONGEST = 57  # characters of an assert
CONSTANT = "Compare with what the student's code gives."


def _always_true(source: str) -> Iterator[tuple[int, str, str]]:
    """Asserts that hold whatever the code gives: the line, what stands there, and the remedy."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with magics, or a file that another check names
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        test = node.test
        is_pair = isinstance(test, ast.Tuple) and len(test.elts) == 2
        shown = isinstance(test, ast.Tuple | ast.List | ast.Set) and test.elts
        if shown or isinstance(test, ast.GeneratorExp | ast.Lambda) or (isinstance(test, ast.Constant) and test.value):
            written = f"assert {ast.unparse(test)}"
            remedy = IN_BRACKETS if is_pair else CONSTANT
            yield node.lineno, written if len(written) < LONGEST else f"{written[:LONGEST]}...", remedy


def always_true_cells(assignment: Assignment) -> Iterator[Finding]:
    """Asserts in the notebook's own test cells that always hold."""
    for cell in assignment.assert_cells.values():
        for line, written, remedy in _always_true(cell.source):
            yield Finding(assignment.notebook, cell.grade_id, f"line {line}, `{written}`, always holds", remedy)


def always_true(path: Path) -> Iterator[Finding]:
    """Asserts in a file of tests that always hold."""
    for line, written, remedy in _always_true(path.read_text(encoding="utf-8")):
        yield Finding(path, f"line {line}", f"`{written}` always holds", remedy)
