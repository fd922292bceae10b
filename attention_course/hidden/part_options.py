"""Some of the features, rows, heads or words, which wrong code treats otherwise: each second one, the last third.

A part is a function of places and their number, for NumPy and PyTorch; it says True where something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Part = Callable[[Any, int], Any]

EVERY: list[Part] = [lambda place, size, k=k, r=r: place % k == r for k in (3, 2, 4) for r in reversed(range(k))]
FIRST: list[Part] = [lambda place, size, n=n: place < size // n for n in (2, 3, 4)]
LAST: list[Part] = [lambda place, size, n=n: place >= size - size // n for n in (2, 3, 4)]
ENDS: list[Part] = [lambda place, size: place == 0, lambda place, size: place == size - 1]
PARTS = [*EVERY, *FIRST, *LAST, *ENDS]

# What is seen ahead in place of nothing: (query, key, length).
Ahead = Callable[[Any, Any, int], Any]
AHEAD: list[Ahead] = [
    *(lambda query, key, length, n=n: key <= query + (length - 1 - query) // n for n in (2, 3)),
    *(lambda query, key, length, n=n: key <= query + n for n in (2, 3)),
    *(lambda query, key, length, part=part: part(key, length) | (key <= query) for part in PARTS),
]

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
