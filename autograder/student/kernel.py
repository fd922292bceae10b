"""The student's own kernel, judged in place: calls of the notebook's functions, and why a name is not defined there."""

from __future__ import annotations

import contextlib
import dis
import inspect
import io
import linecache
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from autograder.report import CellResult
from autograder.testing.callbacks import Questions
from autograder.testing.cell_errors import defines, syntax_error, why
from autograder.testing.functions import ENDLESS
from autograder.testing.local import CallsHere, Here
from autograder.testing.student_errors import BY_HAND, Stopped
from cellcage.protocol.calls import Call, Failure, Reply

PRINTED = 20_000  # characters of an exercise's output that are shown


class PrintedText(io.StringIO):
    """What an exercise prints, cut after `PRINTED` characters."""

    def write(self, text: str) -> int:
        """Keep as much as there is room for. As with every stream, return the number of characters given."""
        super().write(text[: max(0, PRINTED - self.tell())])
        return len(text)


class InKernel(Here):
    """The notebook's names in this process. `printed` is what the last exercise printed.

    The stop button ends the whole check, not only the call that it interrupts.
    """

    printed: PrintedText = PrintedText()

    def begin(self, questions: Questions, name: str = "", ready_made: Sequence[str] = ()) -> CallsHere:
        """Calls of one exercise. ready_made: functions that its code must not call"""
        calls = _CallsInKernel(self, questions, ready_made)
        calls.printed = PrintedText()
        if name:  # a picture's call shows nothing that the tests' calls did not
            self.printed = calls.printed
        return calls


class _CallsInKernel(CallsHere):
    """Calls in the kernel. After one was interrupted, no further call is made."""

    stopped: Stopped | None = None

    def _perform(self, call: Call, closely: bool = False) -> Reply | Failure:
        if self.stopped is None:
            answer = super()._perform(call, closely)
            if not isinstance(answer, Failure) or answer.error != "KeyboardInterrupt":
                return answer
            where = "".join(f" In {line.function}, line {line.number}: `{line.text.strip()}`." for line in answer.lines)
            self.stopped = Stopped(f"was stopped by you.{where} {ENDLESS}")
            self.stopped.reason = BY_HAND
        raise self.stopped


def why_not_run(name: str, names: Mapping[str, object]) -> str:
    """Why the last run of the cell that should define `name` failed, in a sentence; empty if it did not fail."""
    source = source_of(name, names)
    if reason := syntax_error(source):
        return reason
    return _raised(source) if source and name not in names else ""


def source_of(name: str, names: Mapping[str, object]) -> str:
    """The cell that was run last of those that should define `name`; empty if none was."""
    history = names.get("In")
    sources = [source for source in history if isinstance(source, str)] if isinstance(history, list) else []
    return next((source for source in reversed(sources) if defines(name, source)), "")


def _raised(source: str) -> str:
    """The last exception that the notebook showed, in a sentence, if it was raised in this cell; else empty."""
    error: BaseException | None = getattr(sys, "last_value", None)
    for frame in traceback.extract_tb(error.__traceback__) if error else ():
        if "".join(linecache.getlines(frame.filename)).strip() == source.strip():
            line = ((frame.name, frame.lineno or 1, frame.line or ""),)
            return why(source, CellResult(error=type(error).__name__, text=str(error), lines=line))
    return ""


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
