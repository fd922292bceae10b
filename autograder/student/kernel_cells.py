"""What a running notebook's own cells say of a name that they should define, and do not."""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Mapping

from autograder.report import CellResult
from autograder.testing.cell_errors import defines, syntax_error, why


def why_not_run(name: str, names: Mapping[str, object]) -> str:
    """Why the cell that should define `name` did not run when it was run last, in a sentence; empty if it did."""
    history = names.get("In")
    sources = [source for source in history if isinstance(source, str)] if isinstance(history, list) else []
    own = next((source for source in reversed(sources) if defines(name, source)), "")
    if not own:
        return ""
    if said := syntax_error(own):
        return said
    return "" if name in names else _raised(own)


def _raised(source: str) -> str:
    """What the last exception that the notebook showed says, if it went through this cell."""
    error: BaseException | None = getattr(sys, "last_value", None)
    for frame in traceback.extract_tb(error.__traceback__) if error else ():
        if "".join(linecache.getlines(frame.filename)).strip() == source.strip():
            line = ((frame.name, frame.lineno or 1, frame.line or ""),)
            return why(source, CellResult(error=type(error).__name__, text=str(error), lines=line))
    return ""
