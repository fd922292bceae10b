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


def repacked(got: Any, wanted: Any) -> Any:
    """`got` in the containers of `wanted`; `got` itself if they are right, or if it is unclear what belongs."""
    if _is_array(wanted):
        return _as_array(got, wanted)
    if isinstance(wanted, NUMBER):
        return _as_number(got)
    if type(wanted) in (list, tuple) and (_is_array(got) or isinstance(got, (*SEQUENCE, dict))):
        return _as_sequence(got, wanted)
    if isinstance(wanted, dict) and isinstance(got, dict):
        return _as_dict(got, wanted)
    return got


def slip_in(got: Any, wanted: Any) -> str:
    """Describe the wrong parts of a container and their places; empty if the containers are right."""
    if repacked(got, wanted) is got:
        return ""
    if type(got) is type(wanted) and isinstance(got, list | tuple) and len(got) == len(wanted):
        return next(filter(None, map(slip_in, got, wanted)), "")
    if isinstance(got, dict) and isinstance(wanted, dict):
        return next(filter(None, (slip_in(got[key], wanted[key]) for key in got if key in wanted)), "")
    return in_place_of(got, wanted)


def are_several(got: Any, wanted: Any) -> bool:
    """True for several answers in place of one array."""
    several = len(_parts(got)) > 1 and any(map(_is_array, _parts(got)))
    return several and _is_array(wanted) and repacked(got, wanted) is got


def in_place_of(got: Any, wanted: Any) -> str:
    """Say which container came where another belongs."""
    return f"{kind_of(got)}, where {_named(wanted)} belongs"


def order_in(got: Any, wanted: Sequence[Any]) -> list[int]:
    """For each wanted part, the place of a dict's value that stands for it: a dict's values have no order."""
    if not isinstance(got, dict) or not all(map(_is_array, (*wanted, *got.values()))):
        return list(range(len(wanted)))
    shapes, left = [tuple(part.shape) for part in got.values()], list(range(len(got)))
    found = []
    for part in wanted:
        place = next((place for place in left if shapes[place] == tuple(part.shape)), left[0])
        left.remove(place)
        found.append(place)
    return found


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _as_array(got: Any, wanted: Any) -> Any:
    if _is_array(got):
        is_same = is_tensor(got) == is_tensor(wanted)
        return got if is_same else _of_kind(numbers(got), wanted)
    if isinstance(got, NUMBER) and (wanted.ndim or not is_tensor(wanted)):
        return got
    stacked, parts = _stacked(got, wanted), _parts(got)
    arrays = [part for part in parts if _is_array(part)]
    if stacked is not None and (not arrays or stacked.shape == tuple(wanted.shape)):
        return _of_kind(stacked, wanted)
    if len(parts) == 1 and (arrays or isinstance(got, dict)):
        return repacked(parts[0], wanted)
    # One array beside numbers. Beside lists or another array there would be several answers, and none is chosen.
    is_lone = len(arrays) == 1 and wanted.ndim and not any(isinstance(part, (*SEQUENCE, dict)) for part in parts)
    return repacked(arrays[0], wanted) if is_lone else got


def _of_kind(array: np.ndarray, wanted: Any) -> Any:
    """The same numbers in the wanted library."""
    if not is_tensor(wanted):
        return array
    import torch

    return torch.from_numpy(np.array(array))


def _stacked(got: Any, wanted: Any) -> np.ndarray | None:
    """A number, or nested lists of numbers or arrays, as one array; None if it is anything else."""
    if not _holds_numbers(got):
        return None
    try:
        array = np.array(_plain(got))
    except (ValueError, OverflowError):  # rows of different lengths, or a number that no array can hold
        return None
    if array.dtype not in NAMES:
        return None
    if not array.size and not math.prod(wanted.shape):
        array = array.reshape(tuple(wanted.shape))  # lists do not say how long the axes inside an empty one are
    return _with_dtype(array, _first(got), wanted)


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


def _with_dtype(array: np.ndarray, first: Any, wanted: Any) -> np.ndarray:
    """The numbers in the wanted dtype if they are Python's own, which have no dtype that could be wrong."""
    dtype = numbers(wanted).dtype
    has_own = _is_array(first) or isinstance(first, np.generic)
    fits = array.dtype.kind in ("iuf" if dtype.kind == "f" else "iu" if dtype.kind in "iu" else "")
    if has_own or not fits:
        return array
    found = array.astype(dtype)
    return found if dtype.kind == "f" or np.array_equal(found, array) else array


def _as_number(got: Any) -> Any:
    if _is_array(got):
        array = numbers(got)
        return array.reshape(())[()] if array.size == 1 else got
    parts = _parts(got)
    found = _as_number(parts[0]) if len(parts) == 1 else None
    return found if isinstance(found, NUMBER) else got


def _parts(got: Any) -> list[Any]:
    """The parts of a Python container; none for anything else."""
    if isinstance(got, dict):
        return list(got.values())
    return list(got) if isinstance(got, SEQUENCE) else []


def _as_sequence(got: Any, wanted: list[Any] | tuple[Any, ...]) -> Any:
    parts = _rows(got, wanted) if _is_array(got) else _parts(got)
    has_any_length = isinstance(wanted, list) and all(isinstance(part, NUMBER) for part in wanted)
    belong: Sequence[Any] = (wanted[:1] * len(parts)) if has_any_length else wanted
    if len(parts) == len(belong):
        parts = [parts[place] for place in order_in(got, belong)]
    elif not 1 < len(belong) < len(parts) or any(isinstance(part, NUMBER) for part in belong):
        return got
    found = [*map(repacked, parts, belong)]
    if len(parts) > len(belong) and [*map(_shape, found)] != [*map(_shape, belong)]:
        return got  # if there are too many parts, the first ones count
    is_same = type(got) is type(wanted) and len(got) == len(found)
    return got if is_same and all(map(operator.is_, found, got)) else type(wanted)(found)


def _rows(got: Any, wanted: Sequence[Any]) -> list[Any]:
    """What lies along the first axis of an array, if it can be the wanted parts; else nothing."""
    array = numbers(got)
    if not array.ndim:
        return []
    if wanted and all(map(_is_array, wanted)):
        has_length = len(array) == len(wanted)
        fits = has_length and [row.shape for row in array] == [tuple(part.shape) for part in wanted]
        return list(got) if fits else []
    return list(array) if array.ndim == 1 else [row.tolist() for row in array]


def _shape(value: Any) -> Any:
    return tuple(value.shape) if _is_array(value) else None


def _as_dict(got: dict[Any, Any], wanted: dict[Any, Any]) -> Any:
    found = {key: repacked(part, wanted[key]) if key in wanted else part for key, part in got.items()}
    return got if all(found[key] is got[key] for key in got) else found


def _named(wanted: Any) -> str:
    if isinstance(wanted, np.ndarray):
        return "a NumPy array"
    if is_tensor(wanted):
        return "a PyTorch tensor"
    if isinstance(wanted, list | tuple):
        return f"a {type(wanted).__name__} of {len(wanted)}" if isinstance(wanted, tuple) else "a list"
    return "True or False" if isinstance(wanted, bool | np.bool_) else "a number"
