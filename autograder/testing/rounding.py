"""Whether answers equal the reference's up to rounding.

Right code in another style rounds in another way. Most tests allow for that, so they need not run on such answers.
Whether a test allows for it is tried with the reference's own answers: each number is moved at random by a few times
what counts as rounding here, and arrays are laid out in memory in another way. A test that compares two answers bit by
bit, or needs more digits than are left, fails then, and runs for everybody.

Answers are compared as the tagged lists that cross the sandbox's boundary, since most parts are the same bytes.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from cellcage.protocol import frames
from cellcage.values.codec import decode, encode
from cellcage.values.core.arrays_codec import BY_NAME

# How far numbers may differ, as a share of the largest in their array. Right code differs by some ten units in the last
# place (2e-15 and 1e-6). The smallest tolerances in hidden tests are 1e-9 and 1e-5; a mistake differs by 0.01.
BOUND = {"float64": 1e-12, "float32": 1e-6}
TIMES = 3  # a test may be skipped if it passes with numbers that are so many times further off
ROUNDED = (0, 2, 3)  # places in a reply: value, gradients, gradients by parameters. An input is unchanged, or it is not
ARRAYS = ("array", "tensor", "scalar")  # tags of values with a dtype, a shape, an order of axes, gaps and bytes


class _Message(msgspec.Struct):
    reply: list[msgspec.Raw] | None = None


def is_rounded(got: object, right: bytes) -> bool:
    """Whether an answer is the right one up to rounding.

    Kinds, dtypes and shapes must be the same, and so must zeros, infinities and NaNs, and the rest of the reply.
    """
    if not isinstance(got, bytes):
        return False
    try:
        found, wanted = (frames.parse(body, _Message).reply for body in (got, right))
        if found is None or wanted is None or len(found) != len(wanted):
            return False
        pairs = zip(found, wanted, strict=True)
        different = [place for place, pair in enumerate(pairs) if pair[0] != pair[1]]
        return all(place in ROUNDED and _same(_read(found[place]), _read(wanted[place])) for place in different)
    except (frames.WireError, ValueError, TypeError, RecursionError, OverflowError):
        return False


def rounded_otherwise(right: bytes, seed: int) -> bytes:
    """An answer with its numbers moved and its arrays laid out in another way; unchanged if it is no reply."""
    reply = frames.parse(right, _Message).reply
    if reply is None:
        return right
    rng = np.random.default_rng(seed)
    for place in ROUNDED:
        reply[place] = msgspec.Raw(frames.body(_moved(_read(reply[place]), rng)))
    return frames.body(_Message(reply))


def _read(part: msgspec.Raw) -> Any:
    return frames.parse(bytes(part), Any)


def _is_array(data: list[Any]) -> bool:
    return len(data) == 6 and data[0] in ARRAYS


def _array(data: list[Any]) -> np.ndarray:
    return np.asarray(decode(["array", *data[1:]]))


def _may_be_rounded(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(numbers) & (numbers != 0))


def _same(found: Any, right: Any) -> bool:
    if type(found) is not type(right):
        return False
    if isinstance(found, float):
        return _same_numbers(np.asarray(found), np.asarray(right))
    if not isinstance(found, list):
        return bool(found == right)
    if _is_array(right):
        return found[:3] == right[:3] and _same_numbers(_array(found), _array(right))
    return len(found) == len(right) and all(map(_same, found, right))


def _same_numbers(found: np.ndarray, right: np.ndarray) -> bool:
    if right.dtype.name not in BOUND:
        return bool(np.array_equal(found, right, equal_nan=right.dtype.kind == "f"))
    free = _may_be_rounded(right)
    if not np.array_equal(free, _may_be_rounded(found)):
        return False
    if not np.array_equal(found[~free], right[~free], equal_nan=True):
        return False
    gap, largest = np.abs(found[free] - right[free]).max(initial=0), np.abs(right[free]).max(initial=0)
    return bool(gap <= BOUND[right.dtype.name] * largest)


def _moved(data: Any, rng: np.random.Generator) -> Any:
    if isinstance(data, float):
        return float(_moved_numbers(np.asarray(data), rng))
    if not isinstance(data, list):
        return data
    if not _is_array(data) or data[1] not in BOUND:
        return [_moved(item, rng) for item in data]
    return [data[0], *encode(np.asfortranarray(_moved_numbers(_array(data), rng)))[1:]]


def _moved_numbers(numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All numbers moved by the same distance, up or down."""
    free = _may_be_rounded(numbers)
    far = TIMES * BOUND[numbers.dtype.name] * float(np.abs(numbers[free]).max(initial=0))
    signs = rng.integers(0, 2, numbers.shape) * 2 - 1
    moved = numbers + np.where(free & math.isfinite(far), signs * far, 0)
    return np.asarray(moved, dtype=BY_NAME[numbers.dtype.name])
