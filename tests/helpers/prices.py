"""What each known mistake costs, in percent of its exercise: as it is, and as the price table keeps it.

`tests/course/prices/` has a file an assignment, with a table for each exercise: its known mistakes with their prices,
of which those of one name stand in a list. Above the tables are the kinds: `fine_print` are mistakes that are not about
understanding, `no_attempt` those that do nothing of what is asked, and all others are conceptual slips. A name there
stands for all exercises of the assignment, `split_heads/in-place` for one.
`python -m tests.helpers.prices a1_scaled_dot_product` rewrites the prices of an assignment.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment
from autograder.testing.catalogue import read_catalogue
from tests.helpers.in_process import ASSIGNMENTS, judged_mistake

PRICES = Path(__file__).parents[1] / "course" / "prices"
FINE_PRINT, NO_ATTEMPT = KINDS = ("fine_print", "no_attempt")


def price_table(assignment: Assignment) -> Mapping[str, Any] | None:
    """The assignment's file; None if it has none."""
    path = _path(assignment)
    return tomllib.loads(path.read_text()) if path.is_file() else None


def prices_of(assignment: Assignment, exercise: str) -> Mapping[str, int | list[int]]:
    """By name, what an exercise's known mistakes cost now."""
    found: dict[str, list[int]] = {}
    for mistake in read_catalogue(assignment.mistakes).of(exercise):
        result = judged_mistake(assignment, mistake)
        found.setdefault(mistake.name, []).append(round(100 * (1 - result.score / result.max_score)))
    return {name: costs[0] if len(costs) == 1 else costs for name, costs in found.items()}


def _path(assignment: Assignment) -> Path:
    return PRICES / f"{assignment.name}.toml"


def _written(assignment: Assignment) -> Iterator[str]:
    """The lines of an assignment's file: its kinds as they are, its prices as they are now."""
    yield "# What each known mistake costs, in percent of its exercise; python -m tests.helpers.prices writes it."
    for kind in KINDS:
        yield f"{kind} = ["
        yield from (f'    "{name}",' for name in sorted((price_table(assignment) or {}).get(kind, [])))
        yield "]"
    for exercise in assignment.exercises:
        yield f"\n[{exercise.name}]"
        yield from (f"{name} = {cost}" for name, cost in prices_of(assignment, exercise.name).items())


if __name__ == "__main__":
    for one in [assignment for assignment in ASSIGNMENTS if assignment.name in sys.argv[1:]]:
        PRICES.mkdir(exist_ok=True)
        _path(one).write_text("\n".join(_written(one)) + "\n")
