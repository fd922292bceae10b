"""Why an exercise's cell defines nothing: what it raised, in which line, and for a syntax error at which place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from autograder.report import CellResult
from autograder.text import one_line, raised

_IN_CELL = re.compile(r" \(<[^<>]*>, (line \d+)\)$")  # IPython's made-up file name in a SyntaxError's text
CARET = "^"


def why(source: str, result: CellResult) -> str:
    """Why nothing of the cell `source` can be judged, in a sentence; empty if it ran."""
    if result.stopped:
        return f"not judged, since its cell was stopped: {result.stopped}."
    if not result.error:
        return ""
    return syntax_error(source) or _raised(result.error, _IN_CELL.sub(r", \1", result.text), result.lines)


def syntax_error(source: str) -> str:
    """The same for what is no Python, with a caret before the place; empty if it is, as far as plain Python goes."""
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
    except SyntaxError as error:
        number, line = error.lineno or 1, (error.text or "").rstrip("\n")
        at = max(0, (error.offset or 1) - 1)
        marked = f"{line[:at]}{CARET}{line[at:]}".strip()
        where = f" In line {number}, where the {CARET} stands: `{one_line(marked)}`." if line.strip() else ""
        return f"not judged, since its cell {raised(type(error).__name__, f'{error.msg}, line {number}')}{where}"
    except (ValueError, RecursionError, MemoryError):
        return ""
    return ""


def _raised(error: str, text: str, lines: Sequence[tuple[str, int, str]]) -> str:
    where = "".join(f" In line {number}: `{line.strip()}`." for _, number, line in lines[-1:])
    return f"not judged, since its cell {raised(error, text)}{where}"


def defines(name: str, source: str) -> bool:
    """Does a cell define a function or class of this name, or set the name, whether it runs or not?"""
    definition = rf"^(?:(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b|{re.escape(name)}\s*=[^=])"
    return re.search(definition, source, re.MULTILINE) is not None


def of_names(names: Iterable[str], sources: Sequence[str], results: Sequence[CellResult]) -> Mapping[str, str]:
    """Of names that a notebook's cells should define, why those whose last such cell did not run are not there."""
    found = {}
    for name in names:
        own = [pair for pair in zip(sources, results, strict=True) if defines(name, pair[0])]
        if own and (said := why(*own[-1])):
            found[name] = said
    return found
