"""Why a student's code gave no value to judge, as exceptions that a test may expect."""

from __future__ import annotations

from autograder.report import Message


class StudentError(Exception):
    """The student's code gave no value to judge; the text is the message for the report.

    `cause` is what tests that fail for one reason have in common, if not their words. `parts` are those of the text,
    if a visible test says it.
    """

    cause = ""
    parts: Message | None = None


class NotStarted(StudentError):
    """The stub is untouched. `its_own` is set if the exercise itself says so, and nothing that it calls."""

    its_own = False


class Missing(StudentError):
    """The name is not defined in the notebook."""


class Raised(StudentError):
    """The student's code raised an exception.

    types: the names of its class and of those that it is derived from
    """

    types: tuple[str, ...] = ()


class RaisedValueError(Raised, ValueError):
    """The student's code raised a ValueError, as some exercises ask."""


class Stopped(StudentError):
    """A call did not return in time, or ended its process."""


class HeldTooMuch(StudentError):
    """The student's code held more memory at once than it may; `held` is how many bytes, beside its arguments."""

    def __init__(self, held: float) -> None:
        super().__init__(f"held {held / 1e6:.1f} MB of memory at once.")
        self.held = held


class Forbidden(StudentError):
    """The student's code called what it should write."""
