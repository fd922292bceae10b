"""Cells that only display something. No mark depends on them, so they run after the other cells, or not at all.

The author marks such cells (`Assignment.display_cells`), and the reference does without them. In a submission such a
cell may be deferred if its text is the author's, and if no other cell looks up a name that it defines. A plot, a table
or a comparison with PyTorch takes a third of a notebook's time, and is not repeated when an exercise is judged again.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


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
