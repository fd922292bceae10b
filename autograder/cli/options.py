"""What several commands share: options, warnings before the work begins, and printing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console
from rich.text import Text
from typer import Argument, Option

from autograder.course.assignments import Course
from autograder.errors import AutograderError
from autograder.text import printable_lines
from autograder.worker.pool import what_is_unsafe

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]  # Gradescope's words

Jobs = Annotated[int, Option(min=0, help="Workers; 0: one, or one per core from 60 submissions on.")]
SandboxName = Annotated[
    Literal["auto", "bubblewrap", "landlock", "process"],
    Option(help="Sandbox; auto: bubblewrap, else Landlock, else a refusal; process: none."),
]
CourseFolder = Annotated[Path | None, Option("--course", help="The course's folder, if you are not in it.")]
StudentId = Annotated[str, Argument(help="A folder in submitted/.")]
Write = Annotated[bool, Option("--write", help="Write the new marks.")]
Note = Annotated[str, Option(help="Reason, for the history.")]
MarksFiles = Annotated[list[Path], Argument(help="Files that `autograder grade --json` wrote.")]
Roster = Annotated[Path | None, Option(help="CSV file (id, name, email), to list students without submissions.")]


def ids_in(roster: Path | None) -> list[str]:
    """The ids of the students in a roster; empty without one."""
    from autograder.reports.roster import read_roster

    return [person.id for person in read_roster(roster)] if roster else []


def must_be_writable(path: Path | None) -> None:
    """Raise `AutograderError` if `path` cannot be written, so that this is found before a class is graded."""
    if path is None or path == Path("-"):
        return
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise AutograderError(f"{path} cannot be written; name a file in an existing folder")


def warn(sandbox: str, course: Course) -> None:
    """Print a warning if grading is not safe, see `what_is_unsafe`.

    Raises `MachineError` if the sandbox does not work, or with "auto" if none does.
    """
    if reason := what_is_unsafe(sandbox, course.root):
        Console(stderr=True, style="yellow").print(Text(f"warning: {reason}"))


def say(console: Console, *lines: str) -> None:
    """Print lines, in which nothing controls the terminal. The terminal wraps them."""
    for line in lines:
        console.print(Text(printable_lines(line)), soft_wrap=True)


def say_written(paths: Iterable[Path]) -> bool:
    """Print each path when it is written. True if there was one."""
    found = False
    for path in paths:
        print(f"wrote {path}")
        found = True
    return found
