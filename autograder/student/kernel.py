"""The student's own kernel: its calls, why a name is not defined there, what code calls, and cells that wait.

Cells that need an unfinished exercise show a sentence instead of a traceback, and count as run.
So Run All works in a notebook that is only begun. A stub raises `NotImplementedError()`. A cell that fails for that
reason *waits*: it shows which exercise it needs. A cell that uses a name that a waiting cell would have defined waits,
too. So does a cell that needs PyTorch in a browser, which has none. All other errors are shown as usual. This uses two
hooks of IPython, which JupyterLab, Colab and others have.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import io
import linecache
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType, TracebackType
from typing import Any

from autograder.errors import MachineError
from autograder.judge.cell_errors import syntax_error, why
from autograder.judge.notebook import defines
from autograder.report import CellResult
from autograder.testing.functions import CallsHere, Here
from autograder.testing.student_errors import BY_HAND, ENDLESS, Stopped
from cellcage.notebook_calls import Terms
from cellcage.protocol.calls import Call, Failure, Reply

PYTORCH = "PyTorch"
NOT_IN_BROWSER = (
    "This needs PyTorch, which a browser does not have: choose File, Download, and go on with that file in JupyterLab "
    "or Colab, where it keeps what you have done here."
)
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

    @classmethod
    def for_exercise(cls, name: str, names: dict[str, Any]) -> InKernel:
        """A class counts as its cell defines it: without what earlier objects have left in it, as in grading.

        It counts as it is if it has got other methods since.
        """
        made, new = names.get(name), dict(names)
        with contextlib.suppress(Exception):
            (cell,) = (one for one in ast.parse(source_of(name, names)).body if getattr(one, "name", "") == name)
            if isinstance(made, type) and isinstance(cell, ast.ClassDef):
                file = next(_codes(made)).co_filename
                exec(compile(ast.Module([cell], []), file, "exec", dont_inherit=True), new)  # noqa: S102
                return cls(new if [*_codes(made)] == [*_codes(new[name])] else names)
        return cls(names)

    def begin(self, terms: Terms) -> CallsHere:
        """Calls of one exercise."""
        calls = _CallsInKernel(self, terms)
        calls.printed = PrintedText()
        if terms.group:  # a picture's call shows nothing that the tests' calls did not
            self.printed = calls.printed
        return calls


class _CallsInKernel(CallsHere):
    """Calls in the kernel. After one was interrupted, no further call is made."""

    stopped: Stopped | None = None

    def _perform(self, call: Call, closely: bool) -> Reply | Failure:
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


# ---------------------------------------------------------------- cells that wait


def in_browser() -> bool:
    """True if this Python runs in a browser, as in JupyterLite."""
    return sys.platform == "emscripten"


def why_not_here(error: MachineError) -> str:
    """Why this machine could not run an exercise, in a sentence."""
    return NOT_IN_BROWSER if in_browser() and str(error).startswith(PYTORCH) else str(error)


def begin_waiting(shell: Any = None) -> None:
    """Let the cells of an IPython shell wait from now on; of the running notebook if none is given and there is one."""
    if shell is None and "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
    if shell is not None:
        waiting = Waiting(shell)
        shell.set_custom_exc((*waiting.others, NotImplementedError, NameError, ModuleNotFoundError), waiting.shown)
        shell.events.register("post_run_cell", waiting.ran)


class Waiting:
    """The waiting cells of one notebook.

    others: exceptions that another handler shows in this shell, such as Colab's; they are still left to it
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.others, self._other_handler = shell.custom_exceptions, shell.CustomTB
        self._missing: dict[str, str] = {}  # names that waiting cells would have defined, each with its exercise
        self._needed = ""  # the exercise that the running cell needs

    def shown(self, shell: Any, kind: Any, error: BaseException, trace: TracebackType, tb_offset: Any = None) -> Any:
        """IPython calls this for an error: show a sentence if the cell waits, else what the shell shows without us."""
        above = error.name if isinstance(error, NameError) and error.name in self._missing else ""
        self._needed = self._missing.get(above, "") or self._stub(error) or _pytorch(error)
        if self._needed == PYTORCH:
            print(NOT_IN_BROWSER)
        elif above:
            print(
                f"This cell needs `{above}` from a cell above, which waits for `{self._needed}`. "
                "Finish it, then run that cell and this one again."
            )
        elif self._needed:
            print(f"This cell needs `{self._needed}`. Finish it and run this cell again.")
        elif isinstance(error, self.others):
            return self._other_handler(kind, error, trace, tb_offset=tb_offset)
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return None

    def ran(self, result: Any) -> None:
        """IPython calls this after each cell. A waiting cell counts as a success, so Run All goes on."""
        names = self._shell.user_ns
        self._missing = {name: exercise for name, exercise in self._missing.items() if name not in names}
        if self._needed and result is not None:
            result.error_in_exec = None
            code = compile(self._shell.transform_cell(result.info.raw_cell), "<cell>", "exec", dont_inherit=True)
            stored = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
            self._missing |= {name: self._needed for name in stored if name not in names}
        self._needed = ""

    def _stub(self, error: BaseException) -> str:
        """The notebook's function or class whose stub raised this error; empty if it came from elsewhere."""
        if not isinstance(error, NotImplementedError) or error.args:
            return ""
        frame, _ = list(traceback.walk_tb(error.__traceback__))[-1]
        owner = frame.f_code.co_qualname.partition(".")[0]
        return owner if frame.f_globals is self._shell.user_ns and owner in self._shell.user_ns else ""


def _pytorch(error: BaseException) -> str:
    return PYTORCH if isinstance(error, ModuleNotFoundError) and error.name == "torch" and in_browser() else ""
