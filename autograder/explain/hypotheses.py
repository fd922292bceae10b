"""What hypotheses answer.

A hypothesis is a known mistake or a mutant. Their answers to the calls that a suite plans are known in advance, as
fingerprints. On other calls a hypothesis is run while it is a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace

from autograder.course.loading import in_time
from autograder.explain.fingerprints import Fingerprints, alike, as_compared, digest, fingerprint_of, on_any_machine
from autograder.testing.callbacks import passes_functions
from autograder.testing.catalogue import Catalogue, Mistake
from autograder.testing.functions import COURSE_SECONDS, TOO_SLOW, AnsweredCall, Key, answering, has_chance, quiet
from autograder.testing.plan import PlannedCall
from cellcage.calling.perform import perform
from cellcage.protocol.calls import Answer, Call, NoAnswer, Reply, Why, answer_bytes, answer_of
from cellcage.values.value import Other, is_tensor

FEW = 5  # planned calls on which each hypothesis is run if no fingerprints are saved


class AnswerTable:
    """What an exercise's hypotheses answer, as fingerprints, with a row for each hypothesis and a column for each call.

    mistakes, rows: the hypotheses in the order of the rows, and the row of each
    columns: the column of each call
    """

    def __init__(self, fingerprints: Fingerprints, mistakes: Sequence[Mistake], calls: Sequence[Key]) -> None:
        self._fingerprints, self.mistakes = fingerprints, mistakes
        self.rows = {mistake: row for row, mistake in enumerate(mistakes)}
        self.columns = {key: column for column, key in enumerate(calls)}

    def alike(self, answers: Sequence[Answer], columns: Sequence[int | None]) -> tuple[np.ndarray, np.ndarray]:
        """Which hypotheses give these answers: for whole answers, and for values only. Axes: hypothesis, answer.

        columns: of each answer; where it is None, nothing is alike
        """
        same = np.zeros((len(self.mistakes), len(answers), 2), dtype=bool)
        for place, (answer, column) in enumerate(zip(answers, columns, strict=True)):
            if column is not None:
                same[:, place] = alike(self._fingerprints.wrong[:, column], np.array(fingerprint_of(answer)))
        return np.logical_and.reduce(same, axis=-1), same[..., 0]


class Hypotheses:
    """What the reference and each hypothesis of an assignment answer. Each is run on a call at most once.

    planned: by exercise, the calls that the suite will make, and the reference's answers; empty if tests pass functions
        or models
    saved: fingerprints from a file, by exercise; if they do not fit, hypotheses are run on a few of the calls
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        planned: Mapping[str, Sequence[PlannedCall]],
        saved: Mapping[str, Fingerprints] = MappingProxyType({}),
    ) -> None:
        self._catalogue, self._names, self._planned, self._saved = catalogue, names, planned, saved
        self._tables: dict[str, AnswerTable] = {}
        self._answers: dict[tuple[Mistake | None, Key], Answer] = {}

    def table(self, exercise: str) -> AnswerTable:
        """The table of an exercise's hypotheses, made on first use."""
        if exercise not in self._tables:
            self._tables[exercise] = self._made_table(exercise)
        return self._tables[exercise]

    def fingerprints(self, exercise: str) -> Fingerprints:
        """The fingerprints of an exercise's hypotheses; each is run on each planned call."""
        return self._run(self._mistakes(exercise), self._repeatable_calls(exercise))

    def answered(self, calls: Sequence[AnsweredCall | PlannedCall]) -> list[AnsweredCall]:
        """Calls that were answered, each once, without those of a module whose parameters start random."""
        found: dict[Key, AnsweredCall] = {}
        for one in calls:
            if (made := one.call.instance) is not None and not one.call.build and not made.parameters:
                continue
            if isinstance(one, PlannedCall):  # the student's answer equals the reference's
                answer = self._answers.get((None, (one.place[0], ()))) or answer_of(one.answer)
            elif isinstance(one.answer, NoAnswer):
                continue
            else:
                answer = _as_data(one.call, one.answer)
            with_answer = AnsweredCall(one.call, answer)
            found[with_answer.key] = with_answer
        return [AnsweredCall(one.call, as_compared(one.answer)) for one in found.values()]

    def answer(self, mistake: Mistake | None, one: AnsweredCall) -> Answer:
        """What a hypothesis answers to a call, or the reference if `mistake` is None."""
        if (mistake, one.key) not in self._answers:
            names = self._names if mistake is None else {**self._names, mistake.exercise: mistake.code}
            self._answers[mistake, one.key] = as_compared(_answer(names, one.call))
        return self._answers[mistake, one.key]

    def _made_table(self, exercise: str) -> AnswerTable:
        mistakes, calls, saved = self._mistakes(exercise), self._repeatable_calls(exercise), self._saved.get(exercise)
        if saved is None or not saved.fits(_digest(calls, mistakes), _right(calls)):
            calls = calls[:FEW]
            saved = self._run(mistakes, calls)
        return AnswerTable(saved, mistakes, [one.key for one in calls])

    def _mistakes(self, exercise: str) -> list[Mistake]:
        return [m for m in (*self._catalogue.mistakes, *self._catalogue.variants) if m.exercise == exercise]

    def _repeatable_calls(self, exercise: str) -> list[AnsweredCall]:
        """The planned calls that have the same answer each time, and pass no functions."""
        planned = self._planned_calls(exercise)
        return [one for one in planned if not one.key[1] and not has_chance(one.call, one.answer)]

    def _planned_calls(self, exercise: str) -> list[AnsweredCall]:
        """The calls that the suite plans for an exercise, each once, with the reference's answers."""
        found: dict[Key, AnsweredCall] = {}
        for recorded in self._planned.get(exercise, ()):
            one = AnsweredCall(recorded.call, as_compared(answer_of(recorded.answer)))
            found.setdefault(one.key, one)
        self._answers |= {(None, key): one.answer for key, one in found.items()}
        return list(found.values())

    def _run(self, mistakes: Sequence[Mistake], calls: Sequence[AnsweredCall]) -> Fingerprints:
        """The fingerprints of these hypotheses, run on these calls."""
        wrong = np.empty((len(mistakes), len(calls), 2))
        for row, mistake in enumerate(mistakes):
            answer = answering({**self._names, mistake.exercise: mistake.code})
            for column, one in enumerate(calls):
                wrong[row, column] = fingerprint_of(as_compared(answer(one.call)))
        return Fingerprints(_digest(calls, mistakes), _right(calls), wrong)


