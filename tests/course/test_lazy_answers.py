"""What takes no thought earns next to nothing, and right values are what an exercise's points are for."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.student.check import examine
from tests.helpers.in_process import ASSIGNMENTS, judged_alone
from tests.helpers.selection import one_in

some = pytest.mark.parametrize("assignment", one_in(3, ASSIGNMENTS), ids=lambda a: a.name)


def constant(*args, **kwargs):
    return 0.0


def nothing(*args, **kwargs):
    return None


def first_argument(*args, **kwargs):
    return args[0] if args else next(iter(kwargs.values()), None)


def last_argument(*args, **kwargs):
    return args[-1] if args else None


def twice_the_last(*args, **kwargs):
    return (args[-1], args[-1]) if args else None


def noise(*args, **kwargs):
    return np.random.default_rng().normal(size=np.shape(args[0]) if args else ())


def zeros(*args, **kwargs):
    return np.zeros_like(args[0]) if args and hasattr(args[0], "shape") else 0


SLOW, ALL = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.catalogue]


@pytest.mark.parametrize(
    "attempt",
    [
        *(pytest.param(one, marks=SLOW) for one in (first_argument, zeros)),
        *(pytest.param(one, marks=ALL) for one in (twice_the_last, constant, nothing, last_argument, noise)),
    ],
)
@some
def test_no_attempt_earns_at_most_a_tenth(assignment, attempt):
    for exercise in assignment.exercises:
        result = judged_alone(assignment, exercise, attempt, names_causes=False)
        passed = [test.name for test in result.tests if test.state == "passed"]
        assert result.score <= exercise.points / 10, (exercise.name, passed)


def written(args, kwargs):
    """A call's arguments as text; a callable is made again for each call and has no text of its own."""
    return repr([["a function" if callable(a) else a for a in args], kwargs])


@pytest.mark.slow
@some
def test_the_visible_example_hard_coded_earns_at_most_a_tenth(assignment):
    """A function that knows the answers to the visible tests by heart, and nothing else."""
    reference = vars(assignment.reference())
    for exercise in assignment.exercises:
        right = reference[exercise.name]
        if isinstance(right, type):
            continue
        known = {}

        def remember(*args, right=right, known=known, **kwargs):
            known[written(args, kwargs)] = right(*args, **kwargs)
            return known[written(args, kwargs)]

        def recite(*args, known=known, **kwargs):
            return known.get(written(args, kwargs), 0.0)

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
def test_right_values_are_worth_at_least_half(assignment):
    for exercise in assignment.exercises:
        right = getattr(assignment.reference(), exercise.name)
        if not isinstance(right, type):
            off = lambda *args, right=right, **kwargs: slightly_off(right(*args, **kwargs))  # noqa: E731
            result = judged_alone(assignment, exercise, off, names_causes=False)
            # Of greedy_summary's tests many ask where it stops, and not what it writes.
            most = 0.6 if exercise.name == "greedy_summary" else 0.5
            assert result.score <= exercise.points * most, exercise.name
