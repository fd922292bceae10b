"""Copies of what students handed in: plain files alone. No link is followed, and nothing waits for a pipe.

A link in a hand-in may lead to the gradebook or to a hidden tests, and a copy would carry that to a feedback folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

BLOCK = 2**20  # bytes that are copied at a time


def is_plain(path: Path) -> bool:
    """Is there a plain file, and no link, pipe or folder?"""
    return not path.is_symlink() and path.is_file()


def copy_plain_files(
    source: Path, target: Path, most: int, wanted: Callable[[Path, bool], bool] = lambda place, is_folder: True
) -> list[str]:
    """Copy the plain files of a folder and below. Files that are there already are replaced.

    most: bytes of a file; a larger one is left
    wanted: is what has this place below `source` to be copied? The second argument says if it is a folder.
    Returns a sentence for each wanted file that was left: `x.html is a link`.
    Raises `OSError` if `source` is no folder or cannot be read, or if `target` cannot be written.
    """
    if source.is_symlink():
        raise OSError(errno.ELOOP, "it is a link", str(source))
    if not source.is_dir():
        raise OSError(errno.ENOTDIR, "it is not a folder", str(source))
    left: list[str] = []
    # Folders and files are opened relative to the folder above, so that nobody can put a link in their place meanwhile.
    walk = os.fwalk(source, onerror=_raised_at(source, left))
    for place, folders, names, descriptor in walk:
        below = Path(place).relative_to(source)
        links = [name for name in folders if _is_link(name, descriptor)]
        folders[:] = sorted(name for name in folders if name not in links and wanted(below / name, True))
        for name in sorted([*links, *names]):
            reason = _copy(name, descriptor, target / below / name, most) if wanted(below / name, False) else ""
            if reason:
                left.append(f"{below / name} {reason}")
    return left


def _raised_at(source: Path, left: list[str]) -> Callable[[OSError], None]:
    def remember(error: OSError) -> None:
        if error.filename is None or Path(str(error.filename)) == source:
            raise error
        left.append(f"{error.filename} cannot be read: {error.strerror}")

    return remember


def _is_link(name: str, descriptor: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)


def _copy(name: str, descriptor: int, target: Path, most: int) -> str:
    """Copy one file of an open folder; why not, if it is not plain or too large."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        opened = os.open(name, flags, dir_fd=descriptor)
    except OSError as error:
        return "is a link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return "is not a file"
        if status.st_size > most:
            return f"has {status.st_size / 2**20:.1f} MB; the limit is {most // 2**20}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with target.open("xb") as copy:
            for block in blocks(file, status.st_size):
                copy.write(block)
    return ""


def blocks(file: IO[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes of a file, a block at a time; what it has grown since is left."""
    while most > 0 and (block := file.read(min(BLOCK, most))):
        most -= len(block)
        yield block
