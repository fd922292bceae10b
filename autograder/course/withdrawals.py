"""Withdrawn exercises: `withdrawn.toml` beside `nbgrader_config.py`, which `autograder withdraw` writes.

["a1_sorting"]
"insert" = "full points"
"merge" = "out of total"
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

from autograder.reading import read_toml

FILE = "withdrawn.toml"
Withdrawal = Literal["full points", "out of total"]  # everybody who handed in gets the points; or it leaves the total
FULL_POINTS, OUT_OF_TOTAL = get_args(Withdrawal)
Withdrawn = Mapping[str, Mapping[str, Withdrawal]]  # by assignment and exercise


def withdrawn_in(root: Path) -> Withdrawn:
    """The withdrawn exercises of the course at `root`. Raises `CourseError` that names the key."""
    return read_toml(root / FILE, dict[str, dict[str, Withdrawal]])


def text_of(withdrawn: Withdrawn) -> str:
    """The text of the file."""
    return "\n".join(("# Written by `autograder withdraw`.", *_lines(withdrawn), ""))


def _lines(withdrawn: Withdrawn) -> Iterator[str]:
    for assignment, exercises in sorted(withdrawn.items()):
        yield f"[{json.dumps(assignment, ensure_ascii=False)}]"
        yield from (f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(how)}" for name, how in exercises.items())


def changed(withdrawn: Mapping[str, Withdrawal], exercise: str, how: Withdrawal | None) -> dict[str, Withdrawal]:
    """An assignment's withdrawn exercises, with one more or one changed; without it if `how` is None."""
    others = {name: one for name, one in withdrawn.items() if name != exercise}
    return others if how is None else others | {exercise: how}
