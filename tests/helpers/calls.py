"""One call in a sandbox, and its value; tables as values; which backend there are; whether a process lives."""

from __future__ import annotations

import textwrap

import psutil
import pytest

from cellcage.protocol.calls import NoAnswer, Reply
from cellcage.values.tables.table import FRAME, Column, Table
from tests.helpers.sandboxes import answered

BACKENDS = ("bubblewrap", "landlock")


def slowly(*kinds):
    """As parameters. `make quick` tries bubblewrap, and leaves the others to `make test`."""
    return [pytest.param(kind, marks=() if kind == "bubblewrap" else pytest.mark.slow, id=kind) for kind in kinds]


# What needs no sandbox holds without one, too.
everywhere = pytest.mark.parametrize("sandbox", slowly(*BACKENDS, "process"), indirect=True)


class Lost(Exception):
    """No answer came."""


def ask(running, name, *args, seconds=None):
    """One call in a process of its own: its value, or how it failed."""
    answer = answered(running, name, *args, seconds=seconds)
    if isinstance(answer, NoAnswer):
        raise Lost(f"{answer.why.value}: {answer.text}")
    return answer.value if isinstance(answer, Reply) else answer


def frame_of(columns, index=None):
    """A frame of these columns, without pandas."""
    rows = None if index is None else [Column.of(index)]
    return Table(FRAME, [Column.of(list(columns))], [*map(Column.of, columns.values())], rows, [None], [None])


def define(sandbox, code, limits=None):
    return sandbox.open([textwrap.dedent(code)], limits)


def lives(pid):
    """A process that has ended, and that the machine's first process has not yet waited for, does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
