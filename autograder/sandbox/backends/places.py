"""Where Python, its libraries and the engine lie: what every submission must read."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

KIT = Path(__file__).resolve().parents[2]
INSIDE = "/kit"  # holds the sandbox's own code for fork servers that run untrusted code, and nothing more of the kit
ENVIRONMENT_INSIDE = "/kit/environment"  # the virtual environment's place in the sandbox, wherever it lies outside
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime",
)  # fmt: skip


def shown_with(folder: Path) -> str | None:
    """The place that student code must read, and this folder with it; None if it is out of reach."""
    places = [str(Path(place).resolve()) for place in (*SYSTEM, *python_places(), sys.prefix)]
    return next((place for place in places if folder.resolve().is_relative_to(place)), None)


def in_environment() -> bool:
    """Does this Python run in a virtual environment?"""
    return sys.prefix != sys.base_prefix


def interpreter_inside() -> str:
    """Python's program, as it is called behind bubblewrap's sandbox."""
    executable = Path(os.path.normpath(sys.executable))  # called as `../.venv/bin/python`, that stands in it
    return str(Path(ENVIRONMENT_INSIDE, executable.relative_to(sys.prefix)) if in_environment() else executable)


def python_places() -> list[str]:
    """Where the base interpreter lives, outermost folders only, less what the system's folders hold."""
    link = Path(sys.base_prefix)
    return [p for p in outermost((str(link), str(link.resolve()))) if not Path(p).is_relative_to("/usr")]


def with_its_name(place: Path) -> str:
    """The folder that a place is in, so that not even its name shows; the place itself if more is in that folder."""
    folder, needed = str(place.parent), (*SYSTEM, *python_places(), INSIDE)
    alone = not any(Path(one).is_relative_to(folder) or Path(folder).is_relative_to(one) for one in needed)
    return folder if alone else str(place)


def outermost(places: Iterable[str]) -> list[str]:
    """Those that are in no other."""
    found = sorted(set(places))
    return [place for place in found if not any(Path(place).is_relative_to(other) for other in found if other != place)]


def open_to_all(place: str) -> bool:
    """May every user go there? A place that is not there keeps nobody out."""
    path = Path(os.path.realpath(place))
    with contextlib.suppress(OSError):
        return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents) if part.is_dir())
    return True
