"""How the items of a wrong answer stand to those of the right one, along one of its axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.differences import ENOUGH, nearly_equal, of_each_part

MOST_ITEMS = 64  # along an axis; of longer ones two are often alike
MOST_SHOWN = 4


@of_each_part
def all_zero(a: np.ndarray, b: np.ndarray) -> str:
    """All are 0."""
    zero = a.shape == b.shape and a.dtype.kind == "f" and b.size >= ENOUGH and not a.any() and bool((b != 0).all())
    return "All of your numbers are 0, and none of the right ones is." if zero else ""


@of_each_part
def repeated(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items stand in the place of others."""
    for axis, got, right in _along_each_axis(a, b):
        if len(np.unique(right.reshape(len(right), -1).astype(float).round(6), axis=0)) < len(right):
            continue
        places = [next((j for j, item in enumerate(right) if nearly_equal(one, item)), -1) for one in got]
        missing = sorted(set(range(len(right))) - set(places))
        if -1 not in places and missing:
            return f"Along axis {axis}, what belongs at {_places(missing)} is nowhere; others stand there once more."
    return ""


def _along_each_axis(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Each axis, and both arrays with it in front, if it has a few items of several numbers each."""
    if a.shape == b.shape and a.dtype.kind == "f":
        for axis in range(a.ndim):
            if 2 <= a.shape[axis] <= MOST_ITEMS and b.size >= ENOUGH * a.shape[axis]:
                yield axis, np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)


def _places(found: list[int]) -> str:
    shown = ", ".join(map(str, found[:MOST_SHOWN]))
    return f"{shown} and so on" if len(found) > MOST_SHOWN else shown
