"""A submission in the sandbox: display cells run last, and the judge can ask which names its code looks up.

No mark depends on cells that only display something, so they run after the other cells, or not at all. The author
marks such cells (see `source_notebook`), and the reference does without them. In a submission such a cell may be
deferred if its text is the author's, and if no other cell looks up a name that it defines. A plot, a table or a
comparison with PyTorch takes a third of a notebook's time, and is not repeated when an exercise is judged again.
"""

from __future__ import annotations

import ast
import contextlib
import re
import symtable
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cellcage import CellResult, Limits, Process
from cellcage import notebook as client
from cellcage.calling.lookups import MAX_USES
from cellcage.notebook_calls import FirstCells, NotebookCalls, Terms
from cellcage.protocol import frames, messages


@dataclass(frozen=True)
class DisplayCell:
    """Names that a cell assigns, and names that it looks up."""

    binds: frozenset[str]
    uses: frozenset[str]


def display_cells(sources: Iterable[str]) -> dict[str, DisplayCell]:
    """By their text, the author's cells that change nothing but their own names."""
    found = {source: names for source in sources if (names := _names(source)) is not None}
    own = frozenset().union(*(names.binds for names in found.values()))
    return {source: names for source, names in found.items() if _changed(source) <= own | _variables(source)}


def deferrable(
    cells: Sequence[str], display_cells: Mapping[str, DisplayCell], looked_up: Collection[str]
) -> frozenset[int]:
    """The numbers of the cells that may run after all others. looked_up: names that the others may look up.

    If a cell may not be deferred, those that use its names may not, either.
    """
    deferred = {number: display_cells[source] for number, source in enumerate(cells) if source in display_cells}
    needed, made = set(looked_up), set[str]()
    while stays := [n for n, names in deferred.items() if names.binds & needed or names.uses & made]:
        for number in stays:
            names = deferred.pop(number)
            needed |= names.uses
            made |= names.binds
    return frozenset(deferred)


def defines(name: str, source: str) -> bool:
    """Whether a cell defines a function or class of this name, or sets the name, even if the cell fails."""
    definition = rf"^(?:(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b|{re.escape(name)}\s*=[^=])"
    return re.search(definition, source, re.MULTILINE) is not None


def _names(source: str) -> DisplayCell | None:
    """None if the cell is not plain Python."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except SyntaxError:
        return None
    symbols = [(scope, symbol) for scope in _scopes(table) for symbol in scope.get_symbols()]
    outside = [symbol for scope, symbol in symbols if scope is table or symbol.is_global()]
    binds = {s.get_name() for s in outside if s.is_assigned() or s.is_imported() or s.is_namespace()}
    return DisplayCell(frozenset(binds), frozenset(s.get_name() for s in outside if s.is_referenced()))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _variables(source: str) -> set[str]:
    """Local variables of functions, without parameters, since a caller may pass anything."""
    inside = [s for scope in _scopes(symtable.symtable(source, "cell", "exec")) for s in scope.get_symbols()]
    return {s.get_name() for s in inside if s.is_local()} - {s.get_name() for s in inside if s.is_parameter()}


def _changed(source: str) -> set[str]:
    """Names whose attributes or items a cell sets or deletes."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            base: ast.expr = node
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            found.add(base.id if isinstance(base, ast.Name) else "")
    return found


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
            return frozenset(self._ask(messages.LookUses(name, tuple(known)), until, messages.Names, allowance).names)

        return self._ask_twice(ask) or frozenset()


@dataclass(frozen=True)
class EditedNotebook:
    """A notebook in which other cells run before the calls of an attempt. See `FirstCells` for the fields."""

    notebook: JudgedNotebook
    cells: tuple[str, ...]
    seconds: float
    memory: int

    def begin(self, terms: Terms) -> NotebookCalls:
        """Begin calls on these terms, after the cells."""
        return self.notebook.begin(replace(terms, first_cells=FirstCells(self.cells, self.seconds, self.memory)))
