"""One run over a course at a time, and its errors in nbgrader's form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from nbgrader.converters.base import NbGraderException

from autograder.errors import AutograderError, CourseError, in_words
from autograder.secret import make_secret

LOCK = ".autograder.lock"


@contextlib.contextmanager
def in_nbgraders_words(log: Any) -> Iterator[None]:
    """Turn an error of ours into one of nbgrader's, so that its command says one sentence and ends with 1."""
    try:
        yield
    except Exception as error:
        words = str(error) if isinstance(error, AutograderError) else in_words(error)
        if words is None:
            raise
        log.error("%s", words)
        raise NbGraderException(words) from None


@contextlib.contextmanager
def only_one_run(root: Path) -> Iterator[None]:
    """Hold the course for this run; the system frees it with its owner. Raises `CourseError` if another has it."""
    try:
        with FileLock(root / LOCK, blocking=False):
            make_secret(root)
            yield
    except Timeout:
        raise CourseError(f"another run is grading {root}; wait for it to end, then run this again") from None
