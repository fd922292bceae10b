"""What hypotheses answer, and which of them give a student's answers.

A hypothesis is a mistake of the catalogue, or what one of its recipes composes, alone or two in one function. What each
answers to the suite's calls is known beforehand as prints, so who gives the student's answers is looked up. Calls that
nobody foresaw, such as those that pass a model, are put to whoever is still in question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.diagnosis.catalogue import Catalogue, Mistake
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.kept_prints import Prints, digest, on_any_machine
from autograder.diagnosis.prints import alike, apart, print_of
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.protocol.calls import Answer, Call, NoAnswer, Reply, answer_bytes, answer_of
from autograder.sandbox.protocol.values import Other
from autograder.suites.alike import arrays, same_answer, same_array, same_value
from autograder.suites.here import answering, quiet
from autograder.suites.rehearsal import Heard
from autograder.suites.student import Recorded, has_chance, parts_of

Key = tuple[bytes, tuple[Any, ...]]
Stands = Callable[[Mistake], bool]  # whatever else is asked of who gives the same answers
# Calls that every single is asked if no more is known beforehand, and calls that pairs are asked, which are many.
TELLING, OF_PAIRS = 5, 2
SMALLEST = 4  # numbers in an answer that tells much
NO_DOUBT = 3  # wrong answers whose prints agree; fewer are compared in full
USUAL = 1e3  # the print of a call into which larger numbers go has few digits left for what comes out


@dataclass(frozen=True)
class Told:
    """A call with the student's answer, and what to know the call by: its bytes, and functions among its arguments."""

    call: Call
    answer: Answer
    key: Key

    @classmethod
    def of(cls, call: Call, answer: Answer) -> Told:
        """The same with its key."""
        passed = tuple(filter(callable, call.given()))
        return cls(call, _of_data(answer) if passed else answer, (call.as_bytes, passed))

    @cached_property
    def is_whole(self) -> bool:
        """Is it a value without NaN?"""
        answer = self.answer
        return isinstance(answer, Reply) and all(np.isfinite(a.astype(float)).all() for a in arrays(answer.value))


@dataclass(frozen=True)
class _Table:
    """The hypotheses on an exercise, and what they answer to the calls that are its columns; pairs to the first few."""

    singles: Sequence[Mistake]
    pairs: Sequence[Mistake]
    columns: Mapping[Key, int]
    prints: Prints

    @cached_property
    def rows(self) -> Mapping[Mistake, int]:
        """Where each single stands."""
        return {mistake: row for row, mistake in enumerate(self.singles)}


class Hypotheses:
    """What the reference and each hypothesis of an assignment answer. Asks each question once.

    foreseen: the calls that the suite will make, by exercise, and what the reference answers; none if the suite passes
        functions or models
    kept: what hypotheses answer to them, if that is known from before; else a few of the calls have to do
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        foreseen: Mapping[str, Sequence[Heard]],
        kept: Mapping[str, Prints] = MappingProxyType({}),
    ) -> None:
        self._catalogue, self._names, self._foreseen, self._known = catalogue, names, foreseen, kept
        self._right = _answering(dict(names))
        self._answering: dict[Mistake, Callable[[Call], Answer]] = {}
        self._tables: dict[str, _Table] = {}
        self._kept: dict[tuple[Mistake | None, Key], Answer] = {}

    def prepare(self, exercise: str, asks_all: bool = False) -> None:
        """Know before what every hypothesis on an exercise answers to foreseen calls.

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
            right = np.array([print_of(self.answer(None, one)) for one in columns]).reshape(-1, 2)
            prints = self._known.get(exercise)
            if prints is not None and prints.fits(of, right):
                break
        else:
            prints = Prints(of, right, self._prints(singles, columns), self._prints(pairs, columns[:OF_PAIRS]))
        self._tables[exercise] = _Table(singles, pairs, {one.key: i for i, one in enumerate(columns)}, prints)

    def prints(self) -> dict[str, Prints]:
        """What is known of each exercise that was prepared."""
        return {name: table.prints for name, table in self._tables.items()}

    def compared(self, exercise: str, calls: Sequence[Recorded | Heard]) -> Compared:
        """A student's answers beside those of the hypotheses. What was heard as from the reference is its answer."""
        found: dict[Key, Told] = {}
        for one in calls:
            if isinstance(one, Heard):
                key = one.place[0], ()
                right = self._kept.get((None, key)) or answer_of(one.answer)
                found[key] = Told(one.call, right, key)
            elif not isinstance(one.answer, NoAnswer):
                said = Told.of(one.call, one.answer)
                found[said.key] = said
        told = list(found.values())
        self.prepare(exercise)
        return Compared(self, self._tables[exercise], told)

    def answer(self, mistake: Mistake | None, one: Told) -> Answer:
        """What a hypothesis, or the reference, answers to a call."""
        if (mistake, one.key) not in self._kept:
            self._kept[mistake, one.key] = (self._right if mistake is None else self._of(mistake))(one.call)
        return self._kept[mistake, one.key]

    def _of(self, mistake: Mistake) -> Callable[[Call], Answer]:
        if mistake not in self._answering:
            self._answering[mistake] = _answering({**self._names, mistake.exercise: mistake.code})
        return self._answering[mistake]

    def _asked_of(self, exercise: str) -> list[Told]:
        """What the suite asks of an exercise, each call once."""
        found: dict[Key, Told] = {}
        for heard in self._foreseen.get(exercise, ()):
            one = Told.of(heard.call, answer_of(heard.answer))
            found.setdefault(one.key, one)
        self._kept |= {(None, key): one.answer for key, one in found.items()}
        return list(found.values())

    def _lasts(self, one: Told) -> bool:
        return not any(map(callable, one.call.given())) and not has_chance(one.call, self.answer(None, one))

    def _telling(self, told: Iterable[Told]) -> list[Told]:
        """Some calls whose right answers are ordinary arrays, each of another form than those before it."""
        usable = [one for one in told if not any(map(callable, one.call.given())) and not one.call.build]
        forms: dict[str, Told] = {}
        for one in usable:
            right = self.answer(None, one)
            if is_ordinary(one.call, right, any_dtype=True) and _size(right) >= SMALLEST:
                forms.setdefault(str([getattr(a, "ndim", type(a).__name__) for a in one.call.given()]), one)
        # Those with most arguments tell most: what is done to a mask shows nowhere else.
        ordered = [*sorted(forms.values(), key=lambda one: -len(arrays(one.call.given()))), *usable]
        # If something fails every test, the suite's first call may be all that was heard, so it is among them.
        found = {one.key: one for one in [*ordered[: TELLING - 1], *usable[:1], *ordered]}
        return list(found.values())[:TELLING]

    def _prints(self, mistakes: Sequence[Mistake], columns: Sequence[Told]) -> np.ndarray:
        found = np.empty((len(mistakes), len(columns), 2))
        for i, mistake in enumerate(mistakes):
            answer = answering({**self._names, mistake.exercise: mistake.code})
            for j, one in enumerate(columns):
                found[i, j] = print_of(answer(one.call))
        return found


