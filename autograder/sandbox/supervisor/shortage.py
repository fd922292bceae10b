"""What to do if the machine has no more of something: it is nobody's fault, and no bug either."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from autograder.errors import MachineError
from autograder.sandbox.protocol.frames import Exhausted


@contextlib.contextmanager
def short_of_something() -> Iterator[None]:
    """Around what is done in a command's own process: raises `MachineError` in place of `Exhausted`."""
    try:
        yield
    except Exhausted as error:
        raise MachineError(str(error)) from None
