"""The result of a student's function on an exercise's visible example, as data for a picture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.explain.material import Example, Material
from autograder.judge.attempt import JudgedNames
from autograder.judge.judging import Judged
from autograder.judge.rules.rule import ExerciseCalls, ask_one
from autograder.report import Picture
from autograder.testing.callbacks import Questions
from autograder.testing.student_errors import Stopped
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Call, Instance, Reply
from cellcage.values.value import is_tensor, numbers

MAX_MATRICES = 8


def drawing(material: Material, names: JudgedNames) -> Callable[[Judged], Picture | None]:
    """A function that draws an exercise's result on its visible example, in the state that counts."""
    questions = Questions(material.reference, (), material.plan.array_functions)

    def drawn(one: Judged) -> Picture | None:
        example = material.examples.get(one.exercise.name)
        if example is None:
            return None
        names.at(one.place)
        if names.looping and not names.uses(one.exercise.name, ()).isdisjoint(names.looping):
            return None
        with contextlib.closing(names.begin(questions)) as calls:
            return draw(calls, example, one.exercise.name)

    return drawn


def draw(calls: ExerciseCalls, example: Example, name: str) -> Picture | None:
    """The result of the student's function on the visible example; None if it cannot be drawn."""
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
