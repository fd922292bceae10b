"""Marks one submission by a suite. An early mistake is paid for once, and a later cell costs nothing."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.course.assignments import Exercise
from autograder.judge.attempt import JudgedNames, Tests, attempt
from autograder.judge.notebook import JudgedNotebook, defines
from autograder.judge.rules.rule import Attempt, ask_one, ask_together, is_too_slow
from autograder.report import ExerciseResult, State, TestResult
from autograder.testing.call_text import ParameterNames
from autograder.testing.callbacks import parameter_names, without_reference
from autograder.testing.comparing import same_answer
from autograder.testing.student_errors import Stopped
from autograder.testing.suite import Outcome
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Call

NO_MESSAGE = "This test failed."  # where its own message could not be produced


@dataclass(frozen=True)
class Judged:
    """An exercise, and the attempt that counts: its mark is fixed.

    place: None if it was made in the notebook's final state, else the number of cells that had run
    final: the attempt in the final state, if it was not that
    """

    exercise: Exercise
    best: Attempt
    place: int | None = None
    final: Attempt | None = None

    @property
    def is_right(self) -> bool:
        """True if all tests pass in the notebook's final state, so that there is no mistake."""
        return self.best.started and self.best.full and self.place is None


def bare(judged: Sequence[Judged]) -> list[ExerciseResult]:
    """Only the marks: points that add up, and no explanation."""
    return [_bare(one.exercise, one.best) for one in judged]


def _bare(exercise: Exercise, best: Attempt) -> ExerciseResult:
    points = shares([outcome.test.weight for outcome in best.outcomes], exercise.points)
    tests = tuple(map(_as_test_result, best.outcomes, points))
    return ExerciseResult(exercise.name, tests, exercise.points, best.started, tuple(sorted(best.asked)))


def _as_test_result(outcome: Outcome, points: float) -> TestResult:
    state: State = "passed" if outcome.error is None else "failed" if outcome.started else "not known"
    score = points if state == "passed" else round(points * outcome.kept, 4)
    message, stopped = NO_MESSAGE if outcome.error else "", isinstance(outcome.error, Stopped)
    return TestResult(outcome.test.name, outcome.test.sentence, state, score, points, message, stopped)


def shares(weights: Sequence[float], points: float) -> list[float]:
    """Points for each weight that add up to `points`; in hundredths, unless one of them would then be 0."""
    exact = [points * weight / sum(weights) for weight in weights]
    for unit in (100, 10_000):
        whole = [math.floor(share * unit + 1e-6) for share in exact]
        left = max(0, round(points * unit) - sum(whole))
        for i in sorted(range(len(exact)), key=lambda i: whole[i] - exact[i] * unit)[:left]:
            whole[i] += 1
        if all(whole):
            break
    return [one / unit for one in whole]


def mark(
    material: Tests, names: JudgedNames, exercises: Sequence[Exercise], signatures: Mapping[str, Any] | None = None
) -> list[Judged]:
    """Mark `exercises` in order, by the answers of `names`.

    Each exercise is tried in the notebook's final state. If it loses marks, it is tried in the state at its check, too,
    and with the reference in place of earlier exercises that lost marks and of prerequisites. The best attempt counts.
    So an early mistake costs points once. Two mistakes that cancel each other out cost nothing, and neither does a
    later cell that uses a name for something else.

    signatures: names whose parameters messages mention; the reference's if not given
    """
    marking = _Marking(material, names, signatures)
    own = [marking.own(exercise) for exercise in exercises]
    at_check = marking.at_checks([(one, own) for one, own in zip(exercises, own, strict=True) if own and not own.full])
    judged: list[Judged] = []
    for exercise, final in zip(exercises, own, strict=True):
        # A name that a later cell has taken is as wrong for the code that uses it as a mistake would be.
        lost = tuple(one.exercise.name for one in judged if not one.best.full or one.place is not None)
        judged.append(marking.best(exercise, final, at_check.get(exercise.name), lost))
    return judged


