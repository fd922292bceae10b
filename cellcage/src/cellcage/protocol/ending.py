"""How a process ended, and whether its own code or the machine ended it.

Its own code does so by an exit, a signal that it caused, or a limit that it met. `linux.seccomp` keeps untrusted code
from sending itself SIGKILL or SIGTERM, which the kernel sends when memory runs out, and people and services send to end
a process. So these two signals come from the machine, unless its own memory limit was met.
"""

from __future__ import annotations

import os
import signal
import time

import msgspec

# Exit code of a process in which the machine ran short of something that it needs. Any other error in our
# code counts as the untrusted code's own: it runs in the same process, where that code can change it.
MACHINE_SHORT = 121
ENDLESS = 122  # exit code of a call process that stopped its call, see `Limits.call_seconds`
SIGKILL, SIGTERM = 9, 15  # the same on every Linux; on Windows, where only checks run, `signal` lacks SIGKILL
END_SECONDS = 1.0  # a socket closes before its process can be waited for: a moment, under load perhaps 0.1 s


class Ending(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="ended"):
    """How a process ended; nothing is set if that is unknown. From a notebook process it may be forged.

    exit_code, signal: as reported by `os.waitid`
    running: it has closed its socket, but has not ended
    limit: if the fork server ended it, the limit that it met, in words that begin a sentence; else empty
    out_of_memory: the notebook met its memory limit, and the kernel ended one of its processes
    """

    exit_code: int | None = None
    signal: int | None = None
    running: bool = False
    limit: str = ""
    out_of_memory: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the code in the process ended it, as far as can be seen."""
        if self.limit or self.running:
            return True
        if self.signal is not None:
            return self.signal not in (SIGKILL, SIGTERM) or (self.out_of_memory and self.signal == SIGKILL)
        return self.exit_code is not None and self.exit_code != MACHINE_SHORT

    def __str__(self) -> str:
        """In words, if the machine ended it."""
        if self.signal is not None:
            names = {number.value: number.name for number in signal.Signals}
            return f"it was ended by {names.get(self.signal, f'signal {self.signal}')} from outside"
        if self.exit_code == MACHINE_SHORT:
            return "the machine was short of something that it needs"
        return "how it ended is unknown"


def ending_of(pid: int, seconds: float = END_SECONDS) -> Ending:
    """How a child of this process ended. Waits up to so many seconds. Does not reap it, so its pid is not reused."""
    until = time.monotonic() + seconds
    while True:
        try:
            info = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            return Ending()
        if info is not None:
            exited = info.si_code == os.CLD_EXITED
            return Ending(exit_code=info.si_status) if exited else Ending(signal=info.si_status)
        if time.monotonic() > until:
            return Ending(running=True)
        time.sleep(0.002)
