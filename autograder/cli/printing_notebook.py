"""A notebook in the sandbox that also reports what its exercises print, for `autograder check`.

Grading does not ask for that, because what an exercise prints may hold the inputs of hidden tests.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.judge.exercise_calls import CallsOutside
from autograder.judge.notebook import Notebook
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.supervisor.fork_server import ForkServer, FreshChildren
from autograder.source_notebook import MAX_BESIDE
from autograder.student.kernel import Printed
from autograder.testing.callbacks import Questions

SECONDS = 2.0  # for a process that has answered all its calls
BYTES = 200_000
FILES_SECONDS = 60.0  # until a notebook has read its files; it may still be starting
MAX_FILES = 100  # of a folder
QUOTED = re.compile(r"['\"`]([^'\"`\n]{1,200})['\"`]")


def files_named(folder: Path, texts: Sequence[str]) -> dict[str, bytes]:
    """The files below `folder` that `texts` name in quotes, and those in folders that they name, up to `MAX_BESIDE`.

    No other file is read, since the folder may be a home folder.
    """
    found, left = dict[str, bytes](), MAX_BESIDE
    for name in dict.fromkeys(name for text in texts for name in QUOTED.findall(text)):
        place = Path(os.path.normpath(name))
        if place.is_absolute() or place.parts[:1] in ((), ("..",)) or any(part[0] == "." for part in place.parts):
            continue
        path = folder / place
        for file in sorted(path.iterdir())[:MAX_FILES] if path.is_dir() else [path]:
            if file.is_file() and file.suffix != ".ipynb" and file.stat().st_size <= left:
                found[file.relative_to(folder).as_posix()] = file.read_bytes()
                left -= file.stat().st_size
    return found


class WithFiles(FreshChildren):
    """`FreshChildren`, each with some files in its folder."""

    def __init__(self, server: ForkServer, limits: Limits, files: Mapping[str, bytes]) -> None:
        super().__init__(server, limits)
        self._files = dict(files)

    def open(self) -> socket.socket:
        """The socket of a fresh child. Raises `MachineError`."""
        sock = super().open()
        if self._files:
            with contextlib.suppress(frames.Closed, frames.Deadline):  # the next use of the socket reports it
                frames.send(sock, messages.Files(self._files), time.monotonic() + FILES_SECONDS)
        return sock


class PrintingNotebook(Notebook):
    """A `Notebook`. `printed` is what the last exercise printed."""

    printed = Printed()

    def begin(self, questions: Questions) -> CallsOutside:
        """Calls of one exercise."""
        calls = _PrintingCalls(self, questions)
        calls.printed = self.printed = Printed()
        return calls


class _PrintingCalls(CallsOutside):
    """Calls of one exercise that ask for its output before they hang up. The output of a lost process is lost."""

    printed: Printed

    def close(self) -> None:
        """Hang up; the process ends, or is ended with the next exercise."""
        if self._sock is not None:
            with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError, frames.Exhausted):
                until = time.monotonic() + SECONDS
                frames.send(self._sock, messages.Calls(printed=True), until)
                received = frames.receive(self._sock, until, frames.Allowance(BYTES, BYTES), form=messages.Printed)
                self.printed.write(received.printed)
        super().close()
