"""Explains marks in steps, each of which adds to the results: what finders find, and messages for each reason once.

Only mistakes are explained; a right answer can have a picture. No explanation can change the mark. If a step raises or
runs out of time, the result names it and goes without it.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.course.loading import TimeIsUp
from autograder.explain.fingerprints import answer_digest
from autograder.explain.material import Material, Subject
from autograder.explain.naming import in_hidden_tests, in_visible_tests
from autograder.explain.picture import draw
from autograder.explain.repair.search import place
from autograder.judge import cell_errors
from autograder.judge.attempt import JudgedNames
from autograder.judge.judging import Judged, bare, later_cell, mark
from autograder.judge.notebook import JudgedNotebook
from autograder.report import ExerciseResult, Finding, TestMessage, TestResult
from autograder.testing.expect import CHANGED_ARGUMENT
from autograder.testing.student_errors import BY_HAND
from autograder.testing.suite import VALUE_ORDER, Outcome
from autograder.text import one_line
from cellcage.protocol.calls import NoAnswer

EXERCISE_SECONDS, SUBMISSION_SECONDS = 3.0, 15.0  # of CPU time; an honest diagnosis takes a few milliseconds
AGAIN_SECONDS = 0.1  # an interruption may be swallowed, for example by a destructor, so it comes again
MAX_ERROR = 200  # characters of an exception's text
ABOVE = "For the reason given above."
SAME = "The same as above."  # for a visible test, whose own input is not repeated
LONGEST_CALL = 150  # characters of a call beside a digest
NOT_TRIED = "not tried, since you stopped the check."
OVERWRITTEN = "Your code writes into an argument, too, as a check below says. Does a later line need what stood there?"
OTHER_ORDER = "the values came back in another order.", "In which order does the docstring name them?"


@dataclass(frozen=True)
class Step:
    """One part of an explanation.

    what: what it makes, in words
    make: the result with that
    for_right: it is made for right answers, too
    """

    what: str
    make: Callable[[Subject], ExerciseResult]
    for_right: bool = False


def explain(
    material: Material,
    names: JudgedNames,
    judged: Sequence[Judged],
    results: Sequence[ExerciseResult],
    steps: Sequence[Step],
    seconds: float = math.inf,
) -> list[ExerciseResult]:
    """The results with what each of `steps` makes.

    seconds: of CPU time for all of them; by default there is no time limit, only the stop button of a student's kernel
    """
    found, left = list(results), seconds
    for step in steps:
        began = _spent(names)
        for number, one in enumerate(judged):
            if one.is_right and not step.for_right:
                continue
            subject = Subject(material, names, one, found[number], _spent(names) - began)
            before = time.process_time()
            found[number] = _made(step, subject, min(EXERCISE_SECONDS, left) if left < math.inf else left)
            left -= time.process_time() - before
    return found


def judge(
    material: Material, names: JudgedNames, exercises: Sequence[Exercise], signatures: Mapping[str, Any] | None = None
) -> tuple[ExerciseResult, ...]:
    """Mark `exercises` and explain the marks by hidden or by visible tests, without a time limit. See `mark`."""
    judged = mark(material, names, exercises, signatures)
    return tuple(explain(material, names, judged, bare(judged), HIDDEN if material.reference else CHECK))


def _spent(names: JudgedNames) -> float:
    """Seconds of CPU time until now: of this process, and of the student's if it is another one."""
    return time.process_time() + (names.spent if isinstance(names, JudgedNotebook) else 0.0)


def _made(step: Step, subject: Subject, seconds: float) -> ExerciseResult:
    """The result with what a step makes; if it fails, with words on that."""
    try:
        with in_time(seconds):
            return step.make(subject)
    except (TimeIsUp, Exception) as error:
        why = _in_words(error) if isinstance(error, Exception) else "it took too long"
        return subject.result.adding(Finding("not produced", f"{step.what} ({why})"))


@contextlib.contextmanager
def in_time(seconds: float = EXERCISE_SECONDS) -> Iterator[None]:
    """Raises `TimeIsUp` in the block once it has used up so much CPU time. `loading.in_time` goes by the clock."""
    if seconds == math.inf:
        yield
        return
    if seconds <= 0:
        raise TimeIsUp
    signal.signal(signal.SIGPROF, _interrupt)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(*_: object) -> None:
    raise TimeIsUp


