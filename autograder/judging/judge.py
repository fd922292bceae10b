"""A suite's verdict on one submission: exercise by exercise, an early mistake paid for once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course import Exercise
from autograder.judging.attempt import Attempt, Names, Tests, attempt
from autograder.judging.diagnosis import Diagnoser, Diagnosis
from autograder.judging.example import Example
from autograder.judging.here import answering
from autograder.judging.questions import Questions, parameter_names
from autograder.judging.rehearsal import Rehearsal
from autograder.judging.student import Missing, NotStarted, ReadyMade, Stopped, Student
from autograder.judging.suite import Outcome, Suite
from autograder.report import ExerciseResult, State, TestResult


@dataclass(frozen=True)
class Material:
    """What an assignment is judged with.

    suite: hidden, or visible; reference: the solution's names, empty if there is none here
    brought: names that are brought from an earlier assignment and judged nowhere here
    examples: what to draw, by exercise
    """

    suite: Suite
    reference: Mapping[str, Any] = field(default_factory=dict)
    rehearsal: Rehearsal | None = None
    diagnoser: Diagnoser | None = None
    brought: tuple[str, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)


def judge(
    material: Material, names: Names, exercises: Sequence[Exercise], signatures: Mapping[str, Any] | None = None
) -> tuple[ExerciseResult, ...]:
    """Judge `exercises` in order, as `names` answer.

    First every exercise by the submission's own code. Then one that did not get full marks is judged once more, with
    the reference behind the names of earlier exercises that lost marks and behind what was brought: an early mistake
    is paid for once. The better of the two counts, so two mistakes that make up for each other are paid for once, too.

    signatures: names whose parameters messages speak of; the reference's if not given
    """
    words = functools.partial(parameter_names, material.reference if signatures is None else signatures)
    own = [_attempt(material, names, exercise, words, ()) for exercise in exercises]
    results: list[ExerciseResult] = []
    for exercise, first in zip(exercises, own, strict=True):
        lost = tuple(result.name for result in results if result.score < result.max_score)
        best = _followed_through(material, names, exercise, words, first, (*lost, *material.brought))
        results.append(_as_result(exercise, best, _diagnose(material, exercise, best)))
    return tuple(results)


def _followed_through(
    material: Material, names: Names, exercise: Exercise, words: Any, own: Attempt, behind: tuple[str, ...]
) -> Attempt:
    """The better of the own attempt and one with the reference behind names that the code uses."""
    behind = tuple(name for name in behind if name in material.reference)
    if own.full or own.untouched or own.uses.isdisjoint(behind):
        return own
    names.renew()
    followed = _attempt(material, names, exercise, words, behind)
    return max(followed, own, key=lambda one: one.earned) if followed.asked else own


def _attempt(material: Material, names: Names, exercise: Exercise, words: Any, behind: tuple[str, ...]) -> Attempt:
    asked_with = material.rehearsal.asked_with if material.rehearsal else None
    tests = Tests(
        material.suite,
        [test for test in material.suite.tests if test.exercise == exercise.name],
        lambda answers: Student(answers, words),
        Student(answering(material.reference), words) if material.reference else None,
        material.rehearsal,
        material.examples.get(exercise.name),
    )
    return attempt(tests, names.begin(exercise.name, Questions(material.reference, behind, asked_with)))


def _diagnose(material: Material, exercise: Exercise, best: Attempt) -> Diagnosis | None:
    wrong = [outcome.error for outcome in best.outcomes if outcome.error]
    if material.diagnoser is None or all(isinstance(error, NotStarted | Missing) for error in wrong):
        return None
    return material.diagnoser.diagnose(exercise.name, best.recorded())


def _as_result(exercise: Exercise, best: Attempt, known: Diagnosis | None) -> ExerciseResult:
    outcomes = best.outcomes
    seen = next((outcome.error for outcome in outcomes if isinstance(outcome.error, ReadyMade)), None)
    if ready_made := best.ready_made or seen:
        # Noticed once, it costs the exercise: what the other tests saw was not the student's work either.
        outcomes = [replace(outcome, error=ready_made) for outcome in outcomes]
    return ExerciseResult(
        exercise.name,
        _as_results(outcomes, exercise.points),
        exercise.points,
        best.started or ready_made is not None,
        known.name if known else None,
        known.hint if known else "",
        tuple(sorted(best.asked)),
        best.picture,
    )


def _as_results(outcomes: list[Outcome], points: float) -> tuple[TestResult, ...]:
    """Weights scaled to the exercise's points."""
    total = sum(outcome.test.weight for outcome in outcomes)
    results = []
    for outcome in outcomes:
        share = points * outcome.test.weight / total
        state: State = "passed" if outcome.error is None else "failed"
        if isinstance(outcome.error, NotStarted | Missing):
            state = "not known"
        score = share if state == "passed" else 0.0
        stopped = isinstance(outcome.error, Stopped)
        test, points_of = outcome.test, (round(score, 4), round(share, 4))
        results.append(TestResult(test.name, test.sentence, state, *points_of, outcome.message, stopped))
    return tuple(results)
