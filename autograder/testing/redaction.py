"""Which words of a student's code a message may quote.

They stand in a report that its author reads, and could carry what a test passed in, or what the reference answered.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.sandbox.protocol.calls import Failure, Kind, Line, Reply
from autograder.sandbox.protocol.objects import Form, Other, Record
from autograder.sandbox.sandboxed.perform import KINDS

NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
DIGITS = 2  # of a number, and no more
MAX_LINE = 160  # characters, as `answer_bytes` cuts it
# Characters of a notebook's code that are quoted from; all code of an honest one is some 30,000. A notebook file may
# have 20 MB, in ten million lines, and a table of those would take a gigabyte.
MAX_QUOTED = 1_000_000
UNNAMED = "function"
# What an `Other` says that is more than its type's name, in words of the kit's own: `complex128`, `17 MB`.
KNOWN = re.compile(r"((torch\.)?[a-z]+\d{0,3}( \(sparse\w*\))?|\d+ MB|a (set|DataFrame) of \d+( x \d+)?)?")
TYPES = frozenset(
    ("function", "method", "generator", "module", "type", "set", "frozenset", "complex", "range", "bytes", "object",
     "DataFrame", "Series")
)  # fmt: skip
PLACES = ("<module>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
DEPTH = 4
_DEFINED = re.compile(r"\b(?:def|class)\s+(\w+)")


def redacted(answer: Reply | Failure, cells: Sequence[str], asked: bool) -> Reply | Failure:
    """An answer whose words may stand in a report.

    cells: the notebook's; only their lines are quoted, see `MAX_QUOTED`
    asked: has the reference answered something in this exercise? Then nothing of the student's own is quoted
    """
    if isinstance(answer, Reply):
        return replace(answer, value=_named(answer.value, asked))
    if answer.kind in (Kind.NOT_STARTED, Kind.MISSING):  # nothing of them is quoted, and lines are counted
        return answer
    if answer.kind is Kind.MEMORY:
        return Failure(Kind.MEMORY, coarse(answer.text))
    error = answer.error if answer.error in KINDS else "Exception"
    if answer.kind is Kind.FORBIDDEN:
        return replace(answer, text=coarse(answer.text) if answer.text.isidentifier() else UNNAMED)
    text = coarse(answer.text) if not asked else ""
    if answer.kind is Kind.NO_PARAMETER:
        text = text or "the module has no parameter of a name that is asked for"
    return Failure(answer.kind, text, error, tuple(filter(_quotable(tuple(cells)).has, answer.lines)))


def coarse(text: str) -> str:
    """With numbers cut to two significant digits."""
    return NUMBER.sub(lambda found: _cut(found[0]), text)


def _cut(number: str) -> str:
    kept, digits, substituted = "", 0, False
    for character in number:
        substituted = substituted or character == "."
        digits += character != "." and (digits > 0 or character != "0")
        if digits > DIGITS and substituted:
            break
        kept += character if digits <= DIGITS else "0"
    return kept.rstrip(".")


@dataclass(frozen=True)
class _Quotable:
    """What may be quoted of a notebook, read once: an answer is then looked up, however long the cells are.

    lines: each line of a cell, without the blanks around it, with the number of lines of the longest cell that has it
    functions: names of functions and classes that cells define, and what Python calls code that has no name
    """

    lines: dict[str, int]
    functions: frozenset[str]

    def has(self, line: Line) -> bool:
        """Is it a line of these cells, in a function of theirs?"""
        return line.function in self.functions and 0 < line.number <= self.lines.get(line.text.strip(), 0)


@functools.lru_cache(maxsize=1)  # a judge has one submission
def _quotable(cells: tuple[str, ...]) -> _Quotable:
    """Of the shortest cells, up to `MAX_QUOTED` characters."""
    lines, functions, left = dict[str, int](), set(PLACES), MAX_QUOTED
    for cell in sorted(cells, key=len):
        left -= len(cell)
        if left < 0:
            break
        own = cell.splitlines()
        for text in {line.strip()[:MAX_LINE].strip() for line in own} - {""}:
            lines[text] = max(len(own), lines.get(text, 0))
        functions.update(_DEFINED.findall(cell))
    return _Quotable(lines, frozenset(functions))


def _type_name(name: str, asked: bool) -> str:
    return "object" if asked or not name.isidentifier() else coarse(name)


def _named(value: Any, asked: bool, depth: int = 0) -> Any:
    """A value in which the names of types that did not cross the sandbox's boundary are the kit's own, or cut."""
    if isinstance(value, Other):
        name = value.type_name
        is_known = name in TYPES if value.form is Form.TYPE else KNOWN.fullmatch(name)
        return value if is_known else Other(_type_name(name, asked))
    if isinstance(value, Record):
        fields = {key: _named(item, asked, depth + 1) for key, item in value.fields.items()} if depth < DEPTH else {}
        return Record(_type_name(value.type_name, asked), value.fields | fields)
    if type(value) in (list, tuple) and depth < DEPTH and len(value) <= MAX_LINE:
        return type(value)(_named(item, asked, depth + 1) for item in value)
    return value
