"""A student's cell as text with its syntax tree, and edits of it. An edit replaces spans of the text.

So what it leaves alone stays as the student wrote it, comments included.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

ATOMS = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.List | ast.stmt
MODULES = frozenset({"np", "numpy", "torch", "nn", "F", "math", "self", "super"})
FUNCTIONS = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Change:
    """Bytes `begin` to `end` of the text become `text`."""

    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Edit:
    """Changes that belong together.

    kind: which question it raises, a key of `edits.QUESTIONS`
    lines: the lines of the cell that it touches, counted from 1
    part: what stands there, in the student's own words
    step: what is done there. Edits of one kind and step can be made together in all their places
    """

    kind: str
    changes: tuple[Change, ...]
    lines: tuple[int, ...]
    part: str
    step: str


@dataclass(frozen=True)
class Scope:
    """The names that a function can see: its parameters, then what it and the functions around it assign."""

    parameters: tuple[str, ...]
    names: tuple[str, ...]


Node = TypeVar("Node", bound=ast.AST, covariant=True)


@dataclass(frozen=True)
class NodePlace(Generic[Node]):
    """A node with where it stands: its parent, the parent's field, and the function around it, if there is one."""

    node: Node
    parent: ast.AST
    field: str
    scope: Scope | None


class ParsedCell:
    """A cell and its places. Raises `SyntaxError` or `RecursionError` if it cannot be parsed."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._bytes = source.encode()
        self.tree = ast.parse(source)
        self._starts = [0, *accumulate(len(line) for line in self._bytes.splitlines(keepends=True))]
        self.lines = source.splitlines()

    @cached_property
    def places(self) -> Sequence[NodePlace[ast.AST]]:
        """All nodes below the module, each before its children."""
        return list(_places(self.tree, None))

    @cached_property
    def size(self) -> int:
        """The number of nodes, without docstrings."""
        return sum(not is_docstring(place.node) for place in self.places)

    @property
    def statements(self) -> Iterator[ast.stmt]:
        """The statements inside functions, without docstrings."""
        for place in self.of(ast.stmt):
            if place.scope is not None and not is_docstring(place.node):
                yield place.node

    @cached_property
    def attributes(self) -> Sequence[str]:
        """The attributes of `self` that the cell reads or sets."""
        return list(dict.fromkeys(one.node.attr for one in self.of(ast.Attribute) if is_own_attribute(one.node)))

    @cached_property
    def is_torch(self) -> bool:
        """Whether the cell computes with tensors, as far as its words show."""
        return any(word in self.source for word in ("torch", "nn.", "F.", ".masked_fill", ".unsqueeze", "dim="))

    def of(self, *kinds: type[Node]) -> Iterator[NodePlace[Node]]:
        """The places of nodes of these kinds."""
        return (place for place in self.places if isinstance(place.node, kinds))  # type: ignore[misc]

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these kinds."""
        return (place.node for place in self.of(*kinds))

    def after(self, line: int) -> range:
        """The lines after this one to the end of its function, and after its loop, whose lines may have run before."""
        around = [one for one in self.nodes(ast.stmt) if one.lineno <= line <= (one.end_lineno or 0)]
        ends = [one.end_lineno or 0 for one in around if isinstance(one, ast.FunctionDef)]
        loops = [one.end_lineno or 0 for one in around if isinstance(one, ast.For | ast.While)]
        later = [one.lineno for one in self.nodes(ast.stmt) if one.lineno > max([line, *loops])]
        return range(min(later), ends[-1] + 1) if later and ends else range(0)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The bytes of a node, without parentheses around it."""
        begin = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return begin, self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        """A node in the student's own words."""
        begin, end = self.span(node)
        return self._bytes[begin:end].decode()

    def atom(self, node: ast.AST) -> str:
        """The same, in parentheses if it needs them."""
        text = self.text(node)
        return text if isinstance(node, ATOMS) else f"({text})"

    def edited(self, changes: Iterable[Change]) -> str:
        """The text after these changes."""
        found, end = b"", 0
        for change in sorted(changes, key=lambda one: one.begin):
            found += self._bytes[end : change.begin] + change.text.encode()
            end = change.end
        return (found + self._bytes[end:]).decode()

    def put(self, kind: str, node: ast.AST, new: str, step: str = "", part: ast.AST | None = None) -> Edit:
        """The edit that replaces a node. step: see `Edit`; by default the old and the new text. part: what is shown"""
        return self.change(kind, [self._replace(node, new)], part or node, step or f"{self.text(node)} => {new}")

    def change(self, kind: str, changes: Sequence[Change], part: ast.AST, step: str) -> Edit:
        """An edit that consists of these changes. part: the node that is shown"""
        return Edit(kind, tuple(changes), (part.lineno,), self.text(part), step)  # type: ignore[attr-defined]

    def swap(self, first: ast.AST, second: ast.AST, part: ast.AST) -> Edit:
        """The edit that exchanges two nodes."""
        changes = [self._replace(first, self.atom(second)), self._replace(second, self.atom(first))]
        return self.change("order", changes, part, f"{self.text(first)} <=> {self.text(second)}")

    def remove(self, kind: str, which: int, among: Sequence[ast.AST], part: ast.AST) -> Edit:
        """The edit that takes out one of several nodes that commas separate."""
        (begin, end), text = self.span(among[which]), self.text(among[which])
        if which + 1 < len(among):
            end = self.span(among[which + 1])[0]
        elif which:
            begin = self.span(among[which - 1])[1]
        return self.change(kind, [Change(begin, end, "")], part, f"without {text}")

    def insert(self, kind: str, at: int, text: str, part: ast.AST) -> Edit:
        """The edit that puts in a text before a byte."""
        return self.change(kind, [Change(at, at, text)], part, text)

    def _replace(self, node: ast.AST, new: str) -> Change:
        return Change(*self.span(node), new)


