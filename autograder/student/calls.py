"""Which names a function's code uses, and through them which other exercises it stands on. Nothing is run for it."""

from __future__ import annotations

import contextlib
import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

# The code of what a notebook calls by a name; none where it is no function or class, or not there.
CodeOf = Callable[[str], list[CodeType]]


def exercises_below(name: str, code_of: CodeOf, known: Sequence[str]) -> list[str]:
    """Those of `known`, in order, that the code of `name` calls, itself or through others of the notebook."""
    met, left = {name}, [name]
    while left:
        found = {used for code in code_of(left.pop()) for used in _names_used(code)} - met
        met |= found
        left += sorted(found)
    return [exercise for exercise in known if exercise in met and exercise != name]


def _names_used(code: CodeType) -> Iterator[str]:
    """Global names that a code reads, also in functions inside of it. `np.median` is no `median`."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_used(constant)


def in_kernel(names: Mapping[str, object]) -> CodeOf:
    """The code of a running notebook's functions and classes."""
    return lambda name: list(_codes(names.get(name)))


def _codes(thing: Any) -> Iterator[CodeType]:
    if isinstance(thing, type):
        for one in thing.__mro__:
            for member in vars(one).values() if one.__module__ == thing.__module__ else ():
                if not isinstance(member, type):
                    yield from _codes(member)
        return
    function = getattr(thing, "__func__", thing)  # of a method, also a static one
    if callable(function):
        with contextlib.suppress(ValueError):  # something that wraps itself
            function = inspect.unwrap(function)
        code = getattr(function, "__code__", None)
        yield from (code,) if isinstance(code, CodeType) else ()


def in_cells(sources: Iterable[str]) -> CodeOf:
    """The code of a saved notebook's functions and classes; what is defined last counts."""
    found: dict[str, list[CodeType]] = {}
    for source in sources:
        try:
            module = compile(source, "<cell>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # its own message comes from running it
            continue
        found |= {one.co_name: [one] for one in module.co_consts if isinstance(one, CodeType)}
    return lambda name: found.get(name, [])
