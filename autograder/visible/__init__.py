"""What students have on their machine: the visible checks, an example to draw for some exercises, and the hints.

One file of checks and one of hints an assignment: `test_<assignment>.py`, `hints_<assignment>.toml`. Nothing here
imports PyTorch before a PyTorch exercise is checked.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import AutograderError

HERE = Path(__file__).parent
_EXERCISE = re.compile(r'^@pytest\.mark\.exercise\("(\w+)"\)', re.MULTILINE)


class UnknownExercise(AutograderError):
    """There is no exercise of this name."""


@dataclass(frozen=True)
class Hint:
    """Help in three levels: a nudge, a closer look, and where to read on. Never the solution.

    section: heading in the notebook
    paper, link: section of a paper, and its address
    """

    nudge: str
    closer: str
    section: str
    paper: str
    link: str


@functools.cache
def assignments() -> dict[str, tuple[str, ...]]:
    """The exercises of each assignment, in order. Read as text: collecting a suite takes a tenth of a second."""
    files = sorted(HERE.glob("test_*.py"))
    found = {path.stem.removeprefix("test_"): _EXERCISE.findall(path.read_text(encoding="utf-8")) for path in files}
    return {name: tuple(dict.fromkeys(exercises)) for name, exercises in found.items()}


def assignment_of(exercise: str) -> str:
    """The assignment that an exercise belongs to. Raises `UnknownExercise` with the nearest name there is."""
    for name, exercises in assignments().items():
        if exercise in exercises:
            return name
    known = [name for exercises in assignments().values() for name in exercises]
    near = difflib.get_close_matches(exercise, known, 1)
    more = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
    raise UnknownExercise(f"there is no exercise {exercise!r}; {more}")


def suite_file(assignment: str) -> Path:
    """The visible checks of an assignment."""
    return HERE / f"test_{assignment}.py"


def hint_for(exercise: str) -> Hint:
    """The help there is for an exercise. Raises `UnknownExercise`."""
    return _hints(assignment_of(exercise))[exercise]


@functools.cache
def _hints(assignment: str) -> dict[str, Hint]:
    text = (HERE / f"hints_{assignment}.toml").read_text(encoding="utf-8")
    return {name: Hint(**entry) for name, entry in tomllib.loads(text).items()}
