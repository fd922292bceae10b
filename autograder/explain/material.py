"""What an assignment is judged and explained with: its tests, the reference, and its known mistakes."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from autograder.course import content
from autograder.course.assignments import Assignment
from autograder.errors import CourseError
from autograder.explain import fingerprints
from autograder.explain.hypotheses import Hypotheses
from autograder.explain.repair.cell import ParsedCell
from autograder.explain.visible_fingerprints import VisibleNames
from autograder.judge.attempt import Tests
from autograder.judge.rules import GRADING
from autograder.reading import read_toml
from autograder.testing.catalogue import OfAnswer, read_catalogue
from autograder.testing.plan import record
from autograder.testing.suite import Suite

SHARED = "shared_picture.toml"  # in the assignment's folder: values by name
NestedNumbers = list[Any]  # nested as deep as an array has axes; numpy looks at what is in them


@dataclass(frozen=True)
class Example:
    """A call and its expected result. part: the part of the answer that is the picture; None if it is the whole answer.

    An `nn.Module` is constructed with `args`, gets `parameters` copied in by name, and is called with `forward`.
    """

    args: tuple[Any, ...]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, np.ndarray] | None = None
    forward: tuple[Any, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    wanted: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the picture; an answer of another shape is not drawn."""
        return len(self.rows), len(self.columns)


class PictureFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`picture.toml` as it is written, with names for values."""

    args: list[bool | int | float | str | NestedNumbers]
    wanted: str | NestedNumbers
    rows: str | list[str]
    columns: str | list[str]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, str | NestedNumbers] | None = None
    forward: list[bool | int | float | str | NestedNumbers] = []
    values: dict[str, NestedNumbers] = {}


def example_in(path: Path) -> Example | None:
    """The example of a `picture.toml`; None if there is no such file.

    Raises `CourseError` that names the file and the key.
    """
    if not path.is_file():
        return None
    file = read_toml(path, PictureFile)
    values = read_toml(path.parents[1] / SHARED, dict[str, NestedNumbers]) | file.values

    def given(key: str, value: Any, kinds: str = "bif") -> Any:
        """A number unchanged, a list as an array of one of NumPy's `kinds`; a text names one of the values."""
        if isinstance(value, str):
            if value not in values:
                raise CourseError(f"{path}: {key}: no value is called {value!r}, here or in {SHARED}")
            value = values[value]
        try:
            array = np.array(value)
        except ValueError:  # rows of several lengths
            array = np.array(None)
        if array.dtype.kind not in kinds:
            raise CourseError(f"{path}: {key}: expected {'words' if kinds == 'U' else 'numbers in rows of one length'}")
        return array if isinstance(value, list) else value

    parameters = {name: given(f"parameters.{name}", value) for name, value in (file.parameters or {}).items()}
    return Example(
        tuple(given(f"args[{i}]", value) for i, value in enumerate(file.args)),
        file.part,
        file.tensors,
        parameters or None,
        tuple(given(f"forward[{i}]", value) for i, value in enumerate(file.forward)),
        tuple(given("rows", file.rows, "U").tolist()),
        tuple(given("columns", file.columns, "U").tolist()),
        given("wanted", file.wanted),
    )


@dataclass(frozen=True)
class Material(Tests):
    """The tests of an assignment, and what explains their outcomes. See the base class.

    examples: what is drawn, by exercise
    relations: the course's own relations between wrong and right answers
    visible_names: names of mistakes by their answers to visible tests
    sizes: for each exercise, how long its model answer is, in nodes of the syntax tree
    """

    hypotheses: Hypotheses | None = None
    examples: Mapping[str, Example] = field(default_factory=dict)
    relations: Sequence[OfAnswer] = ()
    visible_names: VisibleNames = field(default_factory=dict)
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
        assignment.source.prerequisites,
        ready_made,
        hypotheses,
        examples,
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
