"""The base class for a learning-management system. Subclass it to add one."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment
from autograder.errors import SubmissionError
from autograder.nbgrader.hardening.files import MAX_EXTRA
from autograder.reading import read_bytes
from autograder.systems.collecting import Collector, Handed


@dataclass(frozen=True)
class StudentMarks:
    """One student's marks now. `score` is None if there are none; `problem` says why, or what is not final."""

    student: str
    name: str
    score: float | None
    max_score: float
    problem: str


@dataclass(frozen=True)
class Return:
    """What goes back of an assignment.

    nbgrader: its interface to the course
    handed: each student who has handed in, as the owner of a notebook
    marks: everybody's in the gradebook
    options: the values of those of the system's `options` that were given, by name
    """

    nbgrader: Any
    assignment: Assignment
    handed: Handed
    marks: Sequence[StudentMarks]
    options: Mapping[str, str]


class System(Collector):
    """A learning-management system.

    It has a `title`, and finds the `owner` of a downloaded file. For groups it may override `group_of` and
    `why_no_student`. `write_marks` writes what the system imports. The other methods here have a default.

    options: those of `autograder return` that the system takes, of `sheet` and `column`
    """

    options: Sequence[str] = ()

    def why_not(self, marks: bool, pages: bool, options: Mapping[str, str]) -> str:
        """Why marks or pages cannot go back with these options; empty if they can."""
        unknown = [f"--{name}" for name in options if name not in self.options]
        return f"{self.title} has no {' and no '.join(unknown)}" if unknown else ""

    def with_numbers(self, handed: Handed, options: Mapping[str, str]) -> tuple[Handed, list[str]]:
        """Everybody with the number by which the system finds them, for members of a group their own.

        Also returns a sentence for each student to whom something does not go back.
        """
        return handed, []

    def write_marks(self, found: Return, path: Path) -> list[str]:
        """Write the file with marks that the system imports. Returns what a teacher should know about it."""
        raise NotImplementedError

    def write_pages(self, found: Return, path: Path) -> list[str]:
        """Write a zip of feedback pages, under the names of the download. Returns the students who have no page."""
        coursedir, missing = found.nbgrader.coursedir, []
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for student, owner in sorted(found.handed.items()):
                folder = Path(coursedir.format_path(coursedir.feedback_directory, student, found.assignment.name))
                page = folder / f"{found.assignment.notebook.stem}.html"
                try:
                    archive.writestr(f"{owner.stem}{page.name}", read_bytes(page, MAX_EXTRA, ""))
                except SubmissionError:  # it is not there, or cannot be read
                    missing.append(student)
        return missing
