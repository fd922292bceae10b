"""An answer's containers: which of Python's, NumPy's or PyTorch's types hold its numbers, and how they are nested.

A container slip is an answer in another container than expected: a tensor in place of an array, nested lists, a list
in place of a tuple, an array around one number. Its values are moved into the right containers and judged there.

NumPy's numbers count as Python's, and subclasses as their base class, as which they cross the sandbox's boundary.
Several answers in place of one are not a container slip: the grader does not choose one.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.testing.mismatch import kind_of
from cellcage.values.arrays_codec import NAMES
from cellcage.values.value import Generated, is_tensor, numbers

NUMBER = (bool, int, float, np.generic)
SEQUENCE = (list, tuple, deque, Generated)


def in_containers_of(expected: Any, actual: Any) -> Any:
    """`actual` in the containers of `expected`; `actual` itself if they are right, or if it is unclear what belongs."""
    if _is_array(expected):
        return _as_array(expected, actual)
    if isinstance(expected, NUMBER):
        return _as_number(actual)
    if type(expected) in (list, tuple) and (_is_array(actual) or isinstance(actual, (*SEQUENCE, dict))):
        return _as_sequence(expected, actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _as_dict(expected, actual)
    return actual


def slip_in(actual: Any, expected: Any) -> str:
    """Describe the wrong parts of a container and their places; empty if the containers are right."""
    if in_containers_of(expected, actual) is actual:
        return ""
    if type(actual) is type(expected) and isinstance(actual, list | tuple) and len(actual) == len(expected):
        return next(filter(None, map(slip_in, actual, expected)), "")
    if isinstance(actual, dict) and isinstance(expected, dict):
        return next(filter(None, (slip_in(actual[key], expected[key]) for key in actual if key in expected)), "")
    return in_place_of(actual, expected)


def are_several(actual: Any, expected: Any) -> bool:
    """True for several answers in place of one array."""
    several = len(_parts(actual)) > 1 and any(map(_is_array, _parts(actual)))
    return several and _is_array(expected) and in_containers_of(expected, actual) is actual


def in_place_of(actual: Any, expected: Any) -> str:
    """Say which container came where another belongs."""
    return f"{kind_of(actual)}, where {_named(expected)} belongs"


def order_in(expected: Sequence[Any], actual: Any) -> list[int]:
    """For each expected part, the place of a dict's value that stands for it: a dict's values have no order."""
    if not isinstance(actual, dict) or not all(map(_is_array, (*expected, *actual.values()))):
        return list(range(len(expected)))
    shapes, left = [tuple(part.shape) for part in actual.values()], list(range(len(actual)))
    found = []
    for part in expected:
        place = next((place for place in left if shapes[place] == tuple(part.shape)), left[0])
        left.remove(place)
        found.append(place)
    return found


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _as_array(expected: Any, actual: Any) -> Any:
    if _is_array(actual):
        is_same = is_tensor(actual) == is_tensor(expected)
        return actual if is_same else _of_kind(expected, numbers(actual))
    if isinstance(actual, NUMBER) and (expected.ndim or not is_tensor(expected)):
        return actual
    stacked, parts = _stacked(expected, actual), _parts(actual)
    arrays = [part for part in parts if _is_array(part)]
    if stacked is not None and (not arrays or stacked.shape == tuple(expected.shape)):
        return _of_kind(expected, stacked)
    if len(parts) == 1 and (arrays or isinstance(actual, dict)):
        return in_containers_of(expected, parts[0])
    # One array beside numbers. Beside lists or another array there would be several answers, and none is chosen.
    is_lone = len(arrays) == 1 and expected.ndim and not any(isinstance(part, (*SEQUENCE, dict)) for part in parts)
    return in_containers_of(expected, arrays[0]) if is_lone else actual


def _of_kind(expected: Any, array: np.ndarray) -> Any:
    """The same numbers in the expected library."""
    if not is_tensor(expected):
        return array
    import torch

    return torch.from_numpy(np.array(array))


def _stacked(expected: Any, actual: Any) -> np.ndarray | None:
    """A number, or nested lists of numbers or arrays, as one array; None if it is anything else."""
    if not _holds_numbers(actual):
        return None
    try:
        array = np.array(_plain(actual))
    except (ValueError, OverflowError):  # rows of different lengths, or a number that no array can hold
        return None
    if array.dtype not in NAMES:
        return None
    if not array.size and not math.prod(expected.shape):
        array = array.reshape(tuple(expected.shape))  # lists do not say how long the axes inside an empty one are
    return _with_dtype(expected, array, _first(actual))


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, SEQUENCE):
        return all(map(_holds_numbers, value))
    return _is_array(value) or isinstance(value, NUMBER)


def _plain(value: Any) -> Any:
    if isinstance(value, SEQUENCE):
        return [_plain(part) for part in value]
    return numbers(value) if _is_array(value) else value


def _first(value: Any) -> Any:
    while isinstance(value, SEQUENCE) and value:
        value = value[0]
    return value


def _with_dtype(expected: Any, array: np.ndarray, first: Any) -> np.ndarray:
    """The numbers in the expected dtype if they are Python's own, which have no dtype that could be wrong."""
    dtype = numbers(expected).dtype
    has_own = _is_array(first) or isinstance(first, np.generic)
    fits = array.dtype.kind in ("iuf" if dtype.kind == "f" else "iu" if dtype.kind in "iu" else "")
    if has_own or not fits:
        return array
    found = array.astype(dtype)
    return found if dtype.kind == "f" or np.array_equal(found, array) else array


