"""`progress()` and `autograder progress`: all assignments on one page, with what the student's own checks have found.

`check` saves it in a file of the student's folder, beside the assignments' folders. So the file is not handed in with a
notebook, and it stays on this machine.
"""

from __future__ import annotations

import contextlib
import os
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct

from autograder.course.content import Visible, visible_around
from autograder.errors import SubmissionError
from autograder.reading import read_bytes
from autograder.report import ExerciseResult
from autograder.reports.rubric import block, paragraph, with_code
from autograder.text import printable

FILE = ".autograder-progress.json"
MOST = 2**20  # bytes; a student who meets every known mistake has a tenth of it
WIDTH, LONG_BAR = 12, 24  # characters of a bar: one of several, and the one below a check
TERMINAL = 80  # characters; nbgrader cuts longer lines when it prints a failed cell
SIGNS = {"done": "#", "begun": "+", "open": "-"}
COLOURS = {"done": "#2e7d32", "begun": "#f9a825", "open": "#9e9e9e55"}


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


def remember(result: ExerciseResult, passed: bool, met: Sequence[str], path: Path) -> bool:
    """Save a check's result, unless the exercise is not started or somebody else runs the notebook.

    If the file cannot be written, nothing is saved and the check goes on. True if the exercise begins to pass.

    passed: whether the exercise passes its check; met: the names of known mistakes found
    """
    if not result.started or "NBGRADER_EXECUTION" in os.environ:
        return False
    records = recorded(path)
    before = records.get(result.name, CheckRecord())
    records[result.name] = CheckRecord(passed, list(dict.fromkeys((*before.mistakes, *met))))
    if records[result.name] != before or not path.exists():
        new = path.with_name(f"{FILE}.{os.getpid()}")
        try:
            new.write_bytes(msgspec.json.encode(records))
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
    return passed and not before.passed


@dataclass(frozen=True)
class Progress:
    """Which exercises of an assignment pass their visible tests, out of `all`."""

    assignment: str
    all: tuple[str, ...]
    passed: frozenset[str]

    @classmethod
    def of(cls, exercise: str, passed: Collection[str], visible: Visible) -> Progress:
        """The progress of the assignment that `exercise` belongs to. `passed` may name other assignments' exercises."""
        assignment = visible.assignment_of(exercise)
        exercises = visible.assignments[assignment]
        return cls(assignment, exercises, frozenset(passed) & frozenset(exercises))

    def __repr__(self) -> str:
        full = round(LONG_BAR * len(self.passed) / len(self.all))
        return f"[{'#' * full}{'-' * (LONG_BAR - full)}]\n{self._sentence()}"

    def _sentence(self) -> str:
        name, _, rest = self.assignment.partition("_")
        count = (
            f"{len(self.passed)} of {len(self.all)} exercises of {name}, {rest.replace('_', ' ')}, pass their checks"
        )
        return f"{count}. Well done!" if len(self.passed) == len(self.all) else f"{count}."

    def _repr_html_(self) -> str:
        sentence = escape(self._sentence())
        bar = (
            f'<div role="progressbar" aria-valuemin="0" aria-valuemax="{len(self.all)}" '
            f'aria-valuenow="{len(self.passed)}" aria-label="{sentence}" style="display:flex;gap:2px;max-width:20em">'
            f"{bar_parts({name: COLOURS['done' if name in self.passed else 'open'] for name in self.all})}</div>"
        )
        return f'<div class="autograder-progress" style="margin:.8em 0 .3em">{bar}{paragraph(sentence)}</div>'


@dataclass(frozen=True)
class ProgressPage:
    """All assignments, and how far each is. path: the file that holds the records"""

    visible: Visible
    records: Mapping[str, CheckRecord]
    path: Path

    def __repr__(self) -> str:
        lines = [self._headline()]
        for name, exercises in self.visible.assignments.items():
            bar = "".join(SIGNS[self._state(exercise)] for exercise in exercises)
            lines += [f"  {_title(name):34} [{bar}]{' ' * (WIDTH - len(bar))} {self._count(exercises)}"]
            lines += [f"      {detail}" for detail in self._details(exercises)]
        return "\n".join((*lines, self._next(), self._place()))

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(_title(name))}</td><td>{self._bar(exercises)}</td>'
            f'<td style="text-align:left">{escape(self._count(exercises))}'
            f"{''.join(f'<br>{escape(detail)}' for detail in self._details(exercises))}</td></tr>"
            for name, exercises in self.visible.assignments.items()
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

    def _headline(self) -> str:
        finished = sum(self._count(exercises) == "done" for exercises in self.visible.assignments.values())
        done, every = self._in("done", self.visible.exercises), self.visible.exercises
        return (
            f"{len(done)} of {len(every)} exercises pass their checks, "
            f"and {finished} of {len(self.visible.assignments)} assignments are done."
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
        under_way = [exercises for exercises in self.visible.assignments.values() if self._in("done", exercises)]
        exercises = [
            *self._in("begun", self.visible.exercises),
            *(exercise for exercises in under_way for exercise in self._in("open", exercises)),
            *self._in("open", self.visible.exercises),
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
    path = path_of(folder, visible.assignments)
    return ProgressPage(visible, recorded(path), path)


def progress() -> None:
    """Show all assignments, with what your own checks have found so far: done, begun, known mistakes met."""
    show(page(Path.cwd()))


def show(shown: object) -> None:
    """Show something below the cell that runs."""
    from IPython.display import display  # its import takes long, and the command line does not need it

    display(shown)  # type: ignore[no-untyped-call]


def bar_parts(colours: Mapping[str, str]) -> str:
    """The parts of a bar as HTML: one for each name, in its colour, with the name as its title."""
    return "".join(
        f'<span style="flex:1;height:.6em;background:{colour}" title="{escape(name)}"></span>'
        for name, colour in colours.items()
    )


def listing(function: str, folder: Path) -> str:
    """What `check` or `hint` lists without a name: the exercises of the assignment in `folder`, or of all of them.

    function: `check` or `hint`, for the example of a call
    """
    assignments = visible_around(folder, "").assignments
    name = folder.resolve().name
    listed = {name: assignments[name]} if name in assignments else assignments
    example = next((exercise for exercises in listed.values() for exercise in exercises), "")
    lines = [f'Name an exercise, such as {function}("{example}").' if example else "No exercise here."]
    for assignment, exercises in listed.items():
        lines += wrapped(f"{assignment}: {', '.join(exercises)}", "  ")
    return "\n".join(lines)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of a terminal's width; none of an empty text. A long word, such as code without blanks, is not cut."""
    return textwrap.wrap(text, TERMINAL, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
