"""What hypotheses answer.

A hypothesis is a mistake of the catalogue, or what one of its sets of mutants composes, alone or two in one function.
What each answers to the suite's calls is known beforehand as fingerprints. What nobody foresaw is asked when it is in
question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.diagnosis.catalogue import Catalogue, Mistake
from autograder.diagnosis.fingerprints import Fingerprints, digest, fingerprint_of, on_any_machine
from autograder.sandbox.protocol.calls import Answer, Call, NoAnswer, Reply, answer_bytes, answer_of
from autograder.sandbox.protocol.objects import Other
from autograder.sandbox.sandboxed.perform import perform
from autograder.testing.comparing import arrays
from autograder.testing.local import answering, quiet
from autograder.testing.recording import RecordedCall
from autograder.testing.student import Recorded, has_chance

Key = tuple[bytes, tuple[Any, ...]]
Stands = Callable[[Mistake], bool]  # whatever else is asked of who gives the same answers
# Calls that every single is asked if no more is known beforehand, and calls that pairs are asked, which are many.
TELLING, OF_PAIRS = 5, 2
SMALLEST = 4  # numbers in an answer that tells much
NO_DOUBT = 3  # wrong answers whose prints agree; fewer are compared in full
USUAL = 1e3  # the print of a call into which larger numbers go has few digits left for what comes out


@dataclass(frozen=True)
class AnsweredCall:
    """A call with the student's answer, and what to know the call by: its bytes, and functions among its arguments."""

    call: Call
    answer: Answer
    key: Key

    @classmethod
    def of(cls, call: Call, answer: Answer) -> AnsweredCall:
        """The same with its key."""
        passed = tuple(filter(callable, call.given()))
        return cls(call, _of_data(call, answer) if passed else answer, (call.as_bytes, passed))

    @cached_property
    def is_whole(self) -> bool:
        """Is it a value without NaN?"""
        answer = self.answer
        return isinstance(answer, Reply) and all(np.isfinite(a.astype(float)).all() for a in arrays(answer.value))


@dataclass(frozen=True)
class Known:
    """What the hypotheses on an exercise answer to the suite's calls: one row a hypothesis, one column a call.

    of: what `Prints.of` says
    mistakes: the first `singles` of them are hypotheses of one mistake, the others pairs
    prints: (rows, columns, 2), NaN where a pair was not asked; right: (columns, 2), what the reference answers. The
        last column is NaN, for a call that nobody foresaw.
    rows, columns: of each single its row, of each call that was planned its column
    """

    of: str
    mistakes: Sequence[Mistake]
    singles: int
    fingerprints: np.ndarray
    right: np.ndarray
    rows: Mapping[Mistake, int]
    columns: Mapping[Key, int]

    @classmethod
    def from_prints(
        cls, kept: Fingerprints, singles: Sequence[Mistake], pairs: Sequence[Mistake], calls: Sequence[AnsweredCall]
    ) -> Known:
        """The table of these hypotheses and calls, which stand in `kept` in this order."""
        fingerprints = np.full((len(singles) + len(pairs), len(calls) + 1, 2), np.nan)
        fingerprints[: len(singles), :-1] = kept.singles
        fingerprints[len(singles) :, : kept.pairs.shape[1]] = kept.pairs
        right = np.vstack([kept.right, np.full((1, 2), np.nan)])
        rows = {mistake: row for row, mistake in enumerate(singles)}
        columns = {one.key: column for column, one in enumerate(calls)}
        return cls(kept.of, [*singles, *pairs], len(singles), fingerprints, right, rows, columns)

    def as_prints(self) -> Fingerprints:
        """The same as it is kept in a file: pairs have the first columns alone."""
        pairs = self.fingerprints[self.singles :, :OF_PAIRS][:, : len(self.columns)]
        return Fingerprints(self.of, self.right[:-1], self.fingerprints[: self.singles, :-1], pairs)


