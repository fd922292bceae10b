"""A notebook in the sandbox that also tells what its exercises print, for `autograder check`.

Grading asks for nothing of the kind: what hidden tests pass stays where it is.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from autograder.judge.exercise_calls import CallsOutside
from autograder.judge.notebook import Notebook
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.supervisor.fork_server import FreshChildren
from autograder.student.check import Printed
from autograder.testing.callbacks import Questions

SECONDS = 2.0  # for a process that has answered all its calls
BYTES = 200_000


class PrintingNotebook(Notebook):
    """As `Notebook`. printed: what the exercise that was asked last has printed"""

    def __init__(self, cells: Sequence[str], limits: Limits, fresh: FreshChildren, watched: Sequence[str]) -> None:
        self.printed = Printed()
        super().__init__(cells, limits, fresh, watched)

    def begin(self, questions: Questions) -> CallsOutside:
        """Calls of one exercise."""
        self.printed = Printed()
        return _PrintingCalls(self, questions, self.printed)


class _PrintingCalls(CallsOutside):
    """Calls of one exercise; before it hangs up it asks what was printed. What a lost process printed is lost."""

    def __init__(self, notebook: PrintingNotebook, questions: Questions, printed: Printed) -> None:
        super().__init__(notebook, questions)
        self._printed = printed

    def close(self) -> None:
        """Hang up; the process ends, or is ended with the next exercise."""
        if self._sock is not None:
            with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError, frames.Exhausted):
                until = time.monotonic() + SECONDS
                frames.send(self._sock, messages.Calls((), printed=True), until)
                said = frames.receive(self._sock, until, frames.Allowance(BYTES, BYTES), form=messages.Printed)
                self._printed.write(said.printed)
        super().close()
