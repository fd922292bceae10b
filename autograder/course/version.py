"""A digest of everything that a mark can depend on: a course's files, and the engine's code."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import cellcage

STAMPED = (".py", ".toml", ".html", ".md", ".txt", ".yml")  # file types of the engine's code and of courses' content
RUBRIC = "rubric.toml"  # for people who grade; no test's mark depends on it


def digest_of(
    files: Sequence[Path], folder: Path, others: Collection[str], parts: Sequence[str] = ("",), withdrawn: str = ""
) -> str:
    """A digest of `files`, of the content of the assignment in `folder` and of all assignments, and of the engine.

    others: names of the other assignments, whose own content does not count
    parts: the folders of the engine and the sandbox that count; "" is all of them
    withdrawn: the assignment's withdrawn exercises; those of the others do not count
    """
    digest = hashlib.sha256("".join(map(_kit_version, parts)).encode() + withdrawn.encode())
    of_others = {folder.parent / name for name in others}
    shared = [path for path in folder.parent.rglob("*") if of_others.isdisjoint(path.parents)]
    for path in sorted([*files, *filter(is_stamped, shared)]):
        name = f"{path.parent.name}/{path.name}"
        data = path.read_bytes() if path.is_file() else b""
        digest.update(name.encode() + b"\0" + data)
    return digest.hexdigest()


def is_stamped(path: Path) -> bool:
    """True if a mark can depend on this file of a course or of the engine."""
    return path.suffix in STAMPED and path.name != RUBRIC


@functools.cache
def _kit_version(part: str) -> str:
    """A digest of a part of the engine's and the sandbox's code, read once: the running code does not change either."""
    digest = hashlib.sha256()
    for kit in (Path(__file__).parents[1], Path(cellcage.__file__).parent):
        for path in sorted(filter(is_stamped, (kit / part).rglob("*"))):
            digest.update(path.relative_to(kit).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
