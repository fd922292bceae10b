"""What a call should give as its answer, and the ways in which it can fail."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How a call failed."""

    RAISED = "raised"  # the code raised an exception
    NOT_STARTED = "not started"  # NotImplementedError: a stub
    MISSING = "missing"  # there is no such name
    NO_PARAMETER = "no parameter"  # the test sets a parameter that the module does not have
    READY_MADE = "ready made"  # it called a function that is not to be called; the text is its name, as listed
    REFUSED = "refused"  # the question is not allowed
    MEMORY = "memory"  # it allocated more at once than it may; the text is how many bytes


class Why(Enum):
    """Why there is no answer."""

    TOO_SLOW = "too slow"
    WAITED = "waited"
    GONE = "gone"  # the process ended
    OVER_LIMIT = "over limit"  # the supervisor ended the process; the text says which limit it met
    UNREADABLE = "unreadable"  # the answer did not have the agreed form


class Gives(Enum):
    """What a reply has as its value."""

    VALUE = "value"  # what the call returns
    NAME = "name"  # the name's own value; nothing is called
    PRINTED = "printed"  # the text that it prints
