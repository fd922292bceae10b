"""A student's picture beside what is asked for, with the squares marked that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autograder.report import Picture
from autograder.reports.heatmap import Heatmap, heatmap

# What is asked for has two digits after the point, rounded: half a hundredth, and float32's own rounding.
ROUNDED = 0.0051


def beside(own: np.ndarray | None, wanted: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> list[Heatmap]:
    """Yours, where it can be drawn, and what is asked for; both (matrices, rows, columns)."""
    full = max(1.0, float(np.abs(wanted.astype(float)).max()))
    right = replace(heatmap(wanted, rows, columns, "asked for"), full=full)
    if own is None:
        return [right]
    marked: np.ndarray = np.ones(own.shape, dtype=bool)
    if own.shape == wanted.shape:  # NaN differs from everything
        marked = ~(np.abs(own.astype(float) - wanted.astype(float)) <= ROUNDED)
    return [replace(heatmap(own, rows, columns, "yours"), full=full, marked=marked), right]


def drawn_arrays(picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """A student's matrices and those that are asked for, as `beside` takes them; empty if nothing is asked for."""
    kind = bool if picture.boolean else float
    return np.array(picture.matrices, dtype=kind), np.array(picture.wanted, dtype=kind)


def differing(pictures: Sequence[Heatmap]) -> int:
    """How many squares are marked."""
    return sum(int(picture.marked.sum()) for picture in pictures if picture.marked is not None)


def in_words(count: int) -> str:
    """The same as an end of a sentence."""
    if not count:
        return "."
    return ": 1 square of yours differs (marked)." if count == 1 else f": {count} squares of yours differ (marked)."
