"""What a question of student code's may cost us: its sizes are the student's choice, the work is ours.

Far above what a suite's calls lead to, and still at most some 100 MiB and a second for the reference. Everything is
known by kind, axes and size before anything is done with it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Call, Instance
from autograder.sandbox.protocol.tables import Table
from autograder.sandbox.protocol.values import Handle

HOLDS = (list, tuple, set, frozenset, deque, dict)
HARMLESS = (bool, Handle, date, time, timedelta)
MAX_NUMBER = 512
MAX_AXIS = 256
MAX_AXES = 8
MAX_ITEMS = 2**16
MAX_TEXT = 100  # characters; the course's functions take none, PyTorch's may name a mode
MAX_NUMBERS = 16
MAX_RESULT = 2**25  # items of the largest thing that sizes and shapes together could make
MAX_WEIGHTS = 2**26  # items of a module's weights, guessed from above: its sizes, and the largest of them once more


def is_small(question: Call, items: int = MAX_ITEMS) -> bool:
    """May the reference be run on this? No array has more than `items`, and together they multiply to little.

    Numbers may be sizes, whatever their type, and axes of length one broadcast: so each is harmless alone, and what
    counts is the product of all numbers and, aligned from the right, of the longest axes; the longest twice, for
    scores have two of a kind.
    """
    made = question.instance or Instance()
    built = [*made.args, *made.kwargs.values()]
    given = [*question.args, *question.kwargs.values()]
    values = [*built, *given, *made.parameters.values(), *(question.seeds or ())]
    if not all(_is_harmless(value, items) for value in values):
        return False
    weights, sizes = _sizes(built), _sizes(given)
    if len(weights) + len(sizes) > MAX_NUMBERS or math.prod(weights) * max(weights, default=1) > MAX_WEIGHTS:
        return False
    shapes = [tuple(value.shape)[::-1] for value in values if hasattr(value, "shape")]
    shapes += [_shape(value)[::-1] for value in values if isinstance(value, (*HOLDS, Table))]
    axes = [max(lengths) for lengths in zip_longest(*shapes, fillvalue=1)]
    # What a module is built with makes its weights, which are counted by their shapes; one of it may count once more,
    # if it is not the width that the arguments have already.
    times = math.prod(sizes) * max((size for size in weights if size not in axes), default=1)
    result = times * math.prod(axes) * max(axes, default=1)
    largest = max(math.prod(weights), math.prod(sizes), result)
    return bool(largest <= MAX_RESULT * items // MAX_ITEMS)


def _sizes(values: Iterable[Any]) -> list[int]:
    """Every number among `values`, as the size that it might be."""
    numbers = (number for value in values if (number := _number(value)) is not None)
    # What is not finite is the size of nothing.
    return [max(1, math.ceil(abs(number))) for number in numbers if math.isfinite(number)]


def _shape(value: Any) -> tuple[int, ...]:
    """The shape that NumPy could give to lists in lists: their longest, on each level; a table's rows and columns."""
    if isinstance(value, Table):
        return (len(value), max(1, len(value.parts)))
    if not isinstance(value, HOLDS):
        return tuple(getattr(value, "shape", ()))
    inner = [shape for item in items_in(value) if (shape := _shape(item))]
    return (len(value), *(max(lengths) for lengths in zip_longest(*inner, fillvalue=1)))


def _number(value: Any) -> float | None:
    """A value that may serve as a size: also an array, or a tensor, of one number; None if it is none."""
    if hasattr(value, "shape"):
        if math.prod(value.shape) != 1 or (value.shape and not str(value.dtype).rpartition(".")[2].startswith("int")):
            return None
        return float(value.reshape(-1)[0])
    if isinstance(value, Fraction | Decimal):
        return float(value)
    return abs(value) if isinstance(value, complex) else value if _is_plain_number(value) else None


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def items_in(value: Any) -> Iterator[Any]:
    """What a list, a set, a dict or a table holds, names among it."""
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, Table):
        yield from (*value.names, *value.label_names, *value.row_names)
        for column in (*value.parts, *(value.rows or [])):
            yield from (column.values, *(column.categories.plain if column.categories else ()))
    else:
        yield from value


def _is_harmless(value: Any, items: int) -> bool:
    """Is it of a kind that is expected, and by itself of an ordinary size?"""
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "detach"):
        shape = tuple(value.shape)
        if len(shape) > MAX_AXES or max(shape, default=1) > MAX_AXIS or math.prod(shape) > items:
            return False
        number = _number(value)
        # One number with axes around it is a size, too; NaN and infinity are none.
        return number is None or bool(shape and not math.isfinite(number)) or _is_harmless_number(number)
    if isinstance(value, Table):
        return all(_is_harmless_column(column, items) for column in items_in(value))
    if isinstance(value, HOLDS):
        return all(number < MAX_ITEMS and _is_harmless(item, items) for number, item in enumerate(items_in(value)))
    if isinstance(value, str | bytes):
        return len(value) <= MAX_TEXT
    return value is None or isinstance(value, HARMLESS) or _is_harmless_number(_number(value))


def _is_harmless_column(values: Any, items: int) -> bool:
    """Numbers in a table are data and no sizes, however large; its names come here, too."""
    if isinstance(values, np.ndarray | list):
        cells = [one for one in values if not _is_plain_number(one)] if isinstance(values, list) else []
        return len(values) <= items and all(_is_harmless(cell, items) for cell in cells)
    return _is_plain_number(values) or _is_harmless(values, items)


def _is_harmless_number(number: float | None) -> bool:
    return number is not None and abs(number) <= MAX_NUMBER
