"""Finds and reads an assignment's files beside its notebook. Each exercise has a folder, here `median`:

    median/hidden_tests.py    hidden tests
    median/visible_tests.py   visible tests
    median/mistakes.py        known mistakes
    median/picture.toml       an example to draw (optional)
    median/hint.toml          help in three levels
    median/ready_made.toml    functions that the exercise must not call (optional)
    shared_*.py, shared_picture.toml   what several exercises use
    rubric.toml               what written questions give points for
    fingerprints.npz          answers of known mistakes to the hidden tests, by `autograder dev catalogue`
    visible_fingerprints.npz  the same for the visible tests, for students
    not_shown.toml            known mistakes that visible tests do not show, and why (optional)

The assignments' folders lie in the course's folder, which stands beside `source/`. It holds `course.toml`, and may hold
`relations.py`. It is a Python package: files import with `from ..shared_hidden_tests import table` or
`from ...helpers import table`. A course without such a folder uses an installed course's folder. Students get the files
named visible, picture, hint or ready_made; those import PyTorch only when they need it.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import importlib.util
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec

import cellcage
from autograder import __version__
from autograder.course.loading import COURSE, load
from autograder.course.owners import other_writer
from autograder.errors import AutograderError, CourseError
from autograder.reading import is_handed_in, read_toml
from autograder.text import printable

INSTALLED = "autograder.courses"  # entry points: installed packages that are courses' folders
NOWHERE = Path(__file__).parent / "no course"  # if there is no course
CHECKS = "*/*/visible_tests.py"  # ASSIGNMENT/EXERCISE/visible_tests.py
CONTACT = re.compile(r"(mailto:|https?://)([^{}\s]|\{(student|assignment|exercise|test)\})+")
STAMPED = (".py", ".toml", ".html", ".md", ".txt", ".yml")  # file types of the engine's code and of courses' content
RUBRIC = "rubric.toml"  # for people who grade; no test's mark depends on it
# What `course.toml` says to students, with the comment above it: no mark depends on it either.
FOR_STUDENTS = re.compile(
    rb'(?:^\#[^\n]*\n)*^(?:contact|help)[ \t]*=[ \t]*(?:"""(?s:.*?)"""|"[^"\n]*")[^\n]*\n\n?', re.MULTILINE
)
_HEADING = re.compile(r'^section = "(\d+)', re.MULTILINE)


class UnknownExercise(AutograderError):
    """No exercise has this name."""


class Hint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`hint.toml`: hints 1 (`nudge`), 2 (`closer`) and 3 (`example`), and where to read on. Never the solution.

    section: heading in the notebook
    paper, link: section of a paper, and its address; empty if there is none
    example: other numbers worked through by hand; empty if there is none
    """

    nudge: str
    closer: str
    section: str
    paper: str = ""
    link: str = ""
    example: str = ""


class ReadyMadeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`ready_made.toml`: functions that an exercise must not call, see `cellcage.calling.ready_made`."""

    functions: list[str]


class CourseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`course.toml`: what a graded notebook finds, what it must not call, and what students read.

    names: names defined before the first cell, each with its module
    early: modules that are imported once a run
    ready_made: functions that no exercise must call, beside those of its own `ready_made.toml`
    words: the course's own words for things, by the engine's word
    contact: where students write if something is wrong: "mailto:..." or a web address, which may have `{student}`,
        `{assignment}`, `{exercise}` and `{test}` in it
    help: what help is allowed, in Markdown; at the top of each released notebook
    solutions_after_green: whether `solution(...)` may show a model answer, which only the course's repository holds
    """

    names: dict[str, str] = {}
    early: list[str] = []
    ready_made: list[str] = []
    words: dict[str, str] = {}
    contact: str = ""
    help: str = ""
    solutions_after_green: bool = True

    def __post_init__(self) -> None:
        """Raises `ValueError`, which becomes a `CourseError`."""
        if self.contact and not CONTACT.fullmatch(self.contact):
            raise ValueError("contact: an address begins with mailto: or https://, and may have {student} and the like")


def course_folder(root: Path | None = None) -> Path:
    """The folder of the course at `root`, else that of an installed course, else `NOWHERE`, which does not exist.

    With a `root`, an installed course counts only if it has a folder for one of the assignments.
    """
    if root is None:
        return next(iter(installed()), NOWHERE)
    own = sorted(root.glob(f"*/{COURSE}"))
    names = [path.name for path in (root / "source").glob("*")]
    others = (folder for folder in installed() if not names or any((folder / name).is_dir() for name in names))
    return own[0].parent if own else next(others, NOWHERE)


