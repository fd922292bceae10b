"""Some of the features, rows, heads or words, which wrong code treats otherwise: each second one, the last third.

A part is a function of places and their number, for NumPy and PyTorch; it says True where something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Part = Callable[[Any, int], Any]


def _each(k: int, r: int) -> Part:
    """Each k-th place from r on."""
    return lambda place, size: place % k == r


def _first(n: int) -> Part:
    """The first n-th part."""
    return lambda place, size: place < size // n


def _last(n: int) -> Part:
    """The last n-th part."""
    return lambda place, size: place >= size - size // n


EVERY = [_each(k, r) for k in (3, 2, 4) for r in reversed(range(k))]
FIRST = [_first(n) for n in (2, 3, 4)]
LAST = [_last(n) for n in (2, 3, 4)]
ENDS: list[Part] = [lambda place, size: place == 0, lambda place, size: place == size - 1]
PARTS = [*EVERY, *FIRST, *LAST, *ENDS]

# What is seen ahead in place of nothing: (query, key, length).
Ahead = Callable[[Any, Any, int], Any]


def _share_ahead(n: int) -> Ahead:
    """An n-th part of what is ahead."""
    return lambda query, key, length: key <= query + (length - 1 - query) // n


def _few_ahead(n: int) -> Ahead:
    """The next few."""
    return lambda query, key, length: key <= query + n


def _part_ahead(part: Part) -> Ahead:
    """A part of all keys."""
    return lambda query, key, length: part(key, length) | (key <= query)


AHEAD = [*map(_share_ahead, (2, 3)), *map(_few_ahead, (2, 3)), *map(_part_ahead, PARTS)]

# Which head stands in for head i of h, where heads are tied.
Tie = Callable[[int, int], int]
TIES: list[Tie] = [
    lambda i, h: i // 2 * 2,
    lambda i, h: i % max(1, h // 2),
    lambda i, h: i // 2,
    lambda i, h: i % 2,
]


def tied(heads: Any, tie: Tie) -> Any:
    """(..., h, L, d) with other heads in the place of some."""
    h = heads.shape[-3]
    return heads[..., [tie(i, h) for i in range(h)], :, :]


def head_0(i: int, h: int) -> int:
    """The tie of code that has one head for all."""
    return 0
