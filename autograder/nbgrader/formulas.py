"""Formulas of the course's own texts as MathML, which a browser draws without a network.

As much TeX as the course writes. Where there is anything else in a formula it stays as it is, for MathJax.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_NAMES = {
    "alpha": "α", "beta": "β", "gamma": "γ", "epsilon": "ϵ", "theta": "θ", "ell": "ℓ", "mu": "μ", "sigma": "σ",
    "infty": "∞", "top": "⊤",
    "sin": "sin", "cos": "cos", "log": "log", "ln": "ln", "max": "max", "min": "min",
}  # fmt: skip
_SIGNS = {
    "cdot": "⋅", "times": "×", "approx": "≈", "to": "→", "leftarrow": "←", "le": "≤", "dots": "…",
    "ldots": "…", "odot": "⊙", "lfloor": "⌊", "rfloor": "⌋",
    "sum": "∑", "_": "_",
}  # fmt: skip
_SPACES = {",": "0.17em", ";": "0.28em", "!": "-0.17em", " ": "0.25em", "quad": "1em", "qquad": "2em"}
_LIMITS = ("∑", "max", "min")  # what stands below and above these in a formula of its own line
_OTHERS = {"-": "−", "*": "∗"}


class _Unknown(Exception):
    """Something that the course's formulas do not use."""


def as_mathml(tex: str, block: bool) -> str | None:
    """MathML of a formula; None where it holds anything that is not known here."""
    try:
        inner = _Reader(tex, block).all()
    except (_Unknown, IndexError):
        return None
    display = "block" if block else "inline"
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}"><mrow>{inner}</mrow></math>'


class _Reader:
    """Goes through a formula's tokens once, from left to right."""

    def __init__(self, tex: str, block: bool) -> None:
        self.tokens = _TOKEN.findall(tex)
        self.place, self.block = 0, block

    def all(self) -> str:
        """The whole of it."""
        inner = self.until(())
        if self.place < len(self.tokens):
            raise _Unknown(self.tokens[self.place])
        return inner

    def until(self, ends: tuple[str, ...]) -> str:
        """Everything up to one of `ends`, which is not read, or up to the end of the formula."""
        parts = []
        while self.peek() not in ("", "}", "&", r"\\", r"\right", r"\end", *ends):
            parts.append(self.with_scripts())
        return "".join(parts)

    def peek(self) -> str:
        """The next token that is no white space; empty at the end."""
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        """The next token; it must be `wanted`, where that is given."""
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise _Unknown(token)
        self.place += 1
        return token

    def with_scripts(self) -> str:
        """One thing, with what stands below and above it."""
        base, below, above = self.one(), "", ""
        while self.peek() in ("_", "^", "'"):
            sign = self.take()
            if sign == "_":
                below = self.argument()
            else:
                above += "<mo>′</mo>" if sign == "'" else self.argument()
        above = f"<mrow>{above}</mrow>" if above else ""
        far = self.block and any(f">{name}<" in base for name in _LIMITS)
        if below and above:
            tag = "munderover" if far else "msubsup"
        elif below:
            tag = "munder" if far or base.startswith("<munder>") else "msub"
        else:
            tag = "mover" if far else "msup"
        return f"<{tag}>{base}{below}{above}</{tag}>" if below or above else base

    def argument(self) -> str:
        """A group in braces, or the next thing alone: of a number, its first digit."""
        token = self.peek()
        if token[:1].isdigit():
            self.tokens[self.place : self.place + 1] = [token[0], token[1:]] if token[1:] else [token]
        return self.one()

    def one(self) -> str:
        """One letter, number, sign, group or command."""
        sign = self.take()
        if sign == "{":
            inner = self.until(())
            self.take("}")
            return f"<mrow>{inner}</mrow>"
        if sign.startswith("\\"):
            return self.command(sign[1:])
        if sign[0].isdigit():
            return f"<mn>{sign}</mn>"
        if sign.isalpha():
            return f"<mi>{sign}</mi>"
        if sign in "^_&}":
            raise _Unknown(sign)
        return f"<mo>{escape(_OTHERS.get(sign, sign))}</mo>"

    def command(self, name: str) -> str:
        """What a command with its arguments stands for."""
        if name in _NAMES:
            return f"<mi>{_NAMES[name]}</mi>"
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>"
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"/>'
        known: dict[str, Callable[[], str]] = {
            "frac": lambda: f"<mfrac>{self.argument()}{self.argument()}</mfrac>",
            "tfrac": lambda: f'<mfrac displaystyle="false">{self.argument()}{self.argument()}</mfrac>',
            "sqrt": lambda: f"<msqrt>{self.argument()}</msqrt>",
            "operatorname": lambda: f"<mi>{self.words()}</mi>",
            "text": lambda: f"<mtext>{self.words()}</mtext>",
            "underbrace": lambda: f"<munder>{self.argument()}<mo>⏟</mo></munder>",
            "left": self.between,
            "big": lambda: self.one(),
            "Big": lambda: self.one(),
            "begin": self.table,
        }
        if name not in known:
            raise _Unknown(name)
        return known[name]()

    def words(self) -> str:
        """The text between braces, as it is."""
        self.take("{")
        start = self.place
        while self.tokens[self.place] != "}":
            if self.tokens[self.place] in ("{", "$"):
                raise _Unknown("braces in a text")
            self.place += 1
        said = "".join(self.tokens[start : self.place]).replace("\\_", "_")
        self.place += 1
        first, last = ("\u00a0" if said[:1] == " " else ""), ("\u00a0" if said[-1:] == " " else "")
        return escape(first + said.strip() + last)

    def between(self) -> str:
        r"""`\left( ... \right)`"""
        opening, inner = self.take(), self.until(())
        self.take(r"\right")
        return f"<mrow><mo>{escape(opening)}</mo>{inner}<mo>{escape(self.take())}</mo></mrow>"

    def table(self) -> str:
        """A matrix in round brackets, or cases."""
        kind = self.words()
        if kind not in ("pmatrix", "cases"):
            raise _Unknown(kind)
        rows = [[self.until(())]]
        while (sign := self.take()) != r"\end":
            if sign == "&":
                rows[-1].append(self.until(()))
            elif sign == r"\\":
                rows.append([self.until(())])
            else:
                raise _Unknown(sign)
        if self.words() != kind:
            raise _Unknown(kind)
        cells = "".join("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows)
        before, after = ("(", "<mo>)</mo>") if kind == "pmatrix" else ("{", "")
        return f"<mrow><mo>{before}</mo><mtable>{cells}</mtable>{after}</mrow>"
