"""Which hypotheses give a student's answers.

That is looked up in one table of prints: one row a hypothesis, one column a call. Calls that nobody foresaw, such as
those that pass a model, are put to whoever is still in question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress

import numpy as np

from autograder.diagnosis.catalogue import Mistake
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.fingerprints import alike, apart, fingerprint_of
from autograder.diagnosis.hypotheses import TELLING, Hypotheses, takes_large_numbers
from autograder.sandbox.protocol.calls import Answer, Reply
from autograder.testing.comparing import arrays, same_answer, same_array, same_value
from autograder.testing.recording import RecordedCall
from autograder.testing.student import Recorded, has_chance, parts_of

Stands = Callable[[Mistake], bool]  # whatever else is asked of who gives the same answers
NO_DOUBT = 3  # wrong answers whose prints agree; fewer are compared in full


class Compared:
    """A student's answers beside those of every hypothesis on an exercise.

    calls: each with the student's answer, and with the right one in `asked`; a column of the table is a place in them
    singles: the hypotheses of one mistake
    wrong: the columns where the student's answer is wrong
    """

    def __init__(self, hypotheses: Hypotheses, exercise: str, calls: Sequence[Recorded | RecordedCall]) -> None:
        self._hypotheses, self._known = hypotheses, hypotheses.known(exercise)
        self.calls = hypotheses.with_keys(calls)
        self.asked = [ComparedCall(one.call, one.answer, hypotheses.answer(None, one)) for one in self.calls]
        self.singles = self._known.mistakes[: self._known.singles]
        # What may come out otherwise the next time is not looked up, just as what nobody foresaw.
        columns = self._known.columns
        self._places = np.array(
            [-1 if has_chance(one.call, one.answer) else columns.get(one.key, -1) for one in self.calls], dtype=int
        )
        right = self._known.right[self._places]
        self._own = np.array([_own_print(one, right[i]) for i, one in enumerate(self.asked)]).reshape(-1, 2)
        # Of singles it is asked one by one: is it the student's answer, in its value alone, and the right one?
        singles = self._fingerprints(slice(0, self._known.singles), range(len(self.calls)))
        like = alike(singles, self._own)
        self._gives, self._gives_value = np.logical_and.reduce(like, axis=-1), like[..., 0]
        self._is_right = np.logical_and.reduce(alike(singles, right), axis=-1)
        self._is_known = ~np.isnan(right[:, 0])
        # Wrong by so little that the fingerprints do not show it: they tell no mistake from what is right.
        self._near_right = self._is_known & np.logical_and.reduce(alike(right, self._own), axis=-1)
        surely = self._is_known & np.logical_or.reduce(apart(right, self._own), axis=-1)
        self.wrong = frozenset(
            i
            for i, one in enumerate(self.asked)
            if surely[i] or (one.got is not one.wanted and not same_answer(one.got, one.wanted))
        )

    def gives(self, mistake: Mistake, i: int) -> bool:
        """Does it give the student's answer to a call?"""
        row = self._row(mistake, i)
        return same_answer(self.calls[i].answer, self.answer(mistake, i)) if row is None else bool(self._gives[row, i])

    def gives_where_finite(self, mistake: Mistake, i: int) -> bool:
        """Does it give the student's value, wherever that has numbers?"""
        row = self._row(mistake, i)
        if row is not None and self.calls[i].is_whole:
            return bool(self._gives_value[row, i])
        return self.gives(mistake, i) or _same_where_finite(self.calls[i].answer, self.answer(mistake, i))

    def is_right(self, mistake: Mistake, i: int) -> bool:
        """Does it answer a call as the reference does?"""
        row = self._row(mistake, i)
        return (
            same_answer(self.asked[i].wanted, self.answer(mistake, i)) if row is None else bool(self._is_right[row, i])
        )

    def _row(self, mistake: Mistake, i: int) -> int | None:
        """Where a single stands, if its answer to this call is known beforehand."""
        return self._known.rows.get(mistake) if self._is_known[i] else None

    def answer(self, mistake: Mistake, i: int) -> Answer:
        """What it answers to a call."""
        return self._hypotheses.answer(mistake, self.calls[i])

    def singles_giving(self, calls: Sequence[int], stands: Stands, where_finite: bool = False) -> list[Mistake]:
        """Those that give the student's answers to all of `calls`, and stand; one a name, a known one if any."""
        rows = slice(0, self._known.singles)
        looked_up = self._planned(rows, [i for i in calls if self.calls[i].is_whole or not where_finite])
        return self._giving(rows, looked_up, calls, stands, where_finite)

    def pairs_giving(self, calls: Sequence[int], stands: Stands, where_finite: bool = False) -> list[Mistake]:
        """Two in one function that do; none if what was planned was not heard, for they are too many to ask each."""
        rows = slice(self._known.singles, None)
        looked_up = self._planned(rows, [i for i in calls if self.calls[i].is_whole])
        if self._known.columns and not looked_up:
            return []
        return self._giving(rows, looked_up, calls, stands, where_finite)

    def _fingerprints(self, rows: slice, calls: Sequence[int]) -> np.ndarray:
        """Of the table, (rows, calls, 2)."""
        return self._known.fingerprints[rows][:, self._places[calls]]

    def _planned(self, rows: slice, calls: Sequence[int]) -> list[int]:
        """Calls to which the answers of these hypotheses are known beforehand; what one row has, all of a kind have."""
        first = slice(rows.start, rows.start + 1)
        return [i for i in calls if not np.isnan(self._fingerprints(first, [i])).any()]

    def _giving(
        self, rows: slice, looked_up: Sequence[int], calls: Sequence[int], stands: Stands, where_finite: bool
    ) -> list[Mistake]:
        """Look up who gives the answers to some calls, and ask those for the rest."""
        like = alike(self._fingerprints(rows, looked_up), self._own[looked_up])
        given = like[..., 0] if where_finite else np.logical_and.reduce(like, axis=-1)
        found = compress(self._known.mistakes[rows], np.logical_and.reduce(given, axis=1))
        rest = sorted(set(calls).difference(looked_up), key=lambda i: (i not in self.wrong, i))
        gives = self.gives_where_finite if where_finite else self.gives
        fitting: dict[str, Mistake] = {}
        for mistake in sorted(found, key=lambda m: (not m.is_known, len(m.also))):
            if mistake.name not in fitting and all(gives(mistake, i) for i in rest) and stands(mistake):
                fitting[mistake.name] = mistake
        return list(fitting.values())

    def giving_most(self) -> list[tuple[Mistake, frozenset[int]]]:
        """Singles that give wrong answers, each with which, those with most first."""
        wrong = sorted(self.wrong)
        known = [i for i in wrong if self._is_known[i] and self.calls[i].is_whole]
        giving = [m for m in self.singles if any(self.gives(m, i) for i in known or wrong[:TELLING])]
        found = [(m, frozenset(i for i in wrong if self.gives_where_finite(m, i))) for m in giving]
        return sorted(found, key=lambda one: -len(one[1]))

    def is_beyond_doubt(self, mistake: Mistake, calls: Iterable[int]) -> bool:
        """Does it give the student's wrong answers among `calls`, a few of them looked at in full?"""
        values = [i for i in calls if i in self.wrong and isinstance(self.calls[i].answer, Reply)]
        clear = [i for i in values if not takes_large_numbers(self.calls[i].call)]
        doubted = values if len(clear) < NO_DOUBT else [i for i in values if self._near_right[i]]
        return all(
            same_answer(self.calls[i].answer, answer) or _same_where_finite(self.calls[i].answer, answer)
            for i in doubted
            for answer in [self.answer(mistake, i)]
        )


def _own_print(one: ComparedCall, right: np.ndarray) -> np.ndarray | tuple[float, float]:
    """Of the student's answer, if it is looked up; an answer that was found to be the reference's has its print."""
    return right if one.got is one.wanted or np.isnan(right[0]) else fingerprint_of(one.got)


def _same_where_finite(one: Answer, other: Answer) -> bool:
    """Are the arrays of two replies the same wherever the first has finite numbers, and all else in them?"""
    if not isinstance(one, Reply) or not isinstance(other, Reply):
        return False
    plain = [[part for part in parts_of(reply.value) if not hasattr(part, "dtype")] for reply in (one, other)]
    ours, theirs = arrays(one.value), arrays(other.value)
    if not same_value(*plain) or not theirs or [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    finite = [np.isfinite(a) for a in ours]
    return all(a.dtype == b.dtype and same_array(a[m], b[m]) for a, b, m in zip(ours, theirs, finite, strict=True))
