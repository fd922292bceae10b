"""Fingerprints by which `check` names mistakes: the answers of known mistakes to the visible tests."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.course import Assignment, Exercise
from autograder.diagnosis import visible_fingerprints
from autograder.diagnosis.catalogue import Mistake, read_catalogue
from autograder.judge.attempt import attempt
from autograder.judge.exercise_calls import read
from autograder.judge.material import Material
from autograder.report import Cause
from autograder.sandbox.protocol.calls import Answer
from autograder.testing.callbacks import parameter_names
from autograder.testing.expect import Mismatch
from autograder.testing.local import Here
from autograder.testing.session import Suite
from autograder.testing.student import has_chance


def keep_visible_names(assignment: Assignment) -> Iterator[Path]:
    """Save the fingerprints beside the visible tests, if every exercise has some; yields the file."""
    if all(path.is_file() for path in assignment.visible):
        yield visible_fingerprints.write(assignment.content, dict(_visible_rows(assignment)))


def _visible_rows(assignment: Assignment) -> Iterator[tuple[bytes, bytes]]:
    """A row for each different set of answers that mistakes give to an exercise's visible tests."""
    catalogue = read_catalogue(assignment.mistakes)
    found: dict[tuple[str, bytes], tuple[list[Cause], list[Answer]]] = {}
    right = vars(assignment.reference())
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # for small inputs, threads cost more than they gain
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    with Suite(assignment.visible) as suite:
        material = Material(suite)
        for mistake in (*catalogue.mistakes, *catalogue.variants):
            answers = _visible_answers(material, right, mistake, exercises[mistake.exercise])
            if answers:
                place = visible_fingerprints.place_of(mistake.exercise, answers)
                causes, _ = found.setdefault((mistake.exercise, place), ([], answers))
                causes.append(Cause(mistake.name, mistake.hint))
    for (exercise, _), (causes, answers) in found.items():
        if shared := visible_fingerprints.shared(causes):
            yield visible_fingerprints.row_of(exercise, answers, shared)


def _visible_answers(material: Material, right: Mapping[str, Any], mistake: Mistake, which: Exercise) -> list[Answer]:
    """A mistake's answers to its visible tests, as `check` receives them; none if they are weak evidence."""
    names = Here({**right, mistake.exercise: mistake.code})
    found = attempt(material, names, which, functools.partial(parameter_names, {}))
    calls = [(recorded.call, read(recorded.answer)) for recorded in found.calls]
    is_chance = found.non_deterministic or any(has_chance(call, answer) for call, answer in calls)
    has_value = any(isinstance(outcome.error, Mismatch) for outcome in found.outcomes)
    return [answer for _, answer in calls] if has_value and not is_chance else []
