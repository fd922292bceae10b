"""A suite's verdict on one submission: exercise by exercise, an early mistake paid for once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.course import Exercise
from autograder.diagnosis.naming import DROPOUT, NON_DETERMINISTIC, Diagnosis, diagnose
from autograder.diagnosis.relations import Kind, of_shown
from autograder.judge.attempt import Attempt, Names, attempt
from autograder.judge.exercise_calls import read
from autograder.judge.material import Material
from autograder.judge.notebook import Notebook
from autograder.judge.picture import draw
from autograder.judge.results import as_result
from autograder.report import Cause, ExerciseResult, Picture
from autograder.sandbox.protocol.calls import Reply
from autograder.testing.callbacks import Questions, parameter_names
from autograder.testing.expect import Mismatch
from autograder.testing.student import Missing, NotStarted


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
    own = [attempt(undrawn, names, one, words, picture=pictures.get(one.name)) for one in exercises]
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
        followed = attempt(material, names, exercise, words, tuple(n for n in substituted if n in material.reference))
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
    with contextlib.closing(
        names.begin(Questions(material.reference, (), material.recording.array_functions))
    ) as process:
        found = {name: draw(process, material.examples[name], name) for name in drawn}
    return {name: picture for name, picture in found.items() if picture}


def _of_visible_tests(
    material: Material, exercise: str, best: Attempt, wrong: Sequence[BaseException]
) -> Diagnosis | None:
    """What visible tests tell of all that came out wrong, without a solution: a mistake's name first."""
    if not any(isinstance(error, Mismatch) for error in wrong):  # exceptions alone are weak evidence
        return None
    if best.non_deterministic:
        return NON_DETERMINISTIC
    named = material.visible_names.named(exercise, [read(one.answer) for one in best.calls])
    return named or _of_shown(wrong, material.relations)


def _of_shown(wrong: Sequence[BaseException], of_course: Sequence[Kind]) -> Diagnosis | None:
    """How all that came out wrong stands to what is wanted; None if something else is wrong, too, such as an error."""
    both = [(error.got, error.wanted) for error in wrong if isinstance(error, Mismatch)]
    if len(both) < len(wrong) or not all(hasattr(value, "dtype") for pair in both for value in pair):
        return None
    related = of_shown(both, of_course)
    return Diagnosis((Cause(related.name, related.hint),), related.evidence, is_relation=True) if related else None


def _diagnose(material: Material, exercise: Exercise, best: Attempt) -> Diagnosis | None:
    wrong = [outcome.error for outcome in best.outcomes if outcome.error]
    if all(isinstance(error, NotStarted | Missing) for error in wrong):
        return None
    if material.hypotheses is None:
        return None if material.reference else _of_visible_tests(material, exercise.name, best, wrong)
    heard = (best.calls, *([best.meant] if best.meant else []))
    found = (diagnose(material.hypotheses, exercise.name, calls, material.relations) for calls in heard)
    known = next(filter(None, found), None)
    if not best.non_deterministic or (known is not None and not known.is_relation):
        return known
    # How answers that do not last stand to the right ones is chance; which calls they answer is not.
    answers = (read(one.answer) for one in best.calls)
    dropped = any(isinstance(answer, Reply) and answer.dropped for answer in answers)
    return (known and known.at_random) or (DROPOUT if dropped else NON_DETERMINISTIC)
