"""Every catalogued mistake loses marks in its own exercise and nowhere else, and never all for one slip."""

from __future__ import annotations

import numpy as np
import pytest

from autograder import catalogue_page
from autograder.faces.check import examine
from autograder.marking.catalogue import read_catalogue
from tests.conftest import ROOT
from tests.in_process import ASSIGNMENTS, judged, judged_mistake

CASES = [(a, m) for a in ASSIGNMENTS for m in read_catalogue(a.suite)]


@pytest.mark.parametrize(("assignment", "mistake"), CASES, ids=[f"{a.name}-{m.exercise}-{m.name}" for a, m in CASES])
def test_mistake_costs_its_own_exercise_only(assignment, mistake):
    results = judged_mistake(assignment, mistake)
    for name, result in results.items():
        lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
        if name == mistake.exercise:
            assert lost, "the suite accepts this mistake"
            assert result.score > 0, lost
            assert (result.diagnosis, result.hint) == (mistake.name, mistake.hint)
        else:
            assert result.diagnosis is None
            assert result.score == result.max_score, (name, lost)


def test_the_page_is_what_suites_and_catalogue_give():
    rows = [(a, m, judged_mistake(a, m)[m.exercise]) for a, m in CASES]
    written = (ROOT / "docs" / "known-mistakes.md").read_text()
    assert written == catalogue_page.page(rows), "run `autograder dev catalogue`"


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_exercise_has_known_mistakes_with_hints(assignment):
    found = read_catalogue(assignment.suite)
    assert len(list(found)) >= 15
    for exercise in assignment.exercises:
        mine = found.of(exercise.name)
        assert len(mine) >= 3, exercise.name
        assert all(mistake.hint.rstrip().endswith(("?", ".")) for mistake in mine)


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


@pytest.mark.parametrize("attempt", [constant, nothing, first_argument, last_argument, twice_the_last, noise, zeros])
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_attempt_earns_at_most_a_tenth(assignment, attempt):
    for exercise in assignment.exercises:
        result = judged(assignment, {exercise.name: attempt})[exercise.name]
        passed = [test.name for test in result.tests if test.state == "passed"]
        assert result.score <= exercise.points / 10, (exercise.name, passed)


def written(args, kwargs):
    """A call's arguments as text; what can be called is made anew for each call and has no text of its own."""
    return repr([["a function" if callable(a) else a for a in args], kwargs])


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_visible_example_hard_coded_earns_at_most_a_tenth(assignment):
    """A function that knows the answers to the visible checks by heart, and nothing else."""
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
        result = judged(assignment, {exercise.name: recite})[exercise.name]
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


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_right_values_are_worth_at_least_half(assignment):
    for exercise in assignment.exercises:
        right = getattr(assignment.reference(), exercise.name)
        if not isinstance(right, type):
            off = lambda *args, right=right, **kwargs: slightly_off(right(*args, **kwargs))  # noqa: E731
            result = judged(assignment, {exercise.name: off})[exercise.name]
            assert result.score <= exercise.points / 2, exercise.name
