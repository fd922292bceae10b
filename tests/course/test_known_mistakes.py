"""Every catalogued mistake loses marks in its own exercise and nowhere else, and never all for one slip."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pytest
import torch

from autograder.authoring import catalogue_page
from autograder.testing.catalogue import read_catalogue
from autograder.testing.student import parts_of
from autograder.testing.values.core.comparing import numbers
from tests.helpers.in_process import (
    ASSIGNMENTS,
    LONG,
    callers_of,
    exercise_of,
    judged_elsewhere,
    judged_mistake,
    marks_of_mistake,
)
from tests.helpers.prices import price_table, prices_of
from tests.helpers.selection import REST, one_in

CASES = [(a, m) for a in ASSIGNMENTS for m in read_catalogue(a.mistakes)]
EXERCISES = [(a, e) for a in ASSIGNMENTS for e in a.exercises]
SOME = 2  # of an exercise's mistakes, or one more
EXERCISE_IDS = [f"{a.name}-{e.name}" for a, e in EXERCISES]
of_each_exercise = pytest.mark.parametrize(("assignment", "exercise"), EXERCISES, ids=EXERCISE_IDS)


def cases():
    for assignment, exercise in EXERCISES:
        for number, mistake in enumerate(mistakes_of(assignment, exercise)):
            name = f"{assignment.name}-{exercise.name}-{mistake.name}"
            yield pytest.param(assignment, mistake, marks=marks_of_mistake(exercise.name, number), id=name)


def mistakes_of(assignment, exercise):
    return [mistake for one, mistake in CASES if one is assignment and mistake.exercise == exercise.name]


def some_mistakes_of(assignment, exercise):
    """Those that `make test` judges anyway."""
    every = enumerate(mistakes_of(assignment, exercise))
    return [one for number, one in every if pytest.mark.catalogue not in marks_of_mistake(exercise.name, number)]


@pytest.mark.parametrize(("assignment", "mistake"), [*cases()])
def test_mistake_costs_marks_and_is_named(assignment, mistake):
    result = judged_mistake(assignment, mistake)
    lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
    assert lost, "the suite accepts this mistake"
    assert result.score > 0, lost
    assert (result.diagnosis, result.hint) == (mistake.name, mistake.hint)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "exercise"),
    [
        pytest.param(a, e, marks=REST if number % 8 or e.name in LONG else [], id=f"{a.name}-{e.name}")
        for number, (a, e) in enumerate(EXERCISES)
    ],
)
def test_it_costs_what_the_price_table_says(assignment, exercise):
    assert price_table(assignment)[exercise.name] == prices_of(assignment, exercise.name)


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "exercise"), one_in(4, EXERCISES), ids=EXERCISE_IDS)
def test_mistake_costs_nothing_in_another_exercise(assignment, exercise):
    """What calls it is judged with the right one in its place, whatever is wrong with it, so some of them show it."""
    mistakes = mistakes_of(assignment, exercise)
    cost_nothing_elsewhere(assignment, mistakes[:: max(1, len(mistakes) // SOME)])


@pytest.mark.slow
@pytest.mark.catalogue
@of_each_exercise
def test_no_mistake_costs_anything_in_another_exercise(assignment, exercise):
    cost_nothing_elsewhere(assignment, mistakes_of(assignment, exercise))


def cost_nothing_elsewhere(assignment, mistakes):
    for mistake in mistakes:
        exercise = exercise_of(assignment, mistake.exercise)
        for result in judged_elsewhere(assignment, exercise, mistake.code, has_lost=True):
            lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
            assert result.score == result.max_score, (mistake.name, result.name, lost)


@pytest.mark.slow
def test_the_exercises_that_call_another_are_found():
    a5 = ASSIGNMENTS[4]
    found = {exercise.name: [one.name for one in callers_of(a5, exercise)] for exercise in a5.exercises}
    assert {name: callers for name, callers in found.items() if callers} == {
        "positional_encoding": ["TransformerDecoder"],
        "DecoderBlock": ["TransformerDecoder"],
    }


# Of a part, such as "the result for batch item 1", the place is that in the part.
WRONG = re.compile(
    r"(\w+\(.*?\))(?: with .*?)?: (?:the result|output|weights) at \[([\d, ]+)\] is (\S+), which is not right"
    r".*same input: `(.*)`"
)


@pytest.mark.slow
@of_each_exercise
def test_what_a_message_calls_wrong_is_wrong(assignment, exercise):
    """Where the call can be made again by the message's own line, the solution gives another number there."""
    are_wrong_where_told(assignment, some_mistakes_of(assignment, exercise))


@pytest.mark.catalogue
@of_each_exercise
def test_what_any_message_calls_wrong_is_wrong(assignment, exercise):
    are_wrong_where_told(assignment, mistakes_of(assignment, exercise))


def are_wrong_where_told(assignment, mistakes):
    for test in (t for m in mistakes for t in judged_mistake(assignment, m).tests):
        found = WRONG.match(test.message)
        if not found:
            continue
        call, place, number, reproduce = found.groups()
        names = dict(vars(assignment.reference()), np=np, torch=torch)
        exec(reproduce, names)
        index = tuple(map(int, place.split(",")))
        parts = [numbers(part) for part in parts_of(eval(call, names)) if hasattr(part, "shape")]
        near = [part[index] for part in parts if part.ndim == len(index) and (np.array(index) < part.shape).all()]
        assert near, test.message
        assert not any(f"{float(one):.4g}" == number or str(one) == number for one in near), test.message


@pytest.mark.slow
def test_one_mistake_costs_about_as_much_in_one_exercise_as_in_another():
    """At most twice as much, or 10 % of an exercise more: one test more or less is more than that in a small one."""
    prices = defaultdict(dict)
    for assignment, mistake in CASES:
        price = price_table(assignment)[mistake.exercise][mistake.name]
        prices[mistake.name][mistake.exercise] = max(price) if isinstance(price, list) else price
    prices = {name: own for name, own in prices.items() if len(own) > 1}
    assert len(prices) > 100
    ranges = {name: (min(own.values()), max(own.values())) for name, own in prices.items()}
    uneven = {name for name, (least, most) in ranges.items() if most > max(2.05 * least, least + 10)}
    assert not uneven, {name: prices[name] for name in uneven}


@pytest.mark.slow
def test_the_page_has_a_row_for_each_mistake():
    cases = [(a, m) for a, m in CASES if m.exercise in ("softmax", "masked_softmax")]
    page = catalogue_page.page((a, m, judged_mistake(a, m)) for a, m in cases)
    assert f"| these suites | 0 of {len(cases)} |" in page
    for _, mistake in cases:
        assert re.search(rf"^\| {re.escape(mistake.name)} \| \d+ % \|.*✗", page, re.MULTILINE), mistake.name


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_exercise_has_known_mistakes_with_hints(assignment):
    found = read_catalogue(assignment.mistakes)
    assert len(list(found)) >= 15
    for exercise in assignment.exercises:
        mine = found.of(exercise.name)
        assert len(mine) >= 3, exercise.name
        assert all(mistake.hint.rstrip().endswith(("?", ".")) for mistake in mine)
