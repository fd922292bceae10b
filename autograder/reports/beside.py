"""A student's picture beside what is asked for, with the squares marked that differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.reports.heatmap import Heatmap

ROUNDED = (
    0.0051  # what is asked for has two digits after the point, rounded: half a hundredth, and float32's own rounding
)


def beside(own: np.ndarray | None, wanted: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> list[Heatmap]:
    """Yours, where it can be drawn, and what is asked for; both (heads, L, S)."""
    full = max(1.0, float(np.abs(wanted.astype(float)).max()))
    right = _heatmap(wanted, "asked for", rows, columns, full)
    if own is None:
        return [right]
    marked = _unlike(own, wanted) if own.shape == wanted.shape else np.ones(own.shape, dtype=bool)
    return [_heatmap(own, "yours", rows, columns, full, marked), right]


def differing(pictures: Sequence[Heatmap]) -> int:
    """How many squares are marked."""
    return sum(int(picture.marked.sum()) for picture in pictures if picture.marked is not None)


def in_words(count: int) -> str:
    """The same as an end of a sentence."""
    if not count:
        return "."
    return ": 1 square of yours differs (marked)." if count == 1 else f": {count} squares of yours differ (marked)."


def _heatmap(
    weights: np.ndarray,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    full: float,
    marked: np.ndarray | None = None,
) -> Heatmap:
    names = tuple(f"head {n}" for n in range(len(weights))) if len(weights) > 1 else ("",)
    return Heatmap(weights, list(rows), list(columns), title, names, full, marked)


def _unlike(own: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where two pictures differ by more than the example's rounding; NaN differs from everything."""
    differs: np.ndarray = ~(np.abs(own.astype(float) - wanted.astype(float)) <= ROUNDED)
    return differs
