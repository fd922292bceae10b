"""A notebook process without seccomp and Landlock, with all capabilities of its own user namespace.

It shows what the mounts alone protect.
"""

from __future__ import annotations

import ctypes
import os
import socket
from typing import Any

from cellcage.backends.bubblewrap import _UntrustedInNamespaces
from cellcage.linux import seccomp, system_calls
from cellcage.protocol import frames

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS, MNT_DETACH = 0x10000000, 0x00020000, 2


class Child:
    def warm_up(self, setting: dict[str, Any]) -> None:
        """Lets its forks keep the capabilities of their new user namespace, and switches Landlock off."""
        system_calls.drop_capabilities = lambda *kept: None
        _UntrustedInNamespaces.restrict = lambda self: None
        seccomp.apply = lambda filter_: None

    def prepare(self, preparation: Any) -> None: ...

    def serve(self, sock: socket.socket, limits: Any, sandbox: Any) -> None:
        order = frames.receive(sock)
        mounted = libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0
        seen = {place: _uncovered(place) for place in order["places"]}
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        again = {place: _uncovered(place) for place in order["places"]}
        frames.send(sock, {"mounted": mounted, "seen": [seen, again]})


def _uncovered(place: str) -> list[str]:
    for flags in (0, MNT_DETACH):
        libc.umount2(place.encode(), flags)
    libc.umount2(b"/", MNT_DETACH)
    libc.mount(place.encode(), b"/tmp", None, system_calls.MS_BIND, None)
    return [name for folder in (place, "/tmp") if os.path.isdir(folder) for name in os.listdir(folder)]
