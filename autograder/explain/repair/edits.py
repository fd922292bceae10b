"""All edits of a cell, in the order of what their kinds found per edit in all wrong answers collected for the course.

Of a thousand edits that leave something out, 13 made an answer right: if the rest passes strong tests, it was not
needed. Of those that vary an axis, a number or an order, 3 did, of other dtypes and names 0.5, of steps put in 0.3.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from autograder.explain.repair import varying
from autograder.explain.repair.cell import (
    Edit,
    NodePlace,
    ParsedCell,
    called,
    everywhere,
    is_docstring,
    is_method,
    is_own_attribute,
    is_stored,
    number,
)

REDUCERS = {"sum", "mean", "max", "min", "amax", "amin", "var", "std", "norm", "any", "all"}
CREATORS = {"zeros", "ones", "empty", "full", "arange", "array", "eye", "tensor", "asarray", "zeros_like", "ones_like"}
JOINERS = {"softmax", "stack", "cat", "concatenate", "repeat"}
# What may be missing around a value that is written as `{}`: anywhere, in a formula, and in a value that is kept.
ANYWHERE = ("-{}", "~{}", "{} * 2", "{} / 2", "1 / {}", "{}[None]", "{}[0]")
IN_A_FORMULA = ("{} ** 0.5", "{} ** 2", "{}[..., None, :]")
KEPT_ARRAY = (
    "np.exp({})", "np.log({})", "np.sqrt({})", "{}.sum(axis=-1, keepdims=True)", "{}.sum(axis=-1)", "{}.sum(axis=-3)",
    "{}.copy()", "{}.sum(axis=0)", "{}.mean()", "{}.astype(bool)", "int({})", "float({})",
    "{} - {}.max(axis=-1, keepdims=True)",
)  # fmt: skip
KEPT_TENSOR = (
    "torch.exp({})", "torch.log({})", "torch.sqrt({})", "{}.sum(-1, keepdim=True)", "{}.sum(-3)", "{}.clone()",
    "{}.sum(0)", "{}.mean()", "{}.float()", "{}.bool()", "{}.long()",
)  # fmt: skip
VALUES = ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute
HOLDERS = ast.Assign | ast.Return | ast.AugAssign | ast.BinOp | ast.Call | ast.Tuple | ast.keyword | ast.IfExp


def copies(cell: ParsedCell) -> Iterator[Edit]:
    """A copy of an argument before the function's first statement."""
    method = "clone" if cell.is_torch else "copy"
    for function in cell.nodes(ast.FunctionDef):
        body = function.body[1:] if is_docstring(function.body[0]) else function.body
        if body and body[0].lineno > function.lineno:
            indent = " " * body[0].col_offset
            for one in [arg for arg in function.args.args if arg.arg != "self"][:6]:
                text = f"{one.arg} = {one.arg}.{method}()\n{indent}"
                yield cell.insert("copy", cell.span(body[0])[0], text, one)


def in_place(cell: ParsedCell) -> Iterator[Edit]:
    """A new value in place of a changed one, or the other way round; and the result of a call that nobody keeps."""
    for changed in cell.nodes(ast.AugAssign):
        target, sign = cell.text(changed.target), _sign(changed.op)
        yield cell.put("in place", changed, f"{target} = {target} {sign} ({cell.text(changed.value)})")
        yield cell.put("in place", changed, f"{target} = {cell.text(changed.value)}")
    for assigned in cell.nodes(ast.Assign):
        if isinstance(assigned.targets[0], ast.Name | ast.Subscript):
            yield cell.put(
                "in place",
                assigned,
                f"{cell.text(assigned.targets[0])} += {cell.text(assigned.value)}",
            )
    for statement in cell.nodes(ast.Expr):
        value = statement.value  # type: ignore[attr-defined]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            kept = value.func.value if is_method(value) else value.args[0] if value.args else None
            if isinstance(kept, ast.Name | ast.Subscript):
                yield cell.put("result", statement, f"{cell.text(kept)} = {cell.text(value)}")


def _sign(op: ast.operator) -> str:
    """An operator as it is written."""
    name = ast.Name("x", ast.Load())
    return ast.unparse(ast.BinOp(name, op, name))[2:-2]


