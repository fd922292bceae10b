"""Limits the cost of a question from student code: the student chooses its sizes, we do the work.

The limits are far above what a suite's calls lead to, and still mean at most some 100 MiB and a second for the
reference. Everything is checked by kind, axes and size before anything is done with it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from cellcage.protocol.calls import Call, Instance
from cellcage.values.codec import Handle
from cellcage.values.value import is_tensor
from cellcage.values.value_type import comparable, type_of

HOLDS = (list, tuple, set, frozenset, deque, dict)
HARMLESS = (bool, Handle)
MAX_SIZE = 5200  # of an axis or a number; tables of 4,096 or 5,000 entries are common, so suites ask for a little more
MAX_AXES = 8
MAX_ITEMS = 2**17
MAX_TEXT = 100  # characters; the course's functions take none, PyTorch's may name a mode
MAX_NUMBERS = 16
MAX_RESULT = 36_000_000  # items of the largest thing that sizes and shapes together could make
MAX_WEIGHTS = 2**26  # items of a module's weights, guessed from above: the product of its sizes, times the largest


def is_small(question: Call, items: int = MAX_ITEMS) -> bool:
    """Whether the reference may be run on this: no array has more than `items`, and their product is small.

    Numbers may be sizes, whatever their type, and axes of length one broadcast. So what counts is the product of all
    numbers and, aligned from the right, of the longest axes. The longest counts twice, since scores have two of a kind.
    One axis by itself, such as the positions of words, may belong to any axis of its length.
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
    shapes += [_shape(value)[::-1] for value in values if isinstance(value, HOLDS) or comparable(value)]
    axes = [max(lengths) for lengths in zip_longest(*(shape for shape in shapes if len(shape) > 1), fillvalue=1)]
    alone = [shape for shape in shapes if len(shape) == 1 and shape[0] not in axes]
    axes = [max(lengths) for lengths in zip_longest(axes, *alone, fillvalue=1)]
    # The sizes that a module is built with make its weights, which are counted by their shapes. One of them may count
    # once more, unless it is a width that the arguments have already.
    times = math.prod(sizes) * max((size for size in weights if size not in axes), default=1)
    result = times * math.prod(axes) * max(axes, default=1)
    largest = max(math.prod(weights), math.prod(sizes), result)
    return bool(largest <= MAX_RESULT * items // MAX_ITEMS)


def _sizes(values: Iterable[Any]) -> list[int]:
    """Every finite number among `values`, as the size that it might be."""
    numbers = (number for value in values if (number := _number(value)) is not None)
    return [max(1, math.ceil(abs(number))) for number in numbers if math.isfinite(number)]


def _shape(value: Any) -> tuple[int, ...]:
    """The shape that NumPy could give to nested lists: the longest on each level; the axes of other values."""
    if (found := comparable(value)) is not None:
        return found[0].axes(found[1])
    if not isinstance(value, HOLDS):
        return tuple(getattr(value, "shape", ()))
    inner = [shape for item in items_in(value) if (shape := _shape(item))]
    return (len(value), *(max(lengths) for lengths in zip_longest(*inner, fillvalue=1)))


def _number(value: Any) -> float | None:
    """A value that may serve as a size, such as an array or a tensor of one number; None if it cannot."""
    if hasattr(value, "shape"):
        if math.prod(value.shape) != 1 or (value.shape and not str(value.dtype).rpartition(".")[2].startswith("int")):
            return None
        return float(value.reshape(-1)[0])
    return abs(value) if isinstance(value, complex) else value if _is_plain_number(value) else None


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def items_in(value: Any) -> Iterator[Any]:
    """The items of a list, a set or a dict, with its keys."""
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
    else:
        yield from value


def data_in(value: Any) -> Iterator[Any]:
    """The arrays, numbers and texts that a value of a registered type is made of; nothing for any other value."""
    known, found = type_of(value), comparable(value)
    if known is not None and found is not None:
        yield from _leaves(known.parts(found[1]))


def _leaves(parts: Any) -> Iterator[Any]:
    if isinstance(parts, HOLDS):
        for item in items_in(parts):
            yield from _leaves(item)
    else:
        yield parts


def _is_harmless(value: Any, items: int) -> bool:
    """Whether it is of an expected kind, and by itself of an ordinary size."""
    if isinstance(value, np.ndarray | np.generic) or is_tensor(value):
        shape = tuple(value.shape)
        if len(shape) > MAX_AXES or max(shape, default=1) > MAX_SIZE or math.prod(shape) > items:
            return False
        number = _number(value)
        # One number with axes around it is a size, too, unless it is NaN or infinite.
        return number is None or bool(shape and not math.isfinite(number)) or abs(number) <= MAX_SIZE
    if comparable(value) is not None:
        return all(n < items and _is_harmless_part(part, items) for n, part in enumerate(data_in(value)))
    if isinstance(value, HOLDS):
        return all(number < MAX_ITEMS and _is_harmless(item, items) for number, item in enumerate(items_in(value)))
    if isinstance(value, str | bytes):
        return len(value) <= MAX_TEXT
    if value is None or isinstance(value, HARMLESS):
        return True
    number = _number(value)
    return number is not None and abs(number) <= MAX_SIZE


def _is_harmless_part(part: Any, items: int) -> bool:
    """Whether a value's parts are harmless. Its numbers are data, not sizes, however large they are."""
    if isinstance(part, np.ndarray):
        return bool(part.size <= items)
    return _is_plain_number(part) or _is_harmless(part, items)