class _Like:
    """Which hypotheses (rows) give the student's answers (columns): all that is in them, or their value."""

    def __init__(self, alike: np.ndarray) -> None:
        self.all = np.logical_and.reduce(alike, axis=-1)
        self.value = alike[..., 0]

    def among(self, value_only: bool, columns: Sequence[int]) -> np.ndarray:
        """Which of them give all of these."""
        like = self.value if value_only else self.all
        found: np.ndarray = np.logical_and.reduce(like[:, columns], axis=1)
        return found


class Compared:
    """A student's answers to an exercise's calls, by place; which are wrong, and which hypotheses give them."""

    def __init__(self, hypotheses: Hypotheses, table: _Table, told: Sequence[Told]) -> None:
        self.told, self._hypotheses, self._table = told, hypotheses, table
        self.singles = table.singles  # all hypotheses of one mistake
        self.asked = [ComparedCall(one.call, one.answer, hypotheses.answer(None, one)) for one in told]
        places = [table.columns.get(one.key, -1) for one in told]
        mine = np.array(
            [
                table.prints.right[place] if place >= 0 and one.got is one.wanted else print_of(one.got)
                for one, place in zip(self.asked, places, strict=True)
            ]
        ).reshape(-1, 2)
        self._known = [i for i, one in enumerate(told) if places[i] >= 0 and not has_chance(one.call, one.answer)]
        self._column = {i: place for place, i in enumerate(self._known)}
        columns, mine = [places[i] for i in self._known], mine[self._known]
        prints = table.prints
        self._like = _Like(alike(prints.singles[:, columns], mine))
        self._harmless = alike(prints.singles[:, columns], prints.right[columns]).all(axis=-1)
        self._of_pairs = [i for i in self._known if places[i] < prints.pairs.shape[1]]
        of_pairs = [places[i] for i in self._of_pairs]
        self._pairs_like = _Like(alike(prints.pairs[:, of_pairs], mine[[self._column[i] for i in self._of_pairs]]))
        surely = {i for i, far in zip(self._known, apart(prints.right[columns], mine), strict=True) if far.any()}
        self.wrong = frozenset(
            i
            for i, one in enumerate(self.asked)
            if i in surely or (one.got is not one.wanted and not same_answer(one.got, one.wanted))
        )

    def gives(self, mistake: Mistake, i: int) -> bool:
        """Does it give the student's answer to a call?"""
        row, column = self._table.rows.get(mistake), self._column.get(i)
        if row is not None and column is not None:
            return bool(self._like.all[row, column])
        return same_answer(self.told[i].answer, self.answer(mistake, i))

    def gives_where_finite(self, mistake: Mistake, i: int) -> bool:
        """Does it give the student's value, wherever that has numbers?"""
        row, column = self._table.rows.get(mistake), self._column.get(i)
        if row is not None and column is not None and self.told[i].is_whole:
            return bool(self._like.value[row, column])
        return self.gives(mistake, i) or _same_where_finite(self.told[i].answer, self.answer(mistake, i))

    def is_right(self, mistake: Mistake, i: int) -> bool:
        """Does a single answer a call as the reference does?"""
        column = self._column.get(i)
        if column is not None:
            return bool(self._harmless[self._table.rows[mistake], column])
        return same_answer(self.asked[i].wanted, self.answer(mistake, i))

    def answer(self, mistake: Mistake, i: int) -> Answer:
        """What it answers to a call."""
        return self._hypotheses.answer(mistake, self.told[i])

    def singles_giving(self, calls: Sequence[int], stands: Stands, where_finite: bool = False) -> list[Mistake]:
        """Those that give the student's answers to all of `calls`, and stand; one a name, a known one if any."""
        looked_up = [i for i in calls if i in self._column and (self.told[i].is_whole or not where_finite)]
        like = self._like.among(where_finite, [self._column[i] for i in looked_up])
        found = list(compress(self._table.singles, like))
        return self._asked_for_the_rest(found, set(calls).difference(looked_up), stands, where_finite)

    def pairs_giving(self, calls: Sequence[int], stands: Stands, where_finite: bool = False) -> list[Mistake]:
        """Two in one function that do; none if what was foreseen was not heard, for they are too many to ask each."""
        looked_up = [i for i in self._of_pairs if i in calls and self.told[i].is_whole]
        if self._table.columns and not looked_up:
            return []
        like = self._pairs_like.among(where_finite, [self._of_pairs.index(i) for i in looked_up])
        found = list(compress(self._table.pairs, like))
        return self._asked_for_the_rest(found, set(calls).difference(looked_up), stands, where_finite)

    def giving_most(self) -> list[tuple[Mistake, frozenset[int]]]:
        """Singles that give wrong answers, each with which, those with most first."""
        wrong = sorted(self.wrong)
        known = [i for i in wrong if i in self._column and self.told[i].is_whole] or wrong[:TELLING]
        giving = [m for m in self.singles if any(self.gives(m, i) for i in known)]
        found = [(m, frozenset(i for i in wrong if self.gives_where_finite(m, i))) for m in giving]
        return sorted(found, key=lambda one: -len(one[1]))

    def is_beyond_doubt(self, mistake: Mistake, calls: Iterable[int]) -> bool:
        """Does it give the student's wrong answers among `calls`, a few of them looked at in full?"""
        values = [i for i in calls if i in self.wrong and isinstance(self.told[i].answer, Reply)]
        clear = [i for i in values if not _takes_large_numbers(self.told[i].call)]
        doubted = values if len(clear) < NO_DOUBT else []
        return all(
            same_answer(self.told[i].answer, answer) or _same_where_finite(self.told[i].answer, answer)
            for i in doubted
            for answer in [self.answer(mistake, i)]
        )

    def _asked_for_the_rest(
        self, found: list[Mistake], calls: Iterable[int], stands: Stands, where_finite: bool
    ) -> list[Mistake]:
        rest = sorted(calls, key=lambda i: (i not in self.wrong, i))
        gives = self.gives_where_finite if where_finite else self.gives
        fitting: dict[str, Mistake] = {}
        for mistake in sorted(found, key=lambda m: (not m.is_known, len(m.also))):
            if mistake.name not in fitting and all(gives(mistake, i) for i in rest) and stands(mistake):
                fitting[mistake.name] = mistake
        return list(fitting.values())


