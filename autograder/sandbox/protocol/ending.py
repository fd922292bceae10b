"""How a process of a submission ended, and whether the student's code or the machine ended it.

A mark may be lowered only if the end is the student's: the code's own exit, a signal of its own, a limit that it met.
`linux.seccomp` keeps student code from sending itself SIGKILL or SIGTERM, by which the kernel short of memory, its
helpers and people end processes. So these two signals are the machine's, unless the submission's own memory limit was
met.
"""

from __future__ import annotations

import os
import signal
import time

import msgspec

# Exit code of a process in which the machine was short of something that the grader needs. Any other error of the
# grader's code is the student's end: it runs in the student's process, where everything can be changed.
MACHINE_SHORT = 121
SIGKILL, SIGTERM = 9, 15  # on every Linux; Windows, where only checks run, has no such names
FROM_OUTSIDE = frozenset({SIGKILL, SIGTERM})
END_SECONDS = 1.0  # a socket closes a moment before its process can be waited for; under load perhaps a tenth


class Ending(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a process ended; nothing is set if nobody knows.

    exit_code, signal: as `os.waitid` says it
    running: it has not ended, and has only closed its socket
    limit: what the supervisor ended it for, in words that begin a sentence; empty if it did not
    out_of_memory: the submission met its limit on memory, and the kernel ended a process for it
    """

    exit_code: int | None = None
    signal: int | None = None
    running: bool = False
    limit: str = ""
    out_of_memory: bool = False

    @property
    def is_students(self) -> bool:
        """Is the end the student's own doing, as far as it shows?"""
        if self.limit or self.running:
            return True
        if self.signal is not None:
            return self.signal not in FROM_OUTSIDE or (self.out_of_memory and self.signal == SIGKILL)
        return self.exit_code is not None and self.exit_code != MACHINE_SHORT

    def __str__(self) -> str:
        """In words, for a report that says why a submission was not graded."""
        if self.signal is not None:
            names = {one.value: one.name for one in signal.Signals}
            return f"it was ended by {names.get(self.signal, f'signal {self.signal}')} from outside"
        if self.exit_code == MACHINE_SHORT:
            return "the machine was short of something that it needs"
        return "nobody knows how it ended"


def ending_in(message: object) -> Ending:
    """The ending in a message; one that nobody knows if it is of another form."""
    try:
        return msgspec.convert(message, Ending)
    except msgspec.ValidationError:
        return Ending()


def ending_of(pid: int, seconds: float = END_SECONDS) -> Ending:
    """How a child of this process ended. It is not reaped, so its number stays its own. Waits so many seconds."""
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
