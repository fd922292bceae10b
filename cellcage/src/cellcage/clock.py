"""Time limits that a busy machine does not shorten: they count CPU time, as the notebook's fork server measures it.

Code that sleeps or waits uses none. So they count idle time, too: when the code neither computes nor waits for a
processor that another program has.

Asking costs a message. So it is asked only when the clock shows that the limit may have been reached.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from cellcage.protocol import frames
from cellcage.protocol.messages import Used

EXACT = 0.25  # seconds on the clock that are too few to be worth a question
LOOK = 0.02  # seconds at least between two questions; the kernel counts CPU time in hundredths of a second


class CpuClock:
    """CPU time that one notebook's processes have used. ask: asks for it"""

    def __init__(self, ask: Callable[[], Used]) -> None:
        self._ask = ask
        self.known, self.delayed, self._known_at = 0.0, 0.0, time.monotonic()
        self.besides = 0.0  # seconds in which long calls and cells were idle, or the trusted side computed
        self.counts_delays = True

    @property
    def spent(self) -> float:
        """Seconds of CPU time, idle, and of the trusted side's work for it, as far as they are known."""
        return self.known + self.besides

    def used(self) -> float:
        """CPU seconds until now. If the fork server cannot tell, they are counted on the clock."""
        found, now = self._ask(), time.monotonic()
        seconds = found.seconds if found.seconds >= 0 else self.known + now - self._known_at
        self.known, self._known_at = max(self.known, seconds), now
        self.counts_delays = found.delayed is not None
        self.delayed = max(self.delayed, found.delayed or 0.0)
        return self.known

    def idle_since(self, began: float, active: float) -> float:
        """Seconds in which they neither computed nor waited for a processor; none if the kernel does not count those.

        active: the seconds computed and delayed before it began, as far as they are known
        """
        return time.monotonic() - began - (self.known + self.delayed - active) if self.counts_delays else 0.0

    def limit(self, seconds: float, idle_seconds: float, clock_seconds: float) -> TimeLimit:
        """A limit that begins now: so many seconds of CPU time, so many idle, and so many on the clock."""
        if time.monotonic() - self._known_at > EXACT:
            self.used()
        now = time.monotonic()
        until = self.known + (now - self._known_at) + seconds
        active = self.known + self.delayed
        return TimeLimit(self, until, min(seconds, idle_seconds), now + clock_seconds, now, active)


@dataclass(frozen=True)
class TimeLimit:
    """Ends when the clock's CPU time reaches `until`, after `idle_seconds`, or at `ends_at` (`time.monotonic`).

    began: when it began (`time.monotonic`); active: the seconds computed and delayed before that, as far as known
    """

    clock: CpuClock
    until: float
    idle_seconds: float
    ends_at: float
    began: float
    active: float

    def wait(self, sock: socket.socket) -> None:
        """Wait until there is something to read. Raises `Deadline`.

        Unless that says `computed`, the code was idle for too long, or the clock ran out.
        """
        began, active = time.monotonic(), self.clock.known + self.clock.delayed
        try:
            self._wait(sock)
        finally:
            if time.monotonic() - began > EXACT:
                self.clock.used()
                self.clock.besides += max(0.0, self.clock.idle_since(began, active))

    def _wait(self, sock: socket.socket) -> None:
        pause = self.idle_seconds  # nothing that has one processor can have used more in less time
        while not frames.readable(sock, min(pause, max(0.0, self.ends_at - time.monotonic()))):
            used = self.clock.used()
            if used >= self.until:
                raise frames.Deadline(computed=True)
            idle = self.clock.idle_since(self.began, self.active)
            if time.monotonic() >= self.ends_at or idle >= self.idle_seconds:
                raise frames.Deadline
            pause = max(min(self.until - used, self.idle_seconds - idle), LOOK)
