"""Names in this process, called as those in the sandbox are: for `check` in a notebook, and for trusted code.

Arguments and values are copied as they would be across the sandbox's boundary. Warnings are dropped, as is printed
text unless somebody asks for it.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.testing.callbacks import Questions
from cellcage.calling.lookups import names_used
from cellcage.calling.perform import perform
from cellcage.calling.ready_made import Watch
from cellcage.protocol.calls import Call, Failure, Reply, answer_bytes, answer_of, call_of, sendable


class Here:
    """Somebody's names in this process. It offers what a sandboxed notebook offers."""

    def __init__(self, names: dict[str, object]) -> None:
        self.names = names

    checks: Mapping[str, int] = {}  # there is no state but the present one
    looping: Collection[str] = ()

    def at(self, place: int | None) -> None:
        """Do nothing."""

    def begin(self, questions: Questions, name: str = "", ready_made: Sequence[str] = ()) -> CallsHere:
        """Begin the calls of the exercise `name`. ready_made: functions that its code must not call"""
        return CallsHere(self, questions, ready_made)

    def uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        """The names of the notebook, or among `known`, that an exercise's code looks up."""
        return frozenset(names_used(self.names, name, known))


class CallsHere:
    """The calls of one exercise in this process."""

    printed: io.TextIOBase | None = None  # where the code's output goes, if anywhere

    def __init__(self, here: Here, questions: Questions, ready_made: Sequence[str] = ()) -> None:
        self._here, self.questions, self._ready_made = here, questions, ready_made
        self.cells: Sequence[str] | None = None  # in the students' own kernel no output is secret

    def close(self) -> None:
        """Do nothing: no process was started."""

    def ask(
        self, calls: Sequence[tuple[Call, bytes | None]], closely: Collection[int] = ()
    ) -> Iterator[bytes | Failure]:
        """An unread answer to each of `calls`, in order. The bytes of a call are not used here.

        closely: numbers of the calls that are watched closely, see `ready_made.Watch`
        """
        for number, (call, _) in enumerate(calls):
            yield sendable(self._perform(call, number in closely))

    def _perform(self, call: Call, closely: bool = False) -> Reply | Failure:
        copied = call_of(self.questions.prepare(call).as_bytes)

        def ask(question: Call) -> Reply | Failure:
            return answer_of(answer_bytes(self.questions.answer(call_of(question.as_bytes))))

        watch = Watch(self._ready_made, self._here.names)
        with quiet(self.printed), watch.on():
            return perform(self._here.names, copied, ask, self.questions.substituted, watch, closely)


@contextlib.contextmanager
def quiet(printed: io.TextIOBase | None = None) -> Iterator[None]:
    """Drop the warnings of code; its output goes to `printed`, if given."""
    nowhere = io.StringIO()
    output: Any = printed or nowhere
    with warnings.catch_warnings(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def answering(names: Mapping[str, Any]) -> Callable[[Call], Reply | Failure]:
    """A function that answers calls with `names` of this process."""
    exercise = Here(dict(names)).begin(Questions({}))
    return lambda call: answer_of(answer_bytes(exercise._perform(call)))
