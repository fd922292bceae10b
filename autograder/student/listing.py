"""What `check()` and `hint()` show if no exercise is named: the exercises to choose from."""

from __future__ import annotations

import textwrap
from pathlib import Path

from autograder.content import visible_around

WIDTH = 80  # characters


def listing(function: str, folder: Path) -> str:
    """The exercises of the assignment in `folder`, by its name; of all assignments if it has no assignment's name."""
    assignments = visible_around(folder, "").assignments()
    name = folder.resolve().name
    listed = {name: assignments[name]} if name in assignments else assignments
    example = next((exercise for exercises in listed.values() for exercise in exercises), "")
    lines = [f'Name an exercise, such as {function}("{example}").' if example else "No exercise here."]
    for name, exercises in listed.items():
        line = f"{name}: {', '.join(exercises)}"
        lines += textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)
