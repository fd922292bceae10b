"""A student's picture beside the expected one, with the squares that differ marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autograder.report import Picture
from autograder.reports.heatmap import Heatmap, heatmap

# Expected values are rounded to two digits: half a hundredth, plus the rounding of float32.
ROUNDED = 0.0051


def beside(own: np.ndarray | None, wanted: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> list[Heatmap]:
    """The student's picture, if it can be drawn, and the expected one; both of shape (matrices, rows, columns)."""
    full = max(1.0, float(np.abs(wanted.astype(float)).max()))
    right = replace(heatmap(wanted, rows, columns, "asked for"), full=full)
    if own is None:
        return [right]
    marked: np.ndarray = np.ones(own.shape, dtype=bool)
    if own.shape == wanted.shape:  # NaN differs from everything
        marked = ~(np.abs(own.astype(float) - wanted.astype(float)) <= ROUNDED)
    return [replace(heatmap(own, rows, columns, "yours"), full=full, marked=marked), right]


def drawn_arrays(picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """The student's matrices and the expected ones (maybe empty), as `beside` takes them."""
    kind = bool if picture.boolean else float
    return np.array(picture.matrices, dtype=kind), np.array(picture.wanted, dtype=kind)


def differing(pictures: Sequence[Heatmap]) -> int:
    """The number of marked squares."""
    return sum(int(picture.marked.sum()) for picture in pictures if picture.marked is not None)


def in_words(count: int) -> str:
    """The number of marked squares, as the end of a sentence."""
    if not count:
        return "."
    return ": 1 square of yours differs (marked)." if count == 1 else f": {count} squares of yours differ (marked)."
