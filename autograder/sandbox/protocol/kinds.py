"""Kinds of questions and answers: what a call is to give, how it failed, why nothing came."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How a call failed."""

    RAISED = "raised"  # an exception of the code's own
    NOT_STARTED = "not started"  # NotImplementedError: a stub
    MISSING = "missing"  # there is no such name
    NO_PARAMETER = "no parameter"  # the module has no parameter of a name that weights came for
    FORBIDDEN = "ready made"  # it called what it should write; the text is the name
    REFUSED = "refused"  # a question that is not answered
    MEMORY = "memory"  # it held more at once than it may; the text is how many bytes
    NO_INPUT = "no input"  # it asked for more input than is typed in; the text says for which, counted from 1


class Why(Enum):
    """Why no answer came."""

    TOO_SLOW = "too slow"
    GONE = "gone"  # the process ended
    OVER_LIMIT = "over limit"  # the supervisor ended it, and says for what
    UNREADABLE = "unreadable"  # what came was not of the agreed form


class Gives(Enum):
    """What a reply has as its value."""

    VALUE = "value"  # what the call gives back
    NAME = "name"  # what stands under the name: nothing is called
    PRINTED = "printed"  # the text that it prints
    FILES = "files"  # what it writes into an empty folder: contents by name
    FIGURE = "figure"  # what it draws with matplotlib, see `sandboxed.figures`
