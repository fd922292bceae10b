"""What a call does beside returning a value: it prints, writes files, draws, and reads input.

The reply then has this as its value. Like any value, it comes from the process that runs student code, where it may be
forged. So its reader checks types and sizes.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import itertools
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from cellcage.calling import figures
from cellcage.files import put
from cellcage.protocol.calls import Call, Gives, Reply
from cellcage.protocol.objects import Form, Other
from cellcage.protocol.values import MAX_TEXT

MAX_PRINTED = 16_000  # characters; an honest table has some thousand
MAX_FILES, MAX_BYTES = 64, 4 * 2**20  # of what one call writes
MAX_GIVEN, MAX_GIVEN_BYTES = 1000, 16 * 2**20  # of the files beside the notebook

# In the sandbox, the paths of the course's files by name. Elsewhere None, and the files in the notebook's folder count.
given: Mapping[str, str] | None = None


class NoMoreInput(EOFError):
    """Code reads more lines of input than there are."""


class Bounded(io.TextIOBase):
    """A text stream that keeps the first `size` characters, and says that it cut the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        """Forget what was written."""
        self.parts: list[str] = []
        self.left = self.size

    def writable(self) -> bool:
        """Always true."""
        return True

    def write(self, text: str) -> int:
        """Keep as much of the text as fits. Returns its length, as every stream does."""
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.left -= len(text)
        return len(text)

    def getvalue(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("\n... (the rest of the output was cut)" if self.left < 0 else "")


def performed(call: Call, run: Callable[[], Reply], finds_files: bool) -> Reply:
    """The reply to a call that `run` makes, with what `call.gives` asks for as its value.

    finds_files: whether there are files beside the notebook
    """
    with contextlib.nullcontext() if call.typed is None else _typing(call.typed):
        match call.gives:
            case Gives.PRINTED:
                text = Bounded(MAX_PRINTED)
                with contextlib.redirect_stdout(text):
                    run()
                return Reply(text.getvalue())
            case Gives.FILES:
                return Reply(_files(run, finds_files))
            case Gives.FIGURE:
                return Reply(figures.drawn(lambda: run().value))
        return run()


@contextlib.contextmanager
def _typing(lines: Sequence[str]) -> Iterator[None]:
    """Within the block, `input()` reads these lines. Its prompts are not printed, as in a notebook."""
    count = 0

    def read(prompt: object = "", /) -> str:
        nonlocal count
        count += 1
        if count > len(lines):
            raise NoMoreInput(count)
        return lines[count - 1]

    before = builtins.input, sys.stdin
    builtins.input, sys.stdin = read, io.StringIO("".join(f"{line}\n" for line in lines))
    try:
        yield
    finally:
        builtins.input, sys.stdin = before


def _files(run: Callable[[], Reply], finds: bool) -> dict[str, str | np.ndarray] | Other:
    """The files that code writes in a new folder, which holds copies of the files beside the notebook."""
    found = {} if not finds else _beside(os.getcwd()) if given is None else given
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        put({name: Path(path).read_bytes() for name, path in found.items()}, Path(folder))
        before = {name: _stamp(path) for name, path in _in_folder(folder)}
        with contextlib.chdir(folder):
            run()
        return _written(folder, before)


def _written(folder: str, before: Mapping[str, tuple[int, int]]) -> dict[str, str | np.ndarray] | Other:
    files, left = dict[str, str | np.ndarray](), MAX_BYTES
    for name, path in _in_folder(folder):
        if before.get(name) == _stamp(path):
            continue
        left -= os.lstat(path).st_size
        if left < 0:
            return Other(f"{(MAX_BYTES - left) >> 20} MB", Form.TOO_LARGE)
        if len(files) >= MAX_FILES:
            return Other("", Form.TOO_MANY)
        files[name] = _content(path)
    return files


def _content(path: str) -> str | np.ndarray:
    """A file's text; its bytes as numbers if it is not text."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        data = file.read(MAX_BYTES)
    with contextlib.suppress(UnicodeDecodeError):
        if len(data) <= MAX_TEXT:
            return data.decode()
    return np.frombuffer(data, np.uint8)


def _beside(folder: str) -> dict[str, str]:
    """Paths of the files beside a notebook by name, within the limits on their number and size."""
    found, left = dict[str, str](), MAX_GIVEN_BYTES
    for name, path in itertools.islice(_in_folder(folder), MAX_GIVEN):
        if os.lstat(path).st_size <= left:
            left -= os.lstat(path).st_size
            found[name] = path
    return found


def _in_folder(folder: str) -> Iterator[tuple[str, str]]:
    """Names and paths of the plain files in a folder, sorted, without links, notebooks and hidden files."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(names):
            path = os.path.join(place, name)
            if name[0] != "." and not name.endswith((".ipynb", ".pyc")) and stat.S_ISREG(os.lstat(path).st_mode):
                yield Path(path).relative_to(folder).as_posix(), path


def _stamp(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return status.st_size, status.st_mtime_ns
