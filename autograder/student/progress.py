"""`progress()` and `autograder progress`: all assignments on one page, with what the student's own checks have found.

`check` keeps that in a file of the student's folder, beside the assignments' folders and in none of them: so it is not
handed in with a notebook, and it stays on this machine.
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

from autograder.content import Visible, visible_around
from autograder.errors import SubmissionError
from autograder.reading import read_bytes
from autograder.reports.html import block, paragraph
from autograder.reports.plain_text import mistakes_in
from autograder.student.check_result import DONE, NOT_DONE, CheckResult
from autograder.text import printable

FILE = ".autograder-progress.json"
MOST = 2**20  # bytes; a student who meets every known mistake has a tenth of it
BEGUN = "#f9a825"
WIDTH = 12  # characters of a bar


class Record(Struct, omit_defaults=True):
    """One exercise: did it pass its check last time, and which known mistakes has the student met, in order?"""

    passed: bool = False
    mistakes: list[str] = []


Records = Mapping[str, Record]


def home(folder: Path, assignments: Mapping[str, object]) -> Path:
    """Where the file of a notebook in `folder` is: above an assignment's folder, else there."""
    folder = folder.resolve()
    return (folder.parent if folder.name in assignments else folder) / FILE


def recorded(path: Path) -> dict[str, Record]:
    """What is kept; nothing if there is no file, or none that can be read."""
    with contextlib.suppress(SubmissionError, msgspec.MsgspecError):
        return msgspec.json.decode(read_bytes(path, MOST, "Delete it to begin anew."), type=dict[str, Record])
    return {}


def remember(verdict: CheckResult, folder: Path) -> None:
    """Keep what a check has found, unless nothing is written yet or somebody else runs the notebook.

    A folder that cannot be written to keeps nothing, and the check goes on.
    """
    result = verdict.result
    if not result.started or "NBGRADER_EXECUTION" in os.environ:
        return
    path = home(folder, verdict.visible.assignments())
    records = recorded(path)
    before = records.get(result.name, Record())
    met = [] if verdict.culprit else mistakes_in(result)
    records[result.name] = Record(verdict.passed, list(dict.fromkeys((*before.mistakes, *met))))
    if records[result.name] != before or not path.exists():
        new = path.with_name(f"{FILE}.{os.getpid()}")
        try:
            new.write_bytes(msgspec.json.encode(records))
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()


@dataclass(frozen=True)
class Page:
    """All assignments, and how far each is. path: where it is kept"""

    assignments: Mapping[str, Sequence[str]]
    records: Records
    path: Path

    def __repr__(self) -> str:
        lines = [self._headline()]
        for name, exercises in self.assignments.items():
            signs = {"done": "#", "begun": "+", "open": "-"}
            bar = "".join(signs[self._state(exercise)] for exercise in exercises)
            lines += [f"  {_title(name):34} [{bar}]{' ' * (WIDTH - len(bar))} {self._words(exercises)}"]
            lines += [f"      {words}" for words in self._details(exercises)]
        return "\n".join((*lines, self._next(), f"Kept in {self.path}, and nowhere else."))

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(_title(name))}</td><td>{self._bar(exercises)}</td>'
            f'<td style="text-align:left">{escape(self._words(exercises))}'
            f"{''.join(f'<br>{escape(words)}' for words in self._details(exercises))}</td></tr>"
            for name, exercises in self.assignments.items()
        )
        kept = f"Kept in {self.path}, and nowhere else."
        table = f'<table class="autograder-overview">{rows}</table>'
        lines = paragraph(escape(self._headline())) + table + paragraph(escape(self._next())) + paragraph(escape(kept))
        return block(lines, "Progress")

    def _state(self, exercise: str) -> str:
        record = self.records.get(exercise)
        return "open" if record is None else "done" if record.passed else "begun"

    def _in(self, state: str, exercises: Sequence[str]) -> list[str]:
        return [exercise for exercise in exercises if self._state(exercise) == state]

    def _headline(self) -> str:
        every = [exercise for exercises in self.assignments.values() for exercise in exercises]
        finished = sum(len(self._in("done", exercises)) == len(exercises) for exercises in self.assignments.values())
        return (
            f"{len(self._in('done', every))} of {len(every)} exercises pass their checks, "
            f"and {finished} of {len(self.assignments)} assignments are done."
        )

    def _words(self, exercises: Sequence[str]) -> str:
        done = len(self._in("done", exercises))
        if done == len(exercises):
            return "done"
        begun = self._in("begun", exercises)
        return f"{done} of {len(exercises)}" if done or begun else "not begun"

    def _details(self, exercises: Sequence[str]) -> list[str]:
        """What is begun, and the known mistakes that were met, with those that are mended."""
        begun = self._in("begun", exercises)
        found = [f"begun: {', '.join(begun)}"] if begun else []
        for exercise in exercises:
            record = self.records.get(exercise)
            if record is not None and record.mistakes:
                names = ", ".join(printable(name.replace("-", " ")) for name in record.mistakes)
                found.append(f"met in {exercise}: {names}{' (mended)' if record.passed else ''}")
        return found

    def _next(self) -> str:
        """The exercise to go on with: one that is begun, else the first that is open where something is done."""
        every = [exercise for exercises in self.assignments.values() for exercise in exercises]
        begun = self._in("begun", every) or [
            one
            for exercises in self.assignments.values()
            if self._in("done", exercises)
            for one in self._in("open", exercises)
        ]
        one = next(iter(begun or self._in("open", every)), None)
        return f'Go on with {one}. hint("{one}") gives a first nudge.' if one else "All of it is done. Well done!"

    def _bar(self, exercises: Sequence[str]) -> str:
        colours = {"done": DONE, "begun": BEGUN, "open": NOT_DONE}
        parts = "".join(
            f'<span style="flex:1;height:.6em;background:{colours[self._state(name)]}" title="{escape(name)}"></span>'
            for name in exercises
        )
        words = escape(f"{len(self._in('done', exercises))} of {len(exercises)}")
        return f'<div role="img" aria-label="{words}" style="display:flex;gap:2px;width:12em">{parts}</div>'


def _title(assignment: str) -> str:
    name, _, rest = assignment.partition("_")
    return f"{name}  {rest.replace('_', ' ')}"


def page(folder: Path, visible: Visible | None = None) -> Page:
    """The page for whoever works in `folder`."""
    assignments = (visible or visible_around(folder, "")).assignments()
    path = home(folder, assignments)
    return Page(assignments, recorded(path), path)


def progress() -> None:
    """Show all assignments, with what your own checks have found so far: done, begun, known mistakes met."""
    from IPython.display import display  # takes long to import: the command line goes without

    display(page(Path.cwd()))
