"""Naming a known mistake by behaviour alone.

While a suite runs, every call and what came back are kept. Where an exercise loses marks, each catalogued mistake of it
is asked the same questions. In this order, and each time only where one name alone fits:

1. a mistake that gives the student's answer to every call, errors included;
2. one that does wherever the student's code gave a value;
3. two mistakes in one function that do; or two of which each is right or gives the student's answer everywhere, and
   that explain all wrong answers together;
4. one, or two in one function, that give the student's answers on ordinary input, whatever happens at the edges
   (empty rows, huge scores).

Otherwise there is no guess. Equal answers are strong evidence: a suite's inputs are random numbers, and its
ordinary answers arrays of twelve and more. Right answers are never diagnosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autograder.judging.catalogue import Catalogue, Mistake
from autograder.judging.student import Recorded, here
from autograder.sandbox.protocol import wire

# Honest float32 differs by 3e-6 between styles, at large scores by 2e-4; two mistakes differ by 0.01 or more.
ATOL = {"float32": 1e-3, "float64": 1e-7}
Reply = dict[str, Any]
Key = tuple[bytes, tuple[Any, ...]]
Alike = Callable[[Reply, Reply], bool]


@dataclass(frozen=True)
class Diagnosis:
    """The name of a known mistake (two names joined by `+` where it is two), and what to think about next."""

    name: str
    hint: str


# Answers. A suite's questions are the same for everybody, some ten thousand with all mistakes, unless it asks about a
# function that it makes anew each time.
MOST_KEPT = 50_000
AMBIGUOUS = Diagnosis("", "")


class Diagnoser:
    """Knows what the reference and each mistake of an assignment answer; asks each question once."""

    def __init__(self, catalogue: Catalogue, names: dict[str, Any]) -> None:
        self._written, self._variants, self._pairs = catalogue.mistakes, catalogue.variants, catalogue.pairs
        self._right = here(names)
        everything = [*self._written, *self._variants, *self._pairs]
        self._wrong = {mistake: here(names | {mistake.exercise: mistake.code}) for mistake in everything}
        self._kept: dict[tuple[Mistake | None, Key], Reply] = {}

    def diagnose(self, exercise: str, calls: Sequence[Recorded]) -> Diagnosis | None:
        """The known mistake behind the replies in `calls`, or None."""
        written, variants, pairs = (
            [mistake for mistake in group if mistake.exercise == exercise]
            for group in (self._written, self._variants, self._pairs)
        )
        singles = [*written, *variants]
        heard = [_Heard.of(call) for call in calls if call.reply is not None] if singles else []
        values = [one for one in heard if "error" not in one.reply]
        ordinary = [one for one in values if _is_ordinary(one)]
        found = (
            self._one(written, heard, _same)
            or self._one(singles, heard, _same)
            or self._one(written, values, _same)
            or self._one(singles, values, _same)
            or self._one(pairs, values, _same)
            or self._two(singles, values)
            or self._one(singles, ordinary, _same_where_finite)
            or self._one(pairs, ordinary, _same_where_finite)
        )
        return None if found is AMBIGUOUS else found

    def _one(self, known: list[Mistake], heard: list[_Heard], alike: Alike) -> Diagnosis | None:
        if all(alike(one.reply, self._answer(None, one)) for one in heard):
            return None  # nothing here is wrong, so nothing here tells one mistake from another
        return _only([m for m in known if all(alike(one.reply, self._answer(m, one)) for one in heard)])

    def _two(self, known: list[Mistake], heard: list[_Heard]) -> Diagnosis | None:
        wrong = {i for i, one in enumerate(heard) if not _same(one.reply, self._answer(None, one))}
        explains = {mistake: self._explained(mistake, heard, wrong) for mistake in known}
        pairs = {
            tuple(sorted((one.name, other.name))): (one, other)
            for one, other in combinations(known, 2)
            if one.name != other.name and explains[one] | explains[other] == wrong and explains[one] and explains[other]
        }
        if len(pairs) != 1:
            return None
        ((one, other),) = pairs.values()
        return Diagnosis(f"{one.name}+{other.name}", f"{one.hint} And: {other.hint}")

    def _explained(self, mistake: Mistake, heard: list[_Heard], wrong: set[int]) -> set[int]:
        """The wrong answers that this mistake gives, too; none where it is wrong and the student right."""
        found = set()
        for i, one in enumerate(heard):
            if _same(one.reply, self._answer(mistake, one)):
                found |= {i} & wrong
            elif i not in wrong or not _same(self._answer(None, one), self._answer(mistake, one)):
                return set()
        return found

    def _answer(self, mistake: Mistake | None, one: _Heard) -> Reply:
        transport = self._right if mistake is None else self._wrong[mistake]
        if (mistake, one.key) not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[mistake, one.key] = transport(one.request)
        return self._kept[mistake, one.key]


@dataclass(frozen=True)
class _Heard:
    """A call, its reply, and what to know the call by: its bytes, and the functions and models among its arguments."""

    request: Reply
    reply: Reply
    key: Key

    @classmethod
    def of(cls, call: Recorded) -> _Heard:
        assert call.reply is not None
        given = [*call.request["args"], *call.request["kwargs"].values()]
        packed = wire.pack({key: wire.encode(value) for key, value in call.request.items()})
        return cls(call.request, call.reply, (packed, tuple(filter(callable, given))))


def _only(matching: list[Mistake]) -> Diagnosis | None:
    """The diagnosis, where all that match have one name; several names end the search."""
    if not matching:
        return None
    if len({mistake.name for mistake in matching}) > 1:
        return AMBIGUOUS
    return Diagnosis(matching[0].name, matching[0].hint)


def _same(one: Reply, other: Reply) -> bool:
    """Do two replies say the same? Errors do when they are of one kind, whatever their words."""
    if "error" in one or "error" in other:
        return bool(one.get("error", {}).get("kind") == other.get("error", {}).get("kind"))
    keys = ("value", "inputs", "gradients", "parameters", "shapes")
    return all(_equal(one.get(key), other.get(key)) for key in keys)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, wire.Other) or isinstance(other, wire.Other):
        return isinstance(one, wire.Other) and isinstance(other, wire.Other) and one.type_name == other.type_name
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
    return _close(_numbers(one), _numbers(other))


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    atol = ATOL.get(one.dtype.name, 1e-3)
    return bool(np.allclose(one, other, rtol=atol, atol=atol, equal_nan=True))


def _is_ordinary(one: _Heard) -> bool:
    """A plain call in double precision, no gradients, with mostly finite numbers of ordinary size in and out."""
    arrays = _arrays(one.reply.get("value"))
    given = _arrays([*one.request["args"], *one.request["kwargs"].values()])
    if not arrays or "gradients" in one.reply or any(a.dtype == np.float32 for a in arrays):
        return False
    if any(np.abs(a.astype(float)).max(initial=0.0) > 1e3 for a in given):
        return False
    finite = [a[np.isfinite(a)] for a in arrays]
    return all(f.size >= a.size / 2 for f, a in zip(finite, arrays, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < 1e3 for f in finite
    )


def _same_where_finite(one: Reply, other: Reply) -> bool:
    """Are the arrays of two replies the same wherever the first has finite numbers?"""
    ours, theirs = _arrays(one.get("value")), _arrays(other.get("value"))
    if not theirs or [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    masks = [np.isfinite(a) for a in ours]
    return all(a.dtype == b.dtype and _close(a[m], b[m]) for a, b, m in zip(ours, theirs, masks, strict=True))


def _arrays(value: Any) -> list[np.ndarray]:
    values = value if isinstance(value, tuple | list) else (value,)
    return [_numbers(v) for v in values if hasattr(v, "dtype")]


def _numbers(value: Any) -> np.ndarray:
    return np.asarray(value.detach() if hasattr(value, "detach") else value)
