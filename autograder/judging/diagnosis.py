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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autograder.judging.alike import arrays, close, same
from autograder.judging.catalogue import Catalogue, Mistake
from autograder.judging.here import answering
from autograder.judging.student import Recorded
from autograder.sandbox.protocol.calls import Answer, Call, NoAnswer, Reply, call_bytes

Key = tuple[bytes, tuple[Any, ...]]
Alike = Callable[[Answer, Answer], bool]
AHEAD = 4  # calls of an exercise whose answers are known before; they tell most mistakes from most answers


@dataclass(frozen=True)
class Diagnosis:
    """The name of a known mistake (two names joined by `+` where it is two), and what to think about next."""

    name: str
    hint: str


AMBIGUOUS = Diagnosis("", "")


class Diagnoser:
    """Knows what the reference and each mistake of an assignment answer; asks each question once."""

    def __init__(self, catalogue: Catalogue, names: Mapping[str, Any]) -> None:
        self._written, self._variants, self._pairs = catalogue.mistakes, catalogue.variants, catalogue.pairs
        self._right = answering(names)
        everything = [*self._written, *self._variants, *self._pairs]
        self._wrong = {mistake: answering({**names, mistake.exercise: mistake.code}) for mistake in everything}
        self._kept: dict[tuple[Mistake | None, Key], Answer] = {}

    def prepare(self, exercise: str, calls: Sequence[Call]) -> None:
        """Know before what every mistake of an exercise answers to the first of `calls`, which its suite will make."""
        for call in calls[:AHEAD]:
            one = _Heard.of(call, NoAnswer)
            for mistake in [None, *(m for m in self._wrong if m.exercise == exercise)]:
                self._answer(mistake, one)

    def diagnose(self, exercise: str, calls: Sequence[Recorded]) -> Diagnosis | None:
        """The known mistake behind the replies in `calls`, or None."""
        written, variants, pairs = (
            [mistake for mistake in group if mistake.exercise == exercise]
            for group in (self._written, self._variants, self._pairs)
        )
        singles = [*written, *variants]
        answered = [one for one in calls if not isinstance(one.answer, NoAnswer)] if singles else []
        heard = [_Heard.of(one.call, one.answer) for one in answered]
        values = [one for one in heard if isinstance(one.reply, Reply)]
        ordinary = [one for one in values if _is_ordinary(one)]
        found = (
            self._one(written, heard, same)
            or self._one(singles, heard, same)
            or self._one(written, values, same)
            or self._one(singles, values, same)
            or self._one(pairs, values, same)
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
        wrong = {i for i, one in enumerate(heard) if not same(one.reply, self._answer(None, one))}
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
            if same(one.reply, self._answer(mistake, one)):
                found |= {i} & wrong
            elif i not in wrong or not same(self._answer(None, one), self._answer(mistake, one)):
                return set()
        return found

    def _answer(self, mistake: Mistake | None, one: _Heard) -> Answer:
        answer = self._right if mistake is None else self._wrong[mistake]
        if (mistake, one.key) not in self._kept:
            self._kept[mistake, one.key] = answer(one.call)
        return self._kept[mistake, one.key]


@dataclass(frozen=True)
class _Heard:
    """A call, its answer, and what to know the call by: its bytes, and the functions and models among its arguments."""

    call: Call
    reply: Answer
    key: Key

    @classmethod
    def of(cls, call: Call, answer: Any) -> _Heard:
        return cls(call, answer, (call_bytes(call), tuple(filter(callable, call.given()))))


def _only(matching: list[Mistake]) -> Diagnosis | None:
    """The diagnosis, where all that match have one name; several names end the search."""
    if not matching:
        return None
    if len({mistake.name for mistake in matching}) > 1:
        return AMBIGUOUS
    return Diagnosis(matching[0].name, matching[0].hint)


def _is_ordinary(one: _Heard) -> bool:
    """A plain call in double precision, no gradients, with mostly finite numbers of ordinary size in and out."""
    if not isinstance(one.reply, Reply) or one.reply.gradients is not None:
        return False
    out, built_with = arrays(one.reply.value), one.call.instance or one.call
    if not out or any(a.dtype == np.float32 for a in out):
        return False
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    if any(np.abs(a.astype(float)).max(initial=0.0) > 1e3 for a in given):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < 1e3 for f in finite
    )


def _same_where_finite(one: Answer, other: Answer) -> bool:
    """Are the arrays of two replies the same wherever the first has finite numbers?"""
    if not isinstance(one, Reply) or not isinstance(other, Reply):
        return False
    ours, theirs = arrays(one.value), arrays(other.value)
    if not theirs or [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    masks = [np.isfinite(a) for a in ours]
    return all(a.dtype == b.dtype and close(a[m], b[m]) for a, b, m in zip(ours, theirs, masks, strict=True))
