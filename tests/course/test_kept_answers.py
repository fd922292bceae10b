"""An answer that is kept for all calls with arguments of the same sizes loses marks, and says so before grading."""

from __future__ import annotations

import functools
import inspect

import pytest

from tests.helpers.agreement import checked
from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.selection import one_in

PROMISED = 0.9
# Their arguments are numbers, so calls with the same arguments have the same answer.
NUMBERS_ONLY = {
    "causal_mask",
    "projection_shapes",
    "positional_encoding",
    "offset_attention",
    "cache_bytes",
    "sliding_window_mask",
}
OTHER_METHODS = {"KeyValueCache"}  # it has no `forward`
EXERCISES = [
    (assignment, exercise)
    for assignment in ASSIGNMENTS
    for exercise in assignment.exercises
    if exercise.name not in NUMBERS_ONLY | OTHER_METHODS
]


def size(value):
    """What a kept answer is looked up by; a layer or a model counts as any other."""
    if callable(value):
        return "to be called"
    if hasattr(value, "shape"):
        return tuple(value.shape), str(value.dtype)
    return (type(value), len(value)) if isinstance(value, list | tuple) else value


def keeping(function):
    """`function`, which gives its first answer to all arguments of the same sizes; a method's object keeps them."""
    signature, kept = inspect.signature(function), {}

    @functools.wraps(function)
    def first_answer(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        mine = vars(args[0]).setdefault("kept", {}) if "self" in signature.parameters else kept
        key = tuple(size(value) for name, value in given.arguments.items() if name != "self")
        if key not in mine:
            mine[key] = function(*args, **kwargs)
        return mine[key]

    return first_answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "exercise"), one_in(5, EXERCISES), ids=[exercise.name for _, exercise in EXERCISES]
)
def test_it_loses_marks_and_is_red_if_they_are_many(assignment, exercise):
    code = vars(assignment.reference())[exercise.name]
    code = type(exercise.name, (code,), {"forward": keeping(code.forward)}) if inspect.isclass(code) else keeping(code)
    result = judged_alone(assignment, exercise, code, names_causes=False)
    assert result.score < result.max_score
    assert result.score >= PROMISED * result.max_score or not checked(assignment, exercise.name, code).passed
