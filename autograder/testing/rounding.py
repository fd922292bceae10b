"""Answers that are the reference's but for rounding.

Right code in another style rounds in another way. Most tests allow for that: what they say of the reference's answers
they say of these, so they need not run. Whether a test is one of them is tried with the reference's own answers, each
number moved at random by a few times what counts as rounding here, and arrays laid out in memory in another way. A test
that compares two answers bit by bit, or asks for more digits than are left, fails then, and runs for everybody.

Answers are compared as the tagged lists that cross the sandbox's boundary: most parts are the same bytes.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.values import BY_NAME, decode, encode

# By how much numbers may differ, in shares of their array's largest. Right code differs by some ten units in the last
# place (2e-15 and 1e-6). The smallest tolerances in hidden tests are 1e-9 and 1e-5; a mistake differs by 0.01.
BOUND = {"float64": 1e-12, "float32": 1e-6}
TIMES = 3  # a test that need not run passes with numbers that are so many times further off
ARRAYS = ("array", "tensor", "scalar")  # tags of values with a dtype, a shape, an order of axes, gaps and bytes


class _Parts(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """What a reply has, unread; see `Reply`."""

    value: msgspec.Raw
    inputs: msgspec.Raw
    gradients: msgspec.Raw
    parameters: msgspec.Raw
    shapes: msgspec.Raw
    dropped: bool

    @property
    def numbers(self) -> tuple[msgspec.Raw, ...]:
        """The parts whose numbers may be rounded. An input is as it was, or it is not."""
        return self.value, self.gradients, self.parameters

    @property
    def rest(self) -> tuple[object, ...]:
        """The parts that are the same for the same answer."""
        return self.inputs, self.shapes, self.dropped


class _Message(msgspec.Struct):
    reply: _Parts | None = None


def is_rounded(got: object, right: bytes) -> bool:
    """Is what came back the right answer but for rounding?

    Kinds, dtypes and shapes are the same, and what else a reply has; so are zeros, infinities and NaNs.
    """
    if not isinstance(got, bytes):
        return False
    try:
        one, other = (frames.parse(body, _Message).reply for body in (got, right))
        if one is None or other is None or one.rest != other.rest:
            return False
        pairs = zip(one.numbers, other.numbers, strict=True)
        return all(mine == own or _same(_read(mine), _read(own)) for mine, own in pairs)
    except (frames.WireError, ValueError, TypeError, RecursionError, OverflowError):
        return False


def rounded_otherwise(right: bytes, seed: int) -> bytes:
    """An answer with its numbers moved and its arrays laid out in another way; what is no reply stays what it is."""
    parts = frames.parse(right, _Message).reply
    if parts is None:
        return right
    chance = np.random.default_rng(seed)
    value, gradients, parameters = (msgspec.Raw(frames.body(_moved(_read(part), chance))) for part in parts.numbers)
    moved = msgspec.structs.replace(parts, value=value, gradients=gradients, parameters=parameters)
    return frames.body(_Message(moved))


def _read(part: msgspec.Raw) -> Any:
    return frames.parse(bytes(part), Any)


def _is_array(data: list[Any]) -> bool:
    return len(data) == 6 and data[0] in ARRAYS


# ---------------------------------------------------------------- compared


def _same(one: Any, other: Any) -> bool:
    """Are two values, as tagged lists, the same but for rounding?"""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return _same_numbers(np.asarray(one), np.asarray(other))
    if not isinstance(one, list):
        return bool(one == other)
    if _is_array(other):
        return one[:3] == other[:3] and _same_numbers(_array(one), _array(other))
    return len(one) == len(other) and all(map(_same, one, other))


def _array(data: list[Any]) -> np.ndarray:
    """The numbers of an array, a tensor or a scalar."""
    return np.asarray(decode(["array", *data[1:]]))


def _same_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    if other.dtype.name not in BOUND:
        return bool(np.array_equal(one, other, equal_nan=other.dtype.kind == "f"))
    free = _free(other)
    if not np.array_equal(free, _free(one)) or not np.array_equal(one[~free], other[~free], equal_nan=True):
        return False
    one, other = one[free], other[free]
    apart, largest = np.abs(one - other).max(initial=0), np.abs(other).max(initial=0)
    return bool(apart <= BOUND[other.dtype.name] * largest)


def _free(numbers: np.ndarray) -> np.ndarray:
    """Where a number may be rounded: not where it is 0, infinite or NaN."""
    return np.asarray(np.isfinite(numbers) & (numbers != 0))


# ---------------------------------------------------------------- moved


def _moved(data: Any, chance: np.random.Generator) -> Any:
    if isinstance(data, float):
        return float(_moved_numbers(np.asarray(data), chance))
    if not isinstance(data, list):
        return data
    if not _is_array(data) or data[1] not in BOUND:
        return [_moved(item, chance) for item in data]
    moved = _moved_numbers(_array(data), chance)
    return [data[0], *encode(np.asfortranarray(moved))[1:]]


def _moved_numbers(numbers: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """All moved by the same, up or down."""
    free = _free(numbers)
    far = TIMES * BOUND[numbers.dtype.name] * float(np.abs(numbers[free]).max(initial=0))
    signs = chance.integers(0, 2, numbers.shape) * 2 - 1
    moved = numbers + np.where(free & math.isfinite(far), signs * far, 0)
    return np.asarray(moved, dtype=BY_NAME[numbers.dtype.name])
