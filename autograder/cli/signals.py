"""Ctrl-C and SIGTERM during a command, in three stages.

1. While modules are imported, Ctrl-C ends the process at once: there is nothing to end in order (`__main__`).
2. While the command runs, both raise an exception, so that what it started is ended: processes, groups, folders.
3. Once it is over, the first signal is ignored, since the process ends anyway; a second one ends it at once.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}  # 128 and the signal's number, as a shell has it


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Stages 2 and 3 for SIGTERM; `interrupted_in_order` begins stage 2 for Ctrl-C."""
    signal.signal(signal.SIGTERM, _raise)
    sys.unraisablehook = _raise_again
    # Whoever started this may ignore what children say when they end; who waits for them, bubblewrap too, must hear it.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        _ignore_the_first(getattr(sys.exc_info()[1], "code", 0))


def interrupted_in_order() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`, unless this process was started to ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    logging.disable()  # a library that is met in the midst of something may log what it then stumbles over
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    sys.exit(EXIT_CODES[signal.SIGTERM])


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised while an object is removed. If that was a signal's exception, send it once more."""
    if not isinstance(lost.exc_value, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(lost)
        return
    number = signal.SIGINT if isinstance(lost.exc_value, KeyboardInterrupt) else signal.SIGTERM

    def send(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.raise_signal(number)

    # In 10 ms, then every 100 ms until `send` has run: an alarm just before a system call that waits wakes nobody.
    signal.signal(signal.SIGALRM, send)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)


def _ignore_the_first(code: object) -> None:
    """Stage 3. code: the process's exit code; a signal that ended the command was the first of its kind"""

    def ignored(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)

    for number, ended_by_it in EXIT_CODES.items():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if code == ended_by_it else ignored)