def _digest(calls: Sequence[AnsweredCall], mistakes: Sequence[Mistake]) -> str:
    return digest([on_any_machine(one.call) for one in calls], [mistake.name for mistake in mistakes])


def _right(calls: Sequence[AnsweredCall]) -> np.ndarray:
    """The fingerprints of the reference's answers, of shape (calls, 2)."""
    return np.array([fingerprint_of(one.answer) for one in calls]).reshape(-1, 2)


def _answer(names: Mapping[str, Any], call: Call) -> Answer:
    """What trusted names answer. They call functions and models among the arguments themselves, without a sandbox."""
    if not passes_functions(call):
        return answering(names)(call)
    late = NoAnswer(Why.TOO_SLOW, TOO_SLOW.format(seconds=COURSE_SECONDS))
    with quiet():
        found = in_time(COURSE_SECONDS, lambda: perform(dict(names), call.with_given(_copied)), lambda: late)
    return found if isinstance(found, NoAnswer) else _as_data(call, answer_of(answer_bytes(found)))


def _as_data(call: Call, answer: Answer) -> Answer:
    """An answer without the functions among its inputs, which are other objects on each side of a sandbox."""
    if not isinstance(answer, Reply) or not passes_functions(call):
        return answer
    inputs = call.positional if answer.inputs is None else answer.inputs
    return replace(answer, inputs=[one for one in inputs if not isinstance(one, Other) and not callable(one)])


def _copied(value: Any) -> Any:
    """A copy that a mistake may write into."""
    if is_tensor(value):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray | list) else value
