"""Graded cells of plain asserts, as nbgrader's own courses have them: what is hidden in one, and what may be told.

A cell that ends in `check("median")` is no such cell: its exercise is judged by a suite.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"  # nbgrader's markers
_ENDS_IN_CHECK = re.compile(r"""check\(\s*(['"])\w+\1\s*\)\s*;?\s*(#.*)?\Z""")
_NAMED_CHECK = re.compile(r"check\(\s*\w+\s*\)\s*\Z")
AUTOTEST = re.compile(r"^\s*### (HASHED )?AUTOTEST\b", re.MULTILINE)  # a comment here, tests in nbgrader's release
SHORTEST = 6  # characters of a hidden line that is looked for in what a test says: `x = 1` may be anybody's
HIDDEN = "(hidden)"


def ends_in_check(source: str, or_a_name: bool = False) -> bool:
    """Does a cell end in the course's call of `check`? or_a_name: also if what it checks is no text, by a mistake."""
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and bool(
        _ENDS_IN_CHECK.match(lines[-1]) or (or_a_name and _NAMED_CHECK.match(lines[-1])),
    )


def hidden_lines(source: str) -> frozenset[int]:
    """Numbers of the lines that students do not get, counted from 1."""
    found, inside = set[int](), False
    for number, line in enumerate(source.splitlines(), 1):
        inside = inside or BEGIN in line
        if inside:
            found.add(number)
        inside = inside and END not in line
    return frozenset(found)


def released(source: str) -> str:
    """A cell's text as students get it."""
    hidden = hidden_lines(source)
    return "\n".join(line for number, line in enumerate(source.splitlines(), 1) if number not in hidden)


@dataclass(frozen=True)
class AssertCell:
    """A graded test cell as its author wrote it."""

    grade_id: str
    source: str

    @functools.cached_property
    def hidden(self) -> frozenset[int]:
        """Numbers of its hidden lines."""
        return hidden_lines(self.source)

    @functools.cached_property
    def _lines(self) -> list[str]:
        return [line.strip() for line in self.source.splitlines()]

    def says(self, kind: str, text: str, line: int) -> str:
        """One message on an exception of this `kind` with this `text` that came from a line of the cell.

        Of a hidden line only the message is told that its author has written there.
        """
        is_assert = kind == "AssertionError"
        if line in self.hidden:
            own = self._message_at(line) if is_assert else None
            said = (own or self.redacted(text)) if own is not None else ""
            return said or f"A hidden test does not hold{'' if is_assert else f' ({kind})'}."
        place = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        said = self.redacted(text)
        if is_assert:
            return said or (f"`{place}` does not hold." if place else "A test does not hold.")
        return f"{kind}{f': {said}' if said else ''}{f' (in `{place}`)' if place else ''}"

    def redacted(self, text: str) -> str:
        """A text without the cell's hidden lines."""
        for number in sorted(self.hidden):
            line = self._lines[number - 1]
            if len(line) >= SHORTEST:
                text = text.replace(line, HIDDEN)
        return text

    def _message_at(self, line: int) -> str | None:
        """The message of the assert on a line: empty if it is put together while it runs, None if there is none."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assert) and node.msg is not None and node.lineno <= line <= (node.end_lineno or 0):
                own = node.msg.value if isinstance(node.msg, ast.Constant) else ""
                return own if isinstance(own, str) else str(own)
        return None

    @functools.cached_property
    def _tree(self) -> ast.Module:
        try:
            return ast.parse(self.source)
        except SyntaxError:  # it has magics
            return ast.Module([], [])
