"""An exercise's visible example, and the result of a student's function on it as data for a picture."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from autograder.course.assignments import Assignment
from autograder.errors import CourseError
from autograder.judge.attempt import JudgedNames
from autograder.judge.judging import Judged
from autograder.judge.rules.rule import ExerciseCalls, ask_one
from autograder.reading import read_toml
from autograder.report import Picture
from autograder.testing.student_errors import Stopped
from cellcage.notebook_calls import Terms, read
from cellcage.protocol.calls import Call, Instance, Reply
from cellcage.values.value import is_tensor, numbers

MAX_MATRICES = 8
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


def examples_of(assignment: Assignment) -> dict[str, Example]:
    """The valid examples of an assignment, by exercise."""
    found = dict[str, Example]()
    for path in assignment.files("picture.toml"):
        with contextlib.suppress(CourseError):  # no mark depends on it, and `dev check` reports it
            if example := example_in(path):
                found[path.parent.name] = example
    return found


def draw(examples: Mapping[str, Example], names: JudgedNames, judged: Judged) -> Picture | None:
    """An exercise's result on its example, in the state that counts; None if it has none, or cannot be drawn."""
    example, name = examples.get(judged.exercise.name), judged.exercise.name
    # Code that was stopped would have to be stopped once more.
    was_stopped = any(isinstance(run.outcome.error, Stopped) for run in judged.best.runs)
    if example is None or was_stopped or not judged.best.started:
        return None
    names.at(judged.place)
    if names.looping and not names.uses(name, ()).isdisjoint(names.looping):
        return None
    with contextlib.closing(names.begin(Terms())) as calls:
        return _drawn(calls, example, name)


def _drawn(calls: ExerciseCalls, example: Example, name: str) -> Picture | None:
    try:
        answer = read(ask_one(calls, _call(name, example)))
    except (ModuleNotFoundError, Stopped):  # no PyTorch, or the stop button; the tests report it
        return None
    if not isinstance(answer, Reply):
        return None
    value = answer.value
    if example.part is not None:
        value = value[example.part] if isinstance(value, tuple | list) and len(value) > example.part else None
    if not isinstance(value, np.ndarray) and not is_tensor(value):
        return None
    array = numbers(value)
    if array.dtype.kind not in "bf" or array.shape[-2:] != example.shape or array.ndim not in (2, 3):
        return None
    if not 0 < len(array) <= MAX_MATRICES:
        return None
    wanted = () if example.wanted is None else _matrices(example.wanted, example)
    return Picture(_matrices(array, example), example.rows, example.columns, array.dtype.kind == "b", wanted)


def _call(name: str, example: Example) -> Call:
    def converted(value: Any) -> Any:
        if not example.tensors or not isinstance(value, np.ndarray):
            return value
        import torch

        return torch.from_numpy(np.ascontiguousarray(value))

    args = [converted(arg) for arg in example.args]
    if example.parameters is None:
        return Call(name, args)
    made = Instance(args, {}, {key: converted(value) for key, value in example.parameters.items()})
    return Call(name, [converted(arg) for arg in example.forward], {}, made)


def _matrices(array: np.ndarray, example: Example) -> tuple[Any, ...]:
    matrices = array.reshape(-1, *example.shape).astype(float).tolist()
    return tuple(tuple(tuple(row) for row in matrix) for matrix in matrices)
