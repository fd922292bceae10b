"""Makes untrusted text safe to show: a student's id, an error's message, the name of a file. And data as JSON."""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """One line of `text` that terminals, files and browsers display and do not interpret.

    Invisible characters become the replacement character: a terminal's escape sequences, lone surrogates, direction
    marks, joiners and unassigned characters. Every kind of space becomes a plain space.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def composed(text: str) -> str:
    """`text` with each accent in its letter. In names of files macOS writes the two apart."""
    return unicodedata.normalize("NFC", text)


def squeezed(text: str) -> str:
    """`text` without differences that no reader sees: of white space, as editors leave them."""
    return " ".join(text.split())


def shown_name(name: str) -> str:
    """A student's name as one line, with invisible characters escaped as in Python: `A\\xa0B`.

    Different names are shown differently, except that the two ways to write an accent look alike.
    """
    inner = name.strip(" ")
    if inner == name and name.isprintable() and "\\" not in name:
        return name
    before, _, after = name.partition(inner) if inner else (name, "", "")
    spaces = ["\\x20" * len(part) for part in (before, after)]
    return "".join([spaces[0], *map(_written, inner), spaces[1]])


def in_shell(name: str) -> str:
    """A name as one word to paste into a shell, with nothing invisible in it."""
    if name.isprintable():
        return shlex.quote(name)
    shown = (one if one.isprintable() and one not in "\\'" else f"\\U{ord(one):08x}" for one in name)
    return f"$'{''.join(shown)}'"


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Names that look alike and differ only in spaces, ways to write accents, or invisible characters."""
    found = defaultdict[str, list[str]](list)
    for name in dict.fromkeys(names):
        visible = "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cn", "Co"))
        found[" ".join(unicodedata.normalize("NFKC", visible).split())].append(name)
    return [tuple(same) for same in found.values() if len(same) > 1]


def one_line(text: str) -> str:
    """`printable`, with each run of white space, including line ends, as one space."""
    return printable(" ".join(text.split()))


def printable_lines(text: str) -> str:
    """`text` with its line ends kept and each line made printable."""
    return "\n".join(map(printable, text.split("\n")))


def raised(kind: str, text: str) -> str:
    """An error as a sentence: `raised ValueError: 7 does not divide 64.`"""
    sentence = f"raised {kind}: {text}" if text else f"raised {kind}"
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _written(character: str) -> str:
    if character.isprintable() and character != "\\":
        return character
    return character.encode("unicode_escape").decode("ascii")


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else REPLACEMENT


def json_text(data: object) -> str:
    """Plain data as JSON for people to read, too."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
