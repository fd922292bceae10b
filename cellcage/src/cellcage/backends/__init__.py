"""The sandbox backends: bubblewrap, Landlock, and a plain process with limits only.

Each backend is one object. The supervisor chooses it once (`supervisor.choice`). The backend says how to start the
zygote, and what each fork server may do. In the sandbox it forks the fork servers, and makes a `Students` or a `Judges`
for each: the steps by which a fork server and its children give up what they must not have.
"""

from __future__ import annotations

from cellcage.backends.base import Backend, Judges, Students
from cellcage.backends.bubblewrap import Bubblewrap
from cellcage.backends.landlock import Landlock
from cellcage.backends.process import Process
from cellcage.protocol.messages import Policy

__all__ = ["BACKENDS", "BUBBLEWRAP", "LANDLOCK", "PROCESS", "Backend", "Judges", "Students", "confined"]
BUBBLEWRAP, LANDLOCK, PROCESS = Bubblewrap(), Landlock(), Process()
BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (BUBBLEWRAP, LANDLOCK, PROCESS)}


def confined(policy: Policy) -> Students | Judges:
    """The steps of a fork server with this policy, and of its children."""
    backend = BACKENDS[policy.backend]
    return backend.judges(policy) if policy.judges else backend.students(policy)
