"""Sandboxes for tests."""

from __future__ import annotations

import contextlib
import textwrap

import psutil
import pytest

from cellcage import ForkServer, Limits, Zygote, choose_backend
from cellcage.notebook import Notebook

BACKENDS = ("bubblewrap", "landlock")


def slow_unless_bubblewrap(*kinds):
    """Parameters for these kinds. All but bubblewrap are marked `slow`."""
    return [pytest.param(kind, marks=() if kind == "bubblewrap" else pytest.mark.slow, id=kind) for kind in kinds]


# For promises that also hold without a sandbox.
all_backends = pytest.mark.parametrize("sandbox", slow_unless_bubblewrap(*BACKENDS, "process"), indirect=True)


class Sandbox:
    """A zygote and a fork server, for any number of notebooks."""

    def __init__(self, kind="bubblewrap"):
        self.kind = kind
        self.backend, self.warning = choose_backend(kind)
        self.zygote = Zygote(self.backend)
        self.server = ForkServer(self.zygote)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.server.end()
        self.zygote.end()

    @contextlib.contextmanager
    def open(self, *cells, **limits):
        """Opens a notebook with these cells, which may be indented, and these limits."""
        changed = Limits(**limits)
        with (
            self.server.process(changed) as process,
            Notebook([textwrap.dedent(cell) for cell in cells], changed, process) as notebook,
        ):
            yield notebook

    def processes(self):
        """All processes below the zygote."""
        return psutil.Process(self.zygote._process.pid).children(recursive=True)


def is_alive(pid):
    """A zombie is not alive, even if nobody has waited for it yet."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
