"""The messages between a worker and the judge of one submission.

The judge waits for a `Task` without a student's name. Then it sends `FromJudge` messages until one has a verdict, and
the worker answers each question in them. `autograder.worker.verdict` checks what the judge sends; it trusts none of it.
"""

from __future__ import annotations

from msgspec import Struct

from autograder.report import Verdict


class CourseSetting(Struct, frozen=True):
    """The course of a judges' fork server: its root, and the folder with its hidden tests."""

    root: str
    folder: str


class Preparation(Struct, frozen=True):
    """What the next judges will need: an assignment, and the exercises whose known mistakes should be loaded."""

    assignment: str
    exercises: tuple[str, ...] = ()


class FromJudge(Struct, frozen=True, omit_defaults=True):
    """A judge's message. Exactly one field is set.

    marks: the verdict so far: bare as soon as the marks are fixed, and again when each exercise is explained. If no
        verdict follows, the worker uses the last one
    open: asks for a fresh notebook; the answer is `Opened`
    verdict: the last message
    broken: the last message if there is no verdict: the kind of the error, and its text
    """

    open: bool = False
    marks: Verdict | None = None
    verdict: Verdict | None = None
    broken: tuple[str, str] | None = None


class Opened(Struct, frozen=True):
    """A fresh notebook's two sockets come with this (see `cellcage.Process`); or `failed` says why there are none.

    On the second one the students' fork server says how that notebook ended, grew and computed.
    """

    failed: str = ""
