"""How a notebook forks the process of an exercise and ends it, with whatever that has started.

One at a time. What can be ended depends on which processes a signal reaches, and that on the sandbox.
"""

from __future__ import annotations

import contextlib
import os
import signal

from autograder.sandbox.linux import isolation, landlock


class InOwnGroup:
    """Nothing keeps signals in: the exercise has a process group of its own, and what cells have started goes on."""

    def __init__(self) -> None:
        self.pid = 0  # of the exercise; 0 if there is none

    def fork(self) -> int:
        """The exercise's process, as `os.fork` does. Raises `OSError`."""
        self.pid = os.fork()
        return self.pid

    def in_child(self) -> None:
        """In the exercise's process, before it runs anything."""
        os.setpgid(0, 0)

    def end(self) -> None:
        """End the exercise, if there is one."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        self.pid = 0

    def kill(self) -> None:
        """Send what ends it."""
        os.killpg(self.pid, signal.SIGKILL)

    def make_room(self) -> None:
        """End what cells have left running, if it can be told from what others have."""


class Alone(InOwnGroup):
    """Every signal to all reaches this submission's processes and no others: in a pid namespace of its own."""

    def end(self) -> None:
        """End the exercise and whatever cells and calls have started."""
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


class InScope(Alone):
    """The same, behind a Landlock that keeps signals in."""

    def in_child(self) -> None:
        """It stays in the group by which all is ended, and cannot end the one that forks."""
        landlock.keep_signals_in()


class ByDescriptor(InOwnGroup):
    """No signal may be sent by number, and nobody leaves the group by which all is ended."""

    def __init__(self) -> None:
        super().__init__()
        self._end = -1  # a descriptor that ends the exercise

    def fork(self) -> int:
        """The exercise's process, with the descriptor that ends it."""
        self.pid, self._end = isolation.fork_with_descriptor()
        return self.pid

    def in_child(self) -> None:
        """Nothing: it stays in the group."""

    def kill(self) -> None:
        """End it where it cannot be named."""
        isolation.end_by_descriptor(self._end)