def _in_words(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return one_line(f"{type(error).__name__}: {error!s:.{MAX_ERROR}}, {Path(where.filename).name}, line {where.lineno}")


def _adding(find: Callable[[Subject], Finding | None]) -> Callable[[Subject], ExerciseResult]:
    """Adds what a finder finds."""
    return lambda subject: subject.result.adding(*filter(None, [find(subject)]))


def about_cells(subject: Subject) -> Finding | None:
    """What the notebook's cells, rather than the exercise's code, have to do with its result."""
    notebook, judged, result, words = subject.names, subject.judged, subject.result, ""
    assert isinstance(notebook, JudgedNotebook)
    name, cells = result.name, [*zip(notebook.cells, notebook.results, strict=True)]
    if not result.started:
        words = cell_errors.not_there(name, cells)
    elif judged.place is not None and judged.final is not None:
        number = later_cell(notebook, judged)
        uses = notebook.uses(name, ())
        words = cell_errors.changed_later(name, uses, None if number is None else notebook.cells[number])
    elif result.score < result.max_score:
        messages = [test.message for test in result.tests]
        words = (
            cell_errors.not_reached(messages, cells)
            or cell_errors.debugger_left_in(messages, notebook.cells)
            or cell_errors.defined_again(name, notebook.cells)
        )
    return Finding("cells", evidence=words) if words else None


def _with_messages(
    words: Callable[[Sequence[Outcome], bool], Sequence[str | TestMessage]],
) -> Callable[[Subject], ExerciseResult]:
    """Gives each test its message. words: makes those of hidden or of visible tests"""

    def make(subject: Subject) -> ExerciseResult:
        result, outcomes = subject.result, subject.judged.best.outcomes
        known = result.first("known mistake", "relation")
        # The hint of a known mistake is the question, and tests ask none of their own.
        asks = known is None or not known.hint or not known.is_certain
        tests = map(_with_message, result.tests, outcomes, words(outcomes, asks))
        return structs.replace(result, tests=tuple(tests))

    return make


def _with_message(test: TestResult, outcome: Outcome, message: str | TestMessage) -> TestResult:
    parts = message if isinstance(message, TestMessage) else None
    answer = _answer(outcome) if test.state == "failed" else ""
    return structs.replace(test, message=str(message), parts=parts, answer=answer)


def _answer(outcome: Outcome) -> str:
    """The call that failed, and a digest of its answer. Nobody who has many submissions needs to read the answer."""
    answered = outcome.answer
    if answered is None or isinstance(answered.answer, NoAnswer):
        return ""
    return f"{one_line(outcome.call)[:LONGEST_CALL]} {answer_digest(answered.call, answered.answer)}"


def _of_hidden_tests(outcomes: Sequence[Outcome], asks: bool) -> list[str]:
    """Messages of hidden tests. Only the first for a reason states it, how many more tests fail, and the input."""
    reasons = [one.reason or (str(one.error) if one.started and one.error else "") for one in outcomes]
    count, met, found = Counter(filter(None, reasons)), set[str](), []
    for outcome, reason in zip(outcomes, reasons, strict=True):
        # A name is given for values. What is wrong with a module that was only built, it need not explain.
        has_question = asks or (outcome.answer is not None and outcome.answer.call.build)
        message, more = outcome.message(has_question and _may_ask(outcome, outcomes)), count[reason] - 1
        if more > 0:
            message += f" {'1 more test fails' if more == 1 else f'{more} more tests fail'} for this reason."
        if outcome.reproduce:
            message += f" To have the same input: `{outcome.reproduce}`."
        found.append(ABOVE if reason in met else message)
        met |= {reason} - {""}
    return found


def _may_ask(outcome: Outcome, outcomes: Sequence[Outcome]) -> bool:
    """False if a test's question fits only if no other test finds a wrong answer, and one does."""
    return not outcome.asks_if_others_pass or sum(one.finds_wrong_answer for one in outcomes) < 2


def _of_visible_tests(outcomes: Sequence[Outcome], asks: bool) -> list[TestMessage]:
    """Messages of visible tests, each reason once. A wrong order or a changed argument is asked about first."""
    met, found = set[str](), []
    has_order, changes = (any(outcome.reason == one for outcome in outcomes) for one in (VALUE_ORDER, CHANGED_ARGUMENT))
    for outcome in outcomes:
        message, reason = outcome.parts, outcome.reason
        if reason in met:
            message = TestMessage(NOT_TRIED if reason == BY_HAND else SAME)
        elif reason == VALUE_ORDER:
            message = TestMessage(f"{outcome.call}: {OTHER_ORDER[0]}", OTHER_ORDER[1], message.went_in)
        elif has_order or not asks or not _may_ask(outcome, outcomes):
            message = structs.replace(message, question="")
        elif changes and outcome.finds_wrong_answer:
            message = structs.replace(message, question=OVERWRITTEN)
        met |= {reason} - {""}
        found.append(message)
    return found


def _drawn(subject: Subject) -> ExerciseResult:
    """The result with a picture, if the exercise has one."""
    picture = draw(subject.material.examples, subject.names, subject.judged)
    return structs.replace(subject.result, picture=picture)


# What explains a mark, in order. A name decides what the messages ask.
PICTURE = Step("the picture", _drawn, for_right=True)
HIDDEN = (Step("the diagnosis", _adding(in_hidden_tests)), Step("messages", _with_messages(_of_hidden_tests)), PICTURE)
CHECK = (Step("the diagnosis", _adding(in_visible_tests)), Step("messages", _with_messages(_of_visible_tests)), PICTURE)
# In grading, what is known is sent before each round: the second runs the student's code again and again.
_CELLS = Step("words on the notebook's cells", _adding(about_cells))
_PLACES = (Step("where to look", _adding(place)),)
GRADING_FOR_PAGE = ((*HIDDEN, _CELLS), _PLACES)
GRADING = ((*HIDDEN[:2], _CELLS), _PLACES)