def _answering(names: dict[str, Any]) -> Callable[[Call], Answer]:
    """What trusted names answer. The functions and models that they are given they call themselves, without a wall."""
    in_bytes = answering(names)

    def answer(call: Call) -> Answer:
        if not any(map(callable, call.given())):
            return in_bytes(call)
        with quiet():
            return _of_data(answer_of(answer_bytes(perform(names, call.with_given(_copied)))))

    return answer


def _of_data(answer: Answer) -> Answer:
    """An answer without the functions among its inputs, which are other objects on the other side of a wall."""
    if not isinstance(answer, Reply):
        return answer
    return replace(answer, inputs=[value for value in answer.inputs if not isinstance(value, Other)])


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
    if _takes_large_numbers(call):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < USUAL for f in finite
    )


def _takes_large_numbers(call: Call) -> bool:
    """Is there a number of unusual size in its arrays?"""
    built_with = call.instance or call
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    return any(np.abs(a.astype(float)).max(initial=0.0) > USUAL for a in given)


def _size(answer: Answer) -> int:
    """How many numbers are in it."""
    return sum(a.size for a in arrays(answer.value)) if isinstance(answer, Reply) else 0


def _same_where_finite(one: Answer, other: Answer) -> bool:
    """Are the arrays of two replies the same wherever the first has finite numbers, and all else in them?"""
    if not isinstance(one, Reply) or not isinstance(other, Reply):
        return False
    plain = [[part for part in parts_of(reply.value) if not hasattr(part, "dtype")] for reply in (one, other)]
    ours, theirs = arrays(one.value), arrays(other.value)
    if not same_value(*plain) or not theirs or [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    masks = [np.isfinite(a) for a in ours]
    return all(a.dtype == b.dtype and same_array(a[m], b[m]) for a, b, m in zip(ours, theirs, masks, strict=True))
