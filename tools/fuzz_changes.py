"""Random changes to an input of `tools.fuzz`: to its parts, its bytes, or both."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 255, 256, 512, 513, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1, 0.0, -0.0, 0.5,
    1e308, -1e-308, float("nan"), float("inf"), -float("inf"), "", "x", "softmax", "\0", "\x1b[2J", "\u202e", "x" * 300,
    b"", b"x",
    bytes(8), b"\xff" * 8, [], {}, [[]], [None], ["list", []], ["tuple", [1, 2]], ["dict", [["a", 1]]],
    ["other", ["type", "x"]], ["other", ["array", "x"]], ["other", "x"],
    ["array", "float64", [1], [0], False, bytes(8)], ["array", "float64", [1], [0], False, b"\xff" * 8],
    ["array", "bool", [2, 4], [1, 0], True, bytes(range(8))], ["array", "float64", [0, 2**40], [0, 1], False, b""],
    ["array", "int64", [], [], False, bytes(8)], ["tensor", ["array", "float32", [2], [0], True, bytes(8)]],
    ["tensor", ["array", "float16", [2, 2], [0, 1], False, bytes(8)]],
    ["scalar", "int64", [], [], False, b"\x00\xff" * 4],
    ["handle", ["softmax", ["x"], None]], ["handle", ["f", [], ["dict", []]]],
    ["set", [1, "a"]], ["set", [["set", []]]], ["frozenset", [["tuple", [1, ["list", []]]]]], ["record", ["P", []]],
    ["record", ["P", [["x", 1], ["shape", ["tuple", [2]]]]]], ["record", ["P", [["__class__", 1]]]],
    ["table", ["list", ["DataFrame", ["list", []], ["list", []], None, ["list", [None]], ["list", [None]]]]],
    "Series", "Index", "Timestamp", "category", "datetime64[ns]", "timedelta64[s]", "datetime64[us, Europe/Berlin]",
    "Int64", "period[M]", "interval[int64, right]", "string[pyarrow]", "object", ["list", ["object", ["list", ["a"]]]],
    ["integer", b"\xff" * 1661], ["integer", b""], ["complex", [float("nan"), 1.0]], ["bytes", b"x"],
    ["deque", [[1, 2], 1]], ["deque", [[1], 2**62]],
    ["generated", [[1], "map", True]],
    ["dict", [[["tuple", [1]], 1], [["integer", bytes(9)], 2]]],
]  # fmt: skip
PLACES = 3000  # only so many places of an input can change, or repeated doubling would never end
BYTES = (b"\x00", b"\xff", b"\xc1", b"\x80", b"\xdd\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff")  # msgpack markers


def changed(data: bytes, unpack: Callable[[bytes], Any], pack: Callable[[Any], bytes], rng: random.Random) -> bytes:
    """A real input, with changes to its parts, to its bytes, or to both."""
    if rng.random() < 0.8:
        tree = [unpack(data)]
        try:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
                _change(tree, rng)
            data = pack(tree[0])
        except (ValueError, TypeError, OverflowError, RecursionError):
            return data
        if rng.random() < 0.8:
            return data
    return _with_changed_bytes(data, rng)


def _change(tree: list[Any], rng: random.Random) -> None:
    """Change one place: delete, repeat, nest or rename it, or put in an odd value or a part from elsewhere."""
    found = list(itertools.islice(places(tree), PLACES))
    place, key = rng.choice(found)
    how = rng.randrange(8)
    if how == 0 and len(place) > 1 and place is not tree:
        del place[key]
    elif how == 1 and isinstance(place, list) and place is not tree and len(found) < PLACES // 10:
        place[key:key] = [place[key]] * rng.choice((1, 2, 50))
    elif how == 2:
        place[key] = [place[key]]
    elif how == 3:
        source, source_key = rng.choice(found)
        place[key] = copy.deepcopy(source[source_key])
    elif how == 4 and isinstance(place, dict):
        place[rng.choice([odd for odd in ODD if isinstance(odd, str | int | float | None)])] = place[key]
    elif how == 5 and isinstance(place[key], int):
        place[key] += rng.choice((-1, 1, 2, 64))
    elif how == 6:
        for _ in range(rng.choice((20, 400, 1500))):
            place[key] = [place[key]] if rng.random() < 0.9 else ["list", [place[key]]]
    else:
        place[key] = copy.deepcopy(rng.choice(ODD))


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and dict in `tree` with each of its indices or keys."""
    remaining = [tree]
    while remaining:
        node = remaining.pop()
        for key, value in list(enumerate(node) if isinstance(node, list) else node.items()):
            yield node, key
            if isinstance(value, list | dict):
                remaining.append(value)


def _with_changed_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(changed) + 1)
        how = rng.randrange(4)
        if how == 0:
            changed[place : place + rng.choice((1, 1, 4, 100))] = b""
        elif how == 1:
            changed[place:place] = rng.randbytes(rng.choice((1, 1, 4, 100)))
        elif how == 2:
            changed[place : place + 1] = rng.choice(BYTES)
        else:
            changed[place : place + 1] = bytes([rng.randrange(256)])
    return bytes(changed)
