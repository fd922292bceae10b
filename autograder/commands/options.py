"""What several commands share: where student code runs, and what is said before the work begins."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.course import Course
from autograder.errors import AutograderError
from autograder.sandbox.outside.launch import shown_with, wall


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


def must_be_writable(path: Path | None) -> None:
    """Raise `AutograderError` if `path` cannot be written: before the class is graded, not after."""
    if path is None or path == Path("-"):
        return
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise AutograderError(f"{path} cannot be written; name a file in a folder that is there")


def warn(kind: SandboxKind, course: Course | None = None) -> None:
    """Say so if there is no wall, less of one, or the course is on its wrong side.

    Raises `MachineError` if a wall was insisted on.
    """
    chosen, reason = wall(kind.value)
    if not chosen:
        reason = reason or "asked for with --sandbox process"
        reason = f"student code runs in a process with limits, but without a sandbox: {reason}"
    elif course is not None and (place := shown_with(course.root)):
        reason = f"student code can read the course, since it lies in {place}, with the libraries"
    if reason:
        text = f"warning: {reason} (`autograder doctor` says what helps)"
        Console(stderr=True, style="yellow").print(Text(text))
