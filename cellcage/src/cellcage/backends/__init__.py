"""The sandbox backends. An installed distribution adds one by an entry point of the group `cellcage.backends`.

Each backend is one object. `outside.choice` chooses it. It says how to start the zygote, and what each fork server may
do. In the sandbox it forks the fork servers, and makes an `Untrusted` or a `Trusted` for each: the steps by which a
fork server and its children give up what they must not have.
"""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import entry_points

from cellcage.backends.base import Backend, Trusted, Untrusted
from cellcage.protocol.messages import Policy

GROUP = "cellcage.backends"


@functools.cache
def installed() -> dict[str, Backend]:
    """All installed backends by name, those first that `auto` tries first."""
    found = [point.load()() for point in entry_points(group=GROUP)]
    return {backend.name: backend for backend in sorted(found, key=lambda backend: backend.tried)}


def place_of(backend: Backend) -> str:
    """The class of a backend, for `made`."""
    return f"{type(backend).__module__}:{type(backend).__qualname__}"


def made(place: str) -> Backend:
    """The backend of a class, by "module:class"."""
    module, _, name = place.partition(":")
    backend: Backend = getattr(importlib.import_module(module), name)()
    return backend


def confined(backend: Backend, policy: Policy) -> Untrusted | Trusted:
    """The steps of a fork server with this policy, and of its children."""
    return backend.trusted(policy) if policy.trusted else backend.untrusted(policy)
