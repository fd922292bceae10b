"""What this side does if the machine runs out of something, such as open files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from cellcage.errors import MachineError
from cellcage.protocol.frames import Exhausted


@contextlib.contextmanager
def short_of_something() -> Iterator[None]:
    """Raise `MachineError` in place of `Exhausted`. For code in the command's own process."""
    try:
        yield
    except Exhausted as error:
        raise MachineError(str(error)) from None
