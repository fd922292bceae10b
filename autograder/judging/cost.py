"""What a question of student code's may cost us: its sizes are the student's choice, the work is ours.

Far above what a suite's calls lead to, and still at most some 100 MiB and a second for the reference.
"""

from __future__ import annotations

import math
from itertools import chain, zip_longest
from typing import Any

import numpy as np

MAX_NUMBER = 512
MAX_AXIS = 256
MAX_AXES = 8
MAX_ITEMS = 2**16
MAX_RESULT = 2**24  # items of the largest thing that sizes and shapes together could make
ASKED = {"name": str, "args": list, "kwargs": dict, "parameters": dict, "forward": dict | None, "cotangents": list}


def is_question(question: dict[str, Any]) -> bool:
    """Is everything in it of the kind that a request has?"""
    forward = question.get("forward") or {"args": [], "kwargs": {}}
    return (
        question.keys() >= {"name", "args", "kwargs"}
        and all(isinstance(value, ASKED[key]) for key, value in question.items())
        and isinstance(forward.get("args"), list)
        and isinstance(forward.get("kwargs"), dict)
    )


def is_small(question: dict[str, Any], items: int = MAX_ITEMS) -> bool:
    """May the reference be run on this? No array has more than `items`, and together they multiply to little.

    Numbers may be sizes, and axes of length one broadcast: so each is harmless alone, and what counts is the product
    of all numbers and, aligned from the right, of the longest axes; the longest twice, for scores have two of a kind.
    """
    built = [*question["args"], *question["kwargs"].values()]
    values = list(_values(question))
    if not all(_is_harmless(value, items) for value in values):
        return False
    sizes = [max(1, abs(value)) for value in built if _is_number(value)]
    # What a module is built with makes its weights, which are counted by their shapes; one of it may count once more.
    times = max(sizes, default=1) if question.get("forward") else math.prod(sizes)
    shapes = [tuple(value.shape)[::-1] for value in values if hasattr(value, "shape")]
    shapes += [(len(value),) for value in values if isinstance(value, list | tuple)]
    axes = [max(lengths) for lengths in zip_longest(*shapes, fillvalue=1)]
    result: int = times * math.prod(axes) * max(axes, default=1)
    most = MAX_RESULT * items // MAX_ITEMS
    return len(sizes) <= 16 and math.prod(sizes) <= MAX_RESULT and result <= most


def _values(question: dict[str, Any]) -> chain[Any]:
    """What a call is made with, construction and forward pass alike; weights count, too."""
    forward = question.get("forward") or {"args": [], "kwargs": {}}
    return chain(
        question["args"],
        question["kwargs"].values(),
        forward["args"],
        forward["kwargs"].values(),
        question.get("parameters", {}).values(),
        question.get("cotangents", []),
    )


def _is_harmless(value: Any, items: int) -> bool:
    if hasattr(value, "shape"):
        shape = tuple(value.shape)
        return len(shape) <= MAX_AXES and max(shape, default=1) <= MAX_AXIS and int(np.prod(shape)) <= items
    if isinstance(value, list | tuple | dict):
        held = list(value.values()) if isinstance(value, dict) else value
        return len(held) <= MAX_ITEMS and all(_is_harmless(item, items) for item in held)
    return abs(value) <= MAX_NUMBER if _is_number(value) else True


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
