"""What hypotheses answer.

A hypothesis is a mistake of the catalogue, or a mutant, with one wrong option or with two. Their answers to the calls
that a suite plans are known in advance, as fingerprints. On other calls a hypothesis is run while it is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace

from autograder.diagnosis.catalogue import Catalogue, Mistake
from autograder.diagnosis.fingerprints import Fingerprints, digest, fingerprint_of, on_any_machine
from autograder.testing.callbacks import passes_functions
from autograder.testing.local import answering, quiet
from autograder.testing.recording import RecordedCall
from autograder.testing.student import Key, Recorded, has_chance
from autograder.testing.values.core.comparing import arrays
from cellcage.calling.perform import perform
from cellcage.protocol.calls import Answer, Call, NoAnswer, Reply, answer_bytes, answer_of
from cellcage.values.core.objects import Other

# Calls on which every single mistake is run if no fingerprints are saved; and on which pairs are, since they are many.
CALLS_OF_SINGLES, CALLS_OF_PAIRS = 5, 2
SMALLEST = 4  # numbers in an answer that is strong evidence
USUAL = 1e3  # larger arguments leave few digits for the answer in a fingerprint


@dataclass(frozen=True)
class Table:
    """The fingerprints of an exercise's hypotheses.

    singles, pairs: mistakes in the order of the fingerprints' rows
    rows: the row of each single; columns: the column of each planned call
    """

    fingerprints: Fingerprints
    singles: Sequence[Mistake]
    pairs: Sequence[Mistake]
    rows: Mapping[Mistake, int]
    columns: Mapping[Key, int]


class Hypotheses:
    """What the reference and each hypothesis of an assignment answer. Each is run on a call at most once.

    planned: by exercise, the calls that the suite will make, and the reference's answers; empty if tests pass functions
        or models
    saved: fingerprints from a file, by exercise; without them, hypotheses are run on a few of the calls
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        planned: Mapping[str, Sequence[RecordedCall]],
        saved: Mapping[str, Fingerprints] = MappingProxyType({}),
    ) -> None:
        self._catalogue, self._names, self._planned, self._saved = catalogue, names, planned, saved
        self._tables: dict[str, Table] = {}
        self._answers: dict[tuple[Mistake | None, Key], Answer] = {}

    def prepare(self, exercise: str, asks_all: bool = False) -> None:
        """Make the table of an exercise's hypotheses.

        asks_all: if the saved fingerprints do not fit, run hypotheses on all planned calls, not on a few
        """
        if exercise in self._tables:
            return
        planned = self._planned_calls(exercise)
        singles = [m for m in (*self._catalogue.mistakes, *self._catalogue.variants) if m.exercise == exercise]
        pairs = [m for m in self._catalogue.pairs if m.exercise == exercise]
        few = self._most_telling(planned)
        repeatable = [one for one in planned if not one.key[1] and not has_chance(one.call, self.answer(None, one))]
        every = list({one.key: one for one in (*few, *repeatable)}.values())
        saved = self._saved.get(exercise)
        for columns in (every, every if asks_all else few):
            of = digest([on_any_machine(one.call) for one in columns], [m.name for m in (*singles, *pairs)])
            right = np.array([fingerprint_of(self.answer(None, one)) for one in columns]).reshape(-1, 2)
            if saved is not None and saved.fits(of, right):
                break
        else:
            of_singles = self._fingerprints(singles, columns)
            saved = Fingerprints(of, right, of_singles, self._fingerprints(pairs, columns[:CALLS_OF_PAIRS]))
        rows = {mistake: row for row, mistake in enumerate(singles)}
        places = {one.key: column for column, one in enumerate(columns)}
        self._tables[exercise] = Table(saved, singles, pairs, rows, places)

    def fingerprints(self) -> dict[str, Fingerprints]:
        """The fingerprints of each exercise that was prepared."""
        return {name: table.fingerprints for name, table in self._tables.items()}

    def table(self, exercise: str) -> Table:
        """The table of an exercise's hypotheses."""
        self.prepare(exercise)
        return self._tables[exercise]

    def answered(self, calls: Sequence[Recorded | RecordedCall]) -> list[Recorded]:
        """Calls that were answered, each once, without those of a module whose parameters start random."""
        found: dict[Key, Recorded] = {}
        for one in calls:
            if (made := one.call.instance) is not None and not one.call.build and not made.parameters:
                continue
            if isinstance(one, RecordedCall):  # the student's answer equals the reference's
                answer = self._answers.get((None, (one.place[0], ()))) or answer_of(one.answer)
            elif isinstance(one.answer, NoAnswer):
                continue
            else:
                answer = _as_data(one.call, one.answer)
            with_answer = Recorded(one.call, answer)
            found[with_answer.key] = with_answer
        return list(found.values())

    def answer(self, mistake: Mistake | None, one: Recorded) -> Answer:
        """What a hypothesis answers to a call, or the reference if `mistake` is None."""
        if (mistake, one.key) not in self._answers:
            names = self._names if mistake is None else {**self._names, mistake.exercise: mistake.code}
            self._answers[mistake, one.key] = _answer(names, one.call)
        return self._answers[mistake, one.key]

    def _planned_calls(self, exercise: str) -> list[Recorded]:
        """The calls that the suite plans for an exercise, each once, with the reference's answers."""
        found: dict[Key, Recorded] = {}
        for recorded in self._planned.get(exercise, ()):
            one = Recorded(recorded.call, answer_of(recorded.answer))
            found.setdefault(one.key, one)
        self._answers |= {(None, key): one.answer for key, one in found.items()}
        return list(found.values())

    def _most_telling(self, planned: Iterable[Recorded]) -> list[Recorded]:
        """A few calls whose right answers are ordinary arrays, each with other kinds of arguments than those before."""
        usable = [one for one in planned if not one.key[1] and not one.call.build]
        forms: dict[str, Recorded] = {}
        for one in usable:
            right = self.answer(None, one)
            if is_ordinary(one.call, right, any_dtype=True) and _size(right) >= SMALLEST:
                forms.setdefault(str([getattr(a, "ndim", type(a).__name__) for a in one.call.given()]), one)
        # Calls with most arguments come first: only there does it show what is done with the last of them.
        ordered = [*sorted(forms.values(), key=lambda one: -len(arrays(one.call.given()))), *usable]
        # The suite's first call is among them, since it is the only one made if something fails every test.
        found = {one.key: one for one in [*ordered[: CALLS_OF_SINGLES - 1], *usable[:1], *ordered]}
        return list(found.values())[:CALLS_OF_SINGLES]

    def _fingerprints(self, mistakes: Sequence[Mistake], columns: Sequence[Recorded]) -> np.ndarray:
        """An array of shape (mistakes, columns, 2)."""
        found = np.empty((len(mistakes), len(columns), 2))
        for i, mistake in enumerate(mistakes):
            answer = answering({**self._names, mistake.exercise: mistake.code})
            for j, one in enumerate(columns):
                found[i, j] = fingerprint_of(answer(one.call))
        return found


