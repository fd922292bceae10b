"""Names in this very process, called as those in the sandbox are: for `check` in a notebook, and for trusted code.

Arguments and values are copied as they would be across the sandbox's boundary. Warnings are dropped, and so is what is
printed, if nobody asks for it.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Failure, Reply, answer_bytes, answer_of, call_of
from autograder.sandbox.sandboxed.lookups import names_used
from autograder.sandbox.sandboxed.perform import perform
from autograder.testing.callbacks import Questions


class Here:
    """Somebody's names in this process. One process is all there is, so nothing is ever run anew."""

    def __init__(self, names: dict[str, object], watched: Sequence[str] = ()) -> None:
        self.names, self.watched = names, tuple(watched)

    def renew(self) -> None:
        """There is no other process to begin again in."""

    def begin(self, questions: Questions) -> CallsHere:
        """Calls of one exercise."""
        return CallsHere(self, questions)

    def uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        """Names of the notebook's, or among `known`, that an exercise's code looks up."""
        return frozenset(names_used(self.names, name, known))


class CallsHere:
    """The calls of one exercise in this process."""

    def __init__(self, here: Here, questions: Questions) -> None:
        self._here, self.questions = here, questions
        self.said = set[object]()  # exceptions that a report may quote
        self.cells: Sequence[str] | None = None  # their own kernel: whatever is said there is no secret

    def close(self) -> None:
        """Nothing was started."""

    def ask(self, calls: Sequence[tuple[Call, bytes | None]]) -> Iterator[bytes | Failure]:
        """An answer to each of `calls`, in order, unread. What a call is as bytes is of no use here."""
        for call, _ in calls:
            yield answer_bytes(self._perform(call))

    def _answer(self, call: Call) -> Answer:
        return answer_of(answer_bytes(self._perform(call)))

    printed: io.TextIOBase | None = None  # where what the code prints goes, if anywhere

    def _perform(self, call: Call) -> Reply | Failure:
        copied = call_of(self.questions.prepare(call).as_bytes)

        def ask(question: Call) -> Reply | Failure:
            return answer_of(answer_bytes(self.questions.answer(call_of(question.as_bytes))))

        with quiet(self.printed):
            return perform(self._here.names, copied, ask, self.questions.substituted, self._here.watched)


@contextlib.contextmanager
def quiet(printed: io.TextIOBase | None = None) -> Iterator[None]:
    """What code warns of goes nowhere, and what it prints to `printed`, if that is given."""
    nowhere = io.StringIO()
    to: Any = printed or nowhere
    with warnings.catch_warnings(), contextlib.redirect_stdout(to), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def answering(names: Mapping[str, Any]) -> Callable[[Call], Answer]:
    """What `names` answer to a call, here and with nothing behind any of them."""
    exercise = Here(dict(names)).begin(Questions({}))
    return exercise._answer
