"""Cells that only show something: no mark depends on them, so they run beside the others, or not if nobody will look.

Their author says so (`Assignment.display_cells`), and the reference does without them. In a submission a cell waits
if its text is the author's, and if no other cell looks up a name that it defines. A plot, a table or a comparison with
PyTorch is a third of what a notebook costs, and it is not repeated for an exercise that is judged again.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DisplayCell:
    """Names that a cell gives a value, and names that it looks up."""

    binds: frozenset[str]
    uses: frozenset[str]


def display_cells(sources: Iterable[str]) -> dict[str, DisplayCell]:
    """By text, those of an author's cells that set nothing but names of their own."""
    found = {source: names for source in sources if (names := _names(source)) is not None}
    own = frozenset().union(*(names.binds for names in found.values()))
    return {source: names for source, names in found.items() if _changed(source) <= own | _variables(source)}


def last(cells: Sequence[str], showing: Mapping[str, DisplayCell], looked_up: Collection[str]) -> frozenset[int]:
    """Which cells may wait until all others have run. looked_up: names that any of the others may look up.

    If one must not wait, those that use its names must not, either.
    """
    waiting = {number: showing[source] for number, source in enumerate(cells) if source in showing}
    needed, made = set(looked_up), set[str]()
    while stays := [n for n, names in waiting.items() if names.binds & needed or names.uses & made]:
        for number in stays:
            names = waiting.pop(number)
            needed |= names.uses
            made |= names.binds
    return frozenset(waiting)


def _names(source: str) -> DisplayCell | None:
    """None of a cell that is no plain Python."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except SyntaxError:
        return None
    symbols = [(scope, symbol) for scope in _scopes(table) for symbol in scope.get_symbols()]
    outside = [(scope, symbol) for scope, symbol in symbols if scope is table or symbol.is_global()]
    binds = {s.get_name() for _, s in outside if s.is_assigned() or s.is_imported() or s.is_namespace()}
    return DisplayCell(frozenset(binds), frozenset(s.get_name() for _, s in outside if s.is_referenced()))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _variables(source: str) -> set[str]:
    """Variables of functions, but for parameters, which may be anybody's."""
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
