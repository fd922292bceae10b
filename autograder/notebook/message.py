"""A visible check's message: what happened, a question, and what went in, each in its place on the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

from autograder.reports.html import with_code
from autograder.suites.shown import ASKS, WENT_IN

LONG = 160  # characters; what went in is folded away from there on


@dataclass(frozen=True)
class Message:
    """A visible check's message in its three parts: what happened, the question, and what went in."""

    happened: str
    question: str = ""
    went_in: str = ""

    @classmethod
    def of(cls, message: str) -> Message:
        """The parts of a message; where a check said it in one, the first alone."""
        rest, _, went_in = message.partition(WENT_IN)
        happened, _, question = rest.partition(ASKS)
        return cls(happened, question, went_in)

    def without_question(self) -> Message:
        """The same, with nothing to think about."""
        return replace(self, question="")

    def lines(self, with_inputs: bool) -> list[str]:
        """Each part on a line of its own."""
        went_in = f"{WENT_IN.strip()} {self.went_in}" if self.went_in and with_inputs else ""
        return [part for part in (self.happened, self.question, went_in) if part]

    def __str__(self) -> str:
        asks = f"{ASKS}{self.question}" if self.question else ""
        return self.happened + asks + (f"{WENT_IN}{self.went_in}" if self.went_in else "")

    @classmethod
    def html(cls, message: str) -> str:
        """A message as HTML, what went in folded away where it is long."""
        told = cls.of(message)
        question = f'<div style="margin-top:.2em"><em>{with_code(told.question)}</em></div>' if told.question else ""
        return with_code(told.happened) + question + (told._inputs() if told.went_in else "")

    def _inputs(self) -> str:
        """What went in, a name a line and a row a line."""
        named = self.went_in.strip("`.").split("`, `")
        lines = (
            text.replace("], [", "],\n" + " " * (text.index("[") + 1) + "[") if "[" in text else text for text in named
        )
        rows = escape("\n".join(lines))
        style = "margin:.2em 0;padding:0 0 0 1em;background:none;color:inherit"
        is_open = " open" if len(self.went_in) < LONG else ""
        summary = WENT_IN.strip().rstrip(":")
        return f'<details{is_open}><summary>{summary}</summary><pre style="{style}">{rows}</pre></details>'
