"""Sizes that wrong code is made for, as options of a right implementation: of tables and buffers, or a few heads."""

from __future__ import annotations

from typing import Any

import numpy as np

Options = dict[str, Any]

LENGTHS = (8, 16, 32, 64)  # of tables, buffers and slices
HEADS = (4, 3)


def cut(array: Any, axis: int, after: int) -> Any:
    """Zeros behind the first so many along an axis, counted from the end; as it is if it has no such axis."""
    if array.ndim < -axis or array.shape[axis] <= after:
        return array
    kept: Any = array.copy() if isinstance(array, np.ndarray) else array.clone()
    kept[(..., slice(after, None), *[slice(None)] * (-1 - axis))] = 0
    return kept


def cuts(axis: int, sizes: tuple[int, ...]) -> list[Options]:
    """What is behind the first few along an axis is never worked out."""
    return [{"sized": lambda part, after=after: cut(part, axis, after)} for after in sizes]


def _table(size: int, beyond: bool) -> Options:
    """Of a mask: what a table of so many words says, and one answer for all beyond."""

    def table(mask: Any) -> Any:
        inside = np.arange(mask.shape[-1]) < size
        return np.where(inside & inside[:, None], mask, beyond)

    return {"table": table}


TABLES = [_table(size, beyond) for size in LENGTHS for beyond in (True, False)]
SIZES: dict[str, list[Options]] = {
    "stops-at-a-length": [*cuts(-2, LENGTHS), *({"reach": length} for length in LENGTHS)],
    "some-heads-only": cuts(-3, HEADS),
}
