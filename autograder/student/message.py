"""A visible test's message on the page and in a terminal: what happened, a question, and what went in."""

from __future__ import annotations

from html import escape

from autograder.report import WENT_IN, Message, TestResult
from autograder.reports.html import with_code

LONG = 160  # characters; what went in is folded away from there on


def parts_of(test: TestResult) -> Message:
    """The message of a check in its parts; if it was said in one, the first alone."""
    return test.parts or Message(test.message)


def lines(message: Message, with_inputs: bool) -> list[str]:
    """Each part on a line of its own."""
    went_in = message.inputs.strip() if with_inputs else ""
    return [part for part in (message.happened, message.question, went_in) if part]


def html(test: TestResult) -> str:
    """A check's message as HTML, what went in folded away where it is long."""
    told = parts_of(test)
    question = f'<div style="margin-top:.2em"><em>{with_code(told.question)}</em></div>' if told.question else ""
    return with_code(told.happened) + question + (_inputs(told) if told.went_in else "")


def _inputs(message: Message) -> str:
    """What went in, a name a line and a row a line."""
    rows = "\n".join(
        text.replace("], [", "],\n" + " " * (text.index("[") + 1) + "[") if "[" in text else text
        for text in message.went_in
    )
    style = "margin:.2em 0;padding:0 0 0 1em;background:none;color:inherit"
    is_open = " open" if len(message.inputs) < LONG + len(WENT_IN) else ""
    summary = WENT_IN.strip().rstrip(":")
    return f'<details{is_open}><summary>{summary}</summary><pre style="{style}">{escape(rows)}</pre></details>'
