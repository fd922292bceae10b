"""Which wall stands around a host: what the outside decides, and the inside builds."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", ""


@dataclass(frozen=True)
class Wall:
    """A wall as plain data.

    kind: "bubblewrap" (namespaces, and Landlock inside them if the kernel has it), "landlock", or "" for none
    abi: version of the kernel's Landlock, 0 if there is none
    readable: places that what is behind the wall may read, and start programs from
    scratch: without mounts, the folder in which each submission gets one of its own; else ""
    user: the kernel's user that root's processes become here, which nothing else has; 0: they stay who they are
    """

    kind: str = NONE
    abi: int = 0
    readable: tuple[str, ...] = ()
    scratch: str = ""
    user: int = 0

    @property
    def by_landlock(self) -> bool:
        """Is Landlock the whole wall?"""
        return self.kind == LANDLOCK

    @property
    def in_namespaces(self) -> bool:
        """Does each submission get namespaces of its own?"""
        return self.kind == BUBBLEWRAP


def open_to_all(place: str) -> bool:
    """May every user go there? A place that is not there keeps nobody out."""
    path = Path(os.path.realpath(place))
    with contextlib.suppress(OSError):
        return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents) if part.is_dir())
    return True
