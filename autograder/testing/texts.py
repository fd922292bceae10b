"""Two texts compared line by line: `expect.text`."""

from __future__ import annotations

from typing import Any

from autograder.testing.expect import fail, kind_of

SHOWN = 120  # characters of a line


def compare(got: Any, wanted: str, hint: str, what: str, strict: bool, tells: bool) -> None:
    """Fails at the first line that differs. tells: with the line that is wanted?"""
    if not isinstance(got, str):
        fail(f"{what} is {kind_of(got)}, where a text belongs.", hint, got=got, symptom="kind")
    mine, right = (_lines(text, strict) for text in (got, wanted))
    for number, (line, other) in enumerate(zip(mine, right, strict=False), start=1):
        if line != other:
            said = _quoted(got, line)
            told = (
                f", wanted `{_shown(other)}`."
                if tells
                else f"{', which' * bool(said)} is not right{_nearly(line, other)}."
            )
            fail(f"line {number} of {what}{said}{told}", hint, got=got)
    if len(mine) > len(right):
        said = (
            f"{_quoted(got, mine[len(right)])}, and no more" if _quoted(got, mine[len(right)]) else " is one more than"
        )
        fail(f"line {len(right) + 1} of {what}{said} is asked for.", hint, got=got)
    if len(mine) < len(right):
        told = f" Wanted next: `{_shown(right[len(mine)])}`." if tells else ""
        ends = f"ends after line {len(mine)}, and more is asked for." if mine else "is empty."
        fail(f"{what} {ends}{told}", hint, got=got)


def _lines(text: str, strict: bool) -> list[str]:
    """Its lines, without blanks at their ends and empty lines at the end of all; if `strict`, as they are."""
    if strict:
        return text.split("\n")
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _nearly(line: str, other: str) -> str:
    """Is it right but for what is easily overlooked?"""
    if line.casefold() == other.casefold():
        return ", though only small and capital letters differ"
    return ", though only spaces differ" if "".join(line.split()) == "".join(other.split()) else ""


def _quoted(got: str, line: str) -> str:
    """A line of the student's as part of a sentence, as far as a report may quote it."""
    quote = getattr(got, "quote", None)
    said = quote(line) if quote else _shown(line)
    return f" is `{said}`" if said else ""


def _shown(line: str) -> str:
    """A line whose blanks can be seen."""
    line = line if line and line == line.strip() else repr(line)
    return line[:SHOWN] + ("…" if len(line) > SHOWN else "")
