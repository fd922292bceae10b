"""One submission judged by a suite, exercise by exercise; an early mistake is paid for once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.course import Exercise
from autograder.diagnosis.naming import DROPOUT, NON_DETERMINISTIC, Diagnosis, diagnose
from autograder.diagnosis.relations import of_shown
from autograder.diagnosis.visible_fingerprints import named
from autograder.judge.attempt import Attempt, Names, attempt
from autograder.judge.exercise_calls import read
from autograder.judge.material import Material
from autograder.judge.notebook import Notebook
from autograder.judge.picture import draw
from autograder.judge.results import as_result
from autograder.report import Cause, ExerciseResult, Picture
from autograder.sandbox.protocol.calls import Reply
from autograder.testing.call_text import ParameterNames
from autograder.testing.callbacks import Questions, parameter_names
from autograder.testing.expect import Mismatch
from autograder.testing.student_errors import Missing, NotStarted


def judge(
    material: Material, names: Names, exercises: Sequence[Exercise], signatures: Mapping[str, Any] | None = None
) -> tuple[ExerciseResult, ...]:
    """Judge `exercises` in order, by the answers of `names`.

    First, every exercise is judged by the submission's own code. An exercise without full marks is judged once more,
    with the reference in place of earlier exercises that lost marks and of prerequisites. The better attempt counts, so
    an early mistake is paid for once, and so are two mistakes that cancel each other out.

    signatures: names whose parameters messages mention; the reference's if not given
    """
    known_parameters = functools.partial(parameter_names, material.reference if signatures is None else signatures)
    pictures: Mapping[str, Picture] = {}
    undrawn = material
    if isinstance(names, Notebook):
        pictures, undrawn = _pictures(material, names, exercises), replace(material, examples={})
    own = [attempt(undrawn, names, one, known_parameters, picture=pictures.get(one.name)) for one in exercises]
    results: list[ExerciseResult] = []
    for exercise, first in zip(exercises, own, strict=True):
        lost = tuple(result.name for result in results if result.score < result.max_score)
        best = _followed_through(material, names, exercise, known_parameters, first, lost)
        known = _diagnose(material, exercise, best)
        results.append(as_result(exercise, best, known, is_hidden=bool(material.reference)))
    return tuple(results)


def _followed_through(
    material: Material,
    names: Names,
    exercise: Exercise,
    known_parameters: ParameterNames,
    own: Attempt,
    lost: tuple[str, ...],
) -> Attempt:
    """The better of the own attempt and one with the reference in place of names that the code uses.

    lost: earlier exercises that lost marks
    Prerequisites are not judged here. If the student's are right, the reference changes nothing, and the own attempt
    counts.
    """
    best = own
    if own.full or own.untouched or not (lost or material.prerequisites):
        return own
    uses = names.uses(exercise.name, Questions(material.reference).known)
    for more, substituted in ((lost, lost), (material.prerequisites, (*lost, *material.prerequisites))):
        if best.full or uses.isdisjoint(name for name in more if name in material.reference):
            continue
        names.renew()
        known = tuple(name for name in substituted if name in material.reference)
        followed = attempt(material, names, exercise, known_parameters, known)
        as_good = followed.earned > best.earned or (followed.earned == best.earned and not followed.same_answers(best))
        if followed.asked and as_good:
            best = followed
    return best


def _pictures(material: Material, names: Notebook, exercises: Sequence[Exercise]) -> dict[str, Picture]:
    """Results of the submission's own code on the visible examples.

    They are drawn before any exercise is judged. Otherwise, an exercise that stores hidden inputs could draw them in
    another one's picture. In a student's own kernel nothing is hidden, and each exercise is drawn with its tests.
    """
    drawn = [exercise.name for exercise in exercises if exercise.name in material.examples]
    if not drawn:
        return {}
    questions = Questions(material.reference, (), material.recording.array_functions)
    with contextlib.closing(names.begin(questions)) as calls:
        found = {name: draw(calls, material.examples[name], name) for name in drawn}
    return {name: picture for name, picture in found.items() if picture}


def _diagnose(material: Material, exercise: Exercise, best: Attempt) -> Diagnosis | None:
    wrong = [outcome.error for outcome in best.outcomes if outcome.error]
    if all(isinstance(error, NotStarted | Missing) for error in wrong):
        return None
    if material.hypotheses is None:
        return None if material.reference else _diagnose_visible(material, exercise.name, best, wrong)
    candidates = (best.calls, best.corrected) if best.corrected else (best.calls,)
    found = (diagnose(material.hypotheses, exercise.name, calls, material.relations) for calls in candidates)
    known = next(filter(None, found), None)
    if not best.non_deterministic or (known is not None and not known.is_relation):
        return known
    # Non-deterministic answers are related to the right ones by chance only. Which calls they answer is not by chance.
    answers = (read(one.answer) for one in best.calls)
    dropped = any(isinstance(answer, Reply) and answer.dropped for answer in answers)
    return (known and known.at_random) or (DROPOUT if dropped else NON_DETERMINISTIC)


def _diagnose_visible(
    material: Material, exercise: str, best: Attempt, wrong: Sequence[BaseException]
) -> Diagnosis | None:
    """A diagnosis by visible tests alone, without a solution: a known mistake's name, or else a relation."""
    pairs = [(error.got, error.wanted) for error in wrong if isinstance(error, Mismatch)]
    if not pairs:  # exceptions alone are weak evidence
        return None
    if best.non_deterministic:
        return NON_DETERMINISTIC
    if known := named(material.visible_names, exercise, [read(one.answer) for one in best.calls]):
        return known
    if len(pairs) < len(wrong) or not all(hasattr(value, "dtype") for pair in pairs for value in pair):
        return None
    related = of_shown(pairs, material.relations)
    return Diagnosis((Cause(related.name, related.hint),), related.evidence, is_relation=True) if related else None
