"""What a call does beside giving a value back: it prints, writes files, draws, and asks for input.

The reply has this as its value. It is made in the process that runs the call, and so is the student's word, as all
values are; who reads it checks kinds and sizes.
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

from autograder.sandbox.files import put
from autograder.sandbox.protocol.calls import Call, Gives, Reply
from autograder.sandbox.protocol.objects import Form, Other
from autograder.sandbox.protocol.values import MAX_TEXT
from autograder.sandbox.sandboxed import figures
from autograder.sandbox.sandboxed.bounded import Bounded

MAX_PRINTED = 16_000  # characters; an honest table has some thousand
MAX_FILES, MAX_BYTES = 64, 4 * 2**20  # of what one call writes
MAX_GIVEN, MAX_GIVEN_BYTES = 1000, 16 * 2**20  # of what it finds

# In the sandbox: the course's files, by name, each with its path. Elsewhere what lies in the folder of the notebook.
given: Mapping[str, str] | None = None


class NoMoreInput(EOFError):
    """Code asks for more input than is typed in."""


def performed(call: Call, run: Callable[[], Reply], finds_files: bool) -> Reply:
    """The reply to a call that `run` makes, with what is asked for as its value.

    finds_files: are there files beside the notebook?
    """
    if call.gives is Gives.VALUE and call.typed is None:  # as nearly all are
        return run()
    with contextlib.nullcontext() if call.typed is None else _typing(call.typed):
        match call.gives:
            case Gives.PRINTED:
                return Reply(_printed(run))
            case Gives.FILES:
                return Reply(_files(run, finds_files))
            case Gives.FIGURE:
                return Reply(figures.drawn(lambda: run().value))
        return run()


def _printed(run: Callable[[], Reply]) -> str:
    text = Bounded(MAX_PRINTED)
    with contextlib.redirect_stdout(text):
        run()
    return text.getvalue()


@contextlib.contextmanager
def _typing(lines: Sequence[str]) -> Iterator[None]:
    """Meanwhile `input()` reads these lines. What it asks is printed nowhere, as in a notebook."""
    asked = 0

    def read(prompt: object = "", /) -> str:
        nonlocal asked
        asked += 1
        if asked > len(lines):
            raise NoMoreInput(asked)
        return lines[asked - 1]

    before = builtins.input, sys.stdin
    builtins.input, sys.stdin = read, io.StringIO("".join(f"{line}\n" for line in lines))
    try:
        yield
    finally:
        builtins.input, sys.stdin = before


# ---------------------------------------------------------------- files


def _files(run: Callable[[], Reply], finds: bool) -> dict[str, str | np.ndarray] | Other:
    """What is written by code that runs in a folder of its own, with the files that are given."""
    found = {} if not finds else _here(os.getcwd()) if given is None else given
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
    """A text, if it is one; else its bytes as numbers."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        data = file.read(MAX_BYTES)
    with contextlib.suppress(UnicodeDecodeError):
        if len(data) <= MAX_TEXT:
            return data.decode()
    return np.frombuffer(data, np.uint8)


def _here(folder: str) -> dict[str, str]:
    """What lies beside a notebook, by name, each with its path; as much as will do."""
    found, left = dict[str, str](), MAX_GIVEN_BYTES
    for name, path in itertools.islice(_in_folder(folder), MAX_GIVEN):
        if os.lstat(path).st_size <= left:
            left -= os.lstat(path).st_size
            found[name] = path
    return found


def _in_folder(folder: str) -> Iterator[tuple[str, str]]:
    """Names and paths of the plain files in a folder, in order; no link, no notebook, and nothing hidden."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(names):
            path = os.path.join(place, name)
            if name[0] != "." and not name.endswith((".ipynb", ".pyc")) and stat.S_ISREG(os.lstat(path).st_mode):
                yield Path(path).relative_to(folder).as_posix(), path


def _stamp(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return status.st_size, status.st_mtime_ns
