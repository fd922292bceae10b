"""Edits that put something else in the place of what stands there: an axis, a number, an operator, a name."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import combinations, permutations

from autograder.explain.repair.cell import (
    Change,
    Edit,
    NodePlace,
    ParsedCell,
    called,
    is_own_attribute,
    is_stored,
    number,
)

AXIS_KEYWORDS = {"axis", "dim", "dims", "dim0", "dim1", "axis1", "axis2", "start_dim", "end_dim"}
AXIS_CALLS = {
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "cat", "chunk", "concatenate", "cumsum", "expand_dims",
    "flatten", "flip", "gather", "index_select", "log_softmax", "max", "mean", "min", "moveaxis", "movedim", "narrow",
    "norm", "permute", "repeat", "repeat_interleave", "roll", "size", "softmax", "sort", "split", "squeeze", "stack",
    "std", "sum", "swapaxes", "take", "transpose", "unbind", "unflatten", "unsqueeze", "var",
}  # fmt: skip
PAIRED_AXES = {"swapaxes", "transpose", "moveaxis", "movedim", "flatten"}
AXES = (-1, -2, 0, 1, -3, 2, 3)
PAIRS = ((-2, -1), (-3, -2), (-3, -1), (1, 2), (0, 1))
MASKED = ("float('-inf')", "-1e9")
MASKING = {"where", "masked_fill", "masked_fill_"}
COUNTING = {"range", "arange", "tril", "triu", "tri", "ones", "zeros", "eye", "roll", "diagonal", "empty"}
OPERATORS: dict[type, tuple[str, ...]] = {
    ast.Add: ("-", "*"), ast.Sub: ("+", "/"), ast.Mult: ("/", "@", "+"), ast.Div: ("*", "//", "-"), ast.MatMult: ("*",),
    ast.FloorDiv: ("%", "*", "/"), ast.Mod: ("//",), ast.Pow: ("*",), ast.BitAnd: ("|",), ast.BitOr: ("&",),
}  # fmt: skip
ORDERED = ast.Sub | ast.Div | ast.MatMult | ast.FloorDiv | ast.Mod | ast.Pow
COMPARISONS: dict[type, tuple[str, ...]] = {
    ast.Lt: ("<=", ">", ">="), ast.LtE: ("<", ">=", ">"), ast.Gt: (">=", "<", "<="), ast.GtE: (">", "<=", "<"),
    ast.Eq: ("!=", "<=", ">="), ast.NotEq: ("==", "<", ">"), ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
# Names that are taken for one another. Each may stand for the others of its family.
FAMILIES = (
    "max min sum mean", "amax amin", "maximum minimum max min", "argmax argmin", "sum mean prod cumsum", "var std",
    "sin cos", "tril triu", "ones zeros eye empty", "ones_like zeros_like", "exp log exp2", "sqrt abs square",
    "softmax log_softmax sigmoid", "repeat tile repeat_interleave", "stack concatenate hstack vstack cat",
    "relu gelu silu sigmoid tanh", "all any", "floor ceil", "float32 float64", "outer inner dot", "matmul multiply",
    "logical_and logical_or", "LayerNorm RMSNorm", "append extend", "masked_fill_ masked_fill",
    "isclose allclose equal",
    "less less_equal", "greater greater_equal", "flip roll", "view reshape", "trace sum diagonal", "T mT",
    "norm_1 norm_2", "norm1 norm2", "register_buffer register_parameter",
)  # fmt: skip
BUILT_IN = {"max", "min", "sum", "any", "all"}
MAX_NAMES = 12  # of a function's names that are tried in one place


def axes(cell: ParsedCell) -> Iterator[Edit]:
    """Another axis."""
    for constant in cell.of(ast.Constant, ast.UnaryOp):
        if not _is_axis(constant) or isinstance(constant.parent, ast.UnaryOp):
            continue
        part = constant.parent if isinstance(constant.parent, ast.keyword | ast.Call) else constant.node
        written = number(constant.node)
        others = [str(axis) for axis in AXES if axis != written]
        if isinstance(constant.parent, ast.keyword) and constant.parent.arg in ("axis", "dim"):
            others += ["None", "(-2, -1)"]
        others += [one for one in (constant.scope.parameters if constant.scope else ()) if one in AXIS_KEYWORDS]
        for other in others:
            yield cell.put("axis", constant.node, other, part=part)
    for call in cell.nodes(ast.Call):
        numbers = [one for one in call.args if number(one) is not None]
        if called(call) in PAIRED_AXES and len(numbers) == 2:
            for pair in PAIRS:
                changes = [Change(*cell.span(one), str(axis)) for one, axis in zip(numbers, pair, strict=True)]
                yield cell.change("axis", changes, call, f"{called(call)} {pair}")


def _is_axis(place: NodePlace[ast.AST]) -> bool:
    """Whether a whole number, or None, says which axis is meant."""
    if not (isinstance(number(place.node), int) or (isinstance(place.node, ast.Constant) and place.node.value is None)):
        return False
    if isinstance(place.parent, ast.keyword):
        return place.parent.arg in AXIS_KEYWORDS
    is_built_in = isinstance(getattr(place.parent, "func", None), ast.Name) and called(place.parent) in BUILT_IN
    return place.field == "args" and called(place.parent) in AXIS_CALLS and not is_built_in  # not in `max(1, n)`


def numbers(cell: ParsedCell) -> Iterator[Edit]:
    """Another number, and True for False."""
    for constant in cell.of(ast.Constant, ast.UnaryOp):
        written = number(constant.node)
        if isinstance(constant.parent, ast.UnaryOp) or _is_axis(constant):
            continue
        if isinstance(constant.node, ast.Constant) and isinstance(constant.node.value, bool):
            yield cell.put("bool", constant.node, str(not constant.node.value))
        if written is None:
            continue
        for other in dict.fromkeys(_other_numbers(constant, written)):
            if other != written:
                yield cell.put(_kind_of_number(constant), constant.node, str(other))
        if _kind_of_number(constant) == "number" and (written == 0 or isinstance(written, float)):
            for text in MASKED:
                yield cell.put("number", constant.node, text)


def _kind_of_number(place: NodePlace[ast.AST]) -> str:
    if isinstance(place.parent, ast.Slice):
        return "bounds"
    return "index" if isinstance(place.parent, ast.Subscript) and place.field == "slice" else "number"


def _other_numbers(place: NodePlace[ast.AST], n: int | float) -> tuple[int | float, ...]:
    if isinstance(n, float):
        return (-n, 1 / n if n else 1.0, n * 2, n / 2, 0.0, 1.0, 1e-5, 1e-6, 1e-8, 0.5, 10000.0)
    return {
        "bounds": (n + 1, n - 1, -n if n else 1),
        "index": (-n if n else -1, n + 1, n - 1, 0, -1, -2, 1, 2),
        "number": (n + 1, n - 1, 0, 1, -1, -n, 2 * n, 2),
    }[_kind_of_number(place)]


def orders(cell: ParsedCell) -> Iterator[Edit]:
    """Operands, arguments or elements in another order."""
    for formula in cell.nodes(ast.BinOp):
        if isinstance(formula.op, ORDERED):
            yield cell.swap(formula.left, formula.right, formula)
    for choice in cell.nodes(ast.IfExp):
        yield cell.swap(choice.body, choice.orelse, choice)
    for listed in cell.of(ast.Call, ast.Tuple, ast.List):
        call = listed.node
        among = call.args if isinstance(call, ast.Call) else call.elts  # type: ignore[attr-defined]
        for first, second in combinations(among[:5], 2):
            yield cell.swap(first, second, call)
        is_returned = isinstance(listed.parent, ast.Return)
        if len(among) in (3, 4) and (is_returned or all(number(one) is not None or called(call) for one in among)):
            for ordered in permutations(among):
                changes = [Change(*cell.span(a), cell.atom(b)) for a, b in zip(among, ordered, strict=True)]
                yield cell.change("order", changes, call, f"order {[cell.text(one) for one in ordered]}")


def operators(cell: ParsedCell) -> Iterator[Edit]:
    """Another operator."""
    for formula in cell.nodes(ast.BinOp):
        for other in OPERATORS.get(type(formula.op), ()):
            yield cell.put("operator", formula, f"{cell.atom(formula.left)} {other} {cell.atom(formula.right)}")
    for joined in cell.nodes(ast.BoolOp):
        word = " or " if isinstance(joined.op, ast.And) else " and "
        yield cell.put("operator", joined, f"({word.join(map(cell.atom, joined.values))})")


def comparisons(cell: ParsedCell) -> Iterator[Edit]:
    """Another comparison, or its opposite."""
    for compare in cell.nodes(ast.Compare):
        if len(compare.ops) == 1:
            left, right = cell.atom(compare.left), cell.atom(compare.comparators[0])
            for other in COMPARISONS.get(type(compare.ops[0]), ()):
                yield cell.put(
                    "comparison",
                    compare,
                    f"{left} {other} {right}",
                    f"{type(compare.ops[0])} => {other}",
                )
    for value in cell.of(ast.expr):
        if value.field == "test" and isinstance(value.parent, ast.If | ast.IfExp):
            yield cell.put("comparison", value.node, f"(not {cell.atom(value.node)})")
            if isinstance(value.node, ast.Name):
                yield cell.put("condition", value.node, f"{value.node.id} is not None")


def inverted(cell: ParsedCell) -> Iterator[Edit]:
    """A mask that is True where it should be False."""
    for named in cell.of(ast.Name):
        if named.scope and named.node.id in named.scope.names and _may_be_mask(named):
            yield cell.put("mask", named.node, f"~{named.node.id}", "inverted")


def _may_be_mask(named: NodePlace[ast.Name]) -> bool:
    """Whether a name is joined by `&`, or passed to what takes a mask, also to a function or layer of the cell's."""
    if isinstance(getattr(named.parent, "op", None), ast.BitAnd | ast.BitOr):
        return True
    if not isinstance(named.parent, ast.Call) or named.field != "args":
        return False
    function = named.parent.func
    is_own = isinstance(function, ast.Name) and not hasattr(builtins, function.id)
    return called(named.parent) in MASKING or is_own or is_own_attribute(function)


