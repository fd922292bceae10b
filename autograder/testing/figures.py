"""Figures as a suite sees them, and two of them compared: `expect.figure`.

A message gives the place of what is wrong, and never what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.testing.mismatch import fail, kind_of, place_of
from cellcage.protocol.objects import NoField, Record

KINDS = {"lines": "line", "points": "set of points", "bars": "set of bars", "images": "image"}
LISTS = ("legend", "texts", "lines", "points", "bars", "images")
TEXTS = {"title": "title", "xlabel": "label on its x axis", "ylabel": "label on its y axis", "legend": "legend"}


class Parts(list[Any]):
    """The artists of one kind in a figure, in order."""

    def __init__(self, kind: str, items: list[Any]) -> None:
        super().__init__(items)
        self.kind = kind

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int) and not -len(self) <= place < len(self):
            raise NoField(f"has {len(self)} {self.kind} in its figure, which is not what is asked for.")
        return super().__getitem__(place)


def figure_of(value: Any) -> Record:
    """The figure in an answer. Raises `NoField` if there is none, or one of another form."""
    if value is None:
        raise NoField("drew nothing: it gave no figure back, and none is open. Which line draws?")
    if not isinstance(value, Record) or not isinstance(value.fields.get("axes"), list):
        raise NoField("drew more than can be read.")
    axes = [_axes(one) for one in value.fields["axes"] if isinstance(one, Record)]
    return Record("Figure", value.fields | {"axes": Parts("axes", axes)})


def _axes(axes: Record) -> Record:
    lists = {kind: Parts(kind, found) for kind in LISTS if isinstance(found := axes.fields.get(kind), list)}
    return Record("Axes", axes.fields | lists)


def figure(got: Any, wanted: Any, hint: str = "", words: bool = False, atol: float = 1e-6) -> None:
    """Two figures show the same: as many axes, and in each the same lines, points, bars, images, wedges and scales.

    Lines may come in another order. If the expected figure has a title, a label or a legend, the other must have one.
    words: whether these must say the same
    atol: the tolerance of numbers, as a share of the largest
    """
    if not isinstance(got, Record):
        fail(f"gave {kind_of(got)}, where a figure belongs.", hint, got=got, symptom="kind")
    for text in _differences(got, wanted, words, atol):
        fail(text, hint, got=got)


def _differences(got: Any, wanted: Any, words: bool, atol: float) -> Iterator[str]:
    if len(got.axes) != len(wanted.axes):
        yield f"the figure has {_counted(len(got.axes), 'plot')}, it should have {len(wanted.axes)}."
    for number, (axes, right) in enumerate(zip(got.axes, wanted.axes, strict=True), start=1):
        place = "the figure" if len(wanted.axes) == 1 else f"plot {number}"
        for kind, name in KINDS.items():
            yield from _different_artists(axes[kind], right[kind], name, place, atol)
        if not _close(axes["wedges"], right["wedges"], atol):
            yield f"the wedges of {place} have not the shares that are asked for."
        for axis in "xy":
            if axes[f"{axis}scale"] != right[f"{axis}scale"]:
                yield f"the {axis} axis of {place} has another scale than is asked for."
        for key, name in TEXTS.items():
            texts, expected = ([text] if isinstance(text, str) else text for text in (axes[key], right[key]))
            if any(expected) and not any(map(str.strip, texts)):
                yield f"{place} has no {name}."
            if words and any(expected) and texts != expected:
                yield f"the {name} of {place} says something else than is asked for."


def _different_artists(
    artists: Sequence[Any], expected: Sequence[Any], name: str, place: str, atol: float
) -> Iterator[str]:
    """Differences between artists of one kind, in any order."""
    if len(artists) != len(expected):
        yield f"{place} has {_counted(len(artists), name)}, it should have {len(expected)}."
        return
    left, unmatched = list(expected), []
    for number, artist in enumerate(artists, start=1):
        match = next((n for n, right in enumerate(left) if not _difference(artist, right, atol)), None)
        if match is None:
            unmatched.append((number, artist))
        else:
            left.pop(match)
    for number, artist in unmatched:
        which = f"the {name}" if len(artists) == 1 else f"{name} {number}"
        yield f"{which} in {place} {_difference(artist, left[0], atol)}"


def _difference(artist: Any, expected: Any, atol: float) -> str:
    """How an artist differs from the expected one, in words; empty if it does not."""
    names, right_names = (sorted(one["names"]) if _has(one, "names") else [] for one in (artist, expected))
    if right_names and not names:
        return "has no names below it."
    if right_names and names != right_names:
        return "has other names below it than are asked for."
    found, wanted = (_numbers(one, by_name=bool(right_names)) for one in (artist, expected))
    for part, numbers in found.items():
        right = wanted[part]
        if numbers.shape != right.shape:
            size, right_size = (len(each) if each.ndim == 1 else each.shape for each in (numbers, right))
            return f"has {size} values, it should have {right_size}."
        wrong = ~np.isclose(numbers, right, rtol=0, atol=atol * _largest(right), equal_nan=True)
        if wrong.any():
            index = tuple(np.argwhere(wrong)[0].tolist())
            return f"has {part} {numbers[index]:.4g}{place_of(index)}, which is not right."
    return ""


def _numbers(artist: Any, by_name: bool) -> dict[str, np.ndarray]:
    """The numbers to compare of an artist; bars are sorted, by their names or by their positions."""
    if not isinstance(artist, Record):
        return {"value": np.asarray(artist, dtype=float)}
    if _has(artist, "height"):
        order = sorted(range(len(artist.at)), key=lambda n: artist["names"][n] if by_name else artist.at[n])
        parts = ("height", "bottom") if by_name else ("at", "height", "bottom")
        return {part: np.asarray(artist[part], dtype=float)[order] for part in parts}
    return {part: np.asarray(artist[part], dtype=float) for part in ("x", "y")}


def _has(artist: Any, field: str) -> bool:
    return isinstance(artist, Record) and len(artist.fields.get(field, ())) > 0


def _close(got: Any, wanted: Any, atol: float) -> bool:
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=0, atol=atol * _largest(wanted), equal_nan=True)


def _largest(numbers: np.ndarray) -> float:
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=1.0))


def _counted(number: int, name: str) -> str:
    plurals = {"set of points": "sets of points", "set of bars": "sets of bars"}
    return f"{number} {name if number == 1 else plurals.get(name, name + 's')}"