def _answer(names: Mapping[str, Any], call: Call) -> Answer:
    """What trusted names answer. They call functions and models among the arguments themselves, without a sandbox."""
    if not passes_functions(call):
        return answering(names)(call)
    with quiet():
        return _as_data(call, answer_of(answer_bytes(perform(dict(names), call.with_given(_copied)))))


def _as_data(call: Call, answer: Answer) -> Answer:
    """An answer without the functions among its inputs, which are other objects on each side of a sandbox."""
    if not isinstance(answer, Reply) or not passes_functions(call):
        return answer
    inputs = call.positional if answer.inputs is None else answer.inputs
    return replace(answer, inputs=[one for one in inputs if not isinstance(one, Other) and not callable(one)])


def _copied(value: Any) -> Any:
    """A copy that a mistake may write into."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray | list) else value


def is_ordinary(call: Call, answer: Answer, any_dtype: bool = False) -> bool:
    """True for a call in double precision without gradients, with mostly finite numbers of usual size in and out."""
    if not isinstance(answer, Reply) or answer.gradients is not None or takes_large_numbers(call):
        return False
    out = arrays(answer.value)
    if not out or (not any_dtype and any(a.dtype == np.float32 for a in out)):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < USUAL for f in finite
    )


def takes_large_numbers(call: Call) -> bool:
    """True if an array among its arguments has a number of unusual size."""
    built_with = call.instance or call
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    return any(np.abs(a.astype(float)).max(initial=0.0) > USUAL for a in given)


def _size(answer: Answer) -> int:
    return sum(a.size for a in arrays(answer.value)) if isinstance(answer, Reply) else 0
