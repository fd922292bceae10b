"""What `check()` and `hint()` without an exercise say: what there is to ask for."""

from __future__ import annotations

import textwrap
from pathlib import Path

from autograder.content import visible_around

WIDTH = 80  # characters


def listing(function: str, folder: Path) -> str:
    """The exercises of the assignment that the notebook's folder is named after; of all, if it is of none."""
    assignments = visible_around(folder, "").assignments()
    own = {name: found for name, found in assignments.items() if name == folder.resolve().name} or assignments
    lines = []
    for name, exercises in own.items():
        named = f"{name}: {', '.join(exercises)}"
        lines += textwrap.wrap(named, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    example = next((exercise for exercises in own.values() for exercise in exercises), "")
    return "\n".join(
        [f'Name an exercise, such as {function}("{example}").' if example else "No exercise here.", *lines]
    )
