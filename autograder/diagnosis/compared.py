"""Which hypotheses give a student's answers.

They are looked up in a table of fingerprints, with a row for each hypothesis and a column for each planned call. On
other calls, such as those that pass a model, the remaining candidates are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import compress

import numpy as np

from autograder.diagnosis.catalogue import Mistake
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.fingerprints import alike, apart, fingerprint_of
from autograder.diagnosis.hypotheses import CALLS_OF_SINGLES, Hypotheses, is_ordinary, takes_large_numbers
from autograder.diagnosis.relations import Kind as KindOfRelation
from autograder.diagnosis.relations import Relation, explained_by_relations
from autograder.testing.quoting import may_be
from autograder.testing.recording import RecordedCall
from autograder.testing.redaction import coarse
from autograder.testing.student import Recorded, has_chance, parts_of
from autograder.testing.values.core.comparing import arrays, same_answer, same_array, same_value
from cellcage.protocol.calls import Answer, Failure, Kind, Reply

NO_DOUBT = 3  # wrong answers whose fingerprints agree; fewer are compared in full


class Compared:
    """A student's answers beside those of every hypothesis on an exercise. A call is known by its place in `calls`.

    calls: with the student's answers; compared: with the right answers as well
    singles, pairs: the hypotheses with one mistake, and with two
    everywhere: the places of all calls; values: of calls that returned a value
    wrong: the places where the student's answer is wrong
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        exercise: str,
        calls: Sequence[Recorded | RecordedCall],
        of_course: Sequence[KindOfRelation] = (),
    ) -> None:
        self._hypotheses, self._table, self._of_course = hypotheses, hypotheses.table(exercise), of_course
        self.calls = hypotheses.answered(calls)
        self.compared = [ComparedCall(one.call, one.answer, hypotheses.answer(None, one)) for one in self.calls]
        self.singles, self.pairs = self._table.singles, self._table.pairs
        self.everywhere = range(len(self.calls))
        self.values = [i for i, one in enumerate(self.calls) if isinstance(one.answer, Reply)]
        # Answers that may differ by chance are not looked up, and neither are calls that were not planned.
        columns, saved = self._table.columns, self._table.fingerprints
        found = [-1 if has_chance(one.call, one.answer) else columns.get(one.key, -1) for one in self.calls]
        self._columns = np.array(found, dtype=int)
        self._is_planned = self._columns >= 0
        (right,) = self._fingerprints(saved.right[np.newaxis], self.everywhere)
        own = [_own_fingerprint(one, right[i]) for i, one in enumerate(self.compared)]
        self._own = np.array(own).reshape(-1, 2)
        # For each single and call: whether the answers are alike, the values alone, and the single's answer is right.
        singles = self._fingerprints(saved.singles, self.everywhere)
        like = alike(singles, self._own)
        self._matches, self._matches_value = np.logical_and.reduce(like, axis=-1), like[..., 0]
        self._is_right = np.logical_and.reduce(alike(singles, right), axis=-1)
        # Wrong answers so close to the right ones that fingerprints cannot tell them apart.
        self._near_right = self._is_planned & np.logical_and.reduce(alike(right, self._own), axis=-1)
        surely = self._is_planned & np.logical_or.reduce(apart(right, self._own), axis=-1)
        self.wrong = frozenset(
            i
            for i, one in enumerate(self.compared)
            if surely[i] or (one.got is not one.wanted and not same_answer(one.got, one.wanted))
        )

    @cached_property
    def ordinary(self) -> list[int]:
        """The places of calls with values of usual size, in and out."""
        return [i for i, one in enumerate(self.calls) if is_ordinary(one.call, one.answer)]

    @cached_property
    def related(self) -> tuple[Relation, ...]:
        """Relations that explain all wrong answers."""
        return explained_by_relations(self.compared, self.wrong, self._of_course)

    def matches(self, mistake: Mistake, i: int) -> bool:
        """True if the mistake gives the student's answer to a call."""
        row = self._row(mistake, i)
        if row is not None:
            return bool(self._matches[row, i])
        return same_answer(self.calls[i].answer, self.answer(mistake, i))

    def matches_where_finite(self, mistake: Mistake, i: int) -> bool:
        """True if the mistake gives the student's value wherever that is finite."""
        row = self._row(mistake, i)
        if row is not None and self.calls[i].is_whole:
            return bool(self._matches_value[row, i])
        return self.matches(mistake, i) or _same_where_finite(self.calls[i].answer, self.answer(mistake, i))

    def is_right(self, mistake: Mistake, i: int) -> bool:
        """True if the mistake gives the right answer to a call."""
        row = self._row(mistake, i)
        if row is not None:
            return bool(self._is_right[row, i])
        return same_answer(self.compared[i].wanted, self.answer(mistake, i))

    def _row(self, mistake: Mistake, i: int) -> int | None:
        """The row of a single if its answer to this call is in the table."""
        return self._table.rows.get(mistake) if self._is_planned[i] else None

    def answer(self, mistake: Mistake, i: int) -> Answer:
        """What the mistake answers to a call."""
        return self._hypotheses.answer(mistake, self.calls[i])

    def fitting(self, mistakes: Sequence[Mistake], calls: Sequence[int], where_finite: bool = False) -> list[Mistake]:
        """Mistakes that give the student's answers to all of `calls`, one a name, a known one if there is one.

        There are none if no answer to `calls` is wrong.
        mistakes: `singles`, or `pairs`; none of these fit if no call can be looked up, since they are too many to run
        """
        wrong = sorted(self.wrong.intersection(calls))
        if not wrong:
            return []
        is_pairs, prints = mistakes is self.pairs, self._table.fingerprints
        table = prints.pairs if is_pairs else prints.singles
        looked_up = [i for i in calls if 0 <= self._columns[i] < table.shape[1]]
        if is_pairs or where_finite:
            looked_up = [i for i in looked_up if self.calls[i].is_whole]
        if is_pairs and self._table.columns and not looked_up:
            return []
        like = alike(self._fingerprints(table, looked_up), self._own[looked_up])
        matches = like[..., 0] if where_finite else np.logical_and.reduce(like, axis=-1)
        candidates = compress(mistakes, np.logical_and.reduce(matches, axis=1))
        rest = sorted(set(calls).difference(looked_up), key=lambda i: (i not in self.wrong, i))
        match = self.matches_where_finite if where_finite else self.matches
        found: dict[str, Mistake] = {}
        for mistake in sorted(candidates, key=lambda m: (not m.is_known, len(m.also))):
            is_new = mistake.name not in found
            if is_new and all(match(mistake, i) for i in rest) and self._is_confirmed(mistake, wrong):
                found[mistake.name] = mistake
        return list(found.values())

    def _fingerprints(self, table: np.ndarray, calls: Sequence[int]) -> np.ndarray:
        """Those of some calls in a table, of shape (rows, calls, 2); NaN for a call that was not planned."""
        columns = self._columns[np.asarray(calls, dtype=int)]
        found = np.full((len(table), len(columns), 2), np.nan)
        found[:, columns >= 0] = table[:, columns[columns >= 0]]
        return found

    def best_matches(self) -> list[tuple[Mistake, frozenset[int]]]:
        """Singles that give wrong answers, each with the places of these; those with most come first."""
        wrong = sorted(self.wrong)
        planned = [i for i in wrong if self._is_planned[i] and self.calls[i].is_whole]
        matching = [m for m in self.singles if any(self.matches(m, i) for i in planned or wrong[:CALLS_OF_SINGLES])]
        found = [(m, frozenset(i for i in wrong if self.matches_where_finite(m, i))) for m in matching]
        return sorted(found, key=lambda pair: -len(pair[1]))

    def explained(self, mistake: Mistake) -> frozenset[int]:
        """The wrong values that the mistake gives; none if it is wrong in a call in which the student is right."""
        found = set()
        for i in self.values:
            if self.matches(mistake, i):
                found |= {i} & self.wrong
            elif i not in self.wrong or not self.is_right(mistake, i):
                return frozenset()
        return frozenset(found)

    def _is_confirmed(self, mistake: Mistake, wrong: Sequence[int]) -> bool:
        """True if the mistake gives the student's values among `wrong` answers, where these are compared in full.

        They are compared in full if only a few fingerprints are conclusive, or if the value is close to the right one.
        """
        values = [i for i in wrong if isinstance(self.calls[i].answer, Reply)]
        if not values:
            # The kind of an exception alone is weak evidence, unless the code raises it: many mistakes fail on batches.
            return all(_has_same_message(self.calls[i].answer, self.answer(mistake, i)) for i in wrong)
        conclusive = [i for i in values if not takes_large_numbers(self.calls[i].call)]
        doubtful = values if len(conclusive) < NO_DOUBT else [i for i in values if self._near_right[i]]
        return all(
            same_answer(self.calls[i].answer, answer) or _same_where_finite(self.calls[i].answer, answer)
            for i in doubtful
            for answer in [self.answer(mistake, i)]
        )


