"""What a fork server forks: the base of a class of children, and what their processes need.

`ForkServer(child="module:class")` names such a class. It is imported in the fork server, in the sandbox.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Protocol

from cellcage.backends.base import Confined
from cellcage.limits import Limits
from cellcage.linux.system_calls import gather_pages

__all__ = ["Children", "gather_pages", "silence"]


class Children(Protocol):
    """What a fork server prepares for its children, and what each of them does."""

    def warm_up(self, setting: Mapping[str, object]) -> None:
        """Import once what every child needs."""

    def prepare(self, needed: object) -> None:
        """Load what the next children will need: the plain data that `ForkServer.process` was given. May raise."""

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Confined) -> None:
        """Do the work of a child, in the fork."""


def silence() -> None:
    """Redirect descriptors 0, 1 and 2 to /dev/null, so that printing from C code disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
