"""Finds the names that code may look up, as far as its text shows."""

from __future__ import annotations

import re
import symtable
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

MAX_USES = 1000  # names that one function looks up
WRAPPED = ("__func__", "__wrapped__", "func", "fget")  # attributes that hold the function behind a method or a wrapper
# Code needs one of these to look up the notebook's names as text: a table of them, or the notebook as a module.
BY_TEXT = {
    "globals", "locals", "vars", "eval", "exec", "__dict__", "__globals__", "f_globals", "f_locals", "user_ns",
    "user_global_ns", "get_ipython", "__main__", "modules", "user_module", "import_module", "__import__",
}  # fmt: skip


def names_used(names: Mapping[str, Any], name: str, known: Collection[str]) -> set[str]:
    """The notebook's names, and those among `known`, that a function or class may look up, directly or in others."""
    used, left = set[str](), [names.get(name)]
    while left:
        for code in _codes(left.pop()):
            mentioned = {*code.co_names, *(text for text in code.co_consts if isinstance(text, str) and text in known)}
            fresh = {name for name in mentioned if name in names or name in known} - used
            used |= fresh
            left += [names[name] for name in fresh if name in names]
    return used


def looked_up(sources: Sequence[str]) -> set[str]:
    """Names that cells may look up. Of a cell that is not plain Python, these are all its words.

    Attributes and string constants do not count, unless a cell may look up names as text.
    """
    found, texts = set[str](), set[str]()
    for source in sources:
        try:
            found.update(_globals_of(symtable.symtable(source, "cell", "exec")))
            for code in _within([compile(source, "cell", "exec")]):
                texts.update(code.co_names)
                texts.update(text for text in code.co_consts if isinstance(text, str) and text.isidentifier())
        except Exception:
            found.update(re.findall(r"\w+", source))
    return found if (found | texts).isdisjoint(BY_TEXT) else found | texts


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """Global names that a cell, or a function or class in it, looks up, sets or deletes."""
    tables = [table]
    while tables:
        scope = tables.pop()
        tables += scope.get_children()
        yield from (symbol.get_name() for symbol in scope.get_symbols() if scope is table or symbol.is_global())


def _codes(target: Any) -> Iterator[types.CodeType]:
    """The code of a function or of a class's methods, and of all functions defined inside them.

    Also of what a class inherits from the notebook's other classes, and of what a decorator wraps.
    """
    left, met = [target], list[Any]()
    while left:
        one = left.pop()
        if one is None or any(one is other for other in met):
            continue
        met.append(one)
        if isinstance(one, type):
            module = getattr(one, "__module__", None)  # a class has none if its cell had no name
            own = [base for base in one.__mro__ if getattr(base, "__module__", None) == module]
            left += [value for base in own for value in vars(base).values()]
        elif code := getattr(one, "__code__", None):
            left += [cell.cell_contents for cell in one.__closure__ or () if _is_function(cell)]
            yield from _within([code])
        left += [getattr(one, name, None) for name in WRAPPED]


def _is_function(cell: types.CellType) -> bool:
    """Whether a function keeps another one, as a decorator's does."""
    try:
        return callable(cell.cell_contents)
    except ValueError:  # it is empty
        return False


def _within(left: list[Any]) -> Iterator[types.CodeType]:
    while left:
        code = left.pop()
        if isinstance(code, types.CodeType):
            yield code
            left += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