def _own_fingerprint(one: ComparedCall, right: np.ndarray) -> np.ndarray | tuple[float, float]:
    """The fingerprint of the student's answer; it is not computed if the call is not looked up, or the answer right."""
    return right if one.got is one.wanted or np.isnan(right[0]) else fingerprint_of(one.got)


def _same_where_finite(first: Answer, second: Answer) -> bool:
    """True if two values are the same, apart from places where the first has NaN or infinity."""
    if not isinstance(first, Reply) or not isinstance(second, Reply):
        return False
    plain = [[part for part in parts_of(reply.value) if not hasattr(part, "dtype")] for reply in (first, second)]
    actual, others = arrays(first.value), arrays(second.value)
    if not same_value(*plain) or not others or [a.shape for a in actual] != [a.shape for a in others]:
        return False
    finite = [np.isfinite(a) for a in actual]
    return all(a.dtype == b.dtype and same_array(a[m], b[m]) for a, b, m in zip(actual, others, finite, strict=True))


def _has_same_message(first: Answer, second: Answer) -> bool:
    if not isinstance(first, Failure):
        return True
    if not isinstance(second, Failure) or first.kind is not second.kind:
        return False
    if first.kind is Kind.MEMORY:  # the text is how many bytes were held at once
        return coarse(first.text) == coarse(second.text)
    on_purpose = bool(first.lines) and first.lines[-1].text.lstrip().startswith("raise ")
    texts = coarse(first.text), coarse(second.text)
    return on_purpose or may_be(*texts) or may_be(*reversed(texts))
