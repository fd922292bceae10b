"""An answer without the student's own words: code that has called the reference could print hidden answers in them.

Until then a message may show all of them: inputs are not secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from autograder.testing.mismatch import HiddenText
from cellcage.calling.perform import KINDS
from cellcage.protocol.calls import Failure, Kind, Line, Reply
from cellcage.values.tables.table import Table
from cellcage.values.value import Generated, Other, Record, changed

MAX_LINE = 160  # characters, as `answer_bytes` cuts it
# Characters of a notebook's code that lines are looked up in; an honest one has some 30,000. A file may have 20 MB, in
# ten million lines, and a table of those would take a gigabyte.
MAX_CODE = 1_000_000
NO_FUNCTION = ("<module>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_DEFINED = re.compile(r"\b(?:def|class)\s+(\w+)")


def hidden(value: Any) -> Any:
    """A text as one that no message shows; anything else as it is."""
    return HiddenText(value) if type(value) is str else value


def without_words(answer: Reply | Failure, cells: Sequence[str]) -> Reply | Failure:
    """An answer without words that student code has chosen: texts of exceptions, names of types and of columns.

    Lines of a traceback stay if they are in the notebook's `cells`.
    """
    if isinstance(answer, Reply):
        return replace(answer, value=_without_names(answer.value))
    if answer.kind is Kind.NOTICED:  # student code may forge it
        return replace(answer, text="function")
    if answer.kind is Kind.NO_PARAMETER:
        return replace(answer, text="the module lacks a parameter of the expected name")
    if answer.kind is not Kind.RAISED:
        return answer
    error = answer.error if answer.error in KINDS else "Exception"
    return replace(answer, text="", error=error, lines=tuple(filter(_code(tuple(cells)).has, answer.lines)))


@dataclass(frozen=True)
class _Code:
    """Names of functions that cells define, and each line of a cell with its number."""

    functions: frozenset[str]
    lines: frozenset[tuple[int, str]]

    def has(self, line: Line) -> bool:
        return line.function in self.functions and (line.number, line.text.strip()) in self.lines


@functools.lru_cache(maxsize=1)  # a judge has one submission
def _code(cells: tuple[str, ...]) -> _Code:
    """The code of the shortest cells, up to `MAX_CODE` characters."""
    functions, lines, left = set(NO_FUNCTION), set[tuple[int, str]](), MAX_CODE
    for cell in sorted(cells, key=len):
        left -= len(cell)
        if left < 0:
            break
        functions.update(_DEFINED.findall(cell))
        lines.update((number, line.strip()[:MAX_LINE].strip()) for number, line in enumerate(cell.splitlines(), 1))
    return _Code(frozenset(functions), frozenset(lines))


def _without_names(value: Any) -> Any:
    """The value without names of types and columns."""

    def change(item: Any) -> Any:
        if isinstance(item, Table):
            item.hides_names = True
        elif isinstance(item, Generated):
            item.kind = "iterator"
        if isinstance(item, Record):
            return Record("object", {key: _without_names(field) for key, field in item.fields.items()})
        return Other("object") if isinstance(item, Other) else item

    return changed(value, change)
