"""Checks of what was decoded from a message: whatever the bytes were, `WireError` alone is raised."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.protocol.frames import WireError
from autograder.sandbox.protocol.values import decode


@contextlib.contextmanager
def nothing_else(what: str) -> Iterator[None]:
    """Whatever the values in a message are, `WireError` alone is raised."""
    try:
        yield
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise WireError(f"not {what} ({type(error).__name__})") from None


def as_shape(data: Any) -> tuple[int, ...]:
    """A shape."""
    if type(data) is not list or any(type(size) is not int or size < 0 for size in data):
        raise WireError("not a shape")
    return tuple(data)


def decoded(data: Any, kind: type) -> Any:
    """An encoded value, which is of this kind."""
    value = decode(data)
    if type(value) is not kind:
        raise WireError(f"not a {kind.__name__}")
    return value


def named(data: Any) -> dict[str, object]:
    """Encoded values by name."""
    found: dict[str, object] = decoded(data, dict)
    if any(type(key) is not str for key in found):
        raise WireError("not named values")
    return found
