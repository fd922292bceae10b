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
    open: asks for a fresh notebook; the answer is `Opened`, with the notebook's socket
    ending: asks how the last notebook ended; true if it is about to end; the answer is `Ended`
    memory: true: asks to measure the last notebook's memory from now on; false: asks by how much it has grown; the
        answer is `Grown`
    cpu: asks how much CPU time the last notebook has used; the answer is `Used`
    verdict: the last message
    broken: the last message if there is no verdict: the kind of the error, and its text
    """

    open: bool = False
    ending: bool | None = None
    memory: bool | None = None
    cpu: bool = False
    marks: Verdict | None = None
    verdict: Verdict | None = None
    broken: tuple[str, str] | None = None


class Opened(Struct, frozen=True):
    """A fresh notebook's socket comes with this; or `failed` says why there is no notebook."""

    failed: str = ""
