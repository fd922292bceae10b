"""Checks what a judge sends. A judge reads what untrusted code sent, so it may have been deceived or taken over.

msgspec checks types and sizes. Every field must be there, so the fields that a report may omit are declared again here.
Texts that are too long are cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from autograder.course.assignments import Exercise
from autograder.messages import FromJudge
from autograder.report import Cause, CellResult, ExerciseResult, Location, Picture, TestResult, Verdict
from autograder.text import one_line

MAX_TESTS = 200  # of an exercise; the largest suite has 20
MAX_NOT_PRODUCED = 8  # of an exercise; there are never more than two or three
MAX_NAME, MAX_TEXT, MAX_PRINTED = 200, 4_000, 25_000  # characters; messages have some hundred
MAX_ERROR = 500  # characters of the judge's own error
MAX_MATRICES, MAX_SIDE = 16, 64  # of a picture
MAX_RICH, LARGEST_RICH = 4, 300_000  # pictures and tables of a cell, and bytes of one
PNG = b"\x89PNG\r\n\x1a\n"
MAX_LINES = 8  # of the student's code, with an exception or where an edit repairs it
NonNegative = Annotated[float, Meta(ge=0)]
Labels = Annotated[tuple[str, ...], Meta(min_length=1, max_length=MAX_SIDE)]
NumberRow = Annotated[tuple[float, ...], Meta(max_length=MAX_SIDE)]
Matrix = Annotated[tuple[NumberRow, ...], Meta(max_length=MAX_SIDE)]


class BadVerdict(Exception):
    """A message does not have the agreed form; the text says why."""


class _Test(TestResult, frozen=True, kw_only=True):
    score: NonNegative
    max_score: NonNegative
    stopped: bool


class _Picture(Picture, frozen=True, kw_only=True):
    matrices: Annotated[tuple[Matrix, ...], Meta(min_length=1, max_length=MAX_MATRICES)]
    rows: Labels
    columns: Labels
    wanted: Annotated[tuple[Matrix, ...], Meta(max_length=MAX_MATRICES)]


class _Location(Location, frozen=True, kw_only=True):
    lines: Annotated[tuple[int, ...], Meta(min_length=1, max_length=MAX_LINES)]


class _Exercise(ExerciseResult, frozen=True, kw_only=True):
    tests: Annotated[tuple[_Test, ...], Meta(min_length=1, max_length=MAX_TESTS)]
    started: bool
    cause: Cause | None
    with_reference: Annotated[tuple[str, ...], Meta(max_length=MAX_TESTS)]
    picture: _Picture | None
    evidence: str
    known_mistake: bool
    not_produced: Annotated[tuple[str, ...], Meta(max_length=MAX_NOT_PRODUCED)]
    mentions: Annotated[tuple[str, ...], Meta(max_length=MAX_TESTS)]
    location: _Location | None


class _Cell(CellResult, frozen=True, kw_only=True):
    printed: str
    error: str
    text: str
    lines: Annotated[tuple[tuple[str, int, str], ...], Meta(max_length=MAX_LINES)]
    stopped: str | None
    ran_out_of_time: bool
    rich: Annotated[tuple[tuple[str, bytes], ...], Meta(max_length=MAX_RICH)]


class _Verdict(Struct, frozen=True):
    exercises: tuple[_Exercise, ...]
    cells: tuple[_Cell, ...]
    extra: str


class _FromJudge(FromJudge, frozen=True):
    marks: _Verdict | None = None  # type: ignore[assignment]
    verdict: _Verdict | None = None  # type: ignore[assignment]


def read_message(data: object, exercises: Sequence[Exercise], cells: int) -> FromJudge:
    """A judge's message in `data`. A verdict must be on exactly these exercises and this number of cells.

    Raises `BadVerdict`, and nothing else, if `data` is anything else.
    """
    try:
        message = msgspec.convert(data, _FromJudge)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadVerdict(str(error)) from None
    if message.broken is not None:
        kind, text = message.broken
        return FromJudge(broken=(kind[:MAX_ERROR], text[:MAX_ERROR]))
    if message.verdict is not None:
        return FromJudge(verdict=_verdict(message.verdict, exercises, cells))
    if message.marks is not None:
        return FromJudge(marks=_verdict(message.marks, exercises, cells))
    if not (message.open or message.cpu) and message.ending is None and message.memory is None:
        raise BadVerdict("it says nothing")
    return FromJudge(message.open, message.ending, message.memory, message.cpu)


def _verdict(found: _Verdict, exercises: Sequence[Exercise], cells: int) -> Verdict:
    if len(found.exercises) != len(exercises) or len(found.cells) != cells:
        raise BadVerdict("it is not on these exercises and cells")
    results = tuple(map(_exercise, found.exercises, exercises))
    return Verdict(results, tuple(map(_cell, found.cells)), _sentence(found.extra))


def _exercise(found: _Exercise, expected: Exercise) -> ExerciseResult:
    if found.name != expected.name or found.max_score != expected.points:
        raise BadVerdict(f"it is not about {expected.name} and its points")
    points = sum(test.max_score for test in found.tests)
    if not math.isfinite(points) or abs(points - expected.points) > 1e-3 * len(found.tests):
        raise BadVerdict(f"the tests of {expected.name} do not add up to its points")
    return ExerciseResult(
        expected.name,
        tuple(map(_test, found.tests)),
        expected.points,
        found.started,
        found.cause and Cause(found.cause.name[:MAX_NAME], _sentence(found.cause.hint)),
        tuple(name[:MAX_NAME] for name in found.with_reference),
        found.picture and _picture(found.picture),
        _sentence(found.evidence),
        known_mistake=found.known_mistake,
        not_produced=tuple(_sentence(what) for what in found.not_produced),
        mentions=tuple(name[:MAX_NAME] for name in found.mentions),
        location=found.location and _location(found.location),
    )


def _location(found: _Location) -> Location:
    texts = (found.code, found.part, found.kind, found.question, found.repaired)
    return Location(found.lines, *map(_sentence, texts))


def _test(found: _Test) -> TestResult:
    is_partial = found.state == "failed" and found.score < found.max_score
    if not is_partial and found.score != (found.max_score if found.state == "passed" else 0):
        raise BadVerdict("a test's points do not go with its state")
    name, sentence, message = found.name[:MAX_NAME], _sentence(found.sentence), _sentence(found.message)
    return TestResult(name, sentence, found.state, found.score, found.max_score, message, found.stopped)


def _picture(found: _Picture) -> Picture:
    shape = len(found.rows), len(found.columns)
    for matrix in (*found.matrices, *found.wanted):
        if len(matrix) != shape[0] or any(len(row) != shape[1] for row in matrix):
            raise BadVerdict("a picture's numbers do not go with its labels")
    rows, columns = (tuple(label[:MAX_NAME] for label in labels) for labels in (found.rows, found.columns))
    return Picture(found.matrices, rows, columns, found.boolean, found.wanted)


def _cell(found: _Cell) -> CellResult:
    lines = tuple((function[:MAX_NAME], number, text[:MAX_NAME]) for function, number, text in found.lines)
    stopped = found.stopped and found.stopped[:MAX_TEXT]
    printed, error, text = found.printed[:MAX_PRINTED], found.error[:MAX_NAME], found.text[:MAX_TEXT]
    rich = tuple((kind, form) for kind, form in found.rich if _may_be_shown(kind, form))
    return CellResult(printed, error, text, lines, stopped, found.ran_out_of_time, rich)


def _may_be_shown(kind: str, form: bytes) -> bool:
    """Whether this is a picture, or a text that the page cleans."""
    return len(form) <= LARGEST_RICH and (kind == "text/html" or (kind == "image/png" and form.startswith(PNG)))


def _sentence(text: str) -> str:
    return one_line(text[:MAX_TEXT])