class Hypotheses:
    """What the reference and each hypothesis of an assignment answer. Asks each question once.

    planned: the calls that the suite will make, by exercise, and what the reference answers; none if the suite passes
        functions or models
    kept: what hypotheses answer to them, if that is known from before; else a few of the calls have to do
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        planned: Mapping[str, Sequence[RecordedCall]],
        kept: Mapping[str, Fingerprints] = MappingProxyType({}),
    ) -> None:
        self._catalogue, self._names, self._planned, self._known = catalogue, names, planned, kept
        self._right = _answering(dict(names))
        self._answering: dict[Mistake, Callable[[Call], Answer]] = {}
        self._tables: dict[str, Known] = {}
        self._kept: dict[tuple[Mistake | None, Key], Answer] = {}

    def prepare(self, exercise: str, asks_all: bool = False) -> None:
        """Know before what every hypothesis on an exercise answers to planned calls.

        asks_all: put every one of these to them if their answers are not known from before, and not a few?
        """
        if exercise in self._tables:
            return
        told = self._asked_of(exercise)
        singles = [m for m in (*self._catalogue.mistakes, *self._catalogue.variants) if m.exercise == exercise]
        pairs = [m for m in self._catalogue.pairs if m.exercise == exercise]
        telling = self._telling(told)
        others = {one.key: one for one in told if self._lasts(one)}
        every = list(({one.key: one for one in telling} | others).values())
        for columns in (every, every if asks_all else telling):
            of = digest([on_any_machine(one.call) for one in columns], [m.name for m in (*singles, *pairs)])
            right = np.array([fingerprint_of(self.answer(None, one)) for one in columns]).reshape(-1, 2)
            fingerprints = self._known.get(exercise)
            if fingerprints is not None and fingerprints.fits(of, right):
                break
        else:
            fingerprints = Fingerprints(
                of, right, self._fingerprints(singles, columns), self._fingerprints(pairs, columns[:OF_PAIRS])
            )
        self._tables[exercise] = Known.from_prints(fingerprints, singles, pairs, columns)

    def fingerprints(self) -> dict[str, Fingerprints]:
        """What is known of each exercise that was prepared."""
        return {name: table.as_prints() for name, table in self._tables.items()}

    def known(self, exercise: str) -> Known:
        """The table of an exercise's hypotheses."""
        self.prepare(exercise)
        return self._tables[exercise]

    def with_keys(self, calls: Sequence[Recorded | RecordedCall]) -> list[AnsweredCall]:
        """Calls that were answered, each once. What was heard as from the reference is its answer.

        A module that is asked as it is made answers by chance, which tells nothing.
        """
        found: dict[Key, AnsweredCall] = {}
        for one in calls:
            if (made := one.call.instance) is not None and not one.call.build and not made.parameters:
                continue
            if isinstance(one, RecordedCall):
                key = one.place[0], ()
                right = self._kept.get((None, key)) or answer_of(one.answer)
                found[key] = AnsweredCall(one.call, right, key)
            elif not isinstance(one.answer, NoAnswer):
                said = AnsweredCall.of(one.call, one.answer)
                found[said.key] = said
        return list(found.values())

    def answer(self, mistake: Mistake | None, one: AnsweredCall) -> Answer:
        """What a hypothesis, or the reference, answers to a call."""
        if (mistake, one.key) not in self._kept:
            self._kept[mistake, one.key] = (self._right if mistake is None else self._of(mistake))(one.call)
        return self._kept[mistake, one.key]

    def _of(self, mistake: Mistake) -> Callable[[Call], Answer]:
        if mistake not in self._answering:
            self._answering[mistake] = _answering({**self._names, mistake.exercise: mistake.code})
        return self._answering[mistake]

    def _asked_of(self, exercise: str) -> list[AnsweredCall]:
        """What the suite asks of an exercise, each call once."""
        found: dict[Key, AnsweredCall] = {}
        for heard in self._planned.get(exercise, ()):
            one = AnsweredCall.of(heard.call, answer_of(heard.answer))
            found.setdefault(one.key, one)
        self._kept |= {(None, key): one.answer for key, one in found.items()}
        return list(found.values())

    def _lasts(self, one: AnsweredCall) -> bool:
        return not any(map(callable, one.call.given())) and not has_chance(one.call, self.answer(None, one))

    def _telling(self, told: Iterable[AnsweredCall]) -> list[AnsweredCall]:
        """Some calls whose right answers are ordinary arrays, each of another form than those before it."""
        usable = [one for one in told if not any(map(callable, one.call.given())) and not one.call.build]
        forms: dict[str, AnsweredCall] = {}
        for one in usable:
            right = self.answer(None, one)
            if is_ordinary(one.call, right, any_dtype=True) and _size(right) >= SMALLEST:
                forms.setdefault(str([getattr(a, "ndim", type(a).__name__) for a in one.call.given()]), one)
        # Those with most arguments tell most: what is done to the last of them shows nowhere else.
        ordered = [*sorted(forms.values(), key=lambda one: -len(arrays(one.call.given()))), *usable]
        # If something fails every test, the suite's first call may be all that was heard, so it is among them.
        found = {one.key: one for one in [*ordered[: TELLING - 1], *usable[:1], *ordered]}
        return list(found.values())[:TELLING]

    def _fingerprints(self, mistakes: Sequence[Mistake], columns: Sequence[AnsweredCall]) -> np.ndarray:
        found = np.empty((len(mistakes), len(columns), 2))
        for i, mistake in enumerate(mistakes):
            answer = answering({**self._names, mistake.exercise: mistake.code})
            for j, one in enumerate(columns):
                found[i, j] = fingerprint_of(answer(one.call))
        return found


def _answering(names: dict[str, Any]) -> Callable[[Call], Answer]:
    """What trusted names answer. They call the functions and models they are given themselves, in no sandbox."""
    in_bytes = answering(names)

    def answer(call: Call) -> Answer:
        if not any(map(callable, call.given())):
            return in_bytes(call)
        with quiet():
            return _of_data(call, answer_of(answer_bytes(perform(names, call.with_given(_copied)))))

    return answer


def _of_data(call: Call, answer: Answer) -> Answer:
    """An answer without the functions among its inputs, which are other objects on the other side of a sandbox."""
    if not isinstance(answer, Reply):
        return answer
    inputs = call.positional if answer.inputs is None else answer.inputs
    return replace(answer, inputs=[one for one in inputs if not isinstance(one, Other) and not callable(one)])


def _copied(value: Any) -> Any:
    """An array or tensor of its own, which a mistake may write into."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray | list) else value


def is_ordinary(call: Call, answer: Answer, any_dtype: bool = False) -> bool:
    """A plain call in double precision, no gradients, with mostly finite numbers of ordinary size in and out."""
    if not isinstance(answer, Reply) or answer.gradients is not None:
        return False
    out = arrays(answer.value)
    if not out or (not any_dtype and any(a.dtype == np.float32 for a in out)):
        return False
    if takes_large_numbers(call):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < USUAL for f in finite
    )


def takes_large_numbers(call: Call) -> bool:
    """Is there a number of unusual size in its arrays?"""
    built_with = call.instance or call
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    return any(np.abs(a.astype(float)).max(initial=0.0) > USUAL for a in given)


def _size(answer: Answer) -> int:
    """How many numbers are in it."""
    return sum(a.size for a in arrays(answer.value)) if isinstance(answer, Reply) else 0
