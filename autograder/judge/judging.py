"""A suite's verdict on one submission: exercise by exercise, an early mistake paid for once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course import Exercise
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.diagnosis.naming import NON_DETERMINISTIC, Diagnosis, diagnose
from autograder.diagnosis.relations import Kind, of_shown
from autograder.judge.attempt import Attempt, Names, Tests, attempt
from autograder.judge.notebook import Notebook
from autograder.judge.picture import draw
from autograder.judge.results import as_result
from autograder.report import Cause, ExerciseResult, Picture
from autograder.testing.callbacks import Questions, parameter_names
from autograder.testing.example import Example
from autograder.testing.expect import Mismatch
from autograder.testing.recording import Recording
from autograder.testing.session import Suite
from autograder.testing.student import Missing, NotStarted, Student


@dataclass(frozen=True)
class Material:
    """What an assignment is judged with.

    suite: hidden, or visible; reference: the solution's names, empty if there is none here
    prerequisites: names that are brought from an earlier assignment and judged nowhere here
    examples: what to draw, by exercise
    relations: what the course adds to how wrong answers may stand to right ones
    variants: the recording with other inputs in one case of each test of values; a submission gets one of them
    """

    suite: Suite
    reference: Mapping[str, Any] = field(default_factory=dict)
    recording: Recording = field(default_factory=Recording)
    hypotheses: Hypotheses | None = None
    prerequisites: tuple[str, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)
    relations: Sequence[Kind] = ()
    variants: Sequence[Recording] = ()


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
    pictures: Mapping[str, Picture] = {}
    undrawn = material
    if isinstance(names, Notebook):
        pictures, undrawn = _pictures(material, names, exercises), replace(material, examples={})
    own = [_attempt(undrawn, names, exercise, words, (), pictures.get(exercise.name)) for exercise in exercises]
    results: list[ExerciseResult] = []
    for exercise, first in zip(exercises, own, strict=True):
        lost = tuple(result.name for result in results if result.score < result.max_score)
        best = _followed_through(material, names, exercise, words, first, lost)
        known = _diagnose(material, exercise, best)
        results.append(as_result(exercise, best, known, is_hidden=bool(material.reference)))
    return tuple(results)


def _followed_through(
    material: Material, names: Names, exercise: Exercise, words: Any, own: Attempt, lost: tuple[str, ...]
) -> Attempt:
    """The better of the own attempt and one with the reference behind names that the code uses.

    What is brought is judged nowhere here. If it is right, the reference in its place changes nothing, and the own
    attempt stands.
    """
    best = own
    if own.full or own.untouched or not (lost or material.prerequisites):
        return own
    uses = names.uses(exercise.name, Questions(material.reference).known)
    for more, substituted in ((lost, lost), (material.prerequisites, (*lost, *material.prerequisites))):
        if best.full or uses.isdisjoint(name for name in more if name in material.reference):
            continue
        names.renew()
        followed = _attempt(material, names, exercise, words, tuple(n for n in substituted if n in material.reference))
        as_good = followed.earned > best.earned or (followed.earned == best.earned and not followed.same_answers(best))
        if followed.asked and as_good:
            best = followed
    return best


def _pictures(material: Material, names: Notebook, exercises: Sequence[Exercise]) -> dict[str, Picture]:
    """What the submission's own code gives on the visible examples.

    Before any exercise is asked: one that keeps notes of what a hidden test passes could draw them for another. In a
    student's own kernel nothing is hidden, and each exercise is drawn with its tests.
    """
    drawn = [exercise.name for exercise in exercises if exercise.name in material.examples]
    if not drawn:
        return {}
    with contextlib.closing(names.begin(Questions(material.reference, (), material.recording.asked_with))) as process:
        found = {name: draw(process, material.examples[name], name) for name in drawn}
    return {name: picture for name, picture in found.items() if picture}


def _attempt(
    material: Material,
    names: Names,
    exercise: Exercise,
    words: Any,
    substituted: tuple[str, ...],
    picture: Picture | None = None,
) -> Attempt:
    recording, reference = material.recording, material.reference
    tests = Tests(
        material.suite,
        [test for test in material.suite.tests if test.exercise == exercise.name],
        lambda answers: Student(answers, words),
        Student(recording.answering(reference), words) if reference else None,
        recording,
        material.examples.get(exercise.name),
        picture,
    )
    return attempt(tests, names.begin(Questions(reference, substituted, recording.asked_with)))


def _of_shown(wrong: Sequence[BaseException], of_course: Sequence[Kind]) -> Diagnosis | None:
    """What visible tests tell of all that came out wrong, without a solution."""
    both = [(error.got, error.wanted) for error in wrong if isinstance(error, Mismatch)]
    related = of_shown([pair for pair in both if all(hasattr(value, "dtype") for value in pair)], of_course)
    return Diagnosis((Cause(related.name, related.hint),), related.evidence) if related else None


def _diagnose(material: Material, exercise: Exercise, best: Attempt) -> Diagnosis | None:
    wrong = [outcome.error for outcome in best.outcomes if outcome.error]
    if all(isinstance(error, NotStarted | Missing) for error in wrong):
        return None
    if material.hypotheses is None:
        return None if material.reference else _of_shown(wrong, material.relations)
    heard = (best.calls, *([best.meant] if best.meant else []))
    found = (diagnose(material.hypotheses, exercise.name, calls, material.relations) for calls in heard)
    known = next(filter(None, found), None)
    # How answers that do not last stand to the right ones is chance.
    return NON_DETERMINISTIC if best.non_deterministic and (known is None or known.is_relation) else known
