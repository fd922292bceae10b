"""What an assignment consists of beside its notebook: a folder for each exercise, found here and loaded by path.

    median/hidden_tests.py       the hidden tests               median/mistakes.py   known mistakes
    median/visible_tests.py     the checks that students have  median/picture.toml  an example to draw, if there is one
    median/hint.toml      help in three levels
    shared_hidden_tests.py       what several of its suites use; shared_mistakes.py, shared_visible_tests.py,
    shared_picture.toml rubric.toml           what written questions give points for fingerprints.npz            what
    known mistakes answer to the suites, written by `autograder dev catalogue`; visible_fingerprints.npz: what they
    answer to the visible tests, for students, written by the same; not_shown.toml  for authors, if there is
    one: known mistakes that the visible side does not show, and why

The assignments' folders lie in the course's folder, which holds `course.toml`, may hold `relations.py` and
`saved_model.py`, and stands beside `source/`. It is a Python package: a file gets what is shared by `from
..shared_hidden_tests import table`, and what all assignments share by `from ...helpers import table`. If a course has
no such folder, that of an installed course counts. Students have what is called visible, picture or hint; nothing there
imports PyTorch before it is needed.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from autograder import __version__
from autograder.errors import AutograderError, CourseError
from autograder.owners import other_writer
from autograder.reading import is_handed_in, read_toml
from autograder.text import printable

COURSE = "course.toml"  # in the course's folder: what its notebooks find when they are graded, and must not use
INSTALLED = "autograder.courses"  # entry points: packages that students have installed, each a course's folder
NOWHERE = Path(__file__).parent / "no course"  # where there is none
CHECKS = "*/*/visible_tests.py"  # in the folder of an exercise, in that of its assignment
PACKAGE = "content of "  # how the names of loaded modules begin
_HEADING = re.compile(r'^section = "(\d+)', re.MULTILINE)


class UnknownExercise(AutograderError):
    """There is no exercise of this name."""


class Hint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`hint.toml`: a nudge, a closer look, and an example with where to read on. Never the solution.

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


class ForbiddenParts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken out of PyTorch and NumPy, since writing it is the exercise.

    kernels: parts of names in PyTorch's dispatcher; python, c: functions, each as module and name
    answered: of all those, what a self-check in a cell may compare with, each with its module
    """

    kernels: list[str] = []
    python: list[tuple[str, str]] = []
    c: list[tuple[str, str]] = []
    answered: dict[str, str] = {}


class Forbidden(ForbiddenParts, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken out for every exercise, and for those alone whose suite has the mark `watched`.

    watched: parts of names of functions whose calls are noticed where nothing can be taken out
    hidden: patterns of files beside the installed libraries that student code finds empty
    """

    watched: list[str] = []
    hidden: list[str] = []
    where_watched: dict[str, ForbiddenParts] = {}


class CourseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`course.toml`: what a notebook finds when it is graded, and what it must not use.

    names: names that are there before the first cell, each with its module; early: modules that are imported once a run
    words: what the course calls things, by the engine's own word for each
    """

    names: dict[str, str] = {}
    early: list[str] = []
    forbidden: Forbidden = Forbidden()
    words: dict[str, str] = {}


def course_folder(root: Path | None = None) -> Path:
    """The folder of the course at `root`, else of the first that is installed; it need not be there.

    An installed course serves a course without a folder if it has something for one of its assignments.
    """
    if root is None:
        return next(iter(installed()), NOWHERE)
    own = sorted(root.glob(f"*/{COURSE}"))
    names = [path.name for path in (root / "source").glob("*")]
    others = (one for one in installed() if not names or any((one / name).is_dir() for name in names))
    return own[0].parent if own else next(others, NOWHERE)


@functools.cache
def installed() -> tuple[Path, ...]:
    """The folders of installed courses."""
    specs = (importlib.util.find_spec(one.value) for one in entry_points(group=INSTALLED))
    return tuple(Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ())


def folder_of(assignment: str, course: Path) -> Path:
    """The folder of an assignment's content: in the course's folder, else in an installed one."""
    own = course / assignment
    return own if own.is_dir() else next((p for one in installed() if (p := one / assignment).is_dir()), own)


@dataclass(frozen=True)
class Visible:
    """What students have of a course: checks, hints, examples to draw.

    folder: where the assignments' folders lie
    passed_over: sentences on folders that are nearer and are not used, see `why_passed_over`
    """

    folder: Path = field(default_factory=course_folder)
    passed_over: tuple[str, ...] = field(default=(), compare=False)

    def assignments(self) -> dict[str, tuple[str, ...]]:
        """The exercises of each assignment that has visible tests, in order."""
        return _of_an_installed(self.folder) if self.folder in installed() else _exercises(self.folder)

    def assignment_of(self, exercise: str) -> str:
        """The assignment that an exercise belongs to. Raises `UnknownExercise` with the nearest name there is."""
        for name, exercises in self.assignments().items():
            if exercise in exercises:
                return name
        known = [name for exercises in self.assignments().values() for name in exercises]
        near = difflib.get_close_matches(exercise, known, 1)
        older = f"If the notebook is right, your version ({__version__}) is older than it; install the newest one."
        more = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}. {older}"
        raise UnknownExercise(" ".join((f"there is no exercise {exercise!r}; {more}", *self.passed_over)))

    def checks(self, assignment: str) -> tuple[Path, ...]:
        """The visible tests of an assignment, a file an exercise."""
        return tuple(self.folder / assignment / name / "visible_tests.py" for name in self.assignments()[assignment])

    def hint_for(self, exercise: str) -> Hint:
        """The help there is for an exercise. Raises `UnknownExercise`."""
        path = self.folder / self.assignment_of(exercise) / exercise / "hint.toml"
        return read_toml(path, Hint)

    def picture_of(self, exercise: str) -> Path:
        """The file of an exercise's example to draw, if there is one. Raises `UnknownExercise`."""
        return self.folder / self.assignment_of(exercise) / exercise / "picture.toml"


