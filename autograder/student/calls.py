"""Which other exercises a function uses, found in its compiled code. No student code runs for it."""

from __future__ import annotations

import contextlib
import dis
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any


def exercises_below(name: str, definitions: Mapping[str, object], known: Sequence[str]) -> list[str]:
    """The exercises in `known` that `name` calls, directly or through other definitions, in the order of `known`."""
    seen, pending = {name}, [name]
    while pending:
        codes = _codes(definitions.get(pending.pop()))
        found = {used for code in codes for used in _names_used(code)} - seen
        seen |= found
        pending += found
    return [exercise for exercise in known if exercise in seen and exercise != name]


def _names_used(code: CodeType) -> Iterator[str]:
    """Global names that a code object or a function inside it reads. `np.median` does not count as `median`."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for inner in _inner(code):
        yield from _names_used(inner)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _codes(definition: Any) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class and its base classes from the same module."""
    if isinstance(definition, type):
        bases = [base for base in definition.__mro__ if base.__module__ == definition.__module__]
        for member in (member for base in bases for member in vars(base).values()):
            if not isinstance(member, type):
                yield from _codes(member)
        return
    function = getattr(definition, "__func__", definition)  # of a method, including static methods
    if callable(function):
        with contextlib.suppress(ValueError):  # raised if a function wraps itself
            function = inspect.unwrap(function)
        if isinstance(code := getattr(function, "__code__", None), CodeType):
            yield code


def in_cells(sources: Iterable[str]) -> dict[str, FunctionType]:
    """The functions and classes that cells define, by name. Each is a function with their code and parameters.

    If a name is defined twice, the last definition counts. The functions are only inspected, never called.
    """
    found: dict[str, FunctionType] = {}
    for source in sources:
        try:
            module = compile(source, "<cell>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # running the cell reports it
            continue
        found |= {code.co_name: _as_function(code) for code in _inner(module)}
    return found


def _as_function(code: CodeType) -> FunctionType:
    """A function with this code. If the code is a class body, the function has the parameters of `__init__`."""
    function = FunctionType(code, {}, closure=tuple(CellType() for _ in code.co_freevars))
    for inner in _inner(code):
        if inner.co_name == "__init__":
            function.__signature__ = inspect.signature(_as_function(inner))  # type: ignore[attr-defined]
    return function
