"""`progress()` and `autograder progress`: all assignments on one page, with what the student's own checks have found.

`check` saves it in a file of the student's folder, beside the assignments' folders. So the file is not handed in with a
notebook, and it stays on this machine.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct

from autograder.course.content import Visible, visible_around
from autograder.errors import SubmissionError
from autograder.reading import read_bytes
from autograder.reports.rubric import block, paragraph, with_code
from autograder.student.check_result import DONE, NOT_DONE, CheckResult, bar_parts
from autograder.text import printable

FILE = ".autograder-progress.json"
MOST = 2**20  # bytes; a student who meets every known mistake has a tenth of it
WIDTH = 12  # characters of a bar
SIGNS = {"done": "#", "begun": "+", "open": "-"}
COLOURS = {"done": DONE, "begun": "#f9a825", "open": NOT_DONE}


class CheckRecord(Struct, omit_defaults=True):
    """One exercise: whether it passed its last check, and the known mistakes that the student has met, in order."""

    passed: bool = False
    mistakes: list[str] = []


def path_of(folder: Path, assignments: Mapping[str, object]) -> Path:
    """The file for a notebook in `folder`: in the folder above if `folder` is an assignment's, else in `folder`."""
    folder = folder.resolve()
    return (folder.parent if folder.name in assignments else folder) / FILE


def recorded(path: Path) -> dict[str, CheckRecord]:
    """The records by exercise; empty if there is no file, or none that can be read."""
    with contextlib.suppress(SubmissionError, msgspec.MsgspecError):
        return msgspec.json.decode(read_bytes(path, MOST, "Delete it to start again."), type=dict[str, CheckRecord])
    return {}


def remember(checked: CheckResult, folder: Path) -> bool:
    """Save a check's result, unless the exercise is not started or somebody else runs the notebook.

    If the file cannot be written, nothing is saved and the check goes on. True if the exercise begins to pass.
    """
    result = checked.result
    if not result.started or "NBGRADER_EXECUTION" in os.environ:
        return False
    path = path_of(folder, checked.visible.assignments)
    records = recorded(path)
    before = records.get(result.name, CheckRecord())
    met = [] if checked.culprit else [one.name for one in result.of("known mistake")]
    records[result.name] = CheckRecord(checked.passed, list(dict.fromkeys((*before.mistakes, *met))))
    if records[result.name] != before or not path.exists():
        new = path.with_name(f"{FILE}.{os.getpid()}")
        try:
            new.write_bytes(msgspec.json.encode(records))
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
    return checked.passed and not before.passed


@dataclass(frozen=True)
class ProgressPage:
    """All assignments, and how far each is. path: the file that holds the records"""

    visible: Visible
    assignments: Mapping[str, Sequence[str]]
    records: Mapping[str, CheckRecord]
    path: Path

    def __repr__(self) -> str:
        lines = [self._headline()]
        for name, exercises in self.assignments.items():
            bar = "".join(SIGNS[self._state(exercise)] for exercise in exercises)
            lines += [f"  {_title(name):34} [{bar}]{' ' * (WIDTH - len(bar))} {self._count(exercises)}"]
            lines += [f"      {detail}" for detail in self._details(exercises)]
        return "\n".join((*lines, self._next(), self._place()))

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(_title(name))}</td><td>{self._bar(exercises)}</td>'
            f'<td style="text-align:left">{escape(self._count(exercises))}'
            f"{''.join(f'<br>{escape(detail)}' for detail in self._details(exercises))}</td></tr>"
            for name, exercises in self.assignments.items()
        )
        table = f'<table class="autograder-overview">{rows}</table>'
        below = "".join(paragraph(with_code(line)) for line in (self._next(), self._place()))
        return block(paragraph(escape(self._headline())) + table + below, "Progress")

    def _place(self) -> str:
        folder, is_there = self.path.parent, self.path.exists()
        if os.access(folder, os.W_OK):
            kept = "Kept" if is_there else "Nothing is kept yet. Your checks will be kept"
            return f"{kept} in {self.path}, and nowhere else."
        kept = f"Kept in {self.path}. " if is_there else "Nothing is kept. "
        return f"{kept}This user cannot write to {folder}, so checks keep nothing new."

    def _state(self, exercise: str) -> str:
        record = self.records.get(exercise)
        return "open" if record is None else "done" if record.passed else "begun"

    def _in(self, state: str, exercises: Sequence[str]) -> list[str]:
        return [exercise for exercise in exercises if self._state(exercise) == state]

    def _every(self) -> list[str]:
        return [exercise for exercises in self.assignments.values() for exercise in exercises]

    def _headline(self) -> str:
        finished = sum(len(self._in("done", exercises)) == len(exercises) for exercises in self.assignments.values())
        return (
            f"{len(self._in('done', self._every()))} of {len(self._every())} exercises pass their checks, "
            f"and {finished} of {len(self.assignments)} assignments are done."
        )

    def _count(self, exercises: Sequence[str]) -> str:
        done = len(self._in("done", exercises))
        if done == len(exercises):
            return "done"
        begun = self._in("begun", exercises)
        return f"{done} of {len(exercises)}" if done or begun else "not begun"

    def _details(self, exercises: Sequence[str]) -> list[str]:
        """The exercises that are begun, and the known mistakes that the student has met, with those that are fixed."""
        begun = self._in("begun", exercises)
        details = [f"begun: {', '.join(begun)}"] if begun else []
        for exercise in exercises:
            record = self.records.get(exercise)
            if record is not None and record.mistakes:
                names = ", ".join(printable(name.replace("-", " ")) for name in record.mistakes)
                details.append(f"met in {exercise}: {names}{' (fixed)' if record.passed else ''}")
        return details

    def _next(self) -> str:
        """The exercise to go on with: one that is begun, else an open one of an assignment with one done, else any."""
        under_way = [exercises for exercises in self.assignments.values() if self._in("done", exercises)]
        exercises = [
            *self._in("begun", self._every()),
            *(exercise for exercises in under_way for exercise in self._in("open", exercises)),
            *self._in("open", self._every()),
        ]
        if not exercises:
            return "Everything is done. Well done!"
        return f"Go on with {exercises[0]}. {self.visible.nudge(exercises[0])}".strip()

    def _bar(self, exercises: Sequence[str]) -> str:
        parts = bar_parts({exercise: COLOURS[self._state(exercise)] for exercise in exercises})
        label = f"{len(self._in('done', exercises))} of {len(exercises)}"
        return f'<div role="img" aria-label="{label}" style="display:flex;gap:2px;width:12em">{parts}</div>'


def _title(assignment: str) -> str:
    name, _, rest = assignment.partition("_")
    return f"{name}  {rest.replace('_', ' ')}"


def page(folder: Path) -> ProgressPage:
    """The page for a student who works in `folder`."""
    visible = visible_around(folder, "")
    assignments = visible.assignments
    path = path_of(folder, assignments)
    return ProgressPage(visible, assignments, recorded(path), path)


def progress() -> None:
    """Show all assignments, with what your own checks have found so far: done, begun, known mistakes met."""
    from IPython.display import display  # its import takes long, and the command line does not need it

    display(page(Path.cwd()))
