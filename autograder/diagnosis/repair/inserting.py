"""Edits that put something in: a call, a keyword, a copy. And those that move or group what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.repair.cell import Edit, NodePlace, ParsedCell, called, is_method, is_own_attribute, is_stored

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
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
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
