"""How far a run is: progress bars on a terminal, and elsewhere a line if it waits long for one submission."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from autograder.task import Task
from autograder.text import shown_name
from autograder.worker.pool import OnWait, still_marking

SOON = 2.0  # seconds until a progress bar says for whom it waits; an ordinary submission takes a fraction of one
FIELDS: dict[str, Any] = {"rate": "", "failed": "", "waits": ""}


class RunProgress(ExitStack):
    """A bar for grading, with rate and time left, and one for feedback pages if there will be any.

    shown: if not, there are only lines
    quiet: nothing at all
    goes_on: the same command goes on where this one is interrupted
    on_wait: for a pool of workers
    """

    def __init__(
        self, console: Console, total: int, shown: bool, quiet: bool, pages: bool = False, *, goes_on: bool = False
    ) -> None:
        super().__init__()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[failed]}"), TextColumn("{task.fields[waits]}"),
        )  # fmt: skip
        on_terminal = shown and console.is_terminal and not quiet
        self._bars = Progress(*columns, console=console, transient=True, disable=not on_terminal)
        self._grading = self._bars.add_task("grading", total=total, **FIELDS)
        # It is there from the start, so that nobody takes the end of grading for the end of the run.
        self._pages = self._bars.add_task("feedback pages", total=total, visible=pages, **FIELDS)
        self._failed = 0
        if not quiet:
            again = "; the same command goes on there" if goes_on else ""
            self.push(lambda kind, *_: self._interrupted(console, again) if kind is KeyboardInterrupt else None)
        lines = still_marking(lambda line: console.print(Text(line)))
        self.on_wait: OnWait = self._show_wait if on_terminal else (lambda *_: None) if quiet else lines

    def __enter__(self) -> RunProgress:
        self.enter_context(self._bars)
        return self

    def graded(self, failed: bool) -> None:
        """One more submission is graded, or could not be."""
        self._failed += failed
        speed = self._bars.tasks[0].finished_speed or self._bars.tasks[0].speed
        fields: dict[str, Any] = {
            "rate": f"{speed:.1f} a second" if speed else "",
            "failed": f"{self._failed} not gradable" if self._failed else "",
            "waits": "",
        }
        self._bars.update(self._grading, advance=1, **fields)

    def _interrupted(self, console: Console, again: str) -> None:
        bar = self._bars.tasks[0]
        console.print(f"interrupted: {bar.completed:.0f} of {bar.total:.0f} were graded{again}")

    def page_done(self) -> None:
        """One more submission has its page, or needs no new one."""
        self._bars.update(self._pages, advance=1)

    def _show_wait(self, task: Task, seconds: float) -> None:
        if seconds >= SOON:
            words = f"marking {shown_name(task.student)}, {task.assignment} ({seconds:.0f} s)"
            self._bars.update(self._grading, waits=escape(words))
