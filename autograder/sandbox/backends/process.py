"""No sandbox: a plain process with limits and deadlines, where neither bubblewrap nor Landlock works."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from autograder.sandbox.backends.base import Backend, Students
from autograder.sandbox.backends.places import KIT
from autograder.sandbox.backends.promises import PROMISES, Promise
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation
from autograder.sandbox.protocol.messages import Policy


class StudentsInAFolder(Students):
    """Each child writes in a folder of its own, as far as it keeps to it."""

    def change_view(self, limits: Limits) -> None:
        """Begin in that folder."""
        folder = self._folder(os.getpid())
        os.mkdir(folder, 0o700)
        isolation.write_in(folder)
        os.chdir(folder)

    def clear_away(self, pid: int) -> None:
        """Remove it."""
        folder = os.fsencode(self._folder(pid))
        with contextlib.suppress(OSError):
            empty(folder)
            os.rmdir(folder)

    def _folder(self, pid: int) -> str:
        return os.path.join(os.environ["TMPDIR"], str(pid))


class Process(Backend):
    """Limits only: student code can read what the user can read, and use the network."""

    name = "process"
    title = "none"
    isolates = False
    students = StudentsInAFolder
    keeps: ClassVar[tuple[Promise, ...]] = tuple(one for one in PROMISES if one.without_sandbox)
    means = "student code can read the suites and what you can read, and use the network"

    def why_not(self) -> str | None:
        """It works everywhere."""
        return None

    def working_folder(self, scratch: str) -> str:
        """What cells write goes where it is removed."""
        return scratch

    def command(self, program: Callable[[str], str], places: Sequence[Path]) -> list[str]:
        """This very Python."""
        return plain_python(program)

    def policy(self, judges: bool, places: Sequence[Path], scratch: str, user: Callable[[], int]) -> Policy:
        """Nothing is restricted."""
        return Policy(self.name, judges)

    def leave_nothing(self) -> None:
        """Remove the run's folder."""
        remove_scratch()


def plain_python(program: Callable[[str], str]) -> list[str]:
    """This Python, which sees nothing of the environment and of the folder that it is started in."""
    return [sys.executable, "-I", "-B", "-c", program(str(KIT.parent))]


def remove_scratch() -> None:
    """Remove the folder that was made for the zygote."""
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)


def empty(folder: bytes) -> None:
    """Remove all in a folder, however deep: what lies deeper is first moved up, so that no path grows long."""
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)
                    os.rename(inner.path, os.path.join(folder, os.urandom(16).hex().encode()))
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)
