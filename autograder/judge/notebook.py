"""A submission in the sandbox: display cells run last, and the judge can ask which names its code looks up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence

from autograder.judge.display_cells import DisplayCell, deferrable
from cellcage import CellResult, Limits, Process
from cellcage import notebook as client
from cellcage.calling.lookups import MAX_USES
from cellcage.protocol import frames, messages

LOOPS = "it did not run, because it calls a function that ran out of time"


class JudgedNotebook(client.Notebook):
    """One submission. See the base class.

    display_cells: cells that only display something, by their text; those that may be deferred run in `show`
    checks: for each exercise, the number of cells before its check
    shows: whether results have pictures and tables, too
    """

    def __init__(
        self,
        cells: Sequence[str],
        limits: Limits,
        process: Process,
        display_cells: Mapping[str, DisplayCell] | None = None,
        checks: Mapping[str, int] | None = None,
        shows: bool = False,
    ) -> None:
        self.shows = shows
        self._display_cells, self.checks = display_cells or {}, checks or {}
        self._deferred: frozenset[int] | None = None  # cells that run last; not known yet
        super().__init__(cells, limits, process)

    def __enter__(self) -> JudgedNotebook:
        return self

    def _before_cells(self) -> bool:
        return self._deferred is not None or self._find_deferred()

    def _chosen(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in numbers if number not in (self._deferred or ())]

    def _seconds(self, number: int, ran_out: bool) -> float:
        """After a loop, a deferred cell gets little time, because it may call the same endless code."""
        if number not in self._results and number in (self._deferred or ()) and (self.looping or ran_out):
            return self.limits.call_seconds_again
        return super()._seconds(number, ran_out)

    def show(self) -> None:
        """Run the deferred display cells in the final state. Its process is not used again."""
        deferred = sorted(self._deferred or ())
        self._skip |= {
            number: CellResult(stopped=LOOPS, ran_out_of_time=True) for number in filter(self._loops, deferred)
        }
        while deferred:
            self.at(None)
            all_ran = self._run(deferred)
            self.close()
            if all_ran:
                return

    def _loops(self, number: int) -> bool:
        """Whether a display cell calls an exercise that is known to loop, itself or through another exercise."""
        if not self.looping:
            return False
        used = self._display_cells[self.cells[number]].uses
        through = (self.uses(name, ()) for name in used & self.checks.keys())
        return any(not names.isdisjoint(self.looping) for names in (used, *through))

    def _find_deferred(self) -> bool:
        """Find the cells that run last, in a process that has run none. False if it is lost; then none is deferred."""
        self._deferred = frozenset()
        others = [source for source in self.cells if source not in self._display_cells]
        if len(others) == len(self.cells):
            return True
        until = time.monotonic() + client.FORK_SECONDS
        with contextlib.suppress(*client.LOST):
            looked_up = self._ask(messages.LookUp(tuple(others)), until, messages.Names).names
            self._deferred = deferrable(self.cells, self._display_cells, looked_up)
            return True
        return False

    def uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        """Names of the notebook's, or among `known`, that an exercise's code looks up; none if that is not known."""

        def ask() -> frozenset[str]:
            until = min(time.monotonic() + client.FORK_SECONDS, self.ends_at)
            allowance = frames.Allowance(MAX_USES * 100, MAX_USES * 100)
            found = self._ask(messages.LookUses(name, tuple(known)), until, messages.Uses, allowance).uses
            if len(found) > MAX_USES:
                raise frames.WireError("not a list of names")
            return frozenset(word for word in found if isinstance(word, str))

        return self._ask_twice(ask) or frozenset()
