"""The course as files: its assignments, their exercises and points, their references and suites.

Points come from the source notebooks' nbgrader metadata and are stored nowhere else. A `Course` is read once: each file
when it is first asked for. Edits are in the next `Course`. So a process that lives long makes another for each request,
such as a page of formgrader; workers do for each version of an assignment, see `Judges.assignment`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args

from autograder.course import content
from autograder.course.loading import Package, data_folder, load_solution
from autograder.course.source_notebook import (
    AUTOTEST,
    CHECK_PREFIX,
    EARLIER,
    Settings,
    SourceCell,
    SourceNotebook,
    exercise_name,
    files_beside,
    line_digest,
    notebook_at,
    released_digests,
    text_digest,
)
from autograder.errors import CourseError
from autograder.reading import checked, is_handed_in, read_toml

CONFIG = "nbgrader_config.py"
WITHDRAWN = "withdrawn.toml"  # beside CONFIG; `autograder withdraw` writes it
FILES = (CONFIG, WITHDRAWN, EARLIER)  # a course's own, beside its folders
KIT = Path(__file__).resolve().parents[2]
TWICE = "{count} cells have this id. Give each its own in the Create Assignment panel, or delete the copy."
Withdrawal = Literal["full points", "out of total"]  # everybody who handed in gets the points; or it leaves the total
FULL_POINTS, OUT_OF_TOTAL = get_args(Withdrawal)
Withdrawn = Mapping[str, Mapping[str, Withdrawal]]  # by assignment and exercise


@dataclass(frozen=True)
class Exercise:
    """One graded function or class, with the points of its check cell: none if it is out of the total.

    withdrawn: it is judged, since others may build on it, and everybody gets its points
    """

    name: str
    points: float
    withdrawn: bool = False


@dataclass(frozen=True)
class Written:
    """A written question: the model answer, and the rubric as (points, text) pairs."""

    answer: str
    rubric: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Assignment:
    """One assignment: a folder in `source/` that holds one notebook."""

    name: str
    notebook: Path
    course: Course

    @property
    def root(self) -> Path:
        """The folder of its course."""
        return self.course.root

    @cached_property
    def source(self) -> SourceNotebook:
        """The notebook. Raises `CourseError`."""
        return notebook_at(self.notebook)

    @cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """Its exercises in order. Raises `CourseError` if a check cell is invalid."""
        found, cells, by_cell = [], self.source.tests, {cell.grade_id for cell in self.source.assert_cells.values()}
        for cell in cells:
            place = f"{self.notebook}: cell '{cell.grade_id}'"
            if not (cell.grade_id.startswith(CHECK_PREFIX) or cell.grade_id in by_cell):
                raise CourseError(f"{place}: a graded code cell is named {CHECK_PREFIX}<exercise>")
            if cell.nbgrader.points is None:
                raise CourseError(f"{place}: no points; set them in JupyterLab's Create Assignment panel")
            if cell.grade_id in by_cell and AUTOTEST.search(cell.text):
                raise CourseError(f"{place}: nbgrader writes tests in place of AUTOTEST lines; write them as asserts")
            if any(other.grade_id == CHECK_PREFIX + cell.grade_id for other in cells):
                raise CourseError(f"{place}: there is '{CHECK_PREFIX}{cell.grade_id}', too; rename one of them")
            if (count := sum(other.grade_id == cell.grade_id for other in cells)) > 1:
                raise CourseError(f"{place}: {TWICE.format(count=count)}")
            name = exercise_name(cell.grade_id)
            found.append(Exercise(name, self._points_of(cell), name in self.withdrawn))
        return tuple(found)

    def _points_of(self, cell: SourceCell) -> float:
        is_out = self.withdrawn.get(exercise_name(cell.grade_id)) == OUT_OF_TOTAL
        return 0.0 if is_out else cell.nbgrader.points or 0.0

    @property
    def by_suite(self) -> tuple[Exercise, ...]:
        """The exercises that a suite judges: all except cells of plain asserts."""
        cells = self.source.assert_cells
        return tuple(exercise for exercise in self.exercises if exercise.name not in cells)

    @property
    def limits(self) -> dict[str, float]:
        """Limits for student code by name, from the notebook's metadata. Raises `CourseError`."""
        place = f"{self.notebook}: the metadata's autograder"
        return checked(self.source.metadata.autograder, Settings, place).limits

    @property
    def withdrawn(self) -> Mapping[str, Withdrawal]:
        """Its withdrawn exercises; see `Course.withdrawn`."""
        return self.course.withdrawn.get(self.name, {})

    @property
    def max_score(self) -> float:
        """Total points of the exercises graded by tests, without written questions."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def graded_cells(self) -> dict[str, float]:
        """Points of every graded cell by grade_id, including written questions."""
        graded = [cell for cell in self.source.cells if cell.nbgrader.grade and cell.grade_id]
        return {cell.grade_id: self._points_of(cell) for cell in graded}

    @property
    def written(self) -> dict[str, Written]:
        """What a person grades, by grade_id. Raises `CourseError` if rubric.toml is invalid."""
        rubrics = self.rubrics
        return {name: Written(answer, rubrics.get(name, ())) for name, answer in self.written_answers.items()}

    @cached_property
    def rubrics(self) -> dict[str, tuple[tuple[float, str], ...]]:
        """What rubric.toml says: `written-why = [[1, "names the mean"], [3, "says why"]]`. Raises `CourseError`."""
        return read_toml(self.content / content.RUBRIC, dict[str, tuple[tuple[float, str], ...]])

    @property
    def written_answers(self) -> dict[str, str]:
        """The course's model answers to written questions, by grade_id."""
        graded, texts = self.graded_cells, [cell for cell in self.source.cells if cell.cell_type == "markdown"]
        return {cell.grade_id: cell.text for cell in texts if cell.grade_id in graded}

    @property
    def solution(self) -> Path:
        """The path of the paired script, which is the reference."""
        return self.root / "solutions" / self.name / f"{self.notebook.stem}.py"

    @property
    def released(self) -> Path:
        """The notebook as students get it."""
        return self.root / "assignments" / self.name / self.notebook.name

    @property
    def content(self) -> Path:
        """The folder that holds a folder for each exercise; see `autograder.course.content`."""
        return content.folder_of(self.name, self.course.folder)

    def files(self, name: str) -> tuple[Path, ...]:
        """The path of the file `name` in each exercise's folder, in order. The files need not exist."""
        return tuple(self.content / exercise.name / name for exercise in self.by_suite)

    @property
    def suites(self) -> tuple[Path, ...]:
        """The files of hidden tests."""
        return self.files("hidden_tests.py")

    @property
    def visible(self) -> tuple[Path, ...]:
        """The files of visible tests, which students run."""
        return self.files("visible_tests.py")

    @property
    def mistakes(self) -> tuple[Path, ...]:
        """The catalogues of known mistakes."""
        return self.files("mistakes.py")

    @cached_property
    def beside(self) -> dict[str, bytes]:
        """Contents of the files beside the notebook, by name; graded notebooks can read them. Raises `CourseError`."""
        return files_beside(self.notebook)

    @cached_property
    def version(self) -> str:
        """A digest of everything a mark depends on: notebook, solution, content, and the engine's code."""
        return self.version_by("")

    def version_by(self, *parts: str) -> str:
        """The version, in which only these folders of the engine and the sandbox count."""
        others = self.course.assignments.keys() - {self.name}
        files = [self.notebook.parent / name for name in self.beside]
        withdrawn = repr(sorted(self.withdrawn.items()))
        return content.digest_of([self.notebook, self.solution, *files], self.content, others, parts, withdrawn)

    @cached_property
    def released_digests(self) -> frozenset[str]:
        """What students got, in each release (see `digests_of`); empty if there was none."""
        return released_digests(self.root, self.released)

    @property
    def own_digests(self) -> frozenset[str]:
        """The same, and what is in the source notebook: the lines of its code, and its texts."""
        lines = {line_digest(line) for cell in self.source.cells for line in cell.text.splitlines()}
        return self.released_digests | lines | set(map(text_digest, self.source.texts))

    def reference(self) -> ModuleType:
        """The solution as a module. Raises `CourseError` if it cannot be imported."""
        if not self.solution.is_file():
            if not self.by_suite:
                return ModuleType(self.name)  # no suite calls it
            raise CourseError(f"{self.solution}: no solution; `autograder dev sync` writes it from the source notebook")
        if str(self.root) not in sys.path:  # the solution may import what lies there, and the course's package
            sys.path.append(str(self.root))
            sys.meta_path.insert(0, Package(self.course.folder))
        folder = data_folder(tuple(self.beside.items()), self.notebook.parent) if self.beside else ""
        return load_solution(self.solution, self.solution.stat().st_mtime_ns, folder)


