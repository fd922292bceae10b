"""Which words of a student's code a message may quote.

They stand in a report that the student reads, and could carry what a test passed in, or what the reference answered.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from autograder.testing.quoting import NUMBER as PLAIN_NUMBER
from autograder.testing.quoting import Parts, quoted, texts_in
from cellcage.calling.perform import KINDS
from cellcage.protocol.calls import Failure, Kind, Line, Reply
from cellcage.values.core.objects import Form, Other, Record
from cellcage.values.core.scalars_codec import Generated
from cellcage.values.tables.table import Table

NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
DIGITS = 2  # of a number, and no more
MAX_LINE = 160  # characters, as `answer_bytes` cuts it
# Characters of a notebook's code that are quoted from; all code of an honest one is some 30,000. A notebook file may
# have 20 MB, in ten million lines, and a table of those would take a gigabyte.
MAX_QUOTED = 1_000_000
LONGEST = 10_000  # an axis of an array without numbers, which may be of any length
# What an `Other` gives in place of its type's name, in the kit's own words: `complex128`, `17 MB`.
KNOWN = re.compile(
    r"((torch\.)?[a-z]+\d{0,3}( \(sparse\w*\))?|\d+ MB|an? (set|DataFrame|Series|Index) of \d+( x \d+)?"
    r"|bytes of \d+|an int of many digits)?"
)
TYPES = frozenset(
    ("function", "method", "generator", "module", "type", "set", "frozenset", "complex", "range", "bytes", "object",
     "DataFrame", "Series", "Index", "map", "filter", "zip", "enumerate", "bytearray")
)  # fmt: skip
PLACES = ("<module>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
DEPTH = 4
LONGEST_NAME, FEW_WORDS = 40, 3  # of a column
_DEFINED = re.compile(r"\b(?:def|class)\s+(\w+)")
_WORD, _WORDS = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\w+")


def redacted(
    answer: Reply | Failure,
    cells: Sequence[str],
    asked: bool,
    names: Collection[str] = (),
    reference: Collection[str] = (),
) -> Reply | Failure:
    """An answer whose words may stand in a report.

    cells: the notebook's; only their lines and texts are quoted, see `MAX_QUOTED`
    asked: whether the reference has answered a question of this exercise; then nothing of the student's is quoted
    names: of the call's own arguments and parameters; reference: of the reference's functions
    """
    known = _quotable(tuple(cells))
    if isinstance(answer, Reply):
        return replace(answer, value=_with_known_types(answer.value, frozenset() if asked else known.names))
    # Nothing of these is quoted, and lines are counted.
    if answer.kind in (Kind.NOT_STARTED, Kind.MISSING, Kind.READY_MADE):
        return answer
    if answer.kind is Kind.MEMORY:
        return Failure(answer.kind, coarse(answer.text))
    quotable_types = {*KINDS, *reference} | (set() if asked else known.functions)
    error = next((name for name in (answer.error, *answer.types) if name in quotable_types), "Exception")
    text = known.quoted(answer.text, asked, names)
    if answer.kind is Kind.NO_PARAMETER:
        text = text or "the module has no parameter of a name that is asked for"
    return Failure(answer.kind, text, error, tuple(filter(known.has, answer.lines)), answer.types)


class QuotableText(str):
    """A text that student code has printed or written; `quote` gives what a report may show of a part of it."""

    quote: Callable[[str], str]


def with_quote(value: Any, cells: Sequence[str], asked: bool, names: Collection[str] = ()) -> Any:
    """A text, or the texts in a dict, with what may be quoted of them; the arguments are those of `redacted`."""
    if isinstance(value, dict):
        return {key: with_quote(item, cells, asked, names) for key, item in value.items()}
    if type(value) is not str:
        return value
    known, text = _quotable(tuple(cells)), QuotableText(value)

    def quote(part: str) -> str:
        if re.fullmatch(PLAIN_NUMBER, part.strip()):
            return f"{float(part):.4g}"  # as in an array
        return known.quoted(part, asked, names)

    text.quote = quote
    return text


def coarse(text: str) -> str:
    """The text with numbers cut to two significant digits."""
    return NUMBER.sub(lambda found: _cut(found[0]), text)


def _cut(number: str) -> str:
    kept, digits, after_point = "", 0, False
    for character in number:
        after_point = after_point or character == "."
        digits += character != "." and (digits > 0 or character != "0")
        if digits > DIGITS and after_point:
            break
        kept += character if digits <= DIGITS else "0"
    return kept.rstrip(".")


@dataclass(frozen=True)
class _Quotable:
    """What may be quoted of a notebook. It is read once, so that looking up an answer does not depend on its length.

    lines: each line of a cell, without the blanks around it, with its numbers in the cells that have it
    functions: names of functions and classes that cells define, and Python's names for code without one
    names: every word of the code; texts: its strings (see `quoting`)
    """

    lines: dict[str, set[int]]
    functions: frozenset[str]
    names: frozenset[str]
    texts: tuple[Parts, ...]

    def has(self, line: Line) -> bool:
        """Whether it is a line of these cells, in one of their functions."""
        return line.function in self.functions and line.number in self.lines.get(line.text.strip(), ())

    def quoted(self, text: str, asked: bool, names: Collection[str]) -> str:
        """As much of a text as may be shown; the arguments are those of `redacted`."""
        return "" if asked else coarse(quoted(text, self.texts, self.names.union(names)))


@functools.lru_cache(maxsize=1)  # a judge has one submission
def _quotable(cells: tuple[str, ...]) -> _Quotable:
    """What may be quoted of the shortest cells, up to `MAX_QUOTED` characters."""
    lines, functions, names, left = dict[str, set[int]](), set(PLACES), set[str](), MAX_QUOTED
    read = list[str]()
    for cell in sorted(cells, key=len):
        left -= len(cell)
        if left < 0:
            break
        for number, line in enumerate(cell.splitlines(), 1):
            if text := line.strip()[:MAX_LINE].strip():
                lines.setdefault(text, set()).add(number)
        functions.update(_DEFINED.findall(cell))
        names.update(_WORD.findall(cell))
        read.append(cell)
    return _Quotable(lines, frozenset(functions), frozenset(names), texts_in(read))


def _with_known_types(value: Any, names: Collection[str], depth: int = 0) -> Any:
    """A value in which names of types are the kit's own, or among `names`; any other becomes `object`."""
    if isinstance(value, Other):
        name = value.type_name
        is_known = name in TYPES or name in names if value.form is Form.TYPE else KNOWN.fullmatch(name)
        return value if is_known else Other("object")
    if isinstance(value, Table):
        value.quotable = frozenset(name for name in value.names if _is_quotable(name, names))
        return value
    if isinstance(value, Generated):
        value.kind = value.kind if value.kind in TYPES else "iterator"
        return value
    if hasattr(value, "dtype") and 0 in value.shape and max(value.shape) > LONGEST:
        return Other("object")

    def inner(item: Any) -> Any:
        return _with_known_types(item, names, depth + 1)

    if isinstance(value, Record):
        fields = {key: inner(item) for key, item in value.fields.items()} if depth < DEPTH else value.fields
        return Record(value.type_name if value.type_name in names else "object", fields)
    if type(value) in (dict, list, tuple) and depth < DEPTH and len(value) <= MAX_LINE:
        if isinstance(value, dict):
            return {key: inner(item) for key, item in value.items()}
        return type(value)(map(inner, value))
    return value


def _is_quotable(name: Any, names: Collection[str]) -> bool:
    """Whether a column's name consists of a few words of the code."""
    words = _WORDS.findall(name) if isinstance(name, str) and len(name) <= LONGEST_NAME else []
    return 0 < len(words) <= FEW_WORDS and all(word in names for word in words)
