"""The student's own kernel, judged in place: calls of the notebook's functions, and why a name is not defined there."""

from __future__ import annotations

import io
import linecache
import sys
import traceback
from collections.abc import Mapping, Sequence

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
    history = names.get("In")
    sources = [source for source in history if isinstance(source, str)] if isinstance(history, list) else []
    source = next((source for source in reversed(sources) if defines(name, source)), "")
    if reason := syntax_error(source):
        return reason
    return _raised(source) if source and name not in names else ""


def _raised(source: str) -> str:
    """The last exception that the notebook showed, in a sentence, if it was raised in this cell; else empty."""
    error: BaseException | None = getattr(sys, "last_value", None)
    for frame in traceback.extract_tb(error.__traceback__) if error else ():
        if "".join(linecache.getlines(frame.filename)).strip() == source.strip():
            line = ((frame.name, frame.lineno or 1, frame.line or ""),)
            return why(source, CellResult(error=type(error).__name__, text=str(error), lines=line))
    return ""
