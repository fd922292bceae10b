"""One slip has one price: about the same in every exercise, and never nearly all of the points."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS, material
from tests.helpers.prices import FINE_PRINT, KINDS, NO_ATTEMPT, price_table

# What a refinement is worth, in percent of its exercise. It is made so that a slip of its kind fails it alone, so this
# is what such a slip costs. Of a mask or an integer, the dtype is more than a refinement.
SHARES = {
    "dtype": (3, 7),
    "inputs_left_alone": (5, 8),
    "large_scores": (5, 8),
    "no_leak": (4, 6),
    "no_look_ahead": (4, 6),
    "mask_and_large_scores": (4, 6),
    "nothing_allowed": (4, 6),
    "nothing_to_attend_to": (4, 6),
    "empty_text": (4, 6),
    "nothing_real": (4, 6),
    "gradients": (5, 12),
    "shape": (4, 10),
}
OF_MASKS = {"causal_mask", "padding_mask", "offset_attention", "sliding_window_mask"}


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_refinements_of_one_kind_are_worth_the_same_everywhere(assignment):
    points = {exercise.name: exercise.points for exercise in assignment.exercises}
    for test in material(assignment).suite.tests:
        kind = test.name.removeprefix("test_")
        if kind in SHARES and not (kind == "dtype" and test.exercise in OF_MASKS):
            least, most = SHARES[kind]
            share = round(100 * test.weight / points[test.exercise], 6)
            assert least <= share <= most, (test.exercise, kind, share)


# What a known mistake may cost, in percent of its exercise.
CONCEPT = (10, 70)  # one conceptual slip
FAIR = {FINE_PRINT: (1, 15), NO_ATTEMPT: (70, 99)}
PRICED = [a for a in ASSIGNMENTS if price_table(a) is not None]


@pytest.mark.parametrize("assignment", PRICED, ids=lambda a: a.name)
def test_a_mistake_has_a_fair_price(assignment):
    table, unfair = price_table(assignment), []
    for exercise in assignment.exercises:
        for name, costs in table[exercise.name].items():
            kind = next((k for k in KINDS if {name, f"{exercise.name}/{name}"} & set(table[k])), None)
            low, high = FAIR.get(kind, CONCEPT)
            costs = costs if isinstance(costs, list) else [costs]
            unfair += [(exercise.name, name, cost) for cost in costs if not low <= cost <= high]
    assert not unfair


@pytest.mark.parametrize("assignment", PRICED, ids=lambda a: a.name)
def test_whatever_has_a_kind_is_a_known_mistake(assignment):
    table = price_table(assignment)
    names = {name for exercise in assignment.exercises for name in table[exercise.name]}
    names |= {f"{exercise.name}/{name}" for exercise in assignment.exercises for name in table[exercise.name]}
    assert not {name for kind in KINDS for name in table[kind]} - names
