"""Reading what a judge says, field by field: it has read what a stranger sent, and may have been taken in by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar, get_args

from autograder.course import Exercise
from autograder.report import CellResult, ExerciseResult, Picture, State, TestResult, Verdict
from autograder.text import one_line

MAX_TESTS = 200  # of an exercise; the largest suite has 20
MAX_NAME, MAX_TEXT, MAX_PRINTED = 200, 4_000, 25_000  # characters; messages have some hundred
MAX_MATRICES, MAX_SIDE = 16, 64  # of a picture
STATES = get_args(State)
Kind = TypeVar("Kind")


class BadVerdict(Exception):
    """It is not of the agreed form; the text says what is not."""


def read_verdict(data: Any, exercises: Sequence[Exercise], cells: int) -> Verdict:
    """The verdict in `data` on so many cells, about just these exercises. Raises `BadVerdict`, whatever `data` is."""
    try:
        found = _items(data["exercises"], len(exercises), len(exercises))
        results = tuple(_exercise(one, wanted) for one, wanted in zip(found, exercises, strict=True))
        return Verdict(
            results, tuple(map(_cell, _items(data["cells"], cells, cells))), one_line(_text(data["extra"], MAX_TEXT))
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadVerdict(f"{type(error).__name__}: {error}") from None


def _exercise(data: Any, wanted: Exercise) -> ExerciseResult:
    tests = tuple(_test(one) for one in _items(data["tests"], 1, MAX_TESTS))
    if data["name"] != wanted.name or data["max_score"] != wanted.points:
        raise BadVerdict(f"it is not about {wanted.name} and its points")
    if abs(sum(test.max_score for test in tests) - wanted.points) > 1e-3 * len(tests):
        raise BadVerdict(f"the tests of {wanted.name} do not add up to its points")
    diagnosis = None if data["diagnosis"] is None else _text(data["diagnosis"], MAX_NAME)
    behind = tuple(_text(name, MAX_NAME) for name in _items(data["with_reference"], 0, MAX_TESTS))
    hint = one_line(_text(data["hint"], MAX_TEXT))
    picture = None if data["picture"] is None else _picture(data["picture"])
    evidence = one_line(_text(data["evidence"], MAX_TEXT))
    return ExerciseResult(
        wanted.name, tests, wanted.points, _of(bool, data["started"]), diagnosis, hint, behind, picture, evidence
    )


def _test(data: Any) -> TestResult:
    state, score, worth = data["state"], _number(data["score"]), _number(data["max_score"])
    if state not in STATES or worth < 0 or score != (worth if state == "passed" else 0):
        raise BadVerdict("a test's points do not go with its state")
    name, sentence = _text(data["name"], MAX_NAME), one_line(_text(data["sentence"], MAX_TEXT))
    message = one_line(_text(data["message"], MAX_TEXT))
    return TestResult(name, sentence, state, score, worth, message, _of(bool, data["stopped"]))


def _picture(data: Any) -> Picture:
    rows, columns = (
        tuple(_text(word, MAX_NAME) for word in _items(data[key], 1, MAX_SIDE)) for key in ("rows", "columns")
    )
    matrices, wanted = (
        tuple(
            tuple(
                tuple(float(_number(value, finite=False)) for value in _items(row, len(columns), len(columns)))
                for row in _items(matrix, len(rows), len(rows))
            )
            for matrix in _items(data[key], least, MAX_MATRICES)
        )
        for key, least in (("matrices", 1), ("wanted", 0))
    )
    return Picture(matrices, rows, columns, _of(bool, data["boolean"]), wanted)


def _cell(data: Any) -> CellResult:
    lines = tuple(
        (_text(function, MAX_NAME), _of(int, number), _text(text, MAX_NAME))
        for function, number, text in _items(data["lines"], 0, 3)
    )
    stopped = None if data["stopped"] is None else _text(data["stopped"], MAX_TEXT)
    printed = _text(data["printed"], MAX_PRINTED)
    return CellResult(printed, _text(data["error"], MAX_NAME), _text(data["text"], MAX_TEXT), lines, stopped)


def _items(data: Any, least: int, most: int) -> list[Any]:
    if not isinstance(data, list | tuple) or not least <= len(data) <= most:
        raise BadVerdict(f"not a list of {least} to {most} things")
    return list(data)


def _of(kind: type[Kind], data: Any) -> Kind:
    if type(data) is not kind:
        raise BadVerdict(f"not a {kind.__name__}")
    return data  # type: ignore[no-any-return]


def _text(data: Any, most: int) -> str:
    return _of(str, data)[:most]


def _number(data: Any, finite: bool = True) -> float:
    if isinstance(data, bool) and not finite:
        return float(data)  # a picture of truth values
    if isinstance(data, bool) or not isinstance(data, int | float) or (finite and not math.isfinite(data)):
        raise BadVerdict("not a number")
    return data
