"""What an assignment consists of beside its notebook: a folder of files, found here and loaded by path.

    suite.py      the hidden suite                      mistakes.py   the catalogue of known mistakes
    visible.py    the checks that students have         pictures.py   an example to draw for some exercises
    hints.toml    help in three levels          rubric.toml   what written questions give points for
    prints.npz    what known mistakes answer to the suite, written by `autograder dev catalogue`
    left_to_grading.toml   for authors, if there is one: known mistakes that the visible side does not show, and why

A course keeps these folders in `content/`, one for each assignment. If it has none, those that came with the kit
count. Students have the second line and the hints alone; nothing there imports PyTorch before it is needed.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import __version__
from autograder.errors import AutograderError
from autograder.reading import is_handed_in

KIT = Path(__file__).parent / "attention"
PLACES = ("content", "autograder/attention")  # below a course's root: its own, or in a copy of the kit's repository
READY_MADE: dict[str, Any] = {
    "kernels": [], "python": [], "c": [], "answered": {}, "watched": [], "hidden": [], "where_watched": {},
}  # fmt: skip
_EXERCISE = re.compile(r'^@pytest\.mark\.exercise\("(\w+)"\)', re.MULTILINE)


class UnknownExercise(AutograderError):
    """There is no exercise of this name."""


@dataclass(frozen=True)
class Hint:
    """Help in three levels: a nudge, a closer look, and an example with where to read on. Never the solution.

    section: heading in the notebook
    paper, link: section of a paper, and its address
    example: other numbers worked through by hand, for who is truly stuck; empty if there is none
    """

    nudge: str
    closer: str
    section: str
    paper: str
    link: str
    example: str = ""


def folder_of(assignment: str, root: Path | None = None) -> Path:
    """The folder of an assignment's content: that of the course at `root`, else the one that came with the kit."""
    own = [root / place / assignment for place in PLACES] if root is not None else []
    return next((folder for folder in own if folder.is_dir()), KIT / assignment)


@dataclass(frozen=True)
class Visible:
    """What students have of a course: checks, hints, examples to draw.

    folder: where the assignments' folders lie
    """

    folder: Path = KIT

    def assignments(self) -> dict[str, tuple[str, ...]]:
        """The exercises of each assignment that has visible checks, in order."""
        return _of_the_kit() if self.folder == KIT else _exercises(self.folder)

    def assignment_of(self, exercise: str) -> str:
        """The assignment that an exercise belongs to. Raises `UnknownExercise` with the nearest name there is."""
        for name, exercises in self.assignments().items():
            if exercise in exercises:
                return name
        known = [name for exercises in self.assignments().values() for name in exercises]
        near = difflib.get_close_matches(exercise, known, 1)
        older = f"If the notebook is right, your kit ({__version__}) is older than it; install the newest one."
        more = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}. {older}"
        raise UnknownExercise(f"there is no exercise {exercise!r}; {more}")

    def checks(self, assignment: str) -> Path:
        """The visible checks of an assignment."""
        return self.folder / assignment / "visible.py"

    def hint_for(self, exercise: str) -> Hint:
        """The help there is for an exercise. Raises `UnknownExercise`."""
        path = self.folder / self.assignment_of(exercise) / "hints.toml"
        return Hint(**tomllib.loads(path.read_text(encoding="utf-8"))[exercise])

    def example_for(self, exercise: str) -> Any:
        """The example (`Example`) to draw for an exercise; None if it has none. Raises `UnknownExercise`."""
        return pictures(self.folder / self.assignment_of(exercise)).get(exercise)


def visible_around(folder: Path, exercise: str) -> Visible:
    """What a notebook in `folder` checks `exercise` by: a `content/` there or above that has it, else the kit's.

    If there is no such exercise, it is the nearest `content/`, which can say so. What was handed in is not looked into.
    """
    folder = folder.resolve()
    own = [Visible(place / PLACES[0]) for place in (folder, *folder.parents) if not is_handed_in(place)]
    known = [one for one in (*own, Visible()) if one.assignments()] or [Visible()]
    return next((one for one in known if any(exercise in names for names in one.assignments().values())), known[0])


@functools.cache
def _of_the_kit() -> dict[str, tuple[str, ...]]:
    """Known once for all. A course of one's own is read anew each time, for its author is at work on it."""
    return _exercises(KIT)


def _exercises(folder: Path) -> dict[str, tuple[str, ...]]:
    """Read as text: collecting a suite takes 0.1 s."""
    try:
        files = sorted(folder.glob("*/visible.py"))
        found = {path.parent.name: _EXERCISE.findall(path.read_text(encoding="utf-8")) for path in files}
    except OSError:  # a folder above that may not be read
        return {}
    return {name: tuple(dict.fromkeys(exercises)) for name, exercises in found.items()}


def pictures(folder: Path) -> Mapping[str, Any]:
    """The examples to draw (`Example`) by exercise; none if the folder has no `pictures.py`."""
    path = folder / "pictures.py"
    return dict(load(path).PICTURES) if path.is_file() else {}


def saved_model_policy(root: Path) -> Callable[[Any, Any, ModuleType], str]:
    """What says a sentence on a saved model that was handed in: `saved_model.py` beside the assignments."""
    own = [folder for place in PLACES if (folder := root / place).is_dir()]
    sentence: Callable[[Any, Any, ModuleType], str] = load((own[0] if own else KIT) / "saved_model.py").sentence
    return sentence


def own_text(root: Path, name: str) -> str:
    """A file beside the assignments of the course at `root`; empty if it has none."""
    paths = [root / place / name for place in PLACES]
    return next((path.read_text(encoding="utf-8") for path in paths if path.is_file()), "")


@functools.cache
def sandbox_setting(root: Path | None = None) -> dict[str, Any]:
    """What a notebook finds when it is graded, and what it must not use: `sandbox.toml` beside the assignments."""
    own = [root / place for place in PLACES] if root is not None else []
    path = next((folder for folder in own if folder.is_dir()), KIT) / "sandbox.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {"names": {}, "early": []} | found | {"ready_made": READY_MADE | found.get("ready_made", {})}


def imported_once(root: Path | None = None) -> tuple[str, ...]:
    """Modules that a notebook finds imported, or that take long to import: the same for all submissions of a run."""
    setting = sandbox_setting(root)
    return (*setting["names"].values(), *setting["early"])


@functools.lru_cache(64)
def load(path: Path) -> ModuleType:
    """A file of the content as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