def visible_around(folder: Path, exercise: str) -> Visible:
    """What a notebook in `folder` checks `exercise` by: a course's folder there or above, else an installed course.

    If there is no such exercise, it is the nearest folder, which can say so. What was handed in is not looked into, and
    what others can write to is passed over: its Python would run as this user.
    """
    folder = folder.resolve()
    around = (place for place in (folder, *folder.parents) if not is_handed_in(place))
    own = [Visible(one) for place in around for one in _courses_in(place)]
    why = {one: why_passed_over(one.folder) for one in own}
    known = [one for one in (*own, *map(Visible, installed())) if not why.get(one) and one.assignments()] or [Visible()]
    found = next((one for one in known if any(exercise in names for names in one.assignments().values())), known[0])
    return replace(found, passed_over=tuple(filter(None, why.values())))


def _courses_in(place: Path) -> list[Path]:
    try:
        return sorted(path.parent for path in place.glob(f"*/{COURSE}"))
    except OSError:  # a folder above that may not be read
        return []


def why_passed_over(folder: Path) -> str:
    """Why a course's folder that was found, and not named, is not used, in a sentence; empty if it is used."""
    with contextlib.suppress(OSError):  # a folder above that may not be read
        if any(folder.glob(CHECKS)) and (writer := other_writer(folder)):
            reason = f"{writer.path} {writer.how}"
            return printable(f"{folder} is not used as a course: others can write there. {reason} ({writer.remedy}).")
    return ""


@functools.cache
def _of_an_installed(folder: Path) -> dict[str, tuple[str, ...]]:
    """Known once for all. A course of one's own is read anew each time, for its author is at work on it."""
    return _exercises(folder)


def _exercises(folder: Path) -> dict[str, tuple[str, ...]]:
    """A folder that holds checks is an exercise."""
    found: dict[str, list[Path]] = {}
    try:
        for path in sorted(folder.glob(CHECKS)):
            found.setdefault(path.parent.parent.name, []).append(path.parent)
        return {name: tuple(path.name for path in sorted(paths, key=_place)) for name, paths in found.items()}
    except OSError:  # a folder above that may not be read
        return {}


def _place(exercise: Path) -> int:
    """The number of its heading, which its hint names: students have no source notebook, where its place stands."""
    path = exercise / "hint.toml"
    number = _HEADING.search(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else None
    return int(number[1]) if number else 0


def saved_model_policy(course: Path) -> Callable[[Any, Any, ModuleType], str]:
    """What says a sentence on a saved model that was handed in: `saved_model.py` in the course's folder."""
    sentence: Callable[[Any, Any, ModuleType], str] = load(course / "saved_model.py").sentence
    return sentence


def course_relations(course: Path) -> tuple[Any, ...]:
    """What the course adds to `autograder.diagnosis.relations`: `RELATIONS` of its `relations.py`; none if it has none.

    Students have this file, too. Raises `CourseError` if it names none.
    """
    path = course / "relations.py"
    found: tuple[Any, ...] = getattr(load(path), "RELATIONS", ()) if path.is_file() else ()
    if path.is_file() and not found:
        raise CourseError(f"{path}: there is no RELATIONS in it")
    return found


def own_text(course: Path, name: str) -> str:
    """A file in the course's folder; empty if it has none."""
    path = course / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@functools.cache
def settings_of(course: Path | None = None) -> CourseSettings:
    """What `course.toml` says; `course` is its folder, the first that is installed if not given."""
    return read_toml((course or course_folder()) / COURSE, CourseSettings)


def sandbox_setting(course: Path | None = None) -> dict[str, Any]:
    """The same as plain data, with `package`, the course's name, from which notebooks import, too."""
    return dict(msgspec.to_builtins(settings_of(course))) | {"package": (course or course_folder()).name}


def word(thing: str) -> str:
    """What the first installed course calls a thing, by `[words]` in its `course.toml`; by default as it is."""
    return settings_of().words.get(thing, thing)


def imported_once(course: Path | None = None) -> tuple[str, ...]:
    """Modules that a notebook finds imported, or that take long to import: the same for all submissions of a run.

    Among them is matplotlib, which also looks for its fonts, if a notebook of the course has its name.
    """
    settings, folder = settings_of(course), course or course_folder()
    notebooks = (folder.parent / "source").glob("*/*.ipynb")
    draws = any(b"matplotlib" in path.read_bytes() for path in notebooks)
    return (*settings.names.values(), *settings.early, *(["matplotlib.pyplot"] if draws else []))


def load(path: Path) -> ModuleType:
    """A file of a course's as a module, loaded once. The course's folder is its package, wherever it lies."""
    path = path.resolve()
    home = next((folder for folder in path.parents if (folder / COURSE).is_file()), path.parents[2])
    package = _package(home)
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(home)]
    return importlib.import_module(".".join((package, *path.relative_to(home).with_suffix("").parts)))


def forget(folder: Path) -> None:
    """Load an assignment's files anew from now on: their author may have saved them since."""
    importlib.invalidate_caches()
    folder = folder.resolve()
    own = f"{_package(folder.parent)}.{folder.name}."
    for name in [name for name in sys.modules if name.startswith(own)]:
        del sys.modules[name]


def _package(folder: Path) -> str:
    """A name that nothing else has, whatever an exercise is called; a dot would begin another name."""
    return PACKAGE + str(folder).replace(".", "\N{ONE DOT LEADER}")
