"""A word that changes with everything that a mark can depend on: a course's files, and the engine's code."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

STAMPED = (".py", ".toml", ".html", ".md", ".txt", ".yml")  # all that the kit's code and content are written in
RUBRIC = "rubric.toml"  # for people who grade; no mark of a test's depends on it


def digest_of(files: Sequence[Path], folder: Path, others: Collection[str], parts: Sequence[str] = ("",)) -> str:
    """A digest of `files`, of what the course has for the assignment in `folder` and for all, and of the engine's code.

    others: the names of the other assignments, beside it
    parts: the engine's folders that count; all of it if none is named
    """
    digest = hashlib.sha256("".join(map(_kit_version, parts)).encode())
    of_others = {folder.parent / name for name in others}
    shared = [path for path in folder.parent.rglob("*") if of_others.isdisjoint(path.parents)]
    for path in sorted([*files, *filter(is_stamped, shared)]):
        name = f"{path.parent.name}/{path.name}"
        digest.update(name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()


def is_stamped(path: Path) -> bool:
    """Can a mark depend on this file of a course or of the engine?"""
    return path.suffix in STAMPED and path.name != RUBRIC


@functools.cache
def _kit_version(part: str) -> str:
    """A word that changes with a part of the engine's code; read once, as the running code is."""
    digest = hashlib.sha256()
    kit = Path(__file__).parent
    for path in sorted(filter(is_stamped, (kit / part).rglob("*"))):
        digest.update(path.relative_to(kit).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
