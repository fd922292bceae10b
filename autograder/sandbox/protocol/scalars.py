"""Python's own values beside plain data, as tagged lists: whole numbers of any size, fractions, dates, bytes.

Each is made of numbers and short texts that are checked before anything is computed with them: of a million digits
`int` takes minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from autograder.sandbox.protocol.frames import WireError

MAX_DIGITS = 4000  # of a number; Python itself writes no more than 4300
MAX_NUMBER_BYTES = 1661  # which hold that many
MAX_BYTES = 2**20
MAX_DATE = 40  # characters
MAX_GENERATED = 1000  # items of a generator that are read
DECIMAL = re.compile(
    rf"-?(?:\d{{1,{MAX_DIGITS}}}(?:\.\d{{1,{MAX_DIGITS}}})?(?:E[+-]\d{{1,4}})?|Infinity|NaN)", re.ASCII
)


@dataclass
class Generated(Sequence[Any]):
    """The first items of a generator or another iterator, at most `MAX_GENERATED`; no list equals it.

    kind: the name of its type, which tells no two apart; more: were there more items?
    """

    items: list[Any]
    kind: str = field(default="generator", compare=False)
    more: bool = False

    def __getitem__(self, place: Any) -> Any:
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)


def read_out(value: Any) -> Any:
    """A generator, or an iterator of Python's own, as its first items; anything else as it is."""
    kind = type(value)
    if kind.__module__ not in ("builtins", "itertools") or not isinstance(value, Iterator):
        return value
    items = list(islice(value, MAX_GENERATED + 1))
    return Generated(items[:MAX_GENERATED], kind.__name__, len(items) > MAX_GENERATED)


# ---------------------------------------------------------------- written


def write(value: Any) -> tuple[str, Any] | None:
    """The tag of a value and what goes with it; None if it is too large."""
    tag, made = WRITERS[type(value)]
    data = made(value)
    return None if data is None else (tag, data)


def size_of(value: Any) -> str:
    """How large a value is that is too large, in words."""
    if isinstance(value, bytes):
        return f"bytes of {len(value)}"
    return f"an {type(value).__name__} of many digits" if isinstance(value, int) else f"a {type(value).__name__}"


def _integer(value: int) -> bytes | None:
    size = value.bit_length() // 8 + 1
    return value.to_bytes(size, "big", signed=True) if size <= MAX_NUMBER_BYTES else None


def _fraction(value: Fraction) -> list[bytes] | None:
    above, below = _integer(value.numerator), _integer(value.denominator)
    return None if above is None or below is None else [above, below]


def _decimal(value: Decimal) -> str | None:
    if value.is_nan():
        return "NaN"
    if len(value.as_tuple().digits) > MAX_DIGITS:
        return None
    text = str(value)
    return text if DECIMAL.fullmatch(text) else None


def _iso(value: date | time) -> str | None:
    text = value.isoformat()
    return text if len(text) <= MAX_DATE else None


# ---------------------------------------------------------------- read


def read(tag: str, data: Any) -> Any:
    """The value behind a tag of `READERS`. Raises `WireError` on anything `write` would not have written."""
    try:
        return READERS[tag](data)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise WireError(f"not a value of the tag {tag}") from None


def _read_integer(data: Any) -> int:
    if type(data) is not bytes or not 0 < len(data) <= MAX_NUMBER_BYTES:
        raise WireError("not a whole number")
    return int.from_bytes(data, "big", signed=True)


def _read_fraction(data: Any) -> Fraction:
    above, below = data
    return Fraction(_read_integer(above), _read_integer(below))


def _read_decimal(data: Any) -> Decimal:
    if type(data) is not str or len(data) > 2 * MAX_DIGITS or not DECIMAL.fullmatch(data):
        raise WireError("not a decimal number")
    return Decimal(data)


def _read_complex(data: Any) -> complex:
    real, imaginary = data
    if type(real) is not float or type(imaginary) is not float:
        raise WireError("not a complex number")
    return complex(real, imaginary)


def _read_bytes(data: Any) -> bytes:
    if type(data) is not bytes or len(data) > MAX_BYTES:
        raise WireError("not bytes")
    return data


def _read_timedelta(data: Any) -> timedelta:
    if type(data) is not list or len(data) != 3 or any(type(part) is not int for part in data):
        raise WireError("not a length of time")
    return timedelta(*data)


def _of_iso(kind: type[date | time]) -> Callable[[Any], Any]:
    def read_iso(data: Any) -> Any:
        if type(data) is not str or len(data) > MAX_DATE:
            raise WireError("not a date")
        return kind.fromisoformat(data)

    return read_iso


WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    int: ("integer", _integer),
    complex: ("complex", lambda value: [value.real, value.imag]),
    bytes: ("bytes", lambda value: value if len(value) <= MAX_BYTES else None),
    Decimal: ("decimal", _decimal),
    Fraction: ("fraction", _fraction),
    datetime: ("datetime", _iso),
    date: ("date", _iso),
    time: ("time", _iso),
    timedelta: ("timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
}
READERS: dict[str, Callable[[Any], Any]] = {
    "integer": _read_integer,
    "complex": _read_complex,
    "bytes": _read_bytes,
    "decimal": _read_decimal,
    "fraction": _read_fraction,
    "datetime": _of_iso(datetime),
    "date": _of_iso(date),
    "time": _of_iso(time),
    "timedelta": _read_timedelta,
}