def bounds(cell: ParsedCell) -> Iterator[Edit]:
    """Other bounds of a slice or a range; a size that is one larger or smaller."""
    for part in cell.nodes(ast.Slice):
        low, high = (cell.text(one) if one else "" for one in (part.lower, part.upper))
        if part.step is not None:
            yield cell.put("bounds", part, f"{low}:{high}")
        elif low and high:
            yield from (cell.put("bounds", part, new) for new in (f":{high}", f"{low}:"))
        elif low:
            yield from (cell.put("bounds", part, new) for new in (":", f":{low}"))
        elif high:
            yield from (cell.put("bounds", part, new) for new in (":", f"{high}:", f":-({high})", f"-({high}):"))
        else:
            yield from (cell.put("bounds", part, new) for new in ("1:", ":-1"))
    for value in cell.of(ast.expr):
        if _is_size(value) and number(value.node) is None:
            kind = "number" if called(value.node) == "len" else "bounds"
            yield cell.put(kind, value.node, f"({cell.text(value.node)} + 1)", "one more")
            yield cell.put(kind, value.node, f"({cell.text(value.node)} - 1)", "one less")
    for call in cell.nodes(ast.Call):
        if called(call) == "range":
            new = f"range(1, {cell.text(call.args[0])})" if len(call.args) == 1 else ""
            new = f"range({cell.text(call.args[1])})" if len(call.args) > 1 else new
            if new:
                yield cell.put("bounds", call, new)


