"""The sandbox backends. An installed distribution adds one by an entry point of the group `cellcage.backends`.

Each backend is one object. `machine.choose_backend` chooses it. It says how to start the zygote, and what each fork
server may do. In the sandbox it forks the fork servers, and has an `Untrusted` or a `Trusted` for each: the steps by
which a fork server and its children give up what they must not have.
"""

from __future__ import annotations

import functools
from importlib.metadata import entry_points

from cellcage.backends.base import Backend

GROUP = "cellcage.backends"


@functools.cache
def installed() -> dict[str, Backend]:
    """All installed backends by name, those first that `auto` tries first."""
    found = [point.load()() for point in entry_points(group=GROUP)]
    return {backend.name: backend for backend in sorted(found, key=lambda backend: backend.rank)}
