"""Strangers' text, made safe to show: a student's id, what an error says, the name of a file."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Characters that turn the order of others around on the screen.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """One line of `text` that a terminal, a file and a browser show and do not obey.

    Control characters (a terminal's escape sequences among them), halves of characters and characters that turn
    others around become the replacement character.
    """
    return "".join(map(_shown, text))


def one_line(text: str) -> str:
    """The same, and runs of white space, line ends among them, become one space."""
    return printable(" ".join(text.split()))


def raised(kind: str, text: str) -> str:
    """What an error says, as a sentence: `raised ValueError: 7 heads do not divide 64.`"""
    sentence = f"raised {kind}: {text}" if text else f"raised {kind}"
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _shown(character: str) -> str:
    odd = character in TURNING or unicodedata.category(character) in ("Cc", "Cs")
    return REPLACEMENT if odd else character
