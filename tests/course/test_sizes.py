"""Hidden tests ask real sizes, not only those of a worked example: code that stops at eight words loses marks.

`size_floors/` has a file an assignment and a table an exercise. For each argument it says how small and how large the
hidden tests ask: `num_heads = [1, 8]`, and of an array for every axis, the last one last, `X = [[1, 2], [1, 72],
[2, 96]]`. `modes` are those in which a module is called; `even` are sizes that an exercise wants even. To see what is
asked today: `python -m tests.helpers.sizes`.
"""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.sizes import MODES, floors_of, ranges, sizes_asked

REAL = 64  # a table, a buffer or a cut made for the worked example ends before
MANY = 8  # from here on, sizes are also a power of two, and odd
FLOORS = [(a, e.name) for a in ASSIGNMENTS if floors_of(a) is not None for e in a.exercises]
of_each_exercise = pytest.mark.parametrize(
    ("assignment", "exercise"), FLOORS, ids=[f"{a.name}-{name}" for a, name in FLOORS]
)


@of_each_exercise
def test_every_size_reaches_its_floor(assignment, exercise):
    asked = sizes_asked(assignment)[exercise]
    for what, (low, high) in ranges(floors_of(assignment)[exercise]):
        assert min(asked[what]) <= low, (what, sorted(asked[what]))
        assert max(asked[what]) >= high, (what, sorted(asked[what]))


@of_each_exercise
def test_every_size_that_is_asked_has_a_floor(assignment, exercise):
    floor = floors_of(assignment)[exercise]
    assert {what for what, _ in ranges(floor)} == sizes_asked(assignment)[exercise].keys() - {"modes"}


@of_each_exercise
def test_a_floor_is_at_real_sizes(assignment, exercise):
    assert max(high for _, (_, high) in ranges(floors_of(assignment)[exercise])) >= REAL


@of_each_exercise
def test_large_sizes_are_powers_of_two_and_odd_ones_too(assignment, exercise):
    asked = sizes_asked(assignment)[exercise]
    for what, (_, high) in ranges(floors_of(assignment)[exercise]):
        if high >= MANY:
            sizes = {size for size in asked[what] if size > 1}
            assert any(size & (size - 1) == 0 for size in sizes), (what, sorted(sizes))
            odd_ones = any(size % 2 for size in sizes)
            assert odd_ones or what in floors_of(assignment)[exercise].get("even", []), (what, sorted(sizes))


@of_each_exercise
def test_modules_are_called_in_both_modes(assignment, exercise):
    modes = sizes_asked(assignment)[exercise].get("modes", set())
    assert modes == set(floors_of(assignment)[exercise].get("modes", []))
    assert not modes or modes == set(MODES)


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_exercise_has_a_floor(assignment):
    floors = floors_of(assignment)
    if floors is None:
        pytest.skip(f"size_floors/{assignment.name}.toml is not there")
    assert list(floors) == [exercise.name for exercise in assignment.exercises]
