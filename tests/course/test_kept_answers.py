"""Code that caches its answer by the sizes of its arguments loses marks, and `check` shows it before grading."""

from __future__ import annotations

import functools
import inspect

import pytest

from tests.helpers.agreement import checked
from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.selection import one_in

PROMISED = 0.9
# Their arguments are numbers, so a cached answer is correct.
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
    """The part of the cache key for one argument; all callables count as equal."""
    if callable(value):
        return "callable"
    if hasattr(value, "shape"):
        return tuple(value.shape), str(value.dtype)
    return (type(value), len(value)) if isinstance(value, list | tuple) else value


def cached_by_size(function):
    """`function` with its first answer for all arguments of the same sizes; a method caches in its object."""
    signature, cache = inspect.signature(function), {}

    @functools.wraps(function)
    def first_answer(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        answers = vars(args[0]).setdefault("cache", {}) if "self" in signature.parameters else cache
        key = tuple(size(value) for name, value in given.arguments.items() if name != "self")
        if key not in answers:
            answers[key] = function(*args, **kwargs)
        return answers[key]

    return first_answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "exercise"), one_in(5, EXERCISES), ids=[exercise.name for _, exercise in EXERCISES]
)
def test_cached_answer_loses_marks_and_fails_check_if_many(assignment, exercise):
    code = vars(assignment.reference())[exercise.name]
    if inspect.isclass(code):
        code = type(exercise.name, (code,), {"forward": cached_by_size(code.forward)})
    else:
        code = cached_by_size(code)
    result = judged_alone(assignment, exercise, code, names_causes=False)
    assert result.score < result.max_score
    assert result.score >= PROMISED * result.max_score or not checked(assignment, exercise.name, code).passed
