"""Why a student's code gave no value to judge, as exceptions that a test may expect."""

from __future__ import annotations

import re

from autograder.report import TestMessage
from autograder.text import raised

BY_HAND = "stopped by hand"  # a reason
DEBUGGER = "BdbQuit"  # raised by pdb where nobody answers it
NOTES = (
    (re.compile("EOF when reading a line"), "Nobody types when grading, so `input()` gets no answer."),
    (
        re.compile(r"\b(?:CUDA|NVIDIA|XPU|MPS|mps)\b|cuda\.is_available|accelerator device"),
        "There is no GPU when grading. Use a device only if it is available.",
    ),
)
IN_DEBUGGER = "stopped in a debugger, which nobody answers when grading. Is a `breakpoint()` or `set_trace()` left in?"


class StudentError(Exception):
    """The student's code gave no value to judge; the text is the message for the report.

    reason: tests that fail for one reason have the same reason, even if their texts differ; empty if there is none
    parts: the message in parts, if a visible test raised it
    """

    reason = ""
    parts: TestMessage | None = None


class NotStarted(StudentError):
    """The stub is untouched.

    is_own_stub: whether it is the exercise's own stub, rather than that of an exercise it calls
    """

    def __init__(self, text: str, is_own_stub: bool = False) -> None:
        super().__init__(text)
        self.is_own_stub = is_own_stub


class Missing(StudentError):
    """The name is not defined in the notebook."""


class Raised(StudentError):
    """The student's code raised an exception.

    types: the names of its class and of that class's bases
    """

    def __init__(self, text: str, types: tuple[str, ...] = (), reason: str = "") -> None:
        super().__init__(text)
        self.types, self.reason = types, reason


class RaisedValueError(Raised, ValueError):
    """The student's code raised a ValueError, as some exercises require."""


class Stopped(StudentError):
    """A call did not return in time, or ended its process. late: the first half of the text, if time ran out"""

    def __init__(self, text: str, late: str = "") -> None:
        super().__init__(text)
        self.late = late


class HeldTooMuch(StudentError):
    """The student's code held more memory at once than allowed; `held` is the number of bytes without its arguments."""

    def __init__(self, held: float) -> None:
        super().__init__(f"held {held / 1e6:.1f} MB of memory at once.")
        self.held = held


class ReadyMade(StudentError):
    """The student's code called a function that it should implement."""


def explained(kind: str, text: str) -> str:
    """An exception as a sentence, as `raised`, with what it says about the surroundings."""
    if kind == DEBUGGER:
        return IN_DEBUGGER
    note = next((f" {words}" for pattern, words in NOTES if pattern.search(text)), "")
    return f"{raised(kind, text)}{note}"
