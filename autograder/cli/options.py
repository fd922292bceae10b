"""What several commands share: options, and what is said before the work begins."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from autograder.course import Course
from autograder.errors import AutograderError
from autograder.sandbox.supervisor.fork_server import what_is_unsafe


class Group(StrEnum):
    """Under which heading a command stands in `autograder --help`."""

    grading = "Grade"
    term = "During the term"
    elsewhere = "From and to other systems"
    students = "For students"
    machine = "This machine, and editing a course"


class SandboxKind(StrEnum):
    """Where student code runs."""

    auto = "auto"
    bubblewrap = "bubblewrap"
    landlock = "landlock"
    process = "process"


class System(StrEnum):
    """Where submissions come from, and marks go to."""

    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"


class Visibility(StrEnum):
    """When students see their results, in Gradescope's words."""

    visible = "visible"
    after_due_date = "after_due_date"
    after_published = "after_published"
    hidden = "hidden"


Jobs = Annotated[int, typer.Option(min=0, help="Workers side by side; 0: one a core from 60 submissions on.")]
Kind = Annotated[
    SandboxKind, typer.Option(help="auto uses bubblewrap if it works, else Landlock, and warns if neither does.")
]
CourseFolder = Annotated[
    Path | None, typer.Option("--course", help="The course's folder; else the one around the current folder.")
]
Student = Annotated[str, typer.Argument(help="The student's id, as in submitted/ or the roster.")]
Write = Annotated[bool, typer.Option("--write", help="Write the new marks, after saving the old ones.")]
Note = Annotated[str, typer.Option(help="Why; it goes into the history.")]


def must_be_writable(path: Path | None) -> None:
    """Raise `AutograderError` if `path` cannot be written: before the class is graded, not after."""
    if path is None or path == Path("-"):
        return
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise AutograderError(f"{path} cannot be written; name a file in a folder that is there")


def warn(kind: SandboxKind, course: Course) -> None:
    """Say so if it is not safe to grade (see `what_is_unsafe`). Raises `MachineError` if a sandbox was insisted on."""
    if reason := what_is_unsafe(kind.value, course.root):
        Console(stderr=True, style="yellow").print(Text(f"warning: {reason}"))
