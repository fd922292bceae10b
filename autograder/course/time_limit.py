"""A time limit for what runs from an author's course in this process: a solution, a known mistake, a test."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from autograder.errors import CourseError

LOADING_SECONDS = 120.0  # for the code of one file at its top; a solution may train a little
AGAIN_SECONDS = 0.5  # a bare `except` may swallow the exception, so it is raised again

Made = TypeVar("Made")


class TimeIsUp(BaseException):
    """Ends what has run for too long. No `except Exception` on the way can swallow it."""


def loaded_in_time(path: Path, load: Callable[[], Made]) -> Made:
    """What `load` returns, which runs the code of a file. Raises `CourseError` if that does not end in time."""
    try:
        return in_time(LOADING_SECONDS, load)
    except TimeIsUp:
        what = f"its code ran for more than {LOADING_SECONDS:g} seconds and was stopped; does a loop never end?"
        raise CourseError(f"{path}: {what}") from None


def in_time(seconds: float, make: Callable[[], Made]) -> Made:
    """What `make` returns. Raises `TimeIsUp` if that takes longer, on the clock.

    There is no limit on Windows, and outside the main thread.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return make()
    is_up = False

    def ring(*_: object) -> None:
        nonlocal is_up
        is_up = True
        raise TimeIsUp

    began, before = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        made = make()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if left:  # this was called within another limit
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.01), AGAIN_SECONDS)
    if is_up:
        raise TimeIsUp
    return made