def _as_number(actual: Any) -> Any:
    if _is_array(actual):
        array = numbers(actual)
        return array.reshape(())[()] if array.size == 1 else actual
    parts = _parts(actual)
    found = _as_number(parts[0]) if len(parts) == 1 else None
    return found if isinstance(found, NUMBER) else actual


def _parts(actual: Any) -> list[Any]:
    """The parts of a Python container; none for anything else."""
    if isinstance(actual, dict):
        return list(actual.values())
    return list(actual) if isinstance(actual, SEQUENCE) else []


def _as_sequence(expected: list[Any] | tuple[Any, ...], actual: Any) -> Any:
    parts = _rows(expected, actual) if _is_array(actual) else _parts(actual)
    has_any_length = isinstance(expected, list) and all(isinstance(part, NUMBER) for part in expected)
    wanted: Sequence[Any] = (expected[:1] * len(parts)) if has_any_length else expected
    if len(parts) == len(wanted):
        parts = [parts[place] for place in order_in(wanted, actual)]
    elif not 1 < len(wanted) < len(parts) or any(isinstance(part, NUMBER) for part in wanted):
        return actual
    found = [*map(in_containers_of, wanted, parts)]
    if len(parts) > len(wanted) and [*map(_shape, found)] != [*map(_shape, wanted)]:
        return actual  # if there are too many parts, the first ones count
    is_same = type(actual) is type(expected) and len(actual) == len(found)
    return actual if is_same and all(map(operator.is_, found, actual)) else type(expected)(found)


def _rows(expected: Sequence[Any], actual: Any) -> list[Any]:
    """What lies along the first axis of an array, if it can be the expected parts; else nothing."""
    array = numbers(actual)
    if not array.ndim:
        return []
    if expected and all(map(_is_array, expected)):
        has_length = len(array) == len(expected)
        fits = has_length and [row.shape for row in array] == [tuple(part.shape) for part in expected]
        return list(actual) if fits else []
    return list(array) if array.ndim == 1 else [row.tolist() for row in array]


def _shape(value: Any) -> Any:
    return tuple(value.shape) if _is_array(value) else None


def _as_dict(expected: dict[Any, Any], actual: dict[Any, Any]) -> Any:
    found = {key: in_containers_of(expected[key], part) if key in expected else part for key, part in actual.items()}
    return actual if all(found[key] is actual[key] for key in actual) else found


def _named(expected: Any) -> str:
    if isinstance(expected, np.ndarray):
        return "a NumPy array"
    if is_tensor(expected):
        return "a PyTorch tensor"
    if isinstance(expected, list | tuple):
        return f"a {type(expected).__name__} of {len(expected)}" if isinstance(expected, tuple) else "a list"
    return "True or False" if isinstance(expected, bool | np.bool_) else "a number"