class _Marking:
    """Attempts at a submission's exercises. A place is a state of the notebook: before its cell of that number."""

    def __init__(self, material: Tests, names: JudgedNames, signatures: Mapping[str, Any] | None) -> None:
        self._material, self._names = material, names
        known = material.reference if signatures is None else signatures
        self._parameters: ParameterNames = functools.partial(parameter_names, known)

    def _attempt(self, exercise: Exercise, substituted: tuple[str, ...] = ()) -> Attempt:
        return attempt(self._material, self._names, exercise, self._parameters, substituted)

    def _uses(self, exercise: Exercise) -> frozenset[str]:
        known = self._material.reference
        public = [name for name, value in known.items() if callable(value) and not name.startswith("_")]
        return self._names.uses(exercise.name, public)

    def own(self, exercise: Exercise) -> Attempt | None:
        """In the final state; None if the code uses an exercise that is known to loop, since then it loops again."""
        looping = set(self._names.looping) & self._material.reference.keys()
        if looping and not looping.isdisjoint(self._uses(exercise)):
            return None
        return self._attempt(exercise)

    def at_checks(self, lost: Sequence[tuple[Exercise, Attempt]]) -> dict[str, Attempt]:
        """Attempts in the state at each exercise's check, if other code follows that. The cells run once for all."""
        places = self._names.checks
        followed = [(exercise, final) for exercise, final in lost if exercise.name in places]
        found = {}
        for exercise, final in sorted(followed, key=lambda one: places[one[0].name]):
            self._names.at(places[exercise.name])
            if not self._fails_alike(exercise, final):
                found[exercise.name] = self._attempt(exercise)
        return found

    def _fails_alike(self, exercise: Exercise, final: Attempt) -> bool:
        """Whether this state can earn no more than the final one.

        That is so if the call that looped there loops here, too, or if no later cell replaces the code and the calls of
        all failed tests get the same answers. Only these calls are made.
        """
        looped = [one.call for one in final.calls if is_too_slow(one.answer)][:1]
        calls = looped or (self._failed_calls(exercise, final) if self._stays(exercise) else [])
        if not calls:
            return False
        before = {one.call.as_bytes: read(one.answer) for one in reversed(final.calls)}
        with contextlib.closing(self._names.begin(without_reference(exercise.name))) as process:
            if looped:
                return is_too_slow(ask_one(process, looped[0]))
            pairs = zip(calls, ask_together(process, calls), strict=False)
            return sum(same_answer(before[call.as_bytes], read(got)) for call, got in pairs) == len(calls)

    def _failed_calls(self, exercise: Exercise, final: Attempt) -> Sequence[Call]:
        """The calls of failed tests that got an answer; none if a test made a call that was not planned."""
        plan, made = self._material.plan, {one.call.as_bytes for one in final.calls}
        failed = [outcome.test for outcome in final.outcomes if outcome.error is not None]
        known = {one.place[0] for one in plan.by_exercise.get(exercise.name, ())}
        if final.not_counted or not made <= known or not all(test in plan.by_test for test in failed):
            return []
        calls = {one.place[0]: one.call for test in failed for one in plan.by_test[test] if one.place[0] in made}
        return list(calls.values())

    def best(
        self, exercise: Exercise, final: Attempt | None, at_check: Attempt | None, lost: tuple[str, ...]
    ) -> Judged:
        """The best of all attempts. lost: earlier exercises that lost marks"""
        tried: list[tuple[Attempt, int | None]] = []
        for made in self._attempts(exercise, final, at_check, lost):
            tried = self._all_that_was_seen(exercise, [*tried, made])
            if tried[-1][0].full:
                break
        best: Attempt | None = None
        place: int | None = None
        for one, where in tried:
            # With the reference, answers that are worth the same show what is wrong in this exercise itself.
            is_own_fault = best and one.asked and one.earned == best.earned and one.finds_more(best)
            if best is None or one.earned > best.earned or (is_own_fault and where == place):
                best, place = one, where
        assert best is not None
        return Judged(exercise, best, place, None if place is None else final)

    def _all_that_was_seen(
        self, exercise: Exercise, tried: Sequence[tuple[Attempt, int | None]]
    ) -> list[tuple[Attempt, int | None]]:
        """The attempts, where what does not count in one of them does not in all that run the same code, either.

        With the reference in more places, an attempt runs less of the submission's code, and none that others do not.
        """
        seen = [(one, where) for one, where in tried if one.not_counted]
        found = []
        for one, where in tried:
            also = [
                other.not_counted
                for other, there in seen
                if set(one.substituted) <= set(other.substituted) and (where == there or self._stays(exercise))
            ]
            found.append((replace(one, not_counted=one.not_counted or also[0]) if also else one, where))
        return found

    def _stays(self, exercise: Exercise) -> bool:
        """Whether no cell after an exercise's check defines it, or a name that its code looks up, again."""
        names = {exercise.name, *self._uses(exercise)}
        later = self._names.cells[self._names.checks.get(exercise.name, 0) :]
        return not any(defines(name, source) for source in later for name in names)

    def _attempts(
        self, exercise: Exercise, final: Attempt | None, at_check: Attempt | None, lost: tuple[str, ...]
    ) -> Iterator[tuple[Attempt, int | None]]:
        """All attempts, each with its place if that is not the final state:

        1. in the final state, unless the code uses an exercise that loops
        2. at the exercise's check
        3. in the final state with the reference, see `_followed_through`
        4. in the final state after all, if 1 was left out
        5. at the check with the reference

        Of attempts that earn the same, the first counts. None is made after one that earns everything.
        """
        check = self._names.checks.get(exercise.name)
        if final is not None:
            yield final, None
        if at_check is not None:
            yield at_check, check
        if final is None or not final.is_own_stub:
            yield from ((one, None) for one in self._followed_through(exercise, None, lost))
        if final is None:
            self._names.at(None)
            yield self._attempt(exercise), None
        if at_check is not None and not at_check.is_own_stub and not (final and final.same_answers(at_check)):
            yield from ((one, check) for one in self._followed_through(exercise, check, lost))

    def _followed_through(self, exercise: Exercise, place: int | None, lost: tuple[str, ...]) -> Iterator[Attempt]:
        """Attempts with the reference in place of names that the code uses: those that lost marks, and prerequisites.

        Prerequisites are not judged here. If the student's are right, the reference changes nothing, and another
        attempt counts.
        """
        prerequisites = self._material.prerequisites
        if not (lost or prerequisites):
            return
        self._names.at(place)
        uses = self._uses(exercise)
        for more, substituted in ((lost, lost), (prerequisites, (*lost, *prerequisites))):
            if not uses.isdisjoint(name for name in more if name in self._material.reference):
                self._names.at(place)
                known = tuple(name for name in substituted if name in self._material.reference)
                followed = self._attempt(exercise, known)
                if followed.asked:
                    yield followed


def later_cell(notebook: JudgedNotebook, judged: Judged) -> int | None:
    """The number of the first cell after an exercise's check that changes an answer to its tests; None if unknown."""
    final = judged.final.calls if judged.final else ()
    after = {one.call.as_bytes: one for one in final}
    pairs = ((one, after[one.call.as_bytes]) for one in judged.best.calls if one.call.as_bytes in after)
    changed = next((one for one, other in pairs if not same_answer(read(one.answer), read(other.answer))), None)
    if changed is None or judged.place is None:
        return None
    for number in range(judged.place, len(notebook.cells)):
        notebook.at(number + 1)
        with contextlib.closing(notebook.begin(without_reference(judged.exercise.name))) as calls:
            if not same_answer(read(changed.answer), read(ask_one(calls, changed.call))):
                return number
    return None
