"""Time limits that a busy machine does not shorten: they count CPU time, as the notebook's fork server measures it.

To ask for it takes a message to the fork server. So it is asked only if something has taken so long on the clock that
it may have used up its CPU time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from autograder.sandbox.protocol import frames

EXACT = 0.25  # seconds on the clock, all of which the submission may have computed or not without being asked
LOOK = 0.02  # seconds at least between two questions; the kernel counts CPU time in hundredths of a second


class CpuSpent(frames.Deadline):
    """The CPU time is used up. A plain `Deadline` means that the time on the clock is."""


class CpuClock:
    """CPU time that one notebook's processes have used. ask: asks for it; the answer is negative if it is not known"""

    def __init__(self, ask: Callable[[], float]) -> None:
        self._ask = ask
        self.known, self._known_at = 0.0, time.monotonic()

    def used(self) -> float:
        """CPU seconds until now. If the fork server cannot tell, they are counted on the clock."""
        found, now = self._ask(), time.monotonic()
        found = found if found >= 0 else self.known + now - self._known_at
        self.known, self._known_at = max(self.known, found), now
        return self.known

    def limit(self, seconds: float, clock_seconds: float) -> TimeLimit:
        """A limit that begins now: so many CPU seconds, and so many on the clock."""
        if time.monotonic() - self._known_at > EXACT:
            self.used()
        now = time.monotonic()
        return TimeLimit(self, seconds, self.known + (now - self._known_at) + seconds, now + clock_seconds)


@dataclass(frozen=True)
class TimeLimit:
    """Ends when the clock's CPU time reaches `until`, or at `ends_at` (`time.monotonic`)."""

    clock: CpuClock
    seconds: float
    until: float
    ends_at: float

    def wait(self, sock: socket.socket) -> None:
        """Wait until there is something to read. Raises `CpuSpent` or `Deadline`."""
        pause = self.seconds  # nothing that has one processor can have used more in less time
        while not frames.readable(sock, min(pause, max(0.0, self.ends_at - time.monotonic()))):
            used = self.clock.used()
            if used >= self.until:
                raise CpuSpent
            if time.monotonic() >= self.ends_at:
                raise frames.Deadline
            pause = max(self.until - used, LOOK)
