"""Ctrl-C and SIGTERM during a command, in three stages.

1. While modules are imported, Ctrl-C ends the process at once, since there is nothing to clean up (`__main__`).
2. While the command runs, both raise an exception, so that processes, control groups and folders are cleaned up.
3. After that the first signal is ignored, since the process ends anyway. A second one ends it at once.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}  # 128 and the signal's number, as in a shell


class Terminated(SystemExit):
    """SIGTERM. `testing.functions` knows it by its name, and never takes it for an exception of the course's code."""


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Stages 2 and 3 for SIGTERM; `interrupted_in_order` begins stage 2 for Ctrl-C."""
    signal.signal(signal.SIGTERM, _raise)
    sys.unraisablehook = _raise_again
    # If the parent process ignored SIGCHLD, this process inherits that, and nobody could wait for children that end.
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
    logging.disable()  # a library that is interrupted may log errors that follow from it
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    raise Terminated(EXIT_CODES[signal.SIGTERM])


def _raise_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal again if Python has dropped its exception, as it does while an object is removed."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(dropped)
        return
    number = signal.SIGINT if isinstance(dropped.exc_value, KeyboardInterrupt) else signal.SIGTERM

    def send(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.raise_signal(number)

    # In 10 ms, then every 100 ms until `send` has run: an alarm just before a blocking system call does not end it.
    signal.signal(signal.SIGALRM, send)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)


def _ignore_the_first(code: object) -> None:
    """Begin stage 3. If `code`, the exit code, is a signal's, that signal was the first one already."""

    def ignored(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)

    for number, code_of_signal in EXIT_CODES.items():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if code == code_of_signal else ignored)
