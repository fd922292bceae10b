"""All edits of a cell, the likeliest first: what can be left out, then what can be varied, then what is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from autograder.diagnosis.repair import inserting, leaving_out, varying
from autograder.diagnosis.repair.cell import Edit, ParsedCell, everywhere

KINDS: tuple[Callable[[ParsedCell], Iterator[Edit]], ...] = (
    leaving_out.statements,
    leaving_out.conditions,
    leaving_out.calls,
    leaving_out.operands,
    leaving_out.subscripts,
    leaving_out.elements,
    varying.axes,
    varying.comparisons,
    varying.inverted,
    varying.numbers,
    varying.orders,
    varying.operators,
    varying.bounds,
    varying.siblings,
    inserting.in_place,
    inserting.copies,
    varying.indices,
    varying.unpacked,
    inserting.keywords,
    inserting.turns,
    varying.names,
    inserting.dtypes,
    inserting.missing_calls,
    varying.expressions,
    inserting.missing_operands,
)


def edits(cell: ParsedCell, not_run: Collection[int] = ()) -> Iterator[tuple[Edit, str]]:
    """Each edit with the text that it makes, each text once. After those of a kind, the same step in all its places.

    not_run: lines that are left alone
    """
    met = {cell.source}
    for kind in KINDS:
        found = list(kind(cell))
        for edit in (*found, *everywhere(found)):
            text = cell.edited(edit)
            if text not in met and edit.lines[0] not in not_run:
                met.add(text)
                yield edit, text
