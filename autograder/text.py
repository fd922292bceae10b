"""Untrusted text, made safe to show: a student's id, what an error says, the name of a file."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """One line of `text` that a terminal, a file and a browser show and do not obey.

    Whatever is no character to be seen becomes the replacement character: a terminal's escape sequences, halves of
    characters, those that turn others around, those that join, and those that are not assigned. A space of another
    width becomes a space.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def shown_name(name: str) -> str:
    """A student's name as one line, in which what cannot be seen stands as Python writes it: `A\\xa0B`.

    Two names that are not the same are not shown as the same. (Only the two ways to write an accent look alike.)
    """
    inner = name.strip(" ")
    if inner == name and name.isprintable() and "\\" not in name:
        return name
    before, _, after = name.partition(inner) if inner else (name, "", "")
    spaces = ["\\x20" * len(part) for part in (before, after)]
    return "".join([spaces[0], *map(_written, inner), spaces[1]])


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Names that look alike, though spaces, accents or what cannot be seen are written in other ways."""
    found = defaultdict[str, list[str]](list)
    for name in dict.fromkeys(names):
        seen = "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cn", "Co"))
        found[" ".join(unicodedata.normalize("NFKC", seen).split())].append(name)
    return [tuple(same) for same in found.values() if len(same) > 1]


def one_line(text: str) -> str:
    """The same, and runs of white space, line ends among them, become one space."""
    return printable(" ".join(text.split()))


def printable_lines(text: str) -> str:
    """`text` with the line ends that the kit has set, and each line printable."""
    return "\n".join(map(printable, text.split("\n")))


def raised(kind: str, text: str) -> str:
    """What an error says, as a sentence: `raised ValueError: 7 does not divide 64.`"""
    sentence = f"raised {kind}: {text}" if text else f"raised {kind}"
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _written(character: str) -> str:
    seen = character.isprintable() and character != "\\"
    return character if seen else character.encode("unicode_escape").decode("ascii")


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else REPLACEMENT
