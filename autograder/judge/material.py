"""What an assignment is judged with: its tests, the reference, the recorded plan and its known mistakes."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.course import content
from autograder.course.assignments import Assignment
from autograder.diagnosis import fingerprints
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.diagnosis.repair.cell import ParsedCell
from autograder.diagnosis.visible_fingerprints import VisibleNames
from autograder.errors import CourseError
from autograder.judge.rules import CHECK, GRADING
from autograder.judge.rules.rule import Rule
from autograder.testing.catalogue import read_catalogue
from autograder.testing.example import Example, example_in
from autograder.testing.plan import Plan, record
from autograder.testing.relation import OfAnswer
from autograder.testing.suite import Suite


@dataclass(frozen=True)
class Material:
    """The material for judging an assignment.

    suite: hidden or visible tests
    rules: judge the answers
    reference: the solution's names, empty if there is no solution here
    prerequisites: names from an earlier assignment, which are not judged here
    examples: what is drawn, by exercise
    relations: the course's own relations between wrong and right answers
    visible_names: names of mistakes by their answers to visible tests
    ready_made: for each exercise, the functions that it must not call
    sizes: for each exercise, how long its model answer is, in nodes of the syntax tree
    """

    suite: Suite
    reference: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)
    rules: Sequence[type[Rule]] = CHECK
    hypotheses: Hypotheses | None = None
    prerequisites: tuple[str, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)
    relations: Sequence[OfAnswer] = ()
    visible_names: VisibleNames = field(default_factory=dict)
    ready_made: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


def material_of(assignment: Assignment, keeps: bool = True) -> Material:
    """What the hidden tests judge with. Raises `CourseError`.

    keeps: whether hypotheses' answers may be read from the file beside the catalogue
    """
    names = vars(assignment.reference())  # first: after it the course's package can be imported
    suite = Suite(assignment.suites)
    _check_names(assignment, suite, names)
    plan = record(suite, names)
    saved = fingerprints.read(assignment.content) if keeps else {}
    hypotheses = Hypotheses(read_catalogue(assignment.mistakes), names, plan.by_exercise, saved)
    examples = dict[str, Example]()
    for path in assignment.files("picture.toml"):
        with contextlib.suppress(CourseError):  # no mark depends on it, and `dev check` reports it
            if example := example_in(path):
                examples[path.parent.name] = example
    relations = content.course_relations(assignment.content.parent)
    ready_made = {one.name: content.ready_made(assignment.content / one.name) for one in assignment.exercises}
    return Material(
        suite,
        names,
        plan,
        GRADING,
        hypotheses,
        assignment.prerequisites,
        examples,
        relations,
        ready_made=ready_made,
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
    unknown = [name for name in assignment.prerequisites if name not in names]
    if unknown:
        raise CourseError(f"{assignment.notebook}: cell 'bring-{unknown[0]}' defines no {unknown[0]}")