@dataclass(frozen=True)
class Course:
    """A folder with `nbgrader_config.py` and `source/`.

    given: the course's own folder, for processes that may not search `root` for it
    withdrawals: in place of those in `withdrawn.toml`, to see what they would change
    """

    root: Path
    given: Path | None = None
    withdrawals: Withdrawn | None = field(default=None, compare=False)

    @cached_property
    def folder(self) -> Path:
        """The course's own folder; see `content.course_folder`."""
        return self.given or content.course_folder(self.root)

    @cached_property
    def _notebooks(self) -> dict[str, list[Path]]:
        """The notebooks in each folder of `source/`. JupyterLab saves to `.~name.ipynb`, and then renames the file."""
        folders = sorted(path for path in (self.root / "source").iterdir() if path.is_dir() and path.name[0] != ".")
        return {one.name: sorted(path for path in one.glob("*.ipynb") if path.name[0] != ".") for one in folders}

    @property
    def names(self) -> list[str]:
        """The names of its assignments, in order, including those that cannot be read."""
        return list(self._notebooks)

    @cached_property
    def assignments(self) -> dict[str, Assignment]:
        """All valid assignments by name, in order; `broken` says what is wrong with the others."""
        return {name: Assignment(name, found[0], self) for name, found in self._notebooks.items() if len(found) == 1}

    @property
    def broken(self) -> dict[str, str]:
        """What is wrong with the folders that are not valid assignments, by name."""
        source = self.root / "source"
        return {name: _not_one(source / name, found) for name, found in self._notebooks.items() if len(found) != 1}

    @cached_property
    def withdrawn(self) -> Withdrawn:
        """Exercises that `autograder withdraw` withdrew. Raises `CourseError` that names the key of the file."""
        if self.withdrawals is not None:
            return self.withdrawals
        return read_toml(self.root / WITHDRAWN, dict[str, dict[str, Withdrawal]])

    def assignment(self, name: str) -> Assignment:
        """One assignment. Raises `CourseError` that says what is wrong with it, or which names exist."""
        if name not in self.names:
            raise CourseError(f"no assignment {name!r} in {self.root / 'source'}; there are {', '.join(self.names)}")
        if name not in self.assignments:
            raise CourseError(self.broken[name])
        return self.assignments[name]

    def of_notebook(self, name: str) -> Assignment | None:
        """The assignment whose notebook has this file name."""
        return next((a for a in self.assignments.values() if a.notebook.name == name), None)

    def of_exercise(self, name: str) -> Assignment:
        """The assignment that contains an exercise. Raises `CourseError` if none does."""
        for assignment in self.assignments.values():
            if any(exercise.name == name for exercise in assignment.exercises):
                return assignment
            if name in assignment.written_answers:
                raise CourseError(f"{name} is a written question, not an exercise with tests")
        raise CourseError(f"no exercise {name!r} in {self.root / 'source'}")