def everywhere(edits: Sequence[Edit]) -> Iterator[Edit]:
    """For each step that can be made in several places, the edit that makes it in all of them."""
    steps: dict[tuple[str, str], list[Edit]] = {}
    for edit in edits:
        steps.setdefault((edit.kind, edit.step), []).append(edit)
    for found in steps.values():
        changes = sorted({change for edit in found for change in edit.changes}, key=lambda one: one.begin)
        overlap = any(one.end > other.begin for one, other in pairwise(changes))
        if 1 < len(found) <= MAX_TOGETHER and not overlap:
            lines = tuple(sorted({line for edit in found for line in edit.lines}))
            yield replace(found[0], changes=tuple(changes), lines=lines)


MAX_TOGETHER = 8  # places of one step; more of them are no longer one slip


def _places(parent: ast.AST, scope: Scope | None) -> Iterator[NodePlace[ast.AST]]:
    for field, value in ast.iter_fields(parent):
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.expr_context | ast.operator | ast.cmpop):
                yield NodePlace(node, parent, field, scope)
                yield from _places(node, _scope(node, scope) if isinstance(node, FUNCTIONS) else scope)


def _scope(function: ast.FunctionDef | ast.Lambda, outer: Scope | None) -> Scope:
    given = function.args
    parameters = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg != "self"]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names = dict.fromkeys([*parameters, *stored, *(outer.names if outer else ())])
    return Scope(tuple(parameters), tuple(names))


def is_docstring(node: ast.AST) -> bool:
    """Whether it is a statement that is only a text, or another constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_own_attribute(node: ast.AST) -> bool:
    """Whether it reads as `self.name`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def number(node: ast.AST) -> int | float | None:
    """The number that a node stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = number(node.operand)
        return None if operand is None else -operand
    return None


def called(node: ast.AST) -> str:
    """The last name of what is called: `sum` for `x.sum()` and `np.sum(x)`; empty if it is not a call."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def is_method(node: ast.Call) -> bool:
    """Whether a value's method is called, and not a module's function."""
    if not isinstance(node.func, ast.Attribute):
        return False
    root = node.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return not (isinstance(root, ast.Name) and root.id in MODULES)


def is_stored(node: ast.AST) -> bool:
    """Whether something is assigned to it."""
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
