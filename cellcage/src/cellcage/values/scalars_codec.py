"""Python's own values beside plain data, as tagged lists: whole numbers of any size, complex numbers, bytes.

Each is made of numbers and short texts whose sizes are checked before anything is computed with them: for a million
digits `int` takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta

from cellcage.wire import WireError, converted

MAX_NUMBER_BYTES = 1661  # 4,000 digits; Python itself writes no more than 4,300
MAX_BYTES = 2**20


def size_of(value: Any) -> str:
    """How large a value is that is too large to be written, in words."""
    if isinstance(value, bytes):
        return f"bytes of {len(value)}"
    return "an int of many digits"


def _integer(value: int) -> bytes | None:
    size = value.bit_length() // 8 + 1
    return value.to_bytes(size, "big", signed=True) if size <= MAX_NUMBER_BYTES else None


# By type: its tag, and a function that gives what follows the tag, or None if the value is too large.
WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    int: ("integer", _integer),
    complex: ("complex", lambda value: [value.real, value.imag]),
    bytes: ("bytes", lambda value: value if len(value) <= MAX_BYTES else None),
}


def read(tag: str, data: Any) -> Any:
    """The value behind a tag of `READERS`. Raises `WireError` on anything a writer would not have written."""
    form, made_of = READERS[tag]
    return made_of(converted(data, form, f"a value of the tag {tag}"))


def _read_complex(parts: list[Any]) -> complex:
    if [*map(type, parts)] != [float, float]:
        raise WireError("not a complex number")
    return complex(*parts)


_Number = Annotated[bytes, Meta(min_length=1, max_length=MAX_NUMBER_BYTES)]
# By tag: the form of what follows it, and a function that makes the value of that.
READERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "integer": (_Number, lambda data: int.from_bytes(data, "big", signed=True)),
    "complex": (list[Any], _read_complex),
    "bytes": (Annotated[bytes, Meta(max_length=MAX_BYTES)], bytes),
}
