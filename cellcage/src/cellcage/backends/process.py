"""No sandbox: a plain process with limits and deadlines, where neither bubblewrap nor Landlock works."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from cellcage.backends.base import Backend, Untrusted
from cellcage.limits import Limits
from cellcage.linux import system_calls
from cellcage.protocol.messages import Policy


class UntrustedInAFolder(Untrusted):
    """Each child begins in a folder of its own. Without a sandbox, nothing forces it to write only there."""

    def make_places(self, limits: Limits) -> None:
        """Make this child's folder, and write in it."""
        folder = self._folder(os.getpid())
        os.mkdir(folder, 0o700)
        os.chdir(folder)
        system_calls.use_as_temporary(folder)

    def clear_away(self, pid: int) -> None:
        """Remove that folder."""
        folder = os.fsencode(self._folder(pid))
        with contextlib.suppress(OSError):
            empty(folder)
            os.rmdir(folder)

    def leave_nothing(self) -> None:
        """Remove all scratch files."""
        with contextlib.suppress(OSError):
            empty(os.fsencode(self.policy.scratch))

    def _folder(self, pid: int) -> str:
        return os.path.join(self.policy.scratch, str(pid))


class Process(Backend):
    """Limits only: untrusted code can read what the user can read, and use the network."""

    name = "process"
    rank = 99
    isolates = False
    untrusted = UntrustedInAFolder

    def why_not(self) -> str | None:
        """It works everywhere."""
        return None

    def summary(self) -> str:
        """There is no sandbox."""
        return "none"

    def policy(self, trusted: bool, places: Sequence[Path], scratch: str, user: int) -> Policy:
        """Nothing is restricted. Notebooks get a folder."""
        if trusted:
            return Policy(trusted)
        os.mkdir(scratch, 0o700)
        return Policy(scratch=scratch)


def empty(folder: bytes) -> None:
    """Remove everything in a folder, however deep. Deeper folders are first moved up, so that no path grows long."""
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