@functools.cache
def installed() -> tuple[Path, ...]:
    """The folders of installed courses."""
    specs = (importlib.util.find_spec(point.value) for point in entry_points(group=INSTALLED))
    return tuple(Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ())


def folder_of(assignment: str, course: Path) -> Path:
    """The folder of an assignment's content: in the course's folder, else in an installed course's."""
    own = course / assignment
    return own if own.is_dir() else next((p for folder in installed() if (p := folder / assignment).is_dir()), own)


@dataclass(frozen=True)
class Visible:
    """The part of a course that students get: visible tests, hints, examples to draw.

    folder: holds the assignments' folders
    passed_over: sentences on nearer folders that were skipped; see `why_passed_over`
    """

    folder: Path = field(default_factory=course_folder)
    passed_over: tuple[str, ...] = field(default=(), compare=False)

    @functools.cached_property
    def assignments(self) -> dict[str, tuple[str, ...]]:
        """The exercises of each assignment that has visible tests, in order. Read once; a later check sees edits."""
        return _exercises(self.folder)

    @property
    def exercises(self) -> list[str]:
        """The exercises of all assignments, in order."""
        return [name for exercises in self.assignments.values() for name in exercises]

    def assignment_of(self, exercise: str) -> str:
        """The assignment that an exercise belongs to. Raises `UnknownExercise` with the most similar name."""
        for name, exercises in self.assignments.items():
            if exercise in exercises:
                return name
        near = difflib.get_close_matches(exercise, self.exercises, 1)
        older = f"If the notebook is right, your version ({__version__}) is older than it; install the newest one."
        more = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.exercises)}. {older}"
        raise UnknownExercise(" ".join((f"there is no exercise {exercise!r}; {more}", *self.passed_over)))

    def checks(self, assignment: str) -> tuple[Path, ...]:
        """The files of an assignment's visible tests, one for each exercise."""
        return tuple(self.folder / assignment / name / "visible_tests.py" for name in self.assignments[assignment])

    def hint_for(self, exercise: str) -> Hint:
        """The hints for an exercise. Raises `UnknownExercise`."""
        return read_toml(self._folder_of(exercise) / "hint.toml", Hint)

    def nudge(self, exercise: str) -> str:
        """A sentence on how to get its hints; empty if it has none, as a minimal exercise."""
        has_hints = (self._folder_of(exercise) / "hint.toml").is_file()
        return f'`hint("{exercise}")` gives a first nudge.' if has_hints else ""

    def picture_of(self, exercise: str) -> Path:
        """The path of an exercise's example to draw, which need not exist. Raises `UnknownExercise`."""
        return self._folder_of(exercise) / "picture.toml"

    def _folder_of(self, exercise: str) -> Path:
        return self.folder / self.assignment_of(exercise) / exercise


def visible_around(folder: Path, exercise: str) -> Visible:
    """The course that checks `exercise` for a notebook in `folder`: at or above `folder`, else an installed one.

    If no course has the exercise, the nearest is returned and can say so. Submissions are not searched. A folder that
    others can write to is skipped, because its Python would run as this user.
    """
    folder = folder.resolve()
    trusted = (place for place in (folder, *folder.parents) if not is_handed_in(place))
    around = [course for place in trusted for course in _courses_in(place)]
    reasons = {course: why_passed_over(course) for course in around}
    usable = [Visible(course) for course in (*around, *installed()) if not reasons.get(course)]
    usable = [course for course in usable if course.assignments] or [Visible()]
    with_it = (course for course in usable if exercise in course.exercises)
    return replace(next(with_it, usable[0]), passed_over=tuple(filter(None, reasons.values())))


def _courses_in(place: Path) -> list[Path]:
    try:
        return sorted(path.parent for path in place.glob(f"*/{COURSE}"))
    except OSError:  # a parent folder that this user may not read
        return []


def why_passed_over(folder: Path) -> str:
    """A sentence on why a course that was found, not named by the user, is not used; empty if it is used."""
    with contextlib.suppress(OSError):  # a parent folder that this user may not read
        if any(folder.glob(CHECKS)) and (writer := other_writer(folder)):
            reason = f"{writer.path} {writer.how}"
            return printable(f"{folder} is not used as a course: others can write there. {reason} ({writer.remedy}).")
    return ""


