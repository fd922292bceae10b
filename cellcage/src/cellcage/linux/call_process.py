"""How a notebook process forks a call process, and ends it with all that it has started.

There is one such process at a time. What can be ended depends on which processes a signal reaches in the sandbox.
"""

from __future__ import annotations

import contextlib
import os
import signal

from cellcage.linux import landlock_rules, system_calls


class InOwnGroup:
    """Nothing limits where signals go: the call process gets its own group. What cells have started stays alive."""

    def __init__(self) -> None:
        self.pid = 0  # of the call process; 0 if there is none

    def fork(self) -> int:
        """The call process, as `os.fork` does. Raises `OSError`."""
        self.pid = os.fork()
        return self.pid

    def in_child(self) -> None:
        """Run in the call process, before it runs anything else."""
        os.setpgid(0, 0)

    def end(self) -> None:
        """End the call process, if there is one."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        self.pid = 0

    def kill(self) -> None:
        """Send the signal that ends the call process."""
        os.killpg(self.pid, signal.SIGKILL)

    def make_room(self) -> None:
        """End what cells have left running, if this can tell it from other people's processes."""


class InPidNamespace(InOwnGroup):
    """In a pid namespace of its own: a signal to all processes reaches this notebook's and no others."""

    def end(self) -> None:
        """End the call process, and all that cells and calls have started."""
        if self.pid:
            self.make_room()
        self.pid = 0

    def make_room(self) -> None:
        """End all but this process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)


class InSignalScope(InPidNamespace):
    """The same where Landlock keeps signals in the sandbox."""

    def in_child(self) -> None:
        """It stays in the notebook's process group, and cannot end the process that forks."""
        landlock_rules.scope_signals()


class ByDescriptor(InOwnGroup):
    """No signal may be sent by number, and no process can leave the notebook's process group."""

    def __init__(self) -> None:
        super().__init__()
        self._end = -1  # a descriptor that ends the call process

    def fork(self) -> int:
        """The call process; a descriptor is kept that can end it."""
        self.pid, self._end = system_calls.fork_with_descriptor()
        return self.pid

    def in_child(self) -> None:
        """It stays in the group."""

    def kill(self) -> None:
        """End it by its descriptor."""
        system_calls.end_by_descriptor(self._end)
