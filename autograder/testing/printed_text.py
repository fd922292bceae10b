"""Two texts compared line by line: `expect.text`."""

from __future__ import annotations

from typing import Any

from autograder.testing.mismatch import fail, kind_of
from autograder.testing.redaction import HiddenText

SHOWN = 120  # characters of a line


def text(
    got: Any, wanted: str, hint: str = "", what: str = "what it prints", *, strict: bool = False, tells: bool = False
) -> None:
    """Two texts are the same line by line, except for blanks at the end of a line and empty lines at the end.

    strict: whether every character counts
    tells: whether the message gives the expected line, for visible tests
    """
    if not isinstance(got, str):
        fail(f"{what} is {kind_of(got)}, where a text belongs.", hint, got=got, symptom="kind")
    lines, right = _lines(got, strict), _lines(wanted, strict)
    for number, (line, expected) in enumerate(zip(lines, right, strict=False), start=1):
        if line != expected:
            quoted = _quoted(got, line)
            rest = f"{', which' * bool(quoted)} is not right{_near_miss(line, expected)}."
            if tells:
                rest = f", wanted `{_shown(expected)}`."
            fail(f"line {number} of {what}{quoted}{rest}", hint, got=got)
    if len(lines) > len(right):
        quoted = _quoted(got, lines[len(right)])
        which = f"{quoted}, which" if quoted else ""
        fail(f"line {len(right) + 1} of {what}{which} should not be there.", hint, got=got)
    if len(lines) < len(right):
        ending = f"ends after line {len(lines)}, but there should be more." if lines else "is empty."
        expected = f" Wanted next: `{_shown(right[len(lines)])}`." if tells else ""
        fail(f"{what} {ending}{expected}", hint, got=got)


def _lines(text: str, strict: bool) -> list[str]:
    if strict:
        return text.split("\n")
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _near_miss(line: str, expected: str) -> str:
    """What the only difference is, if it is one that is easily overlooked; else empty."""
    if line.casefold() == expected.casefold():
        return ", though only small and capital letters differ"
    return ", though only spaces differ" if "".join(line.split()) == "".join(expected.split()) else ""


def _quoted(got: str, line: str) -> str:
    """A line as part of a sentence; empty if no message may show it."""
    return "" if isinstance(got, HiddenText) else f" is `{_shown(line)}`"


def _shown(line: str) -> str:
    """A line with its outer blanks made visible."""
    line = line if line and line == line.strip() else repr(line)
    return line[:SHOWN] + ("…" if len(line) > SHOWN else "")
