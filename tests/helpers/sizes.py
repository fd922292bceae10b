"""The sizes in calls of hidden tests: of array axes, whole numbers and lists."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autograder.course.assignments import Assignment
from autograder.testing.callbacks import parameter_names
from autograder.testing.functions import Functions, answering
from cellcage.protocol.calls import Call
from tests.helpers.in_process import material

Sizes = dict[str, set[int | str]]  # by argument and axis
MODES = ("train", "eval")


@functools.cache
def sizes_of_calls(assignment: Assignment) -> Mapping[str, Sizes]:
    """By exercise, all sizes in the calls that its hidden tests make on the reference; see `_sizes_in`."""
    found: dict[str, Sizes] = {exercise.name: {} for exercise in assignment.exercises}
    for call in calls_of(assignment):
        for what, size in _sizes_in(call, vars(assignment.reference())):
            found[call.name].setdefault(what, set()).add(size)
    return found


@functools.cache
def calls_of(assignment: Assignment) -> Sequence[Call]:
    """The calls that hidden tests make of their own exercise, if the reference answers them."""
    names, found = vars(assignment.reference()), []
    words = functools.partial(parameter_names, names)
    for test in material(assignment).suite.tests:
        student = Functions(answering(names), words)
        assert material(assignment).suite.run(test, student, Functions(answering(names), words)).error is None, test
        found += [one.call for one in student.calls if one.call.name == test.exercise]
    return found


def parameters_of_calls(assignment: Assignment, exercise: str) -> Iterator[Mapping[str, Sequence[int]]]:
    """The shapes of a module's parameters by name, for each call that its hidden tests make."""
    build = vars(assignment.reference())[exercise]
    for call in calls_of(assignment):
        if call.name == exercise and call.instance is not None:
            with contextlib.suppress(ValueError):  # sizes that it has to refuse
                module = build(*call.instance.args, **call.instance.kwargs)
                yield {name: tuple(value.shape) for name, value in module.named_parameters()}


def _sizes_in(call: Call, names: Mapping[str, Any]) -> Iterator[tuple[str, int | str]]:
    """Every size in a call, with its name.

    `num_heads` is a whole number, `X -1` an array's last axis or a list's length. For a class, `steps` is the number of
    method calls on its object, and `append.K -2` a size in such a call. For a module, `modes` are the modes in which it
    is called.
    """
    forward = f"{call.name}.forward" if call.instance else call.name
    yield from _of_arguments(parameter_names(names, forward), call.args, call.kwargs)
    if call.instance is not None:
        yield from _of_arguments(parameter_names(names, call.name), call.instance.args, call.instance.kwargs)
        if not call.build:
            yield "modes", next((s.method for s in reversed(call.steps) if s.method in MODES), "train")
    elif call.steps:
        yield "steps", len(call.steps)
        for step in call.steps:
            method = parameter_names(names, f"{call.name}.{step.method}")
            yield from ((f"{step.method}.{what}", size) for what, size in _of_arguments(method, step.args, {}))


def _of_arguments(words: list[str], args: Any, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for what, value in [*zip(words, args, strict=False), *kwargs.items()]:
        if hasattr(value, "shape") and len(value.shape):
            yield from ((f"{what} {axis - len(value.shape)}", int(size)) for axis, size in enumerate(value.shape))
        elif isinstance(value, list | tuple):
            yield f"{what} -1", len(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield what, value
