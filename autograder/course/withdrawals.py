"""Withdrawn exercises: the table `[withdrawn]` in the course's `course.toml`, which `autograder withdraw` writes.

[withdrawn]
a1_sorting.insert = "full points"
a1_sorting.merge = "out of total"
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec

from autograder.errors import CourseError
from autograder.reading import read_toml

Withdrawal = Literal["full points", "out of total"]  # everybody who handed in gets the points; or it leaves the total
FULL_POINTS, OUT_OF_TOTAL = get_args(Withdrawal)
Withdrawn = Mapping[str, Mapping[str, Withdrawal]]  # by assignment and exercise
TABLE = "withdrawn"
# The table, with an empty line above it: its head, and the lines up to an empty one, a comment or another table.
_TABLE = re.compile(rf"(?:(?<=\n)\r?\n)?^\[{TABLE}\][^\n]*\n?(?:[^\s#\[][^\n]*\n?)*", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class _File(msgspec.Struct, frozen=True):
    withdrawn: dict[str, dict[str, Withdrawal]] = {}


def withdrawn_in(path: Path) -> Withdrawn:
    """The withdrawn exercises of a course. Raises `CourseError` that names the key."""
    try:
        status = path.stat()
    except OSError:
        return {}
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=16)
def _read(path: Path, changed: int, size: int) -> Withdrawn:
    return read_toml(path, _File).withdrawn


def text_without(text: str) -> str:
    """The text of a `course.toml` without the table."""
    return _TABLE.sub("", text, count=1)


def text_with(text: str, withdrawn: Withdrawn) -> str:
    """The text of a `course.toml` with this table in place of the one it has. Raises `ValueError` if it has no place.

    All else in the file stays as its author wrote it.
    """
    rest = text_without(text)
    gap = "" if not rest or rest.endswith("\n") else "\n"
    changed = f"{rest}{gap}\n{table}" if (table := _table(withdrawn)) else rest
    wanted = {name: dict(exercises) for name, exercises in withdrawn.items() if exercises}
    others = {key: value for key, value in tomllib.loads(text).items() if key != TABLE}
    if tomllib.loads(changed) != others | ({TABLE: wanted} if wanted else {}):
        raise ValueError(f"its table [{TABLE}] is written in another way")
    return changed


def _table(withdrawn: Withdrawn) -> str:
    """The table's lines; none if nothing is withdrawn."""
    lines = [
        f"{_key(assignment)}.{_key(exercise)} = {json.dumps(how)}\n"
        for assignment, exercises in sorted(withdrawn.items())
        for exercise, how in sorted(exercises.items())
    ]
    return "".join([f"[{TABLE}]\n", *lines] if lines else [])


def changed(withdrawn: Mapping[str, Withdrawal], exercise: str, how: Withdrawal | None) -> dict[str, Withdrawal]:
    """An assignment's withdrawn exercises, with one more or one changed; without it if `how` is None."""
    others = {name: one for name, one in withdrawn.items() if name != exercise}
    return others if how is None else others | {exercise: how}


def edited(path: Path, assignment: str, withdrawn: Mapping[str, Withdrawal]) -> tuple[str, str]:
    """The text of a `course.toml` now, and with these withdrawn exercises of an assignment. Raises `CourseError`."""
    try:
        text = path.read_bytes().decode("utf-8")
        return text, text_with(text, {**withdrawn_in(path), assignment: withdrawn})
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CourseError(f"{path}: [{TABLE}] cannot be written there ({reason})") from None


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
