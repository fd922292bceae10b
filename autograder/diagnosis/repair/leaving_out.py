"""Edits that only leave something out. They come first: if the rest passes strong tests, it was not needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.repair.cell import Edit, ParsedCell, called, is_method, is_stored, number

MAX_ELEMENTS = 6  # of a list that is written out; longer ones are tables
KEPT = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass


def statements(cell: ParsedCell) -> Iterator[Edit]:
    """Without one statement."""
    for one in cell.of(ast.stmt):
        body = getattr(one.parent, one.field)
        is_last = isinstance(one.node, ast.Return) and body[-1] is one.node
        documents = isinstance(one.node, ast.Expr) and isinstance(one.node.value, ast.Constant)
        at_top = one.scope is None and isinstance(one.parent, ast.Module)
        if not (isinstance(one.node, KEPT) or is_last or documents or at_top):
            yield cell.put("statement", one.node, "pass")


def conditions(cell: ParsedCell) -> Iterator[Edit]:
    """A condition that is always or never true; one branch of an expression."""
    for branch in cell.nodes(ast.If, ast.comprehension):
        tests = [branch.test] if isinstance(branch, ast.If) else branch.ifs  # type: ignore[attr-defined]
        for test in tests:
            yield cell.put("condition", test, "True")
            yield cell.put("condition", test, "False")
    for choice in cell.nodes(ast.IfExp):
        yield cell.put("condition", choice, cell.atom(choice.body), part=choice.test)
        yield cell.put("condition", choice, cell.atom(choice.orelse), part=choice.test)


def calls(cell: ParsedCell) -> Iterator[Edit]:
    """The value that a method is called on, or a call's first argument, in place of the call. Also without a sign."""
    for made in cell.nodes(ast.Call):
        if is_method(made) and isinstance(made.func, ast.Attribute):
            left_out = cell.text(made).removeprefix(cell.text(made.func.value))
            yield cell.put("call", made, cell.atom(made.func.value), f"without {left_out}")
        if made.args and not isinstance(made.args[0], ast.Starred):
            yield cell.put("call", made, cell.atom(made.args[0]), f"without {called(made)}")
    for attribute in cell.nodes(ast.Attribute):
        if attribute.attr in ("T", "mT"):
            yield cell.put("call", attribute, cell.atom(attribute.value), "without .T")
    for signed in cell.nodes(ast.UnaryOp):
        if number(signed) is None:
            yield cell.put("sign", signed, cell.atom(signed.operand))


def operands(cell: ParsedCell) -> Iterator[Edit]:
    """One side of an operator in place of both."""
    for formula in cell.nodes(ast.BinOp):
        yield cell.put(
            "operand",
            formula,
            cell.atom(formula.left),
            f"without {type(formula.op)} {cell.text(formula.right)}",
        )
        yield cell.put(
            "operand",
            formula,
            cell.atom(formula.right),
            f"without {cell.text(formula.left)} {type(formula.op)}",
        )
    for joined in cell.nodes(ast.BoolOp):
        word = " and " if isinstance(joined.op, ast.And) else " or "
        for left_out in joined.values:
            rest = word.join(cell.atom(value) for value in joined.values if value is not left_out)
            yield cell.put("operand", joined, f"({rest})", part=left_out)


def subscripts(cell: ParsedCell) -> Iterator[Edit]:
    """A value without the brackets behind it."""
    for subscript in cell.nodes(ast.Subscript):
        if not is_stored(subscript):
            yield cell.put("subscript", subscript, cell.atom(subscript.value))


def elements(cell: ParsedCell) -> Iterator[Edit]:
    """Without one element, argument or keyword."""
    for listed in cell.nodes(ast.Tuple, ast.List):
        among = listed.elts  # type: ignore[attr-defined]
        if 2 <= len(among) <= MAX_ELEMENTS and not is_stored(listed):
            for which in range(len(among)):
                yield cell.remove("element", which, among, listed)
    for call in cell.nodes(ast.Call):
        given = sorted([*call.args, *call.keywords], key=cell.span)
        for which, one in enumerate(given):
            if isinstance(one, ast.keyword) or (which and one is call.args[-1]):
                yield cell.remove("element", which, given, call)
