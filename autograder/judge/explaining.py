"""Explains an exercise's mark once it is fixed: the diagnosis, the messages, the picture.

None of this can change the mark. If a step raises or runs out of time, the result names it and goes without it.
"""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.diagnosis.naming import DROPOUT, NON_DETERMINISTIC, diagnose, say_little
from autograder.diagnosis.relations import NAN, of_shown
from autograder.diagnosis.visible_fingerprints import named
from autograder.judge.attempt import Attempt
from autograder.judge.material import Material
from autograder.judge.results import as_result, bare_result
from autograder.report import ExerciseResult, Finding, Picture
from autograder.testing.expect import Mismatch
from autograder.testing.student_errors import Missing, NotStarted, Stopped
from autograder.text import one_line
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Reply

EXERCISE_SECONDS, SUBMISSION_SECONDS = 3.0, 15.0  # of CPU time; an honest diagnosis takes a few milliseconds
AGAIN_SECONDS = 0.1  # an interruption may be swallowed, for example by a destructor, so it comes again
MAX_ERROR = 200  # characters of an exception's text

Made = TypeVar("Made")


class OutOfTime(BaseException):
    """Interrupts a step that has used up its time. No `except Exception` on the way can swallow it."""


class Explaining:
    """Runs steps that may fail. In a student's own kernel there is no time limit, only the stop button.

    failed: a finding for each step of the current exercise that failed
    """

    def __init__(self, limited: bool = False) -> None:
        self._limited, self._left = limited, SUBMISSION_SECONDS
        self._seconds = EXERCISE_SECONDS  # left for the current exercise
        self.failed: list[Finding] = []

    def begin(self) -> None:
        """Begin with another exercise."""
        self._seconds, self.failed = EXERCISE_SECONDS, []

    def attempt(self, what: str, make: Callable[[], Made], instead: Made) -> Made:
        """What `make` returns; `instead` if it fails. what: what it makes, in words"""
        try:
            with self._in_time():
                return make()
        except OutOfTime:
            self.failed.append(Finding("not produced", f"{what} (it took too long)"))
        except Exception as error:
            self.failed.append(Finding("not produced", f"{what} ({_in_words(error)})"))
        return instead

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[None]:
        """Raises `OutOfTime` in the block once it has used up the CPU time left. `time_limit` goes by the clock."""
        if not self._limited:
            yield
            return
        seconds, began = min(self._seconds, self._left), time.process_time()
        if seconds <= 0:
            raise OutOfTime
        signal.signal(signal.SIGPROF, _interrupt)
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            used = time.process_time() - began
            self._seconds, self._left = self._seconds - used, self._left - used


def _interrupt(*_: object) -> None:
    raise OutOfTime


def _in_words(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return one_line(f"{type(error).__name__}: {error!s:.{MAX_ERROR}}, {Path(place.filename).name}, line {place.lineno}")


@dataclass(frozen=True)
class Judged:
    """An exercise, and the attempt that counts: its mark is fixed.

    place: None if it was made in the notebook's final state, else the number of cells that had run
    final: the attempt in the final state, if it was not that
    """

    exercise: Exercise
    best: Attempt
    place: int | None = None
    final: Attempt | None = None


def bare(judged: Sequence[Judged]) -> tuple[ExerciseResult, ...]:
    """Only the marks, without any explanation."""
    return tuple(bare_result(one.exercise, one.best) for one in judged)


def explain(
    material: Material,
    judged: Sequence[Judged],
    explaining: Explaining,
    draw: Callable[[Judged], Picture | None],
) -> tuple[ExerciseResult, ...]:
    """The results with all explanations. draw: draws an exercise's picture, if it has one"""
    return tuple(_explained(material, one, explaining, draw) for one in judged)


def _explained(
    material: Material, one: Judged, explaining: Explaining, draw: Callable[[Judged], Picture | None]
) -> ExerciseResult:
    explaining.begin()
    exercise, best, result = one.exercise, one.best, bare_result(one.exercise, one.best)
    known = explaining.attempt("the diagnosis", lambda: _diagnose(material, exercise.name, best), None)
    is_hidden = material.is_hidden
    result = explaining.attempt("messages", lambda: as_result(exercise, best, known, is_hidden=is_hidden), result)
    # Code that was stopped would have to be stopped once more.
    if best.started and not any(isinstance(outcome.error, Stopped) for outcome in best.outcomes):
        result = structs.replace(result, picture=explaining.attempt("the picture", lambda: draw(one), None))
    return result.adding(*explaining.failed)


def _diagnose(material: Material, exercise: str, best: Attempt) -> Finding | None:
    wrong = [outcome.error for outcome in best.outcomes if outcome.error]
    if all(isinstance(error, NotStarted | Missing) for error in wrong):
        return None
    if material.hypotheses is None:
        return None if material.is_hidden else _diagnose_visible(material, exercise, best, wrong)
    known = diagnose(material.hypotheses, exercise, best.calls, material.relations)
    if known is None and best.corrected:
        known = diagnose(material.hypotheses, exercise, best.corrected, material.relations)
        known = None if known and known.name == NAN else known  # there NaN stands for what did not come back
    if not best.non_deterministic or (known is not None and known.kind == "known mistake"):
        return known
    # Non-deterministic answers are related to the right ones by chance only. Which calls they answer is not by chance.
    return DROPOUT if _has_dropped(best) else NON_DETERMINISTIC


def _has_dropped(best: Attempt) -> bool:
    """Whether a dropout was on in a call: two such calls may be equal by chance."""
    answers = (read(one.answer) for one in best.calls)
    return any(isinstance(answer, Reply) and answer.dropped for answer in answers)


def _diagnose_visible(
    material: Material, exercise: str, best: Attempt, wrong: Sequence[BaseException]
) -> Finding | None:
    """A diagnosis from only the visible tests, without a solution: a known mistake's name, or else a relation."""
    pairs = [(error.got, error.wanted) for error in wrong if isinstance(error, Mismatch)]
    if not pairs:  # exceptions are weak evidence if there is nothing else
        return None
    if _has_dropped(best):
        return DROPOUT
    if best.non_deterministic:
        return NON_DETERMINISTIC
    answers = [read(one.answer) for one in best.calls]
    if not say_little(answers) and (known := named(material.visible_names, exercise, answers)):
        return known
    if len(pairs) < len(wrong) or not all(hasattr(value, "dtype") for pair in pairs for value in pair):
        return None
    return of_shown(pairs, material.relations)
