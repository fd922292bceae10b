"""A notebook in the sandbox that also tells what its exercises print, for `autograder check`.

Grading asks for nothing of the kind: what hidden tests pass stays where it is.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.judge.exercise_calls import SandboxedCalls
from autograder.judge.notebook import Notebook
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.supervisor.fork_server import ForkServer, FreshChildren
from autograder.source_notebook import MAX_BESIDE
from autograder.student.check import Printed
from autograder.testing.callbacks import Questions

SECONDS = 2.0  # for a process that has answered all its calls
BYTES = 200_000
FILES_SECONDS = 60.0  # until a notebook has read its files; it may still begin
MAX_FILES = 100  # of a folder
QUOTED = re.compile(r"['\"`]([^'\"`\n]{1,200})['\"`]")


def files_named(folder: Path, texts: Sequence[str]) -> dict[str, bytes]:
    """Files below a folder that texts name between quotes, and those in folders that they name; as many as will do.

    The folder may be anybody's home, so nothing else in it is looked at.
    """
    found, left = dict[str, bytes](), MAX_BESIDE
    for name in dict.fromkeys(name for text in texts for name in QUOTED.findall(text)):
        place = Path(os.path.normpath(name))
        if place.is_absolute() or place.parts[:1] in ((), ("..",)) or any(part[0] == "." for part in place.parts):
            continue
        paths = sorted((folder / place).iterdir())[:MAX_FILES] if (folder / place).is_dir() else [folder / place]
        for path in paths:
            if path.is_file() and path.suffix != ".ipynb" and path.stat().st_size <= left:
                found[path.relative_to(folder).as_posix()] = path.read_bytes()
                left -= path.stat().st_size
    return found


class WithFiles(FreshChildren):
    """As `FreshChildren`, each with files in its folder."""

    def __init__(self, server: ForkServer, limits: Limits, files: Mapping[str, bytes]) -> None:
        super().__init__(server, limits)
        self._files = dict(files)

    def open(self) -> socket.socket:
        """The socket of a fresh child. Raises `MachineError`."""
        sock = super().open()
        if self._files:
            with contextlib.suppress(frames.Closed, frames.Deadline):  # whoever uses it meets that again
                frames.send(sock, messages.Files(self._files), time.monotonic() + FILES_SECONDS)
        return sock


class PrintingNotebook(Notebook):
    """As `Notebook`. printed: what the exercise that was asked last has printed"""

    def __init__(self, cells: Sequence[str], limits: Limits, fresh: FreshChildren, watched: Sequence[str]) -> None:
        self.printed = Printed()
        super().__init__(cells, limits, fresh, watched)

    def begin(self, questions: Questions) -> SandboxedCalls:
        """Calls of one exercise."""
        self.printed = Printed()
        return _PrintingCalls(self, questions, self.printed)


class _PrintingCalls(SandboxedCalls):
    """Calls of one exercise; before it hangs up it asks what was printed. What a lost process printed is lost."""

    def __init__(self, notebook: PrintingNotebook, questions: Questions, printed: Printed) -> None:
        super().__init__(notebook, questions)
        self._printed = printed

    def close(self) -> None:
        """Hang up; the process ends, or is ended with the next exercise."""
        if self._sock is not None:
            with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError, frames.Exhausted):
                until = time.monotonic() + SECONDS
                frames.send(self._sock, messages.Calls(printed=True), until)
                said = frames.receive(self._sock, until, frames.Allowance(BYTES, BYTES), form=messages.Printed)
                self._printed.write(said.printed)
        super().close()