def dtypes(cell: ParsedCell) -> Iterator[Edit]:
    """Another dtype."""
    for call in cell.of(ast.Call):
        if called(call.node) in CREATORS and call.scope:
            others = ["torch.bool" if cell.is_torch else "bool", *_dtypes_of(call)]
            if old := next((one for one in call.node.keywords if one.arg == "dtype"), None):
                yield from (cell.put("dtype", old.value, other, part=call.node) for other in others)
            else:
                yield from (_with_keyword(cell, "dtype", call.node, f"dtype={other}") for other in others)
    for attribute in cell.of(ast.Attribute):
        if attribute.node.attr in ("float32", "float64", "float"):
            yield from (cell.put("dtype", attribute.node, other) for other in _dtypes_of(attribute))
    for value in cell.of(ast.expr):
        if _is_kept(value):
            method = "to" if cell.is_torch else "astype"
            for dtype in _dtypes_of(value):
                yield cell.put("dtype", value.node, f"{cell.atom(value.node)}.{method}({dtype})")


def _dtypes_of(place: NodePlace[ast.AST]) -> list[str]:
    return [f"{one}.dtype" for one in place.scope.parameters[:4]] if place.scope else []


def _with_keyword(cell: ParsedCell, kind: str, node: ast.Call, text: str) -> Edit:
    end = cell.span(node)[1] - 1
    return cell.insert(kind, end, f", {text}" if node.args or node.keywords else text, node)


def keywords(cell: ParsedCell) -> Iterator[Edit]:
    """A keyword that is missing, or an axis."""
    axis, keep = ("dim", "keepdim") if cell.is_torch else ("axis", "keepdims")
    for call in cell.of(ast.Call):
        name, has = called(call.node), {one.arg for one in call.node.keywords}
        new: list[str] = []
        if name in REDUCERS:
            new += [f"{keep}=True"] if keep not in has else []
            if axis not in has:
                new += [text for n in (-1, 0, -2) for text in (f"{axis}={n}", f"{axis}={n}, {keep}=True")]
        if name in ("var", "std") and cell.is_torch:
            new += ["unbiased=False"]
        if name in JOINERS and axis not in has:
            new += [f"{axis}={n}" for n in (-1, 0, -2, 1)]
        if name in ("tril", "triu", "tri", "eye") and len(call.node.args) == 1 and not has:
            new += ["1", "-1"]
        if name == "Linear" and "bias" not in has:
            new += ["bias=False"]
        yield from (_with_keyword(cell, "keyword", call.node, text) for text in new)


def turns(cell: ParsedCell) -> Iterator[Edit]:
    """A value with its last two axes exchanged, or with one axis more."""
    more = ("{}.transpose(-2, -1)", "{}.unsqueeze(-3)") if cell.is_torch else ("{}.swapaxes(-2, -1)",)
    for value in filter(_is_value, cell.of(ast.expr)):
        for step in (*more, "{}[..., None]"):
            # Turning Q and K is one step, whatever the names.
            yield cell.put("step", value.node, f"({step.replace('{}', cell.atom(value.node))})", step)


def missing_calls(cell: ParsedCell) -> Iterator[Edit]:
    """A step around a value that may be missing."""
    for value in filter(_is_value, cell.of(ast.expr)):
        steps = [*ANYWHERE, *(IN_A_FORMULA if isinstance(value.parent, ast.BinOp) else ())]
        if isinstance(value.parent, ast.Assign | ast.Return | ast.Tuple | ast.Call):
            steps += KEPT_TENSOR if cell.is_torch else KEPT_ARRAY
        if isinstance(value.parent, ast.Assign) and is_own_attribute(value.parent.targets[0]):
            steps += ["nn.ModuleList({})", "nn.Parameter({})"]
        yield from (cell.put("step", value.node, f"({step.replace('{}', cell.atom(value.node))})") for step in steps)


def _is_value(place: NodePlace[ast.AST]) -> bool:
    """Whether a step may be missing around it."""
    node, parent = place.node, place.parent
    if not isinstance(node, VALUES) or is_stored(node) or place.scope is None:
        return False
    if isinstance(node, ast.Name) and node.id not in place.scope.names:
        return False
    return isinstance(parent, HOLDERS | ast.Slice) and place.field not in ("func", "targets", "target")


def _is_kept(place: NodePlace[ast.AST]) -> bool:
    """Whether it is assigned, returned, or one of several values that are."""
    return isinstance(place.parent, ast.Assign | ast.Return | ast.Tuple) and _is_value(place)


MAX_ELEMENTS = 6  # of a list that is written out; longer ones are tables
KEPT = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass


