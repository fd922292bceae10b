"""Every known mistake costs a fair share of its own exercise, and nothing in other exercises."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.authoring import known_mistakes
from autograder.testing.catalogue import read_catalogue
from cellcage.values.value import numbers, parts_of
from tests.helpers.in_process import (
    ASSIGNMENTS,
    exercise_of,
    judged_elsewhere,
    judged_mistake,
    marks_of_mistake,
)
from tests.helpers.selection import one_in

CASES = [(a, m) for a in ASSIGNMENTS for m in read_catalogue(a.mistakes)]
EXERCISES = [(a, e) for a in ASSIGNMENTS for e in a.exercises]
# The least and most that a known mistake may cost, in percent of its exercise.
CONCEPT = (10, 70)  # one conceptual mistake
FAIR = {"fine_print": (1, 15), "no_attempt": (70, 99)}
KINDS = tomllib.loads(Path(__file__).with_name("kinds_of_mistakes.toml").read_text())
SOME = 2  # mistakes of an exercise, or one more
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
    """Those that `make test` grades anyway."""
    every = enumerate(mistakes_of(assignment, exercise))
    return [one for number, one in every if pytest.mark.catalogue not in marks_of_mistake(exercise.name, number)]


def kind_of(assignment, mistake):
    names, kinds = {mistake.name, f"{mistake.exercise}/{mistake.name}"}, KINDS.get(assignment.name, {})
    return next((kind for kind in FAIR if names & {*kinds.get(kind, ())}), None)


def cost_of(result):
    """The lost points, in percent of the exercise."""
    return round(100 * (1 - result.score / result.max_score))


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_kinds_of_mistakes_lists_only_known_mistakes(assignment):
    mine = [mistake for one, mistake in CASES if one is assignment]
    known = {name for mistake in mine for name in (mistake.name, f"{mistake.exercise}/{mistake.name}")}
    assert not {name for names in KINDS.get(assignment.name, {}).values() for name in names} - known


@pytest.mark.parametrize(("assignment", "mistake"), [*cases()])
def test_mistake_costs_marks_and_is_named(assignment, mistake):
    result = judged_mistake(assignment, mistake)
    lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
    assert lost, "the hidden tests accept this mistake"
    low, high = FAIR.get(kind_of(assignment, mistake), CONCEPT)
    assert low <= cost_of(result) <= high, lost
    assert (result.diagnosis, result.hint) == (mistake.name, mistake.hint)


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "exercise"), one_in(8, EXERCISES), ids=EXERCISE_IDS)
def test_mistake_costs_nothing_in_another_exercise(assignment, exercise):
    """Callers are graded with the reference in its place, whatever the mistake, so a few mistakes are enough."""
    mistakes = mistakes_of(assignment, exercise)
    assert_no_cost_elsewhere(assignment, mistakes[:: max(1, len(mistakes) // SOME)])


@pytest.mark.slow
@pytest.mark.catalogue
@of_each_exercise
def test_all_mistakes_cost_nothing_in_another_exercise(assignment, exercise):
    assert_no_cost_elsewhere(assignment, mistakes_of(assignment, exercise))


def assert_no_cost_elsewhere(assignment, mistakes):
    for mistake in mistakes:
        exercise = exercise_of(assignment, mistake.exercise)
        for result in judged_elsewhere(assignment, exercise, mistake.code, has_lost=True):
            lost = [f"{t.name}: {t.message}" for t in result.tests if t.state != "passed"]
            assert result.score == result.max_score, (mistake.name, result.name, lost)


# In a part, such as "the result for batch item 1", the index counts within the part.
WRONG = re.compile(
    r"(\w+\(.*?\))(?: with .*?)?: (?:the result|output|weights) at \[([\d, ]+)\] is (\S+), which is not right"
    r".*same input: `(.*)`"
)


@pytest.mark.slow
@of_each_exercise
def test_message_points_at_a_wrong_number(assignment, exercise):
    """If the message has a line that repeats the call, the solution's number at the named place differs."""
    assert_wrong_at_named_place(assignment, some_mistakes_of(assignment, exercise))


@pytest.mark.catalogue
@of_each_exercise
def test_all_messages_point_at_wrong_numbers(assignment, exercise):
    assert_wrong_at_named_place(assignment, mistakes_of(assignment, exercise))


def assert_wrong_at_named_place(assignment, mistakes):
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


@pytest.mark.catalogue
@pytest.mark.parametrize("name", sorted(name for name, count in Counter(m.name for _, m in CASES).items() if count > 1))
def test_same_mistake_costs_about_the_same_in_each_exercise(name):
    """At most 2.25 times as much, or 10 % more, because a single test matters more in a small exercise."""
    costs = defaultdict(int)
    for assignment, mistake in CASES:
        if mistake.name == name:
            costs[mistake.exercise] = max(costs[mistake.exercise], cost_of(judged_mistake(assignment, mistake)))
    assert max(costs.values()) <= max(2.25 * min(costs.values()), min(costs.values()) + 10), costs


@pytest.mark.slow
def test_catalogue_page_has_a_row_for_each_mistake():
    cases = [(a, m) for a, m in CASES if m.exercise in ("softmax", "masked_softmax")]
    page = known_mistakes.page((a, m, judged_mistake(a, m)) for a, m in cases)
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
