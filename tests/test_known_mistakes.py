"""Every catalogued mistake loses marks in its own exercise and nowhere else, and never all for one slip."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from autograder.authors import catalogue_page
from autograder.judging.alike import numbers
from autograder.judging.catalogue import read_catalogue
from autograder.judging.student import parts_of
from tests.conftest import ROOT
from tests.in_process import ASSIGNMENTS, judged_mistake

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


# Of a part, such as "the result for batch item 1", the place is that in the part.
WRONG = re.compile(
    r"(\w+\(.*?\))(?: with .*?)?: (?:the result|output|weights) at \[([\d, ]+)\] is (\S+), which is not right"
    r".*same input: `(.*)`"
)


@pytest.mark.parametrize(("assignment", "mistake"), CASES, ids=[f"{a.name}-{m.exercise}-{m.name}" for a, m in CASES])
def test_what_a_message_calls_wrong_is_wrong(assignment, mistake):
    """Where the call can be made again by the message's own line, the solution gives another number there."""
    for test in judged_mistake(assignment, mistake)[mistake.exercise].tests:
        found = WRONG.match(test.message)
        if not found:
            continue
        call, place, number, made_by = found.groups()
        names = dict(vars(assignment.reference()), np=np, torch=torch)
        exec(made_by, names)
        index = tuple(map(int, place.split(",")))
        parts = [numbers(part) for part in parts_of(eval(call, names)) if hasattr(part, "shape")]
        near = [part[index] for part in parts if part.ndim == len(index) and (np.array(index) < part.shape).all()]
        assert near, test.message
        assert not any(f"{float(one):.4g}" == number or str(one) == number for one in near), test.message


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