def statements(cell: ParsedCell) -> Iterator[Edit]:
    """Without one statement."""
    for one in cell.of(ast.stmt):
        body = getattr(one.parent, one.field)
        is_last = isinstance(one.node, ast.Return) and body[-1] is one.node
        at_top = one.scope is None and isinstance(one.parent, ast.Module)
        kept = isinstance(one.node, KEPT) or is_docstring(one.node) or _is_guard(one.node)
        if not (kept or is_last or at_top):
            yield cell.put("statement", one.node, "pass")


def _is_guard(node: ast.AST) -> bool:
    """True for what raises, and for a condition on which it does. NumPy may raise without it: no line too many."""
    if isinstance(node, ast.If) and not node.orelse:
        return all(map(_is_guard, node.body))
    made = node.value if isinstance(node, ast.Return | ast.Expr) else None
    return isinstance(node, ast.Raise | ast.Assert) or (isinstance(made, ast.Call) and called(made).endswith("Error"))


def conditions(cell: ParsedCell) -> Iterator[Edit]:
    """A condition that is always or never true; one branch of an expression."""
    for branch in cell.nodes(ast.If, ast.comprehension):
        if _is_guard(branch):
            continue
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


KINDS: tuple[Callable[[ParsedCell], Iterator[Edit]], ...] = (
    statements,
    conditions,
    calls,
    operands,
    subscripts,
    elements,
    varying.unpacked,
    varying.inverted,
    keywords,
    varying.axes,
    varying.comparisons,
    in_place,
    copies,
    varying.numbers,
    varying.orders,
    varying.siblings,
    varying.operators,
    varying.indices,
    varying.bounds,
    dtypes,
    varying.expressions,
    turns,
    varying.names,
    missing_calls,
)
MAX_SHOWN = 60  # characters of code in a sentence
ALL_OF_THEM = "what does each step do, in words, and does the task ask for all of them?"
BY_HAND = "what does it give for two small numbers, worked out by hand?"
# By the kind of edit. Each goes on after the code that it is about.
QUESTIONS = {
    "statement": "what is this line for, and which sentence of the task asks for it?",
    "condition": "when is the condition true, and what should happen when it is not?",
    "call": ALL_OF_THEM,
    "sign": BY_HAND,
    "operand": ALL_OF_THEM,
    "subscript": "what do the brackets take out, and does the task ask for that?",
    "element": "what is each of these for?",
    "axis": "which axis is that, also with one more axis in front? Write the shape beside the line.",
    "comparison": "for which values is the condition true? Try the one where both sides are equal.",
    "mask": "where is this True, and what should happen there?",
    "number": "what does this number stand for, and for which inputs is it right?",
    "bool": "what does each option do?",
    "order": "which value belongs where? Say it in words, and compare with the task.",
    "operator": BY_HAND,
    "bounds": "which is the first that it takes, and which is the last? Work it out for length 3.",
    "index": "what does each place in the brackets stand for, also with one more axis in front?",
    "function": "what does it give for a small array, worked out by hand?",
    "in place": "what did this name hold before, and whose array is it?",
    "result": "this returns something new. Where does it go?",
    "copy": "which line changes this argument?",
    "keyword": "which axes and options does it need here, and which does it use by default?",
    "name": "what does it hold here, and is that what this line needs?",
    "target": "which name should hold the result?",
    "dtype": "which dtype does it have, and which one should it have?",
    "step": "is there a step between this and what the task asks for? Write down both shapes.",
}
# Kinds with one or two alternatives: the part would give the answer away. The line is enough.
ONLY_THE_LINE = frozenset({"condition", "sign", "comparison", "bool", "order", "operator", "statement"})


def edits(cell: ParsedCell, not_run: Collection[int] = ()) -> Iterator[tuple[Edit, str]]:
    """Each edit with the text that it makes, each text once. After those of a kind, the same step in all its places.

    not_run: lines that are left alone
    """
    met = {cell.source}
    for kind in KINDS:
        found = list(kind(cell))
        for edit in (*found, *everywhere(found)):
            text = cell.edited(edit.changes)
            if text not in met and edit.lines[0] not in not_run:
                met.add(text)
                yield edit, text


def shortened(text: str) -> str:
    """A text on one line, cut to what a sentence can hold."""
    words = " ".join(text.split()).replace("`", "'")
    return words if len(words) <= MAX_SHOWN else f"{words[: MAX_SHOWN - 3]}..."