def course_at(folder: Path) -> Course:
    """The course in exactly this folder. Raises `CourseError` if there is none."""
    if not _is_course(folder):
        raise CourseError(f"no course here: {folder} holds no {CONFIG} beside a source/ folder")
    return Course(folder.resolve())


def find_course(handed_in: Iterable[Path] = ()) -> Course:
    """The nearest course at or above the working directory, else the one shipped with this kit.

    handed_in: untrusted files and folders. A course's Python runs outside every sandbox, so no course is accepted
    there or below a folder of submissions. Raises `CourseError` if no other is found.
    """
    if (found := course_around(Path.cwd(), handed_in)) is None:
        raise no_course()
    return found


def no_course() -> CourseError:
    """The error for a missing course; its message says what to do."""
    return CourseError(
        f"no course here: {Path.cwd()} and the folders above hold no {CONFIG} beside a source/ folder. "
        "Submissions are not searched; name your course with --course, or run this in its folder"
    )


def course_around(start: Path, handed_in: Iterable[Path] = ()) -> Course | None:
    """As `find_course` finds it, from the folder `start`; None if there is none."""
    untrusted = [_folder(path) for path in handed_in]
    for folder in (start, *start.parents):
        if _is_course(folder) and not is_handed_in(folder, untrusted):
            return Course(folder)
    return Course(KIT) if _is_course(KIT) else None


def is_around(course: Course) -> bool:
    """True if the course lies at or above the working directory; the one shipped with this kit may lie elsewhere."""
    return Path.cwd().is_relative_to(course.root)


def _is_course(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and (folder / "source").is_dir()


def _folder(path: Path) -> Path:
    """The folder, or the file's folder, with links on the way resolved."""
    return path.resolve() if path.is_dir() else Path(os.path.abspath(path)).parent.resolve()


def _not_one(folder: Path, notebooks: list[Path]) -> str:
    names = [path.stem for path in notebooks]
    if not names:
        return f"{folder}: an assignment has one notebook, this folder has none"
    own = ", ".join(f"{folder.name}_{name}" for name in names[:2])
    return (
        f"{folder}: an assignment has one notebook, this folder has {len(names)} ({', '.join(names[:4])}). "
        f"Give each a folder of its own, such as {own}; each is then released, collected and graded by itself"
    )


def withdrawn_as_text(withdrawn: Withdrawn) -> str:
    """The text of `withdrawn.toml`."""
    lines = ["# Written by `autograder withdraw`."]
    for assignment, exercises in sorted(withdrawn.items()):
        lines.append(f"[{json.dumps(assignment, ensure_ascii=False)}]")
        lines += (f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(how)}" for name, how in exercises.items())
    return "\n".join((*lines, ""))
