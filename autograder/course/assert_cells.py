"""Graded cells of plain asserts, as in nbgrader's own courses: their hidden lines, and messages without these.

A cell that ends in `check("median")` is not one of them: a suite judges its exercise.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import symtable
from collections.abc import Iterable
from dataclasses import dataclass

BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"  # nbgrader's markers
_ENDS_IN_CHECK = re.compile(r"""check\(\s*(['"])\w+\1\s*\)\s*;?\s*(#.*)?\Z""")
_NAMED_CHECK = re.compile(r"check\(\s*\w+\s*\)\s*\Z")
AUTOTEST = re.compile(
    r"^\s*### (HASHED )?AUTOTEST\b", re.MULTILINE
)  # nbgrader's release replaces this comment by tests
SHORTEST = 6  # characters of a hidden line that is redacted in messages; `x = 1` may stand anywhere
HIDDEN = "(hidden)"


def ends_in_check(source: str, or_a_name: bool = False) -> bool:
    """True if a cell ends in a call of `check`.

    or_a_name: accept an unquoted name, too, which is a typo
    """
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    patterns = (_ENDS_IN_CHECK, _NAMED_CHECK) if or_a_name else (_ENDS_IN_CHECK,)
    return bool(lines) and any(pattern.match(lines[-1]) for pattern in patterns)


def hidden_lines(source: str) -> frozenset[int]:
    """Numbers of the lines that students do not get, from 1."""
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


def defined_in(sources: Iterable[str]) -> frozenset[str]:
    """The names that cells define at their top level, but for imports."""
    found = set[str]()
    for source in sources:
        with contextlib.suppress(SyntaxError):  # the cell has magics
            symbols = symtable.symtable(source, "", "exec").get_symbols()
            found |= {one.get_name() for one in symbols if one.is_assigned() and not one.is_imported()}
    return frozenset(found)


@dataclass(frozen=True)
class AssertCell:
    """A graded test cell as its author wrote it.

    solved: the names that the notebook's solutions define
    """

    grade_id: str
    source: str
    solved: frozenset[str] = frozenset()

    @functools.cached_property
    def answers(self) -> tuple[str, ...]:
        """The names that students define and this cell uses."""
        return tuple(sorted(self.solved.intersection(re.findall(r"\w+", self.source))))

    @functools.cached_property
    def hidden(self) -> frozenset[int]:
        """Numbers of its hidden lines."""
        return hidden_lines(self.source)

    @functools.cached_property
    def sentence(self) -> str:
        """Its first line if that is a comment, which students have, too; else empty."""
        first = next((line.strip() for line in released(self.source).splitlines() if line.strip()), "")
        return first.lstrip("# ") if first.startswith("#") and not first.startswith(("#!", "#%")) else ""

    @functools.cached_property
    def _lines(self) -> list[str]:
        return [line.strip() for line in self.source.splitlines()]

    def message(self, kind: str, text: str, line: int, hides: bool = True) -> str:
        """The message for an exception of type `kind`, with this `text`, raised on a line of the cell.

        For a hidden line it is only what the author wrote as the assert's message, unless `hides` is false.
        """
        is_assert = kind == "AssertionError"
        message = self.redacted(text) if hides else text
        if line in self.hidden and hides:
            written = self._message_at(line) if is_assert else None
            shown = written or message if written is not None else ""
            return shown or f"A hidden test does not hold{'' if is_assert else f' ({kind})'}."
        place = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        if is_assert:
            return message or (f"`{place}` does not hold." if place else "A test does not hold.")
        return f"{kind}{f': {message}' if message else ''}{f' (in `{place}`)' if place else ''}"

    def redacted(self, text: str) -> str:
        """A text without the cell's hidden lines."""
        for number in sorted(self.hidden):
            line = self._lines[number - 1]
            if len(line) >= SHORTEST:
                text = text.replace(line, HIDDEN)
        return text

    def _message_at(self, line: int) -> str | None:
        """The message of the assert on a line: empty if it is computed at run time, None if there is none."""
        try:
            tree = ast.parse(self.source)
        except SyntaxError:  # the cell has magics
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and node.msg is not None and node.lineno <= line <= (node.end_lineno or 0):
                return str(node.msg.value) if isinstance(node.msg, ast.Constant) else ""
        return None