def _exercises(folder: Path) -> dict[str, tuple[str, ...]]:
    """The exercises by assignment. A folder that holds visible tests is an exercise."""
    found: dict[str, list[Path]] = {}
    try:
        for path in sorted(folder.glob(CHECKS)):
            found.setdefault(path.parent.parent.name, []).append(path.parent)
        return {name: tuple(path.name for path in sorted(paths, key=_place)) for name, paths in found.items()}
    except OSError:  # a parent folder that this user may not read
        return {}


def _place(exercise: Path) -> int:
    """The number of its heading, from its hint: students do not have the source notebook with the exact order."""
    path = exercise / "hint.toml"
    number = _HEADING.search(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else None
    return int(number[1]) if number else 0


def course_relations(course: Path) -> tuple[Any, ...]:
    """What the course adds to `autograder.explain.relations`: `RELATIONS` of its `relations.py`, if there is one.

    Students get this file, too. Raises `CourseError` if it defines no `RELATIONS`.
    """
    path = course / "relations.py"
    found: tuple[Any, ...] = getattr(load(path), "RELATIONS", ()) if path.is_file() else ()
    if path.is_file() and not found:
        raise CourseError(f"{path}: it defines no RELATIONS")
    return found


@functools.cache
def settings_of(course: Path) -> CourseSettings:
    """The contents of `course.toml` in the folder `course`."""
    return read_toml(course / COURSE, CourseSettings)


def settings_now(root: Path) -> CourseSettings:
    """The same of the course at `root`, read again, since its author may edit it while formgrader runs."""
    return read_toml(course_folder(root) / COURSE, CourseSettings)


def sandbox_setting(course: Path) -> dict[str, Any]:
    """What student code starts with, as plain data (`cellcage.protocol.messages.Setting`).

    In the sandbox `check` and all else that the packages of the engine and of the course have does nothing, and
    `grading` is True.
    """
    stand_ins = {package: {"grading": True} for package in ("autograder", course.name)}
    return {"names": settings_of(course).names, "stand_ins": stand_ins}


def ready_made(exercise: Path) -> tuple[str, ...]:
    """The functions that an exercise must not call: its own, and those of its course. exercise: its folder"""
    path, course = exercise / "ready_made.toml", exercise.parents[1]
    own = read_toml(path, ReadyMadeSettings).functions if path.is_file() else []
    of_course = settings_of(course).ready_made if (course / COURSE).is_file() else []
    return tuple(dict.fromkeys((*own, *of_course)))


def word(thing: str) -> str:
    """The first installed course's word for a thing, by `[words]` in its `course.toml`; by default `thing` itself."""
    return settings_of(course_folder()).words.get(thing, thing)


def imported_once(course: Path) -> tuple[str, ...]:
    """Modules to import once for all submissions of a run: those that notebooks find imported, and slow ones.

    matplotlib, which also searches for fonts, is included if a notebook of the course draws with it.
    """
    settings, notebooks = settings_of(course), (course.parent / "source").glob("*/*.ipynb")
    draws = any(b"matplotlib" in path.read_bytes() for path in notebooks)
    return (*settings.names.values(), *settings.early, *(["matplotlib.pyplot"] if draws else []))


# ---------------------------------------------------------------- what a mark depends on


def digest_of(files: Sequence[Path], folder: Path, others: Collection[str], parts: Sequence[str], more: str) -> str:
    """A digest of `files`, of the content of the assignment in `folder` and of all assignments, and of the engine.

    others: names of the other assignments, whose own content does not count
    parts: the folders of the engine and the sandbox that count; "" is all of them
    more: what else counts, as a text
    """
    digest = hashlib.sha256("".join(map(_kit_version, parts)).encode() + more.encode())
    of_others = {folder.parent / name for name in others}
    shared = [path for path in folder.parent.rglob("*") if of_others.isdisjoint(path.parents)]
    for path in sorted([*files, *filter(_is_stamped, shared)]):
        name = f"{path.parent.name}/{path.name}"
        data = path.read_bytes() if path.is_file() else b""
        digest.update(name.encode() + b"\0" + (FOR_STUDENTS.sub(b"", data) if path.name == COURSE else data))
    return digest.hexdigest()


def _is_stamped(path: Path) -> bool:
    """True if a mark can depend on this file of a course or of the engine."""
    return path.suffix in STAMPED and path.name != RUBRIC


@functools.cache
def _kit_version(part: str) -> str:
    """A digest of a part of the engine's and the sandbox's code, read once: the running code does not change either."""
    digest = hashlib.sha256()
    for kit in (Path(__file__).parents[1], Path(cellcage.__file__).parent):
        for path in sorted(filter(_is_stamped, (kit / part).rglob("*"))):
            digest.update(path.relative_to(kit).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
