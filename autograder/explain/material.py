"""What an assignment is judged and explained with: its tests, the reference, and its known mistakes."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.course import content
from autograder.course.assignments import Assignment
from autograder.errors import CourseError
from autograder.explain import fingerprints
from autograder.explain.fingerprints import Hypotheses
from autograder.explain.picture import Example, examples_of
from autograder.explain.repair.cell import ParsedCell
from autograder.judge.attempt import JudgedNames, Tests
from autograder.judge.judging import Judged
from autograder.judge.rules import GRADING, terms_of
from autograder.report import ExerciseResult
from autograder.testing.catalogue import OfAnswer, read_catalogue
from autograder.testing.plan import record
from autograder.testing.suite import Suite


@dataclass(frozen=True)
class Material(Tests):
    """The tests of an assignment, and what explains their outcomes. See the base class.

    examples: what is drawn, by exercise
    relations: the course's own relations between wrong and right answers
    sizes: for each exercise, how long its model answer is, in nodes of the syntax tree
    """

    hypotheses: Hypotheses | None = None
    examples: Mapping[str, Example] = field(default_factory=dict)
    relations: Sequence[OfAnswer] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """An exercise whose mark is to be explained, and all that may explain it.

    result: as far as it is known; spent: CPU seconds, also of the student's, for other exercises in the same step
    """

    material: Material
    names: JudgedNames
    judged: Judged
    result: ExerciseResult
    spent: float = 0.0


def material_of(assignment: Assignment) -> Material:
    """What the hidden tests judge with. Raises `CourseError`."""
    names = vars(assignment.reference())  # first: after it the course's package can be imported
    suite = Suite(assignment.suites)
    _check_names(assignment, suite, names)
    plan = record(suite, names)
    saved = fingerprints.read(assignment.content)
    hypotheses = Hypotheses(read_catalogue(assignment.mistakes), names, plan.by_exercise, saved)
    relations = content.course_relations(assignment.content.parent)
    terms = {one.name: terms_of(assignment.content / one.name) for one in assignment.exercises}
    return Material(
        suite,
        names,
        plan,
        GRADING,
        assignment.source.prerequisites,
        terms,
        hypotheses,
        examples_of(assignment),
        relations,
        sizes=_sizes(assignment, names),
    )


def _sizes(assignment: Assignment, names: Mapping[str, object]) -> Mapping[str, int]:
    """The length of each model answer that is a function or a class."""
    models = {one.name: names[one.name] for one in assignment.by_suite}
    written = {name: one for name, one in models.items() if inspect.isfunction(one) or inspect.isclass(one)}
    sizes = dict[str, int]()
    for name, one in written.items():
        with contextlib.suppress(OSError):  # made by code that has no text
            sizes[name] = ParsedCell(inspect.getsource(one)).size
    return sizes


def _check_names(assignment: Assignment, suite: Suite, names: Mapping[str, object]) -> None:
    """Raises `CourseError` if an exercise has no tests, or a name that students bring has no reference."""
    if not assignment.exercises:
        raise CourseError(f"{assignment.notebook}: no graded cell that tests judge")
    missing = [exercise.name for exercise in assignment.by_suite if exercise.name not in suite.exercises()]
    if missing:
        raise CourseError(
            f"{suite.folder}: no tests for {', '.join(missing)}; {assignment.notebook} has check cells of those names"
        )
    unknown = [name for name in assignment.source.prerequisites if name not in names]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
