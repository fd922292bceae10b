"""Do calls of a notebook's functions leave anything behind for the next call? Told from its text.

    is_stateless(cells, names) -> bool

True only where that is plain: the functions and classes in `names`, and all that they call, touch no variable of the
notebook, assign to no attribute but their own instance's, draw nothing at random and read no memory as it was found;
and no cell changes a library. Whatever this does not know is no. It is about honest code: who hides a state from it
gains nothing, for no call learns what another is judged by.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

MODULES = {"numpy", "torch", "math", "typing", "collections", "__future__", "einops"}
GIVEN = {"math", "np", "torch", "nn", "F"}  # what the sandbox's shell has imported before the first cell
# What a cell may change a library or another cell's names with.
PATCHERS = {"__import__", "compile", "delattr", "eval", "exec", "globals", "locals", "setattr", "vars"}
# What a function may find out of more than its arguments with.
ASKERS = {"breakpoint", "getattr", "hash", "id", "input", "memoryview", "open"}
# Attributes that lead to random numbers, to memory as it was found, to switches, to files, and to what remembers.
STATEFUL = {
    "random", "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli",
    "bernoulli_", "multinomial", "normal", "normal_", "uniform_", "exponential_", "random_", "dropout", "dropout_",
    "Dropout", "alpha_dropout", "manual_seed", "seed", "default_rng", "empty", "empty_like", "empty_strided",
    "new_empty", "seterr", "seterrcall", "data_ptr", "ctypes", "BatchNorm1d", "batch_norm", "vectorize", "jit",
    "compile", "compiler", "library", "utils", "backends", "overrides", "ops", "lib", "hub", "multiprocessing",
    "distributed", "serialization", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt",
    "fromfile", "from_file", "tofile", "memmap", "share_memory_", "DataSource",
}  # fmt: skip
UNFILLED = {"ndarray", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "BoolTensor"}  # types; called, they do
HARMLESS = {"__init__", "__name__", "__version__", "__class__"}


@dataclass(frozen=True)
class _Cell:
    """What a cell binds: names of functions and classes with what is known of them, of modules, and all others."""

    definitions: tuple[tuple[str, _Definition], ...]
    modules: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True)
class _Definition:
    """A function or class: is it plain by itself, and which names of the notebook's does it look up?"""

    plain: bool
    touched: frozenset[str]


def is_stateless(cells: Sequence[str], names: Collection[str]) -> bool:
    """Can no call of `names`, as the `cells` (source texts) define them, leave anything to another call?"""
    found = [_read(source) for source in cells]
    known = [cell for cell in found if cell is not None]
    if len(known) < len(found):
        return False
    modules = GIVEN.union(*(cell.modules for cell in known))
    others = frozenset[str]().union(*(cell.others for cell in known))
    definitions = [pair for cell in known for pair in cell.definitions]
    reached, left = set[str](), set(names)
    while left:
        name = left.pop()
        reached.add(name)
        ours = [definition for other, definition in definitions if other == name]
        if name in others or not all(definition.plain for definition in ours):
            return False
        if not (ours or name in modules or name in names or _is_plain_builtin(name)):
            return False
        left |= {touched for definition in ours for touched in definition.touched} - reached
    return True


def _is_plain_builtin(name: str) -> bool:
    return hasattr(builtins, name) and name not in ASKERS


@functools.lru_cache(10_000)  # most cells of a class are the same
def _read(source: str) -> _Cell | None:
    """One cell; None where it may change what another cell or a library has, or is no plain Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(map(_may_patch, ast.walk(tree))):
        return None
    modules, others = set[str](), set[str]()
    for node in _at_call_of_the_cell(tree):
        if isinstance(node, ast.Import):
            modules |= {_bound(alias) for alias in node.names if _is_known(alias.name)}
            others |= {_bound(alias) for alias in node.names if not _is_known(alias.name)}
        elif isinstance(node, ast.ImportFrom):
            known = _is_known(node.module or "")
            modules |= {_bound(alias) for alias in node.names if known and alias.name not in STATEFUL}
            others |= {_bound(alias) for alias in node.names if not known or alias.name in STATEFUL}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            others.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            others.add(node.name)  # within an `if` or a loop
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            others.add(node.name)
    lines = source.splitlines()
    definitions = [(n.name, _definition(n, lines)) for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return _Cell(tuple(definitions), frozenset(modules), frozenset(others))


def _at_call_of_the_cell(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but those of the functions and classes that the cell defines."""
    left: list[ast.AST] = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            left += ast.iter_child_nodes(node)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_known(module: str) -> bool:
    first, *rest = module.split(".")
    return first in MODULES and not STATEFUL.intersection(rest)


def _may_patch(node: ast.AST) -> bool:
    """Could this change a library's names, or another cell's?"""
    if isinstance(node, ast.Attribute):
        stores = not isinstance(node.ctx, ast.Load) and not _is_name(_root(node), "self")
        return stores or (node.attr.startswith("__") and node.attr not in HARMLESS)
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Global) or (isinstance(node, ast.Name) and node.id in PATCHERS)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _definition(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> _Definition:
    text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    try:
        scopes = symtable.symtable(text, "a definition", "exec")
    except SyntaxError:  # several statements in its last line
        return _Definition(False, frozenset())
    inner = [symbol for scope in _below(scopes) for symbol in scope.get_symbols() if symbol.is_global()]
    outer = [symbol for symbol in scopes.get_symbols() if symbol.is_referenced()]  # bases, defaults
    touched = frozenset(symbol.get_name() for symbol in [*inner, *outer])
    return _Definition(all(map(_is_plain, ast.walk(node))), touched)


def _below(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in scope.get_children():
        yield child
        yield from _below(child)


def _is_plain(node: ast.AST) -> bool:
    """Is a node in a definition, by itself, nothing that could keep a state?"""
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="init")):
            return True  # as a layer's own: the suite sets its weights
        case ast.Attribute(attr=name):
            hook = name.startswith("register_") and name.endswith("hook")
            return not (name.startswith(("_", "set_")) or hook or name in STATEFUL)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name not in UNFILLED
        case ast.Subscript(value=ast.Attribute() as value, ctx=ast.Store() | ast.Del()):
            return _is_name(_root(value), "self")  # not a library's own dictionary
        case ast.FunctionDef() | ast.Lambda():
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            plain = (_is_name(decorator, "staticmethod") for decorator in decorators)
            return all(map(_is_constant, defaults)) and all(plain)
        case ast.ClassDef():
            return not node.decorator_list and not node.keywords and all(map(_is_plain_member, node.body))
    return not isinstance(node, ast.Nonlocal | ast.AsyncFunctionDef | ast.Await | ast.Import | ast.ImportFrom)


def _is_plain_member(node: ast.stmt) -> bool:
    """A method, a docstring, a constant."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is None or _is_constant(node.value)
    return isinstance(node, ast.FunctionDef | ast.Pass) or (isinstance(node, ast.Expr) and _is_constant(node.value))


def _is_constant(node: ast.AST) -> bool:
    """A number, a text, a name of a module's such as `np.inf`, or a tuple of those."""
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
