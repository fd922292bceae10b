"""One run over a course at a time, with errors in nbgrader's form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from nbgrader.converters.base import NbGraderException

from autograder.errors import AutograderError, in_words
from autograder.secret import make_secret

LOCK = ".autograder.lock"


@contextlib.contextmanager
def only_one_run(root: Path, log: Any) -> Iterator[None]:
    """Hold the course's lock; the operating system releases it when this process ends.

    Raises `NbGraderException` if another run holds it, and in place of an error of ours, so that nbgrader's command
    prints one sentence and exits with 1.
    """
    try:
        with FileLock(root / LOCK, blocking=False):
            make_secret(root)
            yield
    except Exception as error:
        if isinstance(error, Timeout):
            message: str | None = f"another run is grading {root}; wait for it to end, then run this again"
        else:
            message = str(error) if isinstance(error, AutograderError) else in_words(error)
        if message is None:
            raise
        log.error("%s", message)
        raise NbGraderException(message) from None
