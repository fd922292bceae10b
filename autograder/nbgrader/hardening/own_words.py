"""Which cells of a submitted notebook may hold a written answer, wherever the student has put it."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import groupby, takewhile
from keyword import iskeyword
from typing import Protocol

from autograder.course.source_notebook import line_digest, text_digest

_TEXT_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex|javascript|writefile)\b")
_SHELL = re.compile(r"(?:pip3?|conda|mamba|apt|apt-get|git|cd|ls)\s")  # IPython runs it without a `!`
# Words with spaces between them. It starts at the beginning of a word only, so that it takes linear time.
_RUN = re.compile(r"(?<![\w'’-])(?:[^\W\d_][\w'’-]*+[,;:.!?]*+[ \t]++){2,}[^\W\d_][\w'’-]*+")
# Words that make a sentence in a comment or a string, and words side by side at the start of a line. In Python a
# keyword or a sign stands between two names.
_ANYWHERE, _AS_A_LINE = 6, 3
_ENDS = ",;:.!?"
_WITHOUT_SPACES = "\u0e00"  # from here on: Thai, Chinese, Japanese, which put no space between words
_LETTERS = 8  # of such a script, for a sentence


class Text(Protocol):
    """A cell of nbformat's or of ours."""

    @property
    def cell_type(self) -> str:
        """`code`, `markdown` or `raw`."""

    @property
    def source(self) -> str:
        """Its text."""


def may_answer(cell: Text, known: Collection[str]) -> bool:
    """True for text that is not the course's. Words in a code cell are text, too.

    known: digests of the course's texts and lines of code (see `course.source_notebook.digests_of`)
    """
    if not cell.source.strip():
        return False
    if cell.cell_type != "code":
        return text_digest(cell.source) not in known
    return _has_words([line for line in cell.source.splitlines() if line_digest(line) not in known])


def words_below(code: str, known: Collection[str]) -> str:
    """The comments below a student's code, if there is a sentence in them. known: see `may_answer`"""
    below = list(takewhile(lambda line: line.startswith("#"), reversed(code.rstrip().splitlines())))[::-1]
    return "\n".join(below) if any(_is_sentence(line) for line in below if line_digest(line) not in known) else ""


def _has_words(code: Collection[str]) -> bool:
    """True for code of comments only, for one string, for text of another language, and where there is a sentence."""
    lines = [line.strip() for line in code if line.strip()]
    if not lines:
        return False
    quoted = lines[0][0] in "\"'" and lines[-1].endswith(lines[0][0])
    return (
        quoted
        or all(line.startswith("#") for line in lines)
        or (_TEXT_MAGIC.match(lines[0]) is not None and len(lines) > 1)
        or any(map(_is_sentence, lines))
    )


def _is_sentence(line: str) -> bool:
    """True for a line with words in a row, as neither Python nor a short comment has them."""
    if sum(letter.isalpha() and letter >= _WITHOUT_SPACES for letter in line) >= _LETTERS:
        return True
    for run in _RUN.finditer(line):
        words = run[0].split()
        beside = max((len(list(group)) for is_key, group in groupby(words, _is_keyword) if not is_key), default=0)
        if _SHELL.match(run[0]):
            continue
        if (len(words) >= _ANYWHERE and beside > 1) if run.start() else beside >= _AS_A_LINE:
            return True
    return False


def _is_keyword(word: str) -> bool:
    return iskeyword(word.rstrip(_ENDS))


def has_own_lines(text: str, original: str) -> bool:
    """True if a text has a line that the original has not."""
    known = {line.strip() for line in original.splitlines()}
    return any(line.strip() and line.strip() not in known for line in text.splitlines())
