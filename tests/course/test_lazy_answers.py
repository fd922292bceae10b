"""Answers without thought earn almost nothing, and right values are worth at least half of the points."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.student.check import examine
from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.selection import REST, one_in

some = pytest.mark.parametrize("assignment", one_in(3, ASSIGNMENTS), ids=lambda a: a.name)


LAZY = {
    "first argument": lambda *args, **kwargs: args[0] if args else next(iter(kwargs.values()), None),
    "zeros": lambda *args, **kwargs: np.zeros_like(args[0]) if args and hasattr(args[0], "shape") else 0,
    "last argument twice": lambda *args, **kwargs: (args[-1], args[-1]) if args else None,
    "constant": lambda *args, **kwargs: 0.0,
    "nothing": lambda *args, **kwargs: None,
    "last argument": lambda *args, **kwargs: args[-1] if args else None,
    "noise": lambda *args, **kwargs: np.random.default_rng().normal(size=np.shape(args[0]) if args else ()),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", [pytest.param(one, marks=[] if one in ("first argument", "zeros") else REST) for one in LAZY]
)
@some
def test_lazy_answer_earns_at_most_a_tenth(assignment, answer):
    for exercise in assignment.exercises:
        result = judged_alone(assignment, exercise, LAZY[answer], names_causes=False)
        passed = [test.name for test in result.tests if test.state == "passed"]
        assert result.score <= exercise.points / 10, (exercise.name, passed)


def as_text(args, kwargs):
    """The arguments of a call as text; a callable is created for each call, so its own text would differ."""
    return repr([["a function" if callable(a) else a for a in args], kwargs])


@pytest.mark.slow
@some
def test_hard_coded_visible_examples_earn_at_most_a_tenth(assignment):
    reference = vars(assignment.reference())
    for exercise in assignment.exercises:
        right = reference[exercise.name]
        if isinstance(right, type):
            continue
        known = {}

        def remember(*args, right=right, known=known, **kwargs):
            known[as_text(args, kwargs)] = right(*args, **kwargs)
            return known[as_text(args, kwargs)]

        def recite(*args, known=known, **kwargs):
            return known.get(as_text(args, kwargs), 0.0)

        assert examine(exercise.name, dict(reference) | {exercise.name: remember}).passed
        assert any(t.state == "passed" for t in examine(exercise.name, {exercise.name: recite}).result.tests)
        result = judged_alone(assignment, exercise, recite, names_causes=False)
        passed = [test.name for test in result.tests if test.state == "passed"]
        assert result.score <= exercise.points / 10, (exercise.name, passed)


def slightly_off(value):
    """An answer of the right kind and shape with wrong values."""
    if isinstance(value, tuple | list):
        return type(value)(slightly_off(part) for part in value)
    if isinstance(value, bool | int):
        return not value if isinstance(value, bool) else value + 1
    if isinstance(value, dict):
        return {key: tuple(size + 1 for size in shape) for key, shape in value.items()}
    return ~value if str(value.dtype).endswith("bool") else value + 0.5


@pytest.mark.slow
@some
def test_right_values_are_worth_at_least_half_of_the_points(assignment):
    for exercise in assignment.exercises:
        right = getattr(assignment.reference(), exercise.name)
        if not isinstance(right, type):
            off = lambda *args, right=right, **kwargs: slightly_off(right(*args, **kwargs))  # noqa: E731
            result = judged_alone(assignment, exercise, off, names_causes=False)
            # Many tests of greedy_summary are about where it stops, not about its words.
            most = 0.6 if exercise.name == "greedy_summary" else 0.5
            assert result.score <= exercise.points * most, exercise.name
