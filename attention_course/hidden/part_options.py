"""Parts of the features, rows, heads or words that wrong code treats differently: every second one, the last third.

A part is a function of positions and their number, for NumPy and PyTorch. It is True at the positions that are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Part = Callable[[Any, int], Any]


def _each(k: int, r: int) -> Part:
    """Every k-th position, starting at r."""
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

# What wrong causal masks let a query see: a function of (query, key, length).
Ahead = Callable[[Any, Any, int], Any]


def _share_ahead(n: int) -> Ahead:
    """The nearest n-th of the later keys."""
    return lambda query, key, length: key <= query + (length - 1 - query) // n


def _few_ahead(n: int) -> Ahead:
    """The next n keys."""
    return lambda query, key, length: key <= query + n


def _part_ahead(part: Part) -> Ahead:
    """A part of all keys, and everything up to the query."""
    return lambda query, key, length: part(key, length) | (key <= query)


AHEAD = [*map(_share_ahead, (2, 3)), *map(_few_ahead, (2, 3)), *map(_part_ahead, PARTS)]

# Tied heads: the head that is used in place of head i of h.
Tie = Callable[[int, int], int]
TIES: list[Tie] = [
    lambda i, h: i // 2 * 2,
    lambda i, h: i % max(1, h // 2),
    lambda i, h: i // 2,
    lambda i, h: i % 2,
]


def tied(heads: Any, tie: Tie) -> Any:
    """(..., h, L, d) with each head replaced by the one that `tie` names."""
    h = heads.shape[-3]
    return heads[..., [tie(i, h) for i in range(h)], :, :]


def head_0(i: int, h: int) -> int:
    """The tie of code that uses head 0 for all heads."""
    return 0
