"""Fixed sizes in wrong code, as options of a right implementation: of tables and buffers, or of a number of heads."""

from __future__ import annotations

from typing import Any

import numpy as np

Options = dict[str, Any]

LENGTHS = (8, 16, 32, 64)  # of tables, buffers and slices
HEADS = (4, 3)


def cut(array: Any, axis: int, after: int) -> Any:
    """The array with zeros behind the first `after` entries of `axis` (negative). Unchanged if it has no such axis."""
    if array.ndim < -axis or array.shape[axis] <= after:
        return array
    copy: Any = array.copy() if isinstance(array, np.ndarray) else array.clone()
    copy[(..., slice(after, None), *[slice(None)] * (-1 - axis))] = 0
    return copy


def cuts(axis: int, sizes: tuple[int, ...]) -> list[Options]:
    """For each size, code that never computes what is behind the first `size` entries of `axis`."""
    return [{"sized": lambda part, after=after: cut(part, axis, after)} for after in sizes]


def _table(size: int, beyond: bool) -> Options:
    """A mask that comes from a table of `size` words. Beyond the table, every entry is `beyond`."""

    def table(mask: Any) -> Any:
        inside = np.arange(mask.shape[-1]) < size
        return np.where(inside & inside[:, None], mask, beyond)

    return {"table": table}


TABLES = [_table(size, beyond) for size in LENGTHS for beyond in (True, False)]
SIZES: dict[str, list[Options]] = {
    "stops-at-a-length": [*cuts(-2, LENGTHS), *({"reach": length} for length in LENGTHS)],
    "some-heads-only": cuts(-3, HEADS),
}
