"""What a worker and the judge of a submission say to each other, each message a type.

The judge waits for an order, and then says `FromJudge` until it gives a verdict; the worker answers each with the type
that its field names. `autograder.worker.verdict` reads what the judge says, and believes none of it.
"""

from __future__ import annotations

from msgspec import Struct

from autograder.course import Exercise
from autograder.report import Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol.ending import Ending
from autograder.submission import ModelFile


class Setting(Struct, frozen=True):
    """Which course the judges of a host are for: its root, the folder with its hidden tests, and its secret."""

    root: str
    folder: str
    secret: str = ""


class Order(Struct, frozen=True):
    """A submission to judge: its cells, and what it is judged by. See `autograder.worker.task.Task`."""

    assignment: str
    cells: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    limits: Limits
    for_page: bool = False
    model: ModelFile | None = None
    by_author: bool = False
    locked: tuple[tuple[int, str], ...] = ()


class FromJudge(Struct, frozen=True, omit_defaults=True):
    """What a judge says, one of these at a time.

    open: asks for a fresh notebook; the answer is `Opened`, with its socket
    ending: asks how the last notebook ended, which is about to if this is true; the answer is `Ended`
    memory: asks how much memory the last notebook takes from now on (true), or has taken since; the answer is `Grown`
    verdict: the last word
    broken: the last word if there is no verdict: the kind of error, and its text
    """

    open: bool = False
    ending: bool | None = None
    memory: bool | None = None
    verdict: Verdict | None = None
    broken: tuple[str, str] | None = None


class Opened(Struct, frozen=True):
    """A fresh notebook's socket comes with this, or else the reason why there is none."""

    failed: str = ""


class Grown(Struct, frozen=True):
    """How many bytes a notebook's processes have grown by, at most; 0 where that begins, and if nobody knows."""

    bytes: int


class Ended(Struct, frozen=True):
    """How a notebook ended."""

    ending: Ending
