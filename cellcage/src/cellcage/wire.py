"""What every message across the sandbox's boundary keeps to."""

from __future__ import annotations

from typing import Any

import msgspec

MAX_ITEMS = 300_000  # in one message. An honest one has some hundred; a mask for 520 words as nested lists has 271,000


class WireError(Exception):
    """Bytes that are not of the agreed form."""


def converted(data: Any, form: Any, what: str) -> Any:
    """The data as a value of the type `form`. Raises `WireError` if it is not `what` it should be."""
    try:
        return msgspec.convert(data, form, builtin_types=(bytes,))
    except msgspec.ValidationError:
        raise WireError(f"not {what}") from None
