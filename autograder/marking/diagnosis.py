"""Naming a known mistake by behaviour alone.

While a suite runs, every call and what came back are kept. Where an exercise loses marks, each catalogued mistake of it
is asked the same questions; one that gives the student's answers, all of them, is the diagnosis. Two that do: no
guess. Right answers are never diagnosed, because no catalogued mistake gives right answers throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.marking.student import Recorded, here
from autograder.sandbox.wire import Other
from autograder.suites.catalogue import Mistake

# Honest float32 differs by 3e-6 between styles, at large scores by 2e-4; two mistakes differ by 0.01 or more.
ATOL = {"float32": 1e-3, "float64": 1e-7}
Reply = dict[str, Any]


def diagnose(calls: Sequence[Recorded], mistakes: Sequence[Mistake], names: dict[str, Any]) -> Mistake | None:
    """The one mistake that answers every call as the student did; else the one that does wherever the student's
    code gave a value at all; else None. `names` are the reference's.
    """
    heard = [(call.request, call.reply) for call in calls if call.reply is not None]
    values = [(request, reply) for request, reply in heard if "error" not in reply]
    right = here(names)
    for asked in (heard, values):
        if not mistakes or all(_same(reply, right(request)) for request, reply in asked):
            return None  # nothing here is wrong, so nothing here tells one mistake from another
        matching = [mistake for mistake in mistakes if _answers_alike(mistake, asked, names)]
        if matching:
            return matching[0] if len({mistake.name for mistake in matching}) == 1 else None
    return None


def _answers_alike(mistake: Mistake, asked: list[tuple[Reply, Reply]], names: dict[str, Any]) -> bool:
    answer = here(names | {mistake.exercise: mistake.code})
    return all(_same(reply, answer(request)) for request, reply in asked)


def _same(one: Reply, other: Reply) -> bool:
    """Do two replies say the same? Errors do when they are of one kind, whatever their words."""
    if "error" in one or "error" in other:
        return bool(one.get("error", {}).get("kind") == other.get("error", {}).get("kind"))
    keys = ("value", "inputs", "gradients", "parameters", "shapes")
    return all(_equal(one.get(key), other.get(key)) for key in keys)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Other) or isinstance(other, Other):
        return isinstance(one, Other) and isinstance(other, Other) and one.type_name == other.type_name
    if hasattr(one, "dtype") and hasattr(other, "dtype"):
        return _equal_arrays(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _equal_arrays(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or one.dtype != other.dtype or tuple(one.shape) != tuple(other.shape):
        return False
    first, second = (np.asarray(v.detach() if hasattr(v, "detach") else v) for v in (one, other))
    if first.dtype.kind != "f":
        return bool(np.array_equal(first, second))
    atol = ATOL.get(first.dtype.name, 1e-3)
    return bool(np.allclose(first, second, rtol=atol, atol=atol, equal_nan=True))