def _is_size(place: NodePlace[ast.AST]) -> bool:
    if isinstance(place.node, ast.Tuple | ast.Slice | ast.Constant | ast.Starred) or is_stored(place.node):
        return False
    if isinstance(place.parent, ast.Slice | ast.Compare) or called(place.node) == "len":
        return True
    if isinstance(place.parent, ast.Subscript):
        return place.field == "slice" and not isinstance(place.node, ast.Compare)
    return place.field == "args" and called(place.parent) in COUNTING


def indices(cell: ParsedCell) -> Iterator[Edit]:
    """Dots, colons and new axes in the brackets behind a value."""
    for subscript in cell.nodes(ast.Subscript):
        if isinstance(subscript.value, ast.Attribute) and subscript.value.attr == "shape":
            continue
        inside = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]
        written = [cell.text(one) for one in inside]
        for other in _other_indices(written, isinstance(subscript.slice, ast.Tuple)):
            if other and other != written:
                step = f"[{', '.join(written)}] => {other}"
                yield cell.put("index", subscript.slice, ", ".join(other), step)


def unpacked(cell: ParsedCell) -> Iterator[Edit]:
    """Only the last of an array's lengths, as many as there are names for them."""
    for assigned in cell.nodes(ast.Assign):
        names, value = assigned.targets[0], assigned.value
        if isinstance(names, ast.Tuple) and isinstance(value, ast.Attribute) and value.attr == "shape":
            yield cell.put("index", value, f"{cell.text(value)}[-{len(names.elts)}:]", part=assigned)


