"""Where Python, its libraries and this package are: what untrusted code must be able to read."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime",
)  # fmt: skip


def shown_with(folder: Path) -> str | None:
    """The place that untrusted code must be able to read and that holds this folder; None if no such place does."""
    places = [str(Path(place).resolve()) for place in (*SYSTEM, *python_places(), sys.prefix)]
    return next((place for place in places if folder.resolve().is_relative_to(place)), None)


def python_places() -> list[str]:
    """The outermost places of the base interpreter that are not in the system's folders: by name, and resolved."""
    places = (sys.base_prefix, os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable))
    return [place for place in outermost(places) if not Path(place).is_relative_to("/usr")]


def outermost(places: Iterable[str]) -> list[str]:
    """The places that are in none of the others."""
    found = sorted(set(places))
    return [place for place in found if not any(Path(place).is_relative_to(other) for other in found if other != place)]


def open_to_all(place: str) -> bool:
    """True if every user may go to a place, or if it does not exist."""
    path = Path(os.path.realpath(place))
    with contextlib.suppress(OSError):
        return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents) if part.is_dir())
    return True
