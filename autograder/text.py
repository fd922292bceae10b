"""Strangers' text, made safe to show: a student's id, what an error says, the name of a file."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """One line of `text` that a terminal, a file and a browser show and do not obey.

    Whatever is no character to be seen becomes the replacement character: a terminal's escape sequences, halves of
    characters, those that turn others around, those that join, and those that are not assigned. A space of another
    width becomes a space.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def one_line(text: str) -> str:
    """The same, and runs of white space, line ends among them, become one space."""
    return printable(" ".join(text.split()))


def printable_lines(text: str) -> str:
    """`text` with the line ends that the kit has set, and each line printable."""
    return "\n".join(map(printable, text.split("\n")))


def raised(kind: str, text: str) -> str:
    """What an error says, as a sentence: `raised ValueError: 7 heads do not divide 64.`"""
    sentence = f"raised {kind}: {text}" if text else f"raised {kind}"
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else REPLACEMENT
