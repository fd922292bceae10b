"""Why an exercise's cell defines nothing, or not what counts: what it raised and in which line; other definitions."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence

from autograder.judge.notebook import defines
from autograder.report import CellResult
from autograder.testing.student_errors import IN_DEBUGGER, explained
from autograder.text import one_line, raised

_IN_CELL = re.compile(r" \(<[^<>]*>, (line \d+)\)$")  # IPython's made-up file name in a SyntaxError's text
_MAGIC = re.compile(r"^[ \t]*[%!]", re.MULTILINE)
_MAGIC_LINE = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_SETS_NOTHING = re.compile(r"%%(?:timeit|writefile|bash|sh|script|html|markdown)\b")
_DEBUGS = re.compile(r"[^#]*\b(?:set_trace|breakpoint)\(")
# Syntax of Python 3.12 and later: `type X = ...`, `def f[T](...)`, `class A[T]`. Its f-strings allow more, too.
_NEWER = re.compile(r"[ \t]*(?:type[ \t]+\w[^=\n]*=|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\[|class[ \t]+\w+[ \t]*\[)")
_SETS = re.compile(r"^(?:type |(?:async )?def |class )?[ \t]*(\w+)[ \t]*[=:(\[]", re.MULTILINE)
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"
CARET = "^"
ALL = "*"
NOT_JUDGED = "not judged, since its cell"


def why(source: str, result: CellResult) -> str:
    """Why nothing of the cell `source` can be judged, in a sentence; empty if it ran."""
    if result.stopped:
        return f"{NOT_JUDGED} was stopped: {result.stopped}."
    if not result.error:
        lines = (line.strip() for line in source.splitlines())
        magic = _SETS_NOTHING.match(next((line for line in lines if line and not line.startswith("#")), ""))
        return f"{NOT_JUDGED} begins with `{magic[0]}`, which sets nothing in the notebook." if magic else ""
    if syntax := syntax_error(source):
        return f"{syntax}{_newer(source, result)}"
    return f"{NOT_JUDGED} {_raised_in(source, result)}"


def _raised_in(source: str, result: CellResult) -> str:
    text = _IN_CELL.sub(r", \1", result.text)
    where = "".join(f" In line {number}: `{line.strip()}`." for _, number, line in result.lines[-1:])
    return f"{explained(result.error, text)}{where}{_newer(source, result)}"


def _newer(source: str, result: CellResult) -> str:
    """Says which Python grades, if a syntax error may be none for a newer one."""
    if result.error != "SyntaxError" or sys.version_info >= (3, 12):
        return ""
    is_newer = result.text.startswith("f-string") or any(map(_NEWER.match, source.splitlines()))
    return f" Grading runs {VERSION}; a newer Python may accept this." if is_newer else ""


def not_reached(messages: Iterable[str], cells: Iterable[tuple[str, CellResult]]) -> str:
    """Which other cell raised before it set a name that these messages miss, in a sentence; empty if none did.

    For example, an import cell may stop at a library that grading does not have. If the cell raised because it misses a
    name, too, another sentence says why.
    """
    missing, cells = sorted({name for message in messages for name in _UNDEFINED.findall(message)}), list(cells)
    failed = [(source, result, _names_after(source, result)) for source, result in cells if missing and result.error]
    for source, result, names in failed:
        if name := next((name for name in missing if name in names), ""):
            words = f"`{name}` is not there because another cell, which would set it, {_raised_in(source, result)}"
            return f"{words} {not_reached([result.text], cells[: cells.index((source, result))])}".rstrip()
    for source, result, names in failed:
        if ALL in names:
            return f"`{missing[0]}` is not there, and another cell with `import *` {_raised_in(source, result)}"
    return ""


def debugger_left_in(messages: Iterable[str], sources: Iterable[str]) -> str:
    """Where a debugger is called, in a sentence, if these messages say that one stopped the code; else empty."""
    if not any(IN_DEBUGGER in message for message in messages):
        return ""
    for source in sources:
        for number, line in enumerate(source.splitlines(), 1):
            if _DEBUGS.match(line):
                return f"A debugger is left in line {number} of a cell: `{one_line(line.strip()):.80}`."
    return ""


def _names_after(source: str, result: CellResult) -> set[str]:
    """What a cell would have set from the line on in which it raised; `ALL` for `import *`."""
    begins = result.lines[0][1] if result.lines else 0
    try:
        plain = _MAGIC_LINE.sub(r"\1pass", source)  # of as many lines
        statements = [one for one in ast.parse(plain).body if (one.end_lineno or 0) >= begins]
    except SyntaxError:
        return set(_SETS.findall(source))
    except (ValueError, RecursionError, MemoryError):
        return set()
    found = set[str]()
    for one in statements:
        if isinstance(one, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(one.name)
        elif isinstance(one, ast.Assign):
            found |= {target.id for target in one.targets if isinstance(target, ast.Name)}
    return found


def syntax_error(source: str) -> str:
    """The syntax error in a cell, in a sentence with a caret before the place; empty if it is Python, or has magics."""
    if _MAGIC.search(source):
        return ""
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
    except SyntaxError as error:
        number, line = error.lineno or 1, (error.text or "").rstrip("\n")
        at = max(0, (error.offset or 1) - 1)
        marked = f"{line[:at]}{CARET}{line[at:]}".strip()
        where = f" In line {number}, where the {CARET} stands: `{one_line(marked)}`." if line.strip() else ""
        return f"{NOT_JUDGED} {raised(type(error).__name__, f'{error.msg}, line {number}')}{where}"
    except (ValueError, RecursionError, MemoryError):
        return ""
    return ""


def defined_again(name: str, sources: Sequence[str]) -> str:
    """Which definition of a name counts, in a sentence, if several cells define it; empty if one does."""
    cells = [source for source in sources if defines(name, source)]
    if len(cells) < 2:
        return ""
    line = next(line for line in cells[-1].splitlines() if defines(name, line))
    return f"{name} is defined in {len(cells)} cells. The last one counts, which has `{one_line(line):.80}`."


def stub_left_in(source: str, name: str) -> str:
    """Which line of `name` is still the stub's, though others than a stub's stand above it; empty if none is."""
    if syntax_error(source) or _MAGIC.search(source):
        return ""
    for defined in ast.parse(source).body:
        for function in ast.walk(defined) if getattr(defined, "name", "") == name else ():
            if isinstance(function, ast.FunctionDef):
                *above, last = [line for line in function.body if not isinstance(line, ast.Expr)] or [ast.Pass()]
                if above and isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last):
                    left = f"line {last.lineno} of its cell is still the stub's `raise NotImplementedError()`"
                    return f"not judged, since {left}. What should `{function.name}` do there?"
    return ""


def changed_later(name: str, uses: Iterable[str], source: str | None) -> str:
    """Says that the state at an exercise's check counts, and which later cell changes what it gives.

    uses: names that the exercise's code looks up; source: the later cell, if it is known
    """
    words = f"{name} was judged as it was at its check, since a later cell changes what it returns"
    lines = [line for line in (source or "").splitlines() if line.strip() and not line.lstrip().startswith("#")]
    names = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in (name, *uses)))
    line = next((line for line in lines if names.search(line)), lines[0] if lines else "")
    return f"{words}: `{one_line(line.strip()):.80}`." if line else f"{words}."


def not_there(name: str, cells: Sequence[tuple[str, CellResult]]) -> str:
    """Why there is nothing to judge, in sentences: the cell that defines a name did not run, or has a stub left."""
    defining = [cell for cell in cells if defines(name, cell[0])]
    return why_in(defining[-1], cells) or stub_left_in(defining[-1][0], name) if defining else ""


def why_in(cell: tuple[str, CellResult], cells: Sequence[tuple[str, CellResult]]) -> str:
    """`why`, and which other of the notebook's cells made this one raise."""
    reason, others = why(*cell), (other for other in cells if other != cell)
    return f"{reason} {not_reached([cell[1].text], others)}".strip() if reason else ""
