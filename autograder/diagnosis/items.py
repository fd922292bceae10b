"""How the items of a wrong answer stand to those of the right one, along one of its axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.differences import ENOUGH, NOT_ALONE, nearly_equal, of_each_part

MOST_ITEMS = 64  # along an axis; of longer ones two are often alike
MOST_SHOWN = 4


@of_each_part
def all_zero(a: np.ndarray, b: np.ndarray) -> str:
    """All are 0."""
    if a.shape != b.shape or a.dtype.kind != "f" or a.any():
        return ""
    tells = b.size >= ENOUGH and (b != 0).mean() > 0.5
    return "All of your numbers are 0, and most of the right ones are not." if tells else NOT_ALONE


@of_each_part
def emptied(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items are 0, and the others are right."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    wrong = ~np.isclose(a, b, rtol=1e-4, atol=1e-6)
    if a[wrong].any():
        return ""
    for axis in range(a.ndim if b.size >= ENOUGH * a.ndim else 0):
        one_item = np.moveaxis(wrong | (b == 0), axis, 0).reshape(a.shape[axis], -1).all(axis=1)
        if not one_item.all() and not np.moveaxis(wrong, axis, 0)[~one_item].any():
            return f"Along axis {axis}, what belongs at {_places([*np.flatnonzero(one_item)])} is 0; all else is right."
    return NOT_ALONE


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
