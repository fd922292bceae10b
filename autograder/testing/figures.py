"""Two figures compared: `expect.figure`. What is wrong is told by its place, and never what is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.sandbox.protocol.objects import Record
from autograder.testing.expect import fail, kind_of

Drawn = dict[str, np.ndarray]  # what is compared of a line or of a set of bars, number by number
KINDS = {"lines": "line", "points": "set of points", "bars": "set of bars", "images": "image"}
SAID = {"title": "title", "xlabel": "label on its x axis", "ylabel": "label on its y axis", "legend": "legend"}


def compare(got: Any, wanted: Any, hint: str, words: bool, atol: float) -> None:
    """Fails at the first thing in which `got` does not show what `wanted` shows."""
    if not isinstance(got, Record):
        fail(f"gave {kind_of(got)}, where a figure belongs.", hint, got=got, symptom="kind")
    for text in _differences(got, wanted, words, atol):
        fail(text, hint, got=got)


def _differences(got: Any, wanted: Any, words: bool, atol: float) -> Iterator[str]:
    if len(got.axes) != len(wanted.axes):
        yield f"the figure has {_counted(len(got.axes), 'plot')}, it should have {len(wanted.axes)}."
    for number, (mine, right) in enumerate(zip(got.axes, wanted.axes, strict=True), start=1):
        place = "the figure" if len(wanted.axes) == 1 else f"plot {number}"
        for kind, word in KINDS.items():
            yield from _of_kind(mine[kind], right[kind], word, place, atol)
        if not _same(mine["wedges"], right["wedges"], atol):
            yield f"the wedges of {place} have not the shares that are asked for."
        for axis in "xy":
            if mine[f"{axis}scale"] != right[f"{axis}scale"]:
                yield f"the {axis} axis of {place} has another scale than is asked for."
        for name, word in SAID.items():
            said, asked = ([part] if isinstance(part, str) else part for part in (mine[name], right[name]))
            if any(asked) and not any(map(str.strip, said)):
                yield f"{place} has no {word}."
            if words and any(asked) and said != asked:
                yield f"the {word} of {place} says something else than is asked for."


def _of_kind(mine: Any, right: Any, word: str, place: str, atol: float) -> Iterator[str]:
    """What is drawn of one kind, in whatever order."""
    if len(mine) != len(right):
        yield f"{place} has {_counted(len(mine), word)}, it should have {len(right)}."
        return
    left = list(right)
    others = []
    for number, one in enumerate(mine, start=1):
        same = next((n for n, other in enumerate(left) if not _difference(one, other, atol)), None)
        if same is None:
            others.append((number, one))
        else:
            left.pop(same)
    for number, one in others:
        name = f"the {word}" if len(mine) == 1 else f"{word} {number}"
        yield f"{name} in {place} {_difference(one, left[0], atol)}"


def _difference(one: Any, other: Any, atol: float) -> str:
    """How one of what is drawn differs from another, in words; empty if it does not."""
    names = [sorted(drawn["names"]) if _is(drawn, "names") else [] for drawn in (one, other)]
    if names[1] and not names[0]:
        return "has no names below it."
    if names[1] and names[0] != names[1]:
        return "has other names below it than are asked for."
    for part, mine in _numbers(one, bool(names[1])).items():
        right = _numbers(other, bool(names[1]))[part]
        if mine.shape != right.shape:
            size = len(mine) if mine.ndim == 1 else mine.shape
            return f"has {size} values, it should have {len(right) if right.ndim == 1 else right.shape}."
        if not _same(mine, right, atol):
            wrong = ~np.isclose(mine, right, rtol=0, atol=atol * _largest(right), equal_nan=True)
            place = tuple(np.argwhere(wrong)[0].tolist())
            return f"has {part} {mine[place]:.4g} at [{', '.join(map(str, place))}], which is not right."
    return ""


def _numbers(drawn: Any, named: bool) -> Drawn:
    """The numbers of what is drawn, in an order of their own where their order says nothing."""
    if not isinstance(drawn, Record):
        return {"value": np.asarray(drawn, dtype=float)}
    if _is(drawn, "height"):
        order = sorted(range(len(drawn.at)), key=lambda n: drawn["names"][n] if named else drawn.at[n])
        parts = ("height", "bottom") if named else ("at", "height", "bottom")
        return {part: np.asarray(drawn[part], dtype=float)[order] for part in parts}
    return {part: np.asarray(drawn[part], dtype=float) for part in ("x", "y")}


def _is(drawn: Any, field: str) -> bool:
    return isinstance(drawn, Record) and len(drawn.fields.get(field, ())) > 0


def _same(one: Any, other: Any, atol: float) -> bool:
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    near = one.shape == other.shape and np.allclose(one, other, rtol=0, atol=atol * _largest(other), equal_nan=True)
    return bool(near)


def _largest(numbers: np.ndarray) -> float:
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=1.0))


def _counted(number: int, word: str) -> str:
    words = {"set of points": "sets of points", "set of bars": "sets of bars"}
    return f"{number} {word if number == 1 else words.get(word, word + 's')}"