def _other_indices(written: list[str], many: bool) -> Iterator[list[str]]:
    if "..." not in written:
        yield from (["...", *written], [":", *written], [*written, ":"], ["...", *written, ":"])
        if written[:1] == [":"]:
            yield from (["...", *written[1:]], ["...", *written[1:], ":"], ["...", *written[1:], ":", ":"])
    else:
        yield [*written, ":"]
        if written[0] == "...":
            yield [":", *written[1:]]
    for i in [i for i, word in enumerate(written) if word in ("None", "np.newaxis")]:
        rest = [*written[:i], *written[i + 1 :]]
        yield rest
        yield from ([*rest[:j], written[i], *rest[j:]] for j in range(len(written)))
    if many:
        yield from ([*written[:i], "None", *written[i:]] for i in range(len(written) + 1))


def siblings(cell: ParsedCell) -> Iterator[Edit]:
    """Another function of the same family."""
    others: dict[str, list[str]] = {}
    for family in map(str.split, FAMILIES):
        for name in family:
            others.setdefault(name, []).extend(other for other in family if other != name)
    for attribute in cell.of(ast.Attribute):
        for other in others.get(attribute.node.attr, ()):
            yield cell.put(
                "function",
                attribute.node,
                f"{cell.atom(attribute.node.value)}.{other}",
                f"{attribute.node.attr} => {other}",
                attribute.parent,
            )
        if attribute.node.attr == "T":
            yield cell.put(
                "axis", attribute.node, f"{cell.atom(attribute.node.value)}.{_turned(cell)}", "T => the last two"
            )
    for named in cell.of(ast.Name):
        if called(named.parent) and named.field == "func":
            for other in sorted(set(others.get(named.node.id, ())) & BUILT_IN):
                yield cell.put("function", named.node, other, part=named.parent)


def _turned(cell: ParsedCell) -> str:
    return "transpose(-2, -1)" if cell.is_torch else "swapaxes(-2, -1)"


def names(cell: ParsedCell) -> Iterator[Edit]:
    """Another name in scope, another attribute of `self`, or an axis's length."""
    for named in cell.of(ast.Name):
        scope = named.scope
        if scope is None or named.node.id not in scope.names or is_stored(named.node) or named.field == "func":
            continue
        for other in scope.names[:MAX_NAMES]:
            if other != named.node.id:
                yield cell.put("name", named.node, other)
        if isinstance(named.parent, ast.Call | ast.Tuple | ast.BinOp | ast.Slice | ast.Compare):
            for parameter in scope.parameters[:4]:
                yield from (cell.put("name", named.node, f"{parameter}.shape[{axis}]") for axis in (-1, -2))
    for attribute in cell.of(ast.Attribute):
        if is_own_attribute(attribute.node) and not is_stored(attribute.node):
            yield from (
                cell.put("name", attribute.node, f"self.{other}")
                for other in cell.attributes
                if other != attribute.node.attr
            )
        if attribute.node.attr == "dtype" and attribute.scope:
            yield from (cell.put("dtype", attribute.node, f"{one}.dtype") for one in attribute.scope.parameters[:4])


def expressions(cell: ParsedCell) -> Iterator[Edit]:
    """A name in scope in place of an expression, and another target of an assignment."""
    for formula in cell.of(ast.BinOp, ast.Call, ast.Subscript):
        if formula.scope and not is_stored(formula.node) and formula.field not in ("func", "value", "target"):
            for name in [*formula.scope.names[:MAX_NAMES], *(f"self.{one}" for one in cell.attributes[:8])]:
                yield cell.put("name", formula.node, name)
            if isinstance(formula.parent, ast.Call):
                for parameter in formula.scope.parameters[:4]:
                    yield from (cell.put("name", formula.node, f"{parameter}.shape[{axis}]") for axis in (-1, -2))
    for assigned in cell.of(ast.Assign):
        if assigned.scope and isinstance(assigned.node.targets[0], ast.Name):
            for name in assigned.scope.names[:MAX_NAMES]:
                if name != assigned.node.targets[0].id:
                    yield cell.put("target", assigned.node.targets[0], name, part=assigned.node)
