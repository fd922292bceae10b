"""Names in this process, called as those in the sandbox are: for `check` in a notebook, and for trusted code.

Arguments and values are copied as they would be across the sandbox's boundary. Warnings are dropped, as is printed
text unless somebody asks for it. Code of the course has a time limit; a student can stop their own kernel.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.course.loading import TimeIsUp, in_time
from autograder.testing.callbacks import Questions
from autograder.testing.functions import Answering
from cellcage.calling.lookups import names_used
from cellcage.calling.perform import perform
from cellcage.calling.ready_made import Watch
from cellcage.protocol.calls import (
    Answer,
    Call,
    Failure,
    NoAnswer,
    Reply,
    Why,
    answer_bytes,
    answer_of,
    call_of,
    sendable,
)

# On the clock, for one call of the course's code. In the sandbox a call has 4 s of CPU time; a machine may be busy.
COURSE_SECONDS = 10.0
COURSE_SECONDS_AGAIN = 1.0  # after a call that was stopped: most likely the next ones run into the same loop
TOO_SLOW = "no answer after {seconds:g} seconds"
INTERRUPTIONS = ("KeyboardInterrupt", "SystemExit")
TERMINATED = "Terminated"  # the class of the exception that SIGTERM raises in a command


class Here:
    """Somebody's names in this process. It offers what a sandboxed notebook offers.

    of_course: whether the code is the course's own, which has a time limit
    """

    def __init__(self, names: dict[str, object], of_course: bool = False) -> None:
        self.names, self.of_course = names, of_course

    checks: Mapping[str, int] = {}  # there is no state but the present one
    cells: Sequence[str] = ()
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
        self._seconds = COURSE_SECONDS if here.of_course else None

    def close(self) -> None:
        """Do nothing: no process was started."""

    def ask(
        self, calls: Sequence[tuple[Call, bytes | None]], closely: Collection[int] = ()
    ) -> Iterator[bytes | NoAnswer]:
        """An unread answer to each of `calls`, in order. The bytes of a call are not used here.

        closely: numbers of the calls that are watched closely, see `ready_made.Watch`
        """
        for number, (call, _) in enumerate(calls):
            answer = self.answer(call, number in closely)
            yield answer if isinstance(answer, NoAnswer) else sendable(answer)

    def answer(self, call: Call, closely: bool = False) -> Answer:
        """The answer to one call."""
        if self._seconds is None:
            return self._perform(call, closely)
        try:
            answer = in_time(self._seconds, lambda: self._perform(call, closely))
        except TimeIsUp:
            text = TOO_SLOW.format(seconds=self._seconds)
            self._seconds = COURSE_SECONDS_AGAIN
            return NoAnswer(Why.TOO_SLOW, text)
        if isinstance(answer, Failure) and answer.error in INTERRUPTIONS:
            _raise_again(answer)
        return answer

    def _perform(self, call: Call, closely: bool) -> Reply | Failure:
        copied = call_of(self.questions.prepare(call).as_bytes)

        def ask(question: Call) -> Reply | Failure:
            return answer_of(answer_bytes(self.questions.answer(call_of(question.as_bytes))))

        watch = Watch(self._ready_made, self._here.names)
        with quiet(self.printed), watch.on():
            return perform(self._here.names, copied, ask, self.questions.substituted, watch, closely)


def _raise_again(failure: Failure) -> None:
    """Raise an interruption of this process again. It came while the course's code ran, so that code has not failed."""
    if failure.error == "KeyboardInterrupt":
        raise KeyboardInterrupt
    if TERMINATED in failure.types:
        raise SystemExit(int(failure.text))


@contextlib.contextmanager
def quiet(printed: io.TextIOBase | None = None) -> Iterator[None]:
    """Drop the warnings of code; its output goes to `printed`, if given."""
    nowhere = io.StringIO()
    output: Any = printed or nowhere
    with warnings.catch_warnings(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def answering(names: Mapping[str, Any]) -> Answering:
    """A function that answers calls with `names` of this process, which are the course's own."""
    exercise = Here(dict(names), of_course=True).begin(Questions({}))

    def answer(call: Call) -> Answer:
        found = exercise.answer(call)
        return found if isinstance(found, NoAnswer) else answer_of(answer_bytes(found))

    return answer
